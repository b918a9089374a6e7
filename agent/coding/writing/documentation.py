"""Comments for public symbols that a run changed and that have none. Only comments may change, and that is proven."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping

import msgspec

from agent.c.syntax import functions
from agent.coding.files import Files
from agent.coding.replies.search_replace import EditResult
from agent.coding.writing.edit_step import language_of
from agent.context import RunContext
from agent.events import EditApplied, EditRejected
from agent.language.code_blocks import code_blocks
from agent.language.nesting import UNREADABLE
from agent.languages import named
from agent.prompts import documentation as words
from agent.textfile import lines_of, read_text

_WIDTH = 100
_REPLY_TOKENS = 160


class Undocumented(msgspec.Struct, frozen=True):
    """A public symbol without a comment: where it is, its source, and the byte offset of its definition."""

    path: str
    name: str
    source: str
    start: int


def undocumented(path: str, before: bytes | None, after: bytes) -> list[Undocumented]:
    """Public functions (and Python classes) of ``after`` that are new or changed against ``before`` and have no comment."""
    found = _python_symbols(path, after) if language_of(path) == "python" else _c_symbols(path, after)
    old = before or b""
    earlier = _python_symbols(path, old) if language_of(path) == "python" else _c_symbols(path, old)
    same = {(one.name, one.source) for one in earlier}
    return [one for one in found if (one.name, one.source) not in same]


def _c_symbols(path: str, source: bytes) -> list[Undocumented]:
    return [
        Undocumented(path, one.name, source[one.start : one.end].decode("utf-8", "replace"), one.start)
        for one in functions(source)
        if not one.doc and not one.static and one.name != "main"
    ]


def _python_symbols(path: str, source: bytes) -> list[Undocumented]:
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return []
    text = read_text(source).text
    lines = lines_of(text)
    found = []
    for node, name in _public(tree):
        if ast.get_docstring(node) is None and not _documented_by_another(node):
            segment = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
            found.append(Undocumented(path, name, segment, node.lineno))
    return found


_Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(tree: ast.AST, prefix: str = "") -> list[tuple[_Documented, str]]:
    found: list[tuple[_Documented, str]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Documented) and not node.name.startswith("_"):
            found.append((node, prefix + node.name))
            if isinstance(node, ast.ClassDef):
                found += _public(node, f"{prefix}{node.name}.")
    return found


def _documented_by_another(node: _Documented) -> bool:
    """Whether the docstring belongs elsewhere: of an overload to the function itself, of a setter to the property."""
    names = [ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list]
    return any(name in ("overload", "setter", "deleter") for name in names)


def comment_text(reply: str) -> str:
    """A reply as the plain text of a comment: markers, fences and code around it taken off; "" when none is left."""
    text = reply.strip()
    fenced = re.search(r"```", text)
    if fenced:
        code = code_blocks(text)[0].text if code_blocks(text) else ""
        doc = re.search(r"/\*+(.*?)\*/|\"\"\"(.*?)\"\"\"|'''(.*?)'''", code, re.S)
        text = next((part for part in doc.groups() if part), "") if doc else text[: fenced.start()] or code
    lines = []
    for line in text.split("\n"):
        clean = re.sub(r"^\s*(?:/\*+|\*+/?|//+|#+|\"\"\"|''')\s?|\s*(?:\*/|\"\"\"|''')\s*$", "", line).rstrip()
        lines.append(clean.strip())
    text = "\n".join(lines).strip().strip('"').replace("*/", "* /").replace('"""', "'''")
    paragraph = text.split("\n\n")[0]
    return "" if re.search(r"[;{]\s*$", paragraph, re.M) else paragraph.replace("\\", "\\\\")


