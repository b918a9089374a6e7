"""C: symbols by tree-sitter, checked and completed by the tolerant scan of ``agent.c.symbols.scan``."""

from __future__ import annotations

import re
from bisect import bisect_right

from tree_sitter import Node

from agent.c.preprocessor.guards import opening_macro
from agent.c.symbols.merge import merge
from agent.c.symbols.nodes import declared_name, is_prototype, static
from agent.c.symbols.scan import TopLevel, declarations
from agent.c.symbols.words import NEVER_DECLARED, NEVER_USED, NO_CODE
from agent.c.syntax.hindrances import enumerators, within
from agent.c.syntax.readable import ReadTree, blanked, read_tree
from agent.c.syntax.tree import CONTAINERS
from agent.language.lexical import Lines, blank_bytes, is_licence, one_line, prose, text_of, uses
from agent.language.nodes import errors
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind

LANGUAGE = "c"

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\([^)\n]*\))?[ \t]*(\S?)")
_INCLUDE = re.compile(rb'[ \t]*#[ \t]*(?:include|import|include_next)[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")')
_INCLUDES = frozenset((b"include", b"import", b"include_next"))
_NAME = re.compile(rb"([-.\w](?:(?<=\w)\w*|(?<=-)>\s*\w+|(?<=\.)\s*\w+))(?:\s*(\()(?!\s*\*))?")
"""A name, or what is no use of one: a number, a member with what stands before it. It begins with one set of characters,
which the engine of ``re`` looks for at twice the speed of alternatives."""

_TYPES: dict[str, SymbolKind] = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}


def parse(source: bytes) -> ParsedFile:
    """Symbols and references of one C file. Never raises on broken code; byte ranges are those of ``source``."""
    if source.startswith(b"\xef\xbb\xbf"):
        source = b"   " + source[3:]
    code, comments = blanked(source)
    tree = read_tree(source, code)
    reader = _Reader(source, tree, comments)
    faults = max(1, len(errors(tree.root))) if tree.root.has_error else 0
    reader.walk(tree.root)
    if faults or tree.mended:
        reader.second_look(declarations(reader.heads))
    reader.macros()
    symbols = reader.finish()
    references = reader.includes() + uses(reader.used_code(), symbols, _NAME, NEVER_USED.__contains__)
    return ParsedFile(LANGUAGE, symbols, tuple(references), reader.file_doc(), faults)


