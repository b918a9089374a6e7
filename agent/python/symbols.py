# ruff: noqa: SIM905
"""Python: symbols by tree-sitter, names used by a scan of the code without strings and comments."""

from __future__ import annotations

import re
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from agent.language.lexical import Lines, blank_bytes, is_licence, one_line, prose, text_of, uses
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind

LANGUAGE = "python"

_NOISE = re.compile(
    rb"""[#"'](?:(?<=\#)[^\n]*
      |(?<=")(?:""(?:[^\\"]++|\\.|"(?!""))*+(?:"{3}|\Z)|(?:[^"\\\n]++|\\.)*+(?:"|(?=\n)|\Z))
      |(?<=')(?:''(?:[^\\']++|\\.|'(?!''))*+(?:'{3}|\Z)|(?:[^'\\\n]++|\\.)*+(?:'|(?=\n)|\Z)))""",
    re.S | re.X,
)
"""A comment or a string without the letters before it. Like ``_NAME`` it begins with one set of characters, which the engine
of ``re`` looks for at twice the speed of alternatives."""

_LETTERS = re.compile(rb"\b[rbu]{1,2}\Z")
_HASH = ord("#")
_HOLE = re.compile(rb"\{([^{}\n]*)\}")
# Methods of the built-in containers and strings: ``x.append(…)`` says nothing about a project's own ``append``.
_NAME = re.compile(
    rb"([.\w](?:(?<=\w)\w*|(?<=\.)(?<!self\.)(?<!cls\.)(?:append|extend|insert|sort|items|keys|values|setdefault|join|split"
    rb"|rsplit|splitlines|strip|lstrip|rstrip|startswith|endswith|lower|upper|title|isdigit)\b))(?:[ \t]*(\())?"
)
_KEYWORDS = frozenset(
    b"False None True and as assert async await break class continue def del elif else except finally for from global if "
    b"import in is lambda nonlocal not or pass raise return try while with yield self cls match case str int float bool "
    b"bytes list dict set tuple object type len range print super isinstance Optional Union Any List Dict".split()
)
_PROPERTY = re.compile(rb"(?:^|\.)(?:property|cached_property|setter|getter|deleter)\b")
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*\Z")
_PATTERNS = frozenset(
    ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "parenthesized_expression", "tuple", "list")
)
_BLOCKS = frozenset(
    "module block if_statement else_clause elif_clause try_statement except_clause except_group_clause finally_clause "
    "with_statement for_statement while_statement match_statement case_clause ERROR".split()
)


@cache
def _language() -> Language:
    return Language(tree_sitter_python.language())


def parse(source: bytes) -> ParsedFile:
    """Symbols and references of one Python file. Never raises on broken code; byte ranges are those of ``source``.

    A symbol's range begins at its first decorator. Functions nested in functions belong to the outer one.
    """
    if source.startswith(b"\xef\xbb\xbf"):
        source = b"   " + source[3:]
    root = Parser(_language()).parse(source).root_node
    reader = _Reader(source)
    reader.walk(root)
    symbols = tuple(sorted(reader.symbols, key=lambda s: (s.start, -s.end)))
    statements = _import_statements(root) if b"import" in source else []
    code = bytearray(_blanked(source))
    for node in statements:  # the names in them are bound here, not used
        code[node.start_byte : node.end_byte] = blank_bytes(bytes(code[node.start_byte : node.end_byte]))
    references = _imports(statements, reader.lines)
    references += uses(bytes(code), symbols, _NAME, _KEYWORDS.__contains__)
    errors = _count_errors(root) if root.has_error else 0
    return ParsedFile(LANGUAGE, symbols, tuple(references), _module_doc(root, source), errors)


