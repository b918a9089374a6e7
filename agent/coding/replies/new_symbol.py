"""A symbol that a file does not have yet, added where it belongs."""

from __future__ import annotations

import ast
import textwrap

from agent.c.insertion import append_definition
from agent.c.syntax import definitions
from agent.coding.replies.search_replace import EditResult, changed_lines
from agent.language.code_blocks import code_blocks
from agent.language.nesting import UNREADABLE
from agent.python.replace import syntax_problem
from agent.textfile import read_text


def add_symbol(
    source: bytes, language: str, qualified_name: str, reply: str, *, path: str = "", finish: str = "stop"
) -> EditResult:
    """``source`` with the reply's definition of the symbol added: a method ends its class, all else the file.

    Never raises on a bad reply.
    """

    def failed(reason: str) -> EditResult:
        return EditResult(False, path, source, reason=reason)

    if finish != "stop":
        return failed(f"The reply was cut off before {qualified_name} was complete. Write it shorter.")
    blocks = code_blocks(reply)
    if language == "python":
        text = next((found for block in blocks if (found := _python(block.text, qualified_name))), "")
    else:
        text = next((found for block in blocks if (found := _c(block.text, qualified_name))), "")
    if not text:
        return failed(f"The reply does not define {qualified_name}.")
    data = _method(source, qualified_name, text) if language == "python" and "." in qualified_name else b""
    data = data or append_definition(source, _styled(source, text), 2 if language == "python" else 1)
    problem = syntax_problem(data) if language == "python" else ""
    if problem:
        return failed(f"With the new {qualified_name} the file is no valid Python: {problem}")
    removed, added = changed_lines(read_text(source).text, read_text(data).text)
    return EditResult(True, path, data, how="symbol", added=added, removed=removed)


def _styled(source: bytes, text: str) -> bytes:
    file = read_text(source)
    try:
        return file.with_newlines(text).encode(file.encoding)
    except UnicodeEncodeError:
        return file.with_newlines(text).encode()


def _python(code: str, qualified_name: str) -> str:
    """The definition's own lines, at column 0, "" when the code has none."""
    code = textwrap.dedent(code)
    if syntax_problem(code.encode()):
        return ""
    wanted = qualified_name.rsplit(".", 1)[-1]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == wanted:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return textwrap.dedent("\n".join(code.split("\n")[first - 1 : node.end_lineno]))
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and wanted in _assigned(node):
            return ast.get_source_segment(code, node) or ""
    return ""


def _assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """The plain names that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    inside = (part for target in targets for part in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target]))
    return {part.id for part in inside if isinstance(part, ast.Name)}


def _c(code: str, name: str) -> str:
    source = code.encode()
    found = next((function for function in reversed(definitions(source)) if function.name == name), None)
    return "" if found is None else source[found.start : found.end].decode("utf-8", "replace")


def _method(source: bytes, qualified_name: str, text: str) -> bytes:
    """``source`` with the method at the end of its class, empty when there is no such class."""
    owner = qualified_name.split(".")[0]
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return b""
    node = next((one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == owner), None)
    if node is None or node.end_lineno is None:
        return b""
    indent = " " * node.body[0].col_offset
    lines = source.splitlines(keepends=True)
    block = _styled(source, "\n" + textwrap.indent(text, indent) + "\n")
    head = b"".join(lines[: node.end_lineno])
    newline = b"" if head.endswith((b"\n", b"\r")) else read_text(source).newline.encode()
    return head + newline + block + b"".join(lines[node.end_lineno :])