class _Reader:
    """Collects the symbols of one file."""

    def __init__(self, source: bytes, tree: ReadTree, comments: list[tuple[int, int]]) -> None:
        self.source, self.code, self.comments = source, tree.code, comments
        self.heads, self.wrapped, self.directives = tree.heads, tree.wrapped, tree.directives
        self.comment_ends = [end for _, end in comments]
        self.lines = Lines(source)
        self.symbols: list[Symbol] = []

    def walk(self, root: Node) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = node.type
            if kind in CONTAINERS:
                stack.extend(reversed(node.children))
            elif kind == "function_definition":
                self.function(node)
            elif kind in ("declaration", "type_definition"):
                self.declaration(node)
            elif kind in _TYPES:
                self.type_(node, node)

    def function(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        name = declared_name(node.child_by_field_name("declarator"))
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            self.type_(type_, type_)
        if name is None or body is None or body.type != "compound_statement" or name.text in NEVER_DECLARED:
            if body is not None:
                self.walk_children(body)
            return
        item = TopLevel(text_of(name.text or b""), "function", node.start_byte, node.end_byte, body.start_byte, static(node))
        self.add(item)

    def walk_children(self, node: Node) -> None:
        for child in node.children:
            self.walk(child)

    def declaration(self, node: Node) -> None:
        type_ = node.child_by_field_name("type")
        typedef = node.type == "type_definition"
        if type_ is not None and type_.type in _TYPES:
            self.type_(type_, node)
        private = static(node)  # once: a declaration may have thousands of names
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is None or not name.text or name.text in NEVER_DECLARED:
                continue
            kind: SymbolKind = "typedef" if typedef else "prototype" if is_prototype(declarator) else "global"
            if kind == "global" and node.has_error and type_ is not None and type_.start_byte == name.start_byte:
                continue
            self.add(TopLevel(text_of(name.text), kind, node.start_byte, node.end_byte, static=private))

    def type_(self, node: Node, whole: Node, parent: str = "") -> None:
        """A struct, union or enum with a body; nested named ones and enumerators come along."""
        stack = [(node, whole, parent)]
        while stack:
            node, whole, parent = stack.pop()
            body = node.child_by_field_name("body")
            if node.type not in _TYPES or body is None:
                continue
            name = node.child_by_field_name("name")
            label = name.text if name is not None and name.text else b""
            if label:
                self.add(TopLevel(text_of(label), _TYPES[node.type], whole.start_byte, whole.end_byte), parent)
            inner = text_of(label) or parent
            for child in body.named_children:
                if child.type == "enumerator":
                    constant = child.child_by_field_name("name")
                    if constant is not None and constant.text:
                        item = TopLevel(text_of(constant.text), "enumerator", child.start_byte, child.end_byte)
                        self.add(item, text_of(label))
                elif child.type == "field_declaration":
                    field_type = child.child_by_field_name("type")
                    if field_type is not None and field_type.type in _TYPES:
                        stack.append((field_type, child, inner))

    def second_look(self, found: list[TopLevel]) -> None:
        self.drop_inside_directives()
        self.symbols = merge(self.symbols, found, self.make)
        self.enumerators()

    def enumerators(self) -> None:
        """Adds those that stand behind an error; what a function keeps to itself is not a symbol."""
        bodies = sorted((s.body_start, s.body_end) for s in self.symbols if s.body_start >= 0)
        known = {s.start for s in self.symbols if s.kind == "enumerator"}
        for name, start, end in enumerators(self.heads):
            if start not in known and not within(bodies, start):
                item = TopLevel(text_of(name), "enumerator", start, start + len(self.heads[start:end].rstrip()))
                self.add(item)

    def drop_inside_directives(self) -> None:
        """Takes out what the tree misread in the lines of a macro."""
        spans = [line.span() for line in self.directives]
        starts = [start for start, _ in spans]

        def inside(offset: int) -> bool:
            index = bisect_right(starts, offset) - 1
            return index >= 0 and offset < spans[index][1]

        self.symbols = [s for s in self.symbols if not inside(s.start)]

    def macros(self) -> None:
        first = self.directives[:8]
        guard = opening_macro(self.code[: first[-1].end()].decode("latin-1")).encode("latin-1") if first else b""
        for line in self.directives:
            match = _DEFINE.match(line.group())
            if match and match.group(1) != guard:
                start = line.start() + len(line.group()) - len(line.group().lstrip())
                end = line.start() + len(line.group().rstrip())
                self.add(TopLevel(text_of(match.group(1)), "macro", start, end))

    def used_code(self) -> bytes:
        """Blanked code without the names of directives, nor the lines of those whose words are paths or prose."""
        out = bytearray(self.code)
        for line in self.directives:
            start, end = line.span() if line.group(1) in NO_CODE else line.span(1)
            out[start:end] = blank_bytes(self.code[start:end])
        return bytes(out)

    def includes(self) -> list[Reference]:
        found = []
        for line in self.directives:
            if line.group(1) in _INCLUDES:
                match = _INCLUDE.match(self.source, line.start())
                if match:
                    target = text_of(match.group(1) or match.group(2)).strip()
                    found.append(
                        Reference("include", target, self.lines.at(match.start()), system=match.group(1) is not None)
                    )
        return found

    def add(self, item: TopLevel, parent: str = "") -> None:
        self.symbols.append(self.make(item, parent))

    def make(self, item: TopLevel, parent: str = "") -> Symbol:
        """The symbol of a found thing: its place in lines, its head on one line, the comment above it."""
        end = item.end
        start = self.wrapped.get(item.start, item.start)
        doc, doc_start = self.doc_above(start)
        head_end = item.body_start if item.body_start >= 0 else end
        if item.kind in ("struct", "union", "enum"):
            brace = self.code.find(b"{", start, end)
            head_end = brace if brace >= 0 else end
        text = self.source if item.kind == "macro" else self.heads if item.start in self.wrapped else self.code
        signature = one_line(text[start:head_end])
        return Symbol(
            name=item.name,
            kind=item.kind,
            line=self.lines.at(start),
            end_line=self.lines.at(max(start, end - 1)),
            start=start,
            end=end,
            signature=signature.rstrip(" ;"),
            doc=doc,
            parent=parent,
            body_start=item.body_start,
            body_end=end if item.body_start >= 0 else -1,
            doc_start=doc_start,
            static=item.static,
        )

    def doc_above(self, start: int) -> tuple[str, int]:
        """The comment that ends on the line above ``start``, ``//`` runs joined; ("", -1) when there is none."""
        begin = start
        while True:
            index = bisect_right(self.comment_ends, begin) - 1
            if index < 0:
                break
            low, high = self.comments[index]
            gap = self.source[high:begin]
            if gap.strip() or gap.count(b"\n") > 1 or (begin != start and self.source[low : low + 2] == b"/*"):
                break
            if self.source[self.lines.start_of(low) : low].strip():
                break  # it trails other code
            begin = low
            if self.source[low : low + 2] == b"/*":
                break
        if begin == start:
            return "", -1
        text = prose(self.source[begin:start])
        return (text, begin) if text and not is_licence(text) else ("", -1)

    def file_doc(self) -> str:
        """The first comments before any code that are not legal text."""
        texts = []
        for start, end in self.comments[:6]:
            if self.code[:start].strip():
                break
            text = prose(self.source[start:end])
            if text and not is_licence(text):
                texts.append(text)
        return "\n".join(texts)

    def finish(self) -> tuple[Symbol, ...]:
        unique = {(s.start, s.end, s.name, s.kind): s for s in self.symbols}
        return tuple(sorted(unique.values(), key=lambda s: (s.start, -s.end, s.name)))