def _blanked(source: bytes) -> bytes:
    """Code without comments and strings, what stands in the braces of an f-string kept."""
    pieces: list[bytes] = []
    at = 0
    for match in _NOISE.finditer(source):
        start, end = match.span()
        blanks = blank_bytes(match[0])
        before = source[max(at, start - 3) : start].lower()
        if before[-1:].isalpha() and match[0][0] != _HASH:
            if before.endswith((b"f", b"fr", b"rf")):
                blanks = _with_holes(match[0], blanks)
            elif letters := _LETTERS.search(before):
                start -= len(letters[0])
                blanks = b" " * len(letters[0]) + blanks
        pieces += (source[at:start], blanks)
        at = end
    return b"".join([*pieces, source[at:]])


def _with_holes(string: bytes, blanks: bytes) -> bytes:
    kept = bytearray(blanks)
    for hole in _HOLE.finditer(string):
        kept[hole.start(1) : hole.end(1)] = hole.group(1)
    return bytes(kept)


class _Reader:
    """Collects the symbols of one file."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = Lines(source)
        self.symbols: list[Symbol] = []

    def walk(self, root: Node) -> None:
        stack: list[tuple[Node, str]] = [(root, "")]
        while stack:
            node, parent = stack.pop()
            kind = node.type
            if kind in _BLOCKS:
                stack.extend((child, parent) for child in reversed(node.children))
            elif kind == "decorated_definition":
                inner = node.child_by_field_name("definition")
                if inner is not None:
                    stack.extend(self.definition(inner, node, parent))
            elif kind in ("function_definition", "class_definition"):
                stack.extend(self.definition(node, node, parent))
            elif kind in ("expression_statement", "assignment", "type_alias_statement"):
                self.assignment(node, parent)

    def definition(self, node: Node, whole: Node, parent: str) -> list[tuple[Node, str]]:
        """Adds a function or class; returns the class body for the walk to go on in."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or not name.text:
            return []
        label = text_of(name.text)
        if node.type == "class_definition":
            kind: SymbolKind = "class"
        elif any(
            _PROPERTY.search(text_of(c.text or b"").lstrip("@ ").encode()) for c in whole.children if c.type == "decorator"
        ):
            kind = "property" if parent else "function"
        else:
            kind = "method" if parent else "function"
        begin, end = (body.start_byte, body.end_byte) if body is not None else (-1, -1)
        head_end = body.start_byte if body is not None else node.end_byte
        doc, doc_start = self.docstring(body)
        if not doc:
            doc, doc_start = self.comment_above(whole.start_byte)
        signature = one_line(self.source[node.start_byte : head_end])
        self.add(label, kind, whole, parent, signature.rstrip(" :"), doc, doc_start, (begin, end))
        if kind == "class" and body is not None:
            return [(body, f"{parent}.{label}" if parent else label)]
        return []

    def assignment(self, node: Node, parent: str) -> None:
        """Adds what an assignment at the left margin of a module or class binds: chained, in tuples, or a ``type``."""
        inner = node.named_children[0] if node.type == "expression_statement" and node.named_child_count else node
        whole: Node | None = inner
        while whole is not None and whole.type in ("assignment", "type_alias_statement"):
            for item in _bound(whole.child_by_field_name("left")):
                self.bind(text_of(item.text or b""), node, parent)
            whole = whole.child_by_field_name("right")

    def bind(self, label: str, node: Node, parent: str) -> None:
        constant = bool(_CONSTANT.match(label))
        if parent and not constant:
            return  # a field: part of its class, not a symbol of its own
        doc, doc_start = self.comment_above(node.start_byte)
        signature = one_line(self.source[node.start_byte : node.end_byte], 160)
        self.add(label, "constant" if constant else "global", node, parent, signature, doc, doc_start)

    def docstring(self, body: Node | None) -> tuple[str, int]:
        first = next((c for c in body.named_children if c.type != "comment"), None) if body is not None else None
        if first is None or first.type != "expression_statement" or not first.named_child_count:
            return "", -1
        string = first.named_children[0]
        return (_string_text(string), string.start_byte) if string.type == "string" else ("", -1)

    def comment_above(self, start: int) -> tuple[str, int]:
        """The run of comment lines directly above ``start``."""
        begin = line = self.lines.start_of(start)
        if self.source[line:start].strip():
            return "", -1
        while line > 0:
            above = self.lines.start_of(line - 1)
            if not self.source[above:line].lstrip().startswith(b"#"):
                break
            begin = line = above
        text = prose(self.source[begin : self.lines.start_of(start)])
        if not text or is_licence(text) or text.startswith("!"):
            return "", -1
        return text, begin + len(self.source[begin:start]) - len(self.source[begin:start].lstrip())

    def add(
        self,
        name: str,
        kind: SymbolKind,
        node: Node,
        parent: str,
        signature: str,
        doc: str,
        doc_start: int,
        body: tuple[int, int] = (-1, -1),
    ) -> None:
        self.symbols.append(
            Symbol(
                name=name,
                kind=kind,
                line=self.lines.at(node.start_byte),
                end_line=self.lines.at(max(node.start_byte, node.end_byte - 1)),
                start=node.start_byte,
                end=node.end_byte,
                signature=signature,
                doc=doc,
                parent=parent,
                body_start=body[0],
                body_end=body[1],
                doc_start=doc_start,
            )
        )


