"""C functions at declarator level: heads, parameters, bodies and the comment above, by syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
import tree_sitter

from agent.c.preprocessor.comments import on_one_line
from agent.c.preprocessor.guards import guard_line
from agent.c.syntax.readable import readable
from agent.c.syntax.tree import top_level
from agent.language.nodes import text_of

_ATTRIBUTES = frozenset({"attribute_specifier", "attribute_declaration", "gnu_asm_expression"})
_HAS_ATTRIBUTE = re.compile(rb"attribute|\[\[|asm")


class Parameter(msgspec.Struct, frozen=True):
    """One parameter: its source ``text``, the ``name`` in it ("" when it has none), where a name would go in ``text``
    (``slot``), and the text without the name (``type``)."""

    text: str
    name: str
    slot: int
    type: str


class CFunction(msgspec.Struct, frozen=True):
    """A function definition or prototype. All offsets are bytes of the file.

    ``head`` is the text from the first specifier to the closing parenthesis, attributes taken out, on one line;
    ``before``/``after`` are the parts of it left and right of the function's own ``name(parameters)``;
    ``specifiers`` the part left of the declarator. ``body_start`` is -1 for a prototype. ``doc`` is the comment
    above, markers included. ``conditional`` tells that it stands in an ``#if`` which is neither the file's guard nor about
    C++: some builds have it, some do not.
    """

    name: str
    start: int
    end: int
    line: int
    head: str
    specifiers: str
    before: str
    after: str
    parameters: tuple[Parameter, ...]
    variadic: bool
    noreturn: bool
    static: bool
    inline: bool
    body_start: int = -1
    body_end: int = -1
    doc: str = ""
    doc_start: int = -1
    conditional: bool = False

    @property
    def defined(self) -> bool:
        """Whether it has a body."""
        return self.body_start >= 0

    @property
    def returns_void(self) -> bool:
        """Whether the return type is plain void."""
        words = set(re.findall(r"\w+", self.specifiers)) - {"static", "extern", "inline", "_Noreturn", "noreturn"}
        pointer = "*" in self.before[len(self.specifiers) :] or bool(self.after.strip())
        return "void" in words and not pointer


def functions(source: bytes) -> list[CFunction]:
    """Every function definition and prototype of a C file, in source order. Never raises on broken code."""
    return list(_functions(source))


@lru_cache(maxsize=32)  # while one function is written, the rest of the file and its headers are asked for again and again
def _functions(source: bytes) -> tuple[CFunction, ...]:
    source, root = readable(source)
    found: list[CFunction] = []
    for node in top_level(root):
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            found.extend(_function(source, node, declarator))
        elif node.type == "declaration":
            for declarator in node.children_by_field_name("declarator"):
                found.extend(_function(source, node, declarator))
    return tuple(found)


def definitions(source: bytes) -> list[CFunction]:
    """The functions of ``source`` that have a body."""
    return [function for function in functions(source) if function.defined]


def find_definition(source: bytes, name: str) -> CFunction | None:
    """The definition of ``name``, the last one if the file has several (behind ``#if``/``#else``)."""
    return next((function for function in reversed(definitions(source)) if function.name == name), None)


def _specifiers(source: bytes, node: tree_sitter.Node, declarator: tree_sitter.Node) -> str:
    """What stands in front of the first declarator: storage, qualifiers and type, without attributes."""
    first = next((child for child in node.children if child.type != "comment"), node)
    type_node = node.child_by_field_name("type")
    first_declarator = node.child_by_field_name("declarator") or declarator
    end = first.start_byte if type_node is None else type_node.end_byte
    for child in node.children:
        if child.start_byte >= first_declarator.start_byte:
            break
        end = max(end, child.end_byte)
    return _without_attributes(source, node, node.start_byte, end)


def _function(source: bytes, node: tree_sitter.Node, declarator: tree_sitter.Node | None) -> Iterator[CFunction]:
    own = _own_declarator(declarator)
    if declarator is None or own is None:
        return
    name_node = own.child_by_field_name("declarator")
    parameter_list = own.child_by_field_name("parameters")
    while name_node is not None and name_node.type == "parenthesized_declarator":
        name_node = next((child for child in name_node.named_children), None)
    if name_node is None or parameter_list is None or name_node.type != "identifier":
        return
    specifiers = _specifiers(source, node, declarator)
    before = on_one_line(specifiers + " " + _without_attributes(source, node, declarator.start_byte, own.start_byte))
    after = on_one_line(_without_attributes(source, node, parameter_list.end_byte, declarator.end_byte))
    body = node.child_by_field_name("body")
    whole = source[node.start_byte : body.start_byte if body is not None else node.end_byte]
    parameters = tuple(_parameters(parameter_list))
    doc, doc_start = comment_above(source, node)
    words = re.findall(r"\w+", specifiers)
    glue = "" if before.endswith(("*", "(")) else " "
    yield CFunction(
        name=text_of(name_node),
        start=node.start_byte,
        end=node.end_byte,
        line=node.start_point[0] + 1,
        head=f"{before}{glue}{text_of(name_node)}{on_one_line(text_of(parameter_list))}{after}",
        specifiers=on_one_line(specifiers),
        before=before,
        after=after,
        parameters=parameters,
        variadic=any(child.type == "variadic_parameter" for child in parameter_list.children),
        noreturn=b"noreturn" in whole.lower(),
        static="static" in words,
        inline=bool({"inline", "__inline", "__inline__"} & set(words)),
        body_start=body.start_byte if body is not None else -1,
        body_end=body.end_byte if body is not None else -1,
        doc=doc,
        doc_start=doc_start,
        conditional=_conditional(source, node),
    )


def _conditional(source: bytes, node: tree_sitter.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type in ("preproc_if", "preproc_ifdef"):
            head = (parent.text or b"")[:400].split(b"\n", 1)[0]
            if b"__cplusplus" not in head and parent.start_point[0] + 1 != guard_line(source):
                return True
        parent = parent.parent
    return False


def _own_declarator(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """The function declarator that holds the declared name itself; None for a pointer's name."""
    path: list[tree_sitter.Node] = []
    while node is not None and node.type != "identifier":
        path.append(node)
        deeper = node.child_by_field_name("declarator")
        if deeper is None:
            deeper = next(
                (child for child in node.named_children if child.type.endswith(("declarator", "identifier"))), None
            )
        node = deeper
    while path and path[-1].type == "parenthesized_declarator":
        path.pop()
    return path[-1] if path and path[-1].type == "function_declarator" else None


def _without_attributes(source: bytes, node: tree_sitter.Node, start: int, end: int) -> str:
    """``source[start:end]`` with GNU attributes, C23 attributes and ``asm`` labels blanked."""
    text = bytearray(source[start:end])
    if not _HAS_ATTRIBUTE.search(text):
        return text.decode("utf-8", "replace")
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.type in _ATTRIBUTES:
            low, high = max(inner.start_byte, start), min(inner.end_byte, end)
            if low < high:
                text[low - start : high - start] = b" " * (high - low)
        elif inner.type != "compound_statement" and inner.start_byte < end and inner.end_byte > start:
            stack.extend(inner.children)
    return text.decode("utf-8", "replace")


def _parameters(parameter_list: tree_sitter.Node) -> Iterator[Parameter]:
    for node in parameter_list.named_children:
        if node.type != "parameter_declaration":
            continue
        text = text_of(node)
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            if text.strip() != "void":
                yield Parameter(text=text, name="", slot=len(text), type=on_one_line(text))
            continue
        name = _declared_name(declarator)
        if name is not None:
            at = name.start_byte - node.start_byte
            raw = node.text or b""
            slot = len(raw[:at].decode("utf-8", "replace"))
            spelled = text_of(name)
            yield Parameter(text=text, name=spelled, slot=slot, type=on_one_line(text[:slot] + text[slot + len(spelled) :]))
        else:
            raw = node.text or b""
            at = _abstract_slot(declarator) - node.start_byte
            yield Parameter(text=text, name="", slot=len(raw[:at].decode("utf-8", "replace")), type=on_one_line(text))


def _declared_name(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    while node is not None and node.type != "identifier":
        deeper = node.child_by_field_name("declarator")
        if deeper is None:
            deeper = next((child for child in node.named_children if child.type.endswith("declarator")), None)
            if deeper is None:
                deeper = next((child for child in node.named_children if child.type == "identifier"), None)
                if node.type.startswith("abstract"):
                    return None
        node = deeper
    return node


def _abstract_slot(node: tree_sitter.Node) -> int:
    """Where a name goes in an abstract declarator, as a byte offset of the file."""
    while True:
        deeper = node.child_by_field_name("declarator")
        if deeper is None:
            deeper = next((child for child in node.named_children if child.type.startswith("abstract")), None)
        if deeper is None:
            return node.end_byte if node.type == "abstract_pointer_declarator" else node.start_byte
        node = deeper


def comment_above(source: bytes, node: tree_sitter.Node) -> tuple[str, int]:
    """The comments that touch the node from above (no blank line between), with where they begin."""
    start, row = -1, node.start_point[0]
    comment = node.prev_sibling
    while comment is not None and comment.type == "comment" and row - comment.end_point[0] <= 1:
        line_start = source.rfind(b"\n", 0, comment.start_byte) + 1
        if source[line_start : comment.start_byte].strip():
            break
        start, row = comment.start_byte, comment.start_point[0]
        comment = comment.prev_sibling
    if start < 0:
        return "", -1
    return source[start : node.start_byte].decode("utf-8", "replace").rstrip(), start


def declared_names(node: tree_sitter.Node) -> list[str]:
    """The names that a declaration or a parameter declares, pointers and arrays among them; [] for any other node."""
    if node.type not in ("declaration", "parameter_declaration"):
        return []
    names = []
    for child in node.children_by_field_name("declarator"):
        inner: tree_sitter.Node | None = child
        while inner is not None and inner.type in ("init_declarator", "pointer_declarator", "array_declarator"):
            inner = inner.child_by_field_name("declarator")
        if inner is not None and inner.type == "identifier":
            names.append(text_of(inner))
    return names
