"""A Python function, method or class replaced in place, its new version fitted to the old one's indentation."""

from __future__ import annotations

import ast
import re
import textwrap
from itertools import pairwise

from agent.language.code_blocks import code_blocks
from agent.language.nesting import UNREADABLE
from agent.language.quoted_code import quoting
from agent.language.symbols import Symbol
from agent.python.names import import_line
from agent.textfile import TextFile, append_block, lines_of, read_text, styled

_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def replace(source: bytes, symbol: Symbol, reply: str, finish: str = "stop") -> tuple[bytes, str]:
    """(new bytes, "") or (``source``, why not)."""
    file = read_text(source)
    parsed = _parsed(reply, symbol, finish)
    if isinstance(parsed, str):
        return source, parsed
    code, tree = parsed
    node = _find(tree, symbol)
    if node is None and symbol.kind in ("constant", "global", "property") and not isinstance(tree, str):
        return _assignment(source, file, symbol, code, tree)
    if node is None:
        return source, f"The reply does not define {symbol.qualified}. Reply with the whole new version of it."
    start, column = _start(source, symbol, keep_decorators=not node.decorator_list)
    old_body = _column(source, symbol.body_start) if symbol.body_start >= 0 else None
    text = _fitted(code, node, column, old_body, _unit(source))
    try:
        replacement = file.with_newlines(text).encode(file.encoding)
        data = source[:start] + replacement + source[symbol.end :]
        data = _with_extras(data, file, code, tree, node, symbol)
    except UnicodeEncodeError:
        return source, f"The file is written in {file.encoding}, which lacks a character of the new {symbol.qualified}."
    problem = syntax_problem(data)
    return (source, problem) if problem else (data, "")


def syntax_problem(source: bytes) -> str:
    """Why Python cannot read ``source``, with the line it points at; "" when it can."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return quoting(f"line {error.lineno}: {error.msg}", error.text or "")
    except ValueError as error:
        return str(error)
    except (RecursionError, MemoryError):
        return "its expressions are nested too deeply to be read"
    return ""


def _parsed(reply: str, symbol: Symbol, finish: str) -> tuple[str, ast.Module] | str:
    """The reply's code and tree: of the block that has the symbol, or what is wrong."""
    problem = ""
    candidates: list[tuple[str, ast.Module]] = []
    for block in code_blocks(reply):
        code = _trimmed(block.text) if block.language == "" else _whole_part(textwrap.dedent(block.text))
        error = syntax_problem(code.encode())
        if error and not (code := _readable(code, symbol)):
            problem = problem or error
            continue
        code = _without_clash(code, symbol.name) if not symbol.parent else code
        candidates.append((code, ast.parse(code)))
    having = [pair for pair in candidates if _find(pair[1], symbol) is not None]
    if having:
        return having[-1]
    if finish in ("length", "context"):
        return f"The reply was cut off before {symbol.qualified} was complete. Write it shorter."
    if candidates:
        return candidates[-1]
    return f"The reply is not valid Python: {problem}" if problem else "The reply holds no code."