def _bound(target: Node | None) -> list[Node]:
    """The names that the target of an assignment binds, in order."""
    found: list[Node] = []
    stack = [target] if target is not None else []
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            found.append(node)
        elif node.type in ("type", "generic_type"):  # ``type Pair[T]``: what is in the brackets is bound inside only
            stack.extend(node.named_children[:1])
        elif node.type in _PATTERNS:
            stack.extend(reversed(node.named_children))
    return found


def _string_text(node: Node) -> str:
    raw = text_of(node.text or b"")
    inner = re.sub(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')", "", raw)
    inner = re.sub(r"(\"\"\"|'''|\"|')$", "", inner)
    return "\n".join(line.strip() for line in inner.strip().splitlines())


def _module_doc(root: Node, source: bytes) -> str:
    comments: list[str] = []
    for child in root.named_children:
        if child.type == "comment":
            if comments or not source[: child.start_byte].strip():
                comments.append(text_of(child.text or b""))
            continue
        if child.type == "expression_statement" and child.named_child_count and child.named_children[0].type == "string":
            return _string_text(child.named_children[0])
        break
    text = prose("\n".join(c for c in comments if not c.startswith("#!") and "coding" not in c[:30]).encode())
    return "" if is_licence(text) else text


def _import_statements(root: Node) -> list[Node]:
    """Import statements wherever they stand, in order."""
    found: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in ("import_statement", "import_from_statement", "future_import_statement"):
            found.append(node)
        elif node.type in _BLOCKS or node.type in (
            "function_definition",
            "class_definition",
            "decorated_definition",
            "match_statement",
        ):
            stack.extend(reversed(node.named_children))
    return found


def _imports(statements: list[Node], lines: Lines) -> list[Reference]:
    found: list[Reference] = []
    for node in statements:
        if node.type == "import_statement":
            found.extend(_import_names(node, "", lines))
        elif node.type == "import_from_statement":
            module = node.child_by_field_name("module_name")
            base = re.sub(r"\s", "", text_of(module.text or b"")) if module is not None else ""
            joint = base if base.endswith(".") or not base else base + "."
            if any(c.type == "wildcard_import" for c in node.children):
                found.append(Reference("import", joint + "*", lines.at(node.start_byte)))
            found.extend(_import_names(node, joint, lines))
    return found


def _import_names(node: Node, prefix: str, lines: Lines) -> list[Reference]:
    found = []
    for item in node.children_by_field_name("name"):
        name = item.child_by_field_name("name") if item.type == "aliased_import" else item
        alias = item.child_by_field_name("alias") if item.type == "aliased_import" else None
        dotted = re.sub(r"\s", "", text_of(name.text or b"")) if name is not None else ""
        if not dotted:
            continue
        bound = text_of(alias.text or b"") if alias is not None else (dotted if prefix else dotted.split(".")[0])
        found.append(Reference("import", prefix + dotted, lines.at(item.start_byte), alias=bound))
    return found


def _count_errors(root: Node) -> int:
    count, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            count += 1
        elif node.has_error:
            stack.extend(node.children)
    return max(1, count)