def add_comment(source: bytes, symbol: Undocumented, text: str) -> EditResult:
    """``source`` with ``text`` as the comment of ``symbol``; refused unless all else is the same by parsing."""
    if not text:
        return EditResult(False, symbol.path, source, reason=f"The reply holds no comment for {symbol.name}.")
    file = read_text(source)
    if language_of(symbol.path) == "python":
        data = _with_docstring(source, symbol, text)
    else:
        body = [part for line in text.split("\n") for part in textwrap.wrap(line, _WIDTH)]
        comment = f"/** {body[0]} */" if len(body) == 1 else "/**\n" + "".join(f" * {line}\n" for line in body) + " */"
        block = file.with_newlines(comment + "\n").encode(file.encoding, "replace")
        data = source[: symbol.start] + block + source[symbol.start :]
    if data == source or not named(language_of(symbol.path)).same_code(source, data):
        return EditResult(
            False, symbol.path, source, reason=f"The comment of {symbol.name} would change code, so it was left."
        )
    return EditResult(True, symbol.path, data, how="comment", added=data.count(b"\n") - source.count(b"\n"))


def _with_docstring(source: bytes, symbol: Undocumented, text: str) -> bytes:
    file = read_text(source)
    there = _public(ast.parse(source))
    node = next((node for node, name in there if (name, node.lineno) == (symbol.name, symbol.start)), None)
    if node is None or node.body[0].lineno == node.lineno:
        return source
    first = min([node.body[0].lineno, *(d.lineno for d in getattr(node.body[0], "decorator_list", []))])
    lines = lines_of(file.text)
    indent = " " * node.body[0].col_offset
    if lines[first - 1].startswith("\t"):
        indent = lines[first - 1][: node.body[0].col_offset]
    wrapped = [part for line in text.split("\n") for part in textwrap.wrap(line, _WIDTH) or [""]]
    doc = f'{indent}"""{wrapped[0]}"""\n'
    if len(wrapped) > 1:
        doc = (
            f'{indent}"""{wrapped[0]}\n'
            + "".join(f"{indent}{line}".rstrip() + "\n" for line in wrapped[1:])
            + f'{indent}"""\n'
        )
    lines.insert(first - 1, file.with_newlines(doc))
    return file.bom + "".join(lines).encode(file.encoding, "replace")


async def document(
    ctx: RunContext,
    changed: Mapping[str, bytes | None],
    *,
    files: Files,
    task: str = "",
    protected: Callable[[str], bool] = lambda path: False,
) -> list[EditResult]:
    """Comment what a run changed. ``changed`` maps each changed path to its content before the run (None for a new file).

    One call a symbol; a reply that is no comment is left out, never a failure of the run.

    Raises:
        ModelError: if the model cannot answer.
    """
    results: list[EditResult] = []
    for path, before in changed.items():
        if protected(path) or not files.exists(path) or not path.endswith((".c", ".h", ".py")):
            continue
        for wanted in undocumented(path, before, files.read_bytes(path)):
            if path.endswith(".c") and _documented_elsewhere(wanted.name, files):
                continue
            results.append(await _one(ctx, wanted, files, task))
    return results


def _documented_elsewhere(name: str, files: Files) -> bool:
    """Whether a header carries the comment already: that is where users look."""
    headers = [path for path in files.list() if path.endswith(".h")]
    return any(one.name == name for path in headers for one in functions(files.read_bytes(path)))


async def _one(ctx: RunContext, wanted: Undocumented, files: Files, task: str) -> EditResult:
    llm = ctx.llm("documentation")
    asked = await llm.generate(
        system=words.SYSTEM,
        state=words.state(task),
        prompt=words.question(wanted.name, wanted.path, wanted.source, language_of(wanted.path)),
        item=f"{wanted.path} {wanted.name}",
        max_tokens=min(_REPLY_TOKENS, llm.target.max_tokens),
    )
    source = files.read_bytes(wanted.path)
    current = next((one for one in undocumented(wanted.path, None, source) if one.name == wanted.name), None)
    text = comment_text(asked.text) if asked.finish == "stop" else ""
    if current is None:
        return EditResult(False, wanted.path, source, reason=f"{wanted.name} is gone.")
    result = add_comment(source, current, text)
    if result.ok:
        files.write_bytes(wanted.path, result.data)
        ctx.emit(EditApplied(wanted.path, "comment", wanted.name, result.added, 0))
    else:
        ctx.emit(EditRejected(wanted.path, result.reason))
    return result