def _whole_part(code: str) -> str:
    """``code`` without what follows its definitions and does not parse, such as an example that was cut off. An error inside
    a definition leaves it as it is: what is before that may parse and is not what was meant."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        lines = code.split("\n")
        line = min(error.lineno or 1, len(lines)) - 1
        at = next((number for number in range(line, 0, -1) if lines[number][:1].strip()), 0)
        part = "\n".join(lines[:at])
        outside = lines[at][:1] not in ")]}" and not re.match(r"(?:@|(?:async )?def |class )", lines[at])
        if at and outside and not syntax_problem(part.encode()):
            return part
    except UNREADABLE:
        pass
    return code


def _readable(code: str, symbol: Symbol) -> str:
    """The top-level definitions and imports that parse alone, "" where the symbol is not among them."""
    lines, start = code.split("\n"), re.compile(r"@|(?:async )?def |class |import |from |\w+ *=")
    starts = [number for number, line in enumerate(lines) if start.match(line)]
    starts = [number for number in starts if not number or not lines[number - 1].startswith("@")]
    pieces = ["\n".join(lines[begin:end]) for begin, end in pairwise([*starts, len(lines)])]
    kept = "\n".join(piece for piece in pieces if not syntax_problem(piece.encode()))
    return kept if _find(ast.parse(kept), symbol) is not None else ""


def _without_clash(code: str, name: str) -> str:
    """``code`` in which a definition takes the name that it imports, and so calls itself in its stead: the import is used
    through its module. Unchanged where there is no such import."""
    tree = ast.parse(code)
    imports = [
        one
        for one in tree.body
        if isinstance(one, ast.ImportFrom) and one.module and not one.level and [alias.name for alias in one.names] == [name]
    ]
    if not imports or imports[0].names[0].asname is not None:
        return code
    module = imports[0].module or ""
    lines = [line.encode() for line in code.split("\n")]
    uses = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)]
    for one in sorted(uses, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        line = lines[one.lineno - 1]
        lines[one.lineno - 1] = line[: one.col_offset] + f"{module}.".encode() + line[one.col_offset :]
    lines[imports[0].lineno - 1] = f"import {module}".encode()
    return b"\n".join(lines).decode()


def _trimmed(text: str) -> str:
    """Unfenced text without the prose around its code: from the first code-like line as far as it parses."""
    lines = textwrap.dedent(text).split("\n")
    starts = re.compile(r"(?:\s*)(?:@\w|def |class |async def |import |from \w+ import|[A-Z_]+\s*=)")
    first = next((number for number, line in enumerate(lines) if starts.match(line)), 0)
    last = len(lines)
    while last > first:
        code = textwrap.dedent("\n".join(lines[first:last]))
        try:
            ast.parse(code)
            return code
        except SyntaxError as error:
            last = min(last, first + (error.lineno or len(lines))) - 1  # nothing that holds the line of the error parses
        except UNREADABLE:
            break
    return "\n".join(lines)


def _find(tree: ast.AST, symbol: Symbol) -> _Node | None:
    """The definition of the symbol in the reply: with its class around it, else alone; the last one of several."""
    exact: _Node | None = None
    loose: _Node | None = None

    def visit(node: ast.AST, parent: str) -> None:
        nonlocal exact, loose
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Node):
                qualified = f"{parent}.{child.name}" if parent else child.name
                if child.name == symbol.name and isinstance(child, ast.ClassDef) == (symbol.kind == "class"):
                    exact = child if qualified == symbol.qualified else exact
                    loose = child
                visit(child, qualified)

    visit(tree, "")
    return exact or loose


def _start(source: bytes, symbol: Symbol, *, keep_decorators: bool) -> tuple[int, int]:
    """Where the replaced range begins and its column; behind the decorators when the new version brings none."""
    start = symbol.start
    if keep_decorators and source[start : start + 1] == b"@":
        head = re.compile(rb"^[ \t]*((?:async[ \t]+)?def|class)[ \t]+" + symbol.name.encode() + rb"\b", re.M)
        found = head.search(source, start, symbol.end)
        start = found.start(1) if found else start
    return start, _column(source, start)


def _column(source: bytes, position: int) -> int:
    return position - (source.rfind(b"\n", 0, position) + 1)


def _unit(source: bytes) -> str:
    """One level of indentation in this file."""
    return "\t" if len(re.findall(rb"^\t", source, re.M)) > len(re.findall(rb"^ {2}", source, re.M)) else "    "


def _fitted(code: str, node: _Node, column: int, old_body: int | None, unit: str) -> str:
    """The node's lines moved to ``column``, the first line's own indentation left out. String contents do not move."""
    lines = code.split("\n")
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    block = lines[first - 1 : node.end_lineno]
    shift = column - node.col_offset
    if old_body is not None and node.body[0].col_offset == old_body and node.body[0].lineno > node.lineno:
        shift = 0  # the body was copied with the indentation it has in the file, only the first line was not
    if unit == "\t":
        shift = column - node.col_offset
        block = [re.sub(r"^(?: {4})+", lambda match: "\t" * (len(match[0]) // 4), line) for line in block]
    frozen = _string_lines(node)
    moved = []
    for number, line in enumerate(block, start=first):
        if number in frozen or not line.strip():
            moved.append(line if number in frozen else "")
        elif shift >= 0:
            moved.append((" " if unit != "\t" else "\t") * shift + line)
        else:
            moved.append(line[min(-shift, len(line) - len(line.lstrip())) :])
    moved[0] = moved[0].lstrip()
    for index in range(1, len(node.decorator_list) + 1):
        if index < len(moved) and first + index <= node.lineno and shift == 0:
            moved[index] = (" " if unit != "\t" else "\t") * column + moved[index].lstrip()
    return "\n".join(moved).rstrip()


def _string_lines(node: _Node) -> set[int]:
    """Lines that lie inside a string which is not a docstring: their leading white space is data."""
    docs = {
        id(child.value) for child in ast.walk(node) if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
    }
    frozen: set[int] = set()
    for child in ast.walk(node):
        text = (isinstance(child, ast.Constant) and isinstance(child.value, str)) or isinstance(child, ast.JoinedStr)
        if text and id(child) not in docs:
            line, end = getattr(child, "lineno", 0), getattr(child, "end_lineno", 0)
            frozen |= set(range(line + 1, end + 1))
    return frozen


def _with_extras(data: bytes, file: TextFile, code: str, tree: ast.Module, node: _Node, symbol: Symbol) -> bytes:
    """Imports and module-level helpers of the reply that the new version uses and the file lacks."""
    current = ast.parse(data) if not syntax_problem(data) else None
    if current is None:
        return data
    bound = _bound(current)
    used = _used_by(node, tree)
    imports, helpers = [], []
    for statement in tree.body:
        names = _names(statement)
        if not names or names & bound or not names & used or node in ast.walk(statement):
            continue
        text = ast.get_source_segment(code, statement) or ""
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.append(text)
        elif isinstance(statement, _Node):
            helpers.append("\n".join(code.split("\n")[_first_line(statement) - 1 : statement.end_lineno]))
        else:
            helpers.append(text)
    lines = lines_of(read_text(data).text)
    if helpers:
        top = next((one for one in current.body if one.lineno <= _line_of(current, symbol) <= (one.end_lineno or 0)), None)
        at = (_first_line(top) if isinstance(top, _Node) else top.lineno) - 1 if top is not None else len(lines)
        lines[at:at] = [file.with_newlines("\n\n\n".join(helpers) + "\n\n\n")]
    if imports:
        at = import_line(current)
        lines[at:at] = [file.with_newlines("\n".join(imports) + "\n")]
    return file.encode("".join(lines)) if helpers or imports else data


def _used_by(node: ast.AST, tree: ast.Module) -> set[str]:
    """The names that ``node`` uses, itself or through what the module binds, in whatever order."""
    used: set[str] = set()
    fresh = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    while fresh - used:
        used |= fresh
        binding = [one for one in tree.body if _names(one) & fresh and not isinstance(one, (ast.Import, ast.ImportFrom))]
        fresh = {child.id for one in binding for child in ast.walk(one) if isinstance(child, ast.Name)} - used
    return used


def _line_of(tree: ast.Module, symbol: Symbol) -> int:
    found = _find(tree, symbol)
    return found.lineno if found is not None else 0


def _first_line(node: _Node) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _bound(tree: ast.Module) -> set[str]:
    return {name for statement in tree.body for name in _names(statement)}


def _names(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, _Node):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {child.id for target in targets for child in ast.walk(target) if isinstance(child, ast.Name)}
    return set()


def _assignment(source: bytes, file: TextFile, symbol: Symbol, code: str, tree: ast.Module) -> tuple[bytes, str]:
    """A constant or an attribute: the statement that binds it."""
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and symbol.name in _names(statement):
            text = ast.get_source_segment(code, statement) or ""
            data = source[: symbol.start] + file.with_newlines(text).encode(file.encoding) + source[symbol.end :]
            problem = syntax_problem(data)
            return (source, problem) if problem else (data, "")
    return source, f"The reply does not define {symbol.qualified}. Reply with the whole new version of it."


def definition_in(code: str, qualified_name: str) -> str:
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


def add(source: bytes, qualified_name: str, text: str) -> bytes:
    """``source`` with the definition ``text`` added: a method ends its class, all else the file."""
    data = _method(source, qualified_name, text) if "." in qualified_name else b""
    return data or append_block(source, styled(source, text), 2)


def _assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """The plain names that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    inside = (part for target in targets for part in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target]))
    return {part.id for part in inside if isinstance(part, ast.Name)}


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
    block = styled(source, "\n" + textwrap.indent(text, indent) + "\n")
    head = b"".join(lines[: node.end_lineno])
    newline = b"" if head.endswith((b"\n", b"\r")) else read_text(source).newline.encode()
    return head + newline + block + b"".join(lines[node.end_lineno :])
