"""Operators on what only C has."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from agent.c.preprocessor.includes import insert_include
from agent.language.nodes import walk
from agent.repair.operators.registry import EditParts, Site, inserted, operator

_WIDER = {
    "int": ("long long", "unsigned", "double", "char"), "char": ("unsigned char", "int"), "float": ("double",),
    "short": ("int",), "long": ("long long", "double"), "unsigned": ("unsigned long long", "int"),
    "unsigned int": ("int", "size_t"), "size_t": ("long",), "unsigned char": ("int",),
    "uint8_t": ("uint32_t",), "int8_t": ("uint8_t",), "uint32_t": ("uint64_t",),
    "int32_t": ("int64_t",), "uint16_t": ("uint32_t",),
}  # fmt: skip
_ALLOCATORS = ("malloc", "calloc", "realloc", "alloca", "strndup")
_ONE_OF_TEXT = ("subscript_expression", "pointer_expression")
_DECLARES = ("parameter_declaration", "declaration")
_BYTE_COUNTS = {"memcpy": 2, "memmove": 2, "memset": 2, "malloc": 0, "realloc": 1, "memcmp": 2}


@operator("missing-break", "a case that falls through ends in a break", ("c",), weight=0.6)
def missing_break(site: Site) -> Iterator[EditParts]:
    """And a ``break`` of a case that goes."""
    for node in site.of("case_statement"):
        inside = [one for one in node.named_children if site.is_statement(one)]
        if inside and inside[-1].type not in ("break_statement", "return_statement", "continue_statement", "goto_statement"):
            yield site.after(inside[-1], "break;")


@operator("sizeof", "the size of what is pointed to, not of the pointer", ("c",), weight=0.7)
def sizeof(site: Site) -> Iterator[EditParts]:
    """``sizeof p`` becomes ``sizeof *p``, and the other way round; ``sizeof(T)`` of a pointer loses its star."""
    for node in site.of("sizeof_expression"):
        text = site.text(node)
        match = re.fullmatch(r"sizeof\s*\(?\s*(\**)([\w>.\-]+)\s*\)?", text)
        if match:
            stars, name = match.groups()
            yield site.replace(node, f"sizeof({stars[1:] if stars else '*'}{name})")
        typed = re.fullmatch(r"sizeof\s*\(\s*([\w ]+?)\s*(\*?)\s*\)", text)
        if typed:
            yield site.replace(node, f"sizeof({typed[1]}{'' if typed[2] else ' *'})")


@operator("allocation", "room for one more, or for elements and not for bytes", ("c",), weight=0.6)
def allocation(site: Site) -> Iterator[EditParts]:
    """``malloc(n)`` becomes ``malloc(n + 1)``; byte counts are multiplied by an element's size."""
    for call in site.calls:
        if call.name in _ALLOCATORS and call.arguments:
            last = call.arguments[-1]
            yield site.replace(last, f"{site.text(last)} + 1")
        place = _BYTE_COUNTS.get(call.name)
        if place is None or len(call.arguments) <= place:
            continue
        size = call.arguments[place]
        text = site.text(size)
        target = (
            site.text(call.arguments[0])
            if call.name in ("memcpy", "memmove", "memset", "memcmp")
            else _assigned(site, call.node)
        )
        if "sizeof" not in text and target:
            yield site.replace(size, f"{_grouped(site, size)} * sizeof(*{_pointer(target)})")
        if "sizeof" in text and " * " in text:
            for part in text.split(" * "):
                yield site.replace(size, part.strip(), 0.7)
        elif text.startswith("sizeof"):
            for name in site.variables[:6]:
                yield site.replace(size, f"{name} * {text}", 0.7)


@operator("cleared", "memory that begins as zeros", ("c",), weight=0.6)
def cleared(site: Site) -> Iterator[EditParts]:
    """``malloc(n)`` becomes ``calloc(1, n)``: a row of pointers is read before each has its value."""
    for call in site.calls:
        if call.name == "malloc" and len(call.arguments) == 1:
            yield site.replace(call.node, f"calloc(1, {site.text(call.arguments[0])})")


@operator("empty-member", "an object of no elements is handed back with null for them", ("c",), weight=0.5)
def empty_member(site: Site) -> Iterator[EditParts]:
    """``if (n == 0) { p->items = NULL; return p; }`` before ``p->items = malloc(n * size)``: what an allocation of nothing
    returns is not fixed (C17 7.22.3). A condition that turns 0 away before only turns away what is less."""
    returned = {site.text(one.named_children[0]) for one in site.of("return_statement") if one.named_children}
    for call in site.calls if returned else ():
        target = _assigned(site, call.node)
        owner, arrow, _ = target.partition("->")
        statement = call.node
        while statement.parent is not None and statement.type != "expression_statement":
            statement = statement.parent
        if call.name not in _ALLOCATORS or not arrow or owner not in returned or statement.type != "expression_statement":
            continue
        named = (site.text(one) for part in call.arguments for one in walk(part) if one.type == "identifier")
        for name in dict.fromkeys(named):
            if name in site.variables and name not in site.pointers:
                text = f"if ({name} == 0) {{\n    {target} = NULL;\n    return {owner};\n}}"
                edit = site.before(statement, text)
                turning = [one for one in site.conditions if _turns_away(site, one, name)]
                above = [one for one in turning if one.end_byte < statement.start_byte]
                away = tuple((one.start_byte, one.end_byte, f"{name} < 0") for one in above)
                yield EditParts((*away, *edit.parts), site.line(above[0]) if above else edit.line)


def _turns_away(site: Site, condition: tree_sitter.Node, name: str) -> bool:
    return site.text(condition) in (f"{name} <= 0", f"{name} == 0", f"!{name}")


def _grouped(site: Site, node: tree_sitter.Node) -> str:
    return f"({site.text(node)})" if node.type == "binary_expression" else site.text(node)


def _pointer(text: str) -> str:
    return text if re.fullmatch(r"[\w>.\-]+", text) else f"({text})"


def _assigned(site: Site, node: tree_sitter.Node) -> str:
    one = node.parent
    while one is not None and one.type in ("cast_expression", "parenthesized_expression"):
        one = one.parent
    if one is None:
        return ""
    left = one.child_by_field_name("left") or one.child_by_field_name("declarator")
    return (
        site.text(left).lstrip("* ") if left is not None and one.type in ("assignment_expression", "init_declarator") else ""
    )


@operator("assigned-condition", "a comparison where a condition assigns", ("c",), weight=0.8)
def assigned_condition(site: Site) -> Iterator[EditParts]:
    """``if (a = b)`` becomes ``if (a == b)``."""
    for test in site.conditions:
        for node in [test, *test.children]:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if node.type == "assignment_expression" and left is not None and right is not None:
                yield site.replace(node, f"{site.text(left)} == {site.text(right)}")


@operator("declared-type", "a wider, unsigned or floating type", ("c",), weight=0.4)
def declared_type(site: Site) -> Iterator[EditParts]:
    """Of one declaration in the function, or of a cast."""
    for node in site.of("declaration"):
        kind = node.child_by_field_name("type")
        if kind is not None:
            for new in _WIDER.get(site.text(kind), ()):
                yield site.replace(kind, new)


@operator("initial-value", "a variable begins with a value", ("c",), weight=0.6)
def initial_value(site: Site) -> Iterator[EditParts]:
    """``int n;`` becomes ``int n = 0;``."""
    for node in site.of("declaration"):
        kind = node.child_by_field_name("type")
        for part in node.children_by_field_name("declarator"):
            if part.type == "identifier" and kind is not None and "struct" not in site.text(kind):
                yield site.replace(part, f"{site.text(part)} = 0")
            elif part.type == "pointer_declarator":
                yield site.replace(part, f"{site.text(part)} = 0", 0.7)
            elif part.type == "array_declarator":
                yield site.replace(part, f"{site.text(part)} = {{0}}", 0.7)


@operator("cast", "a division or comparison made in another type", ("c",), weight=0.45)
def cast(site: Site) -> Iterator[EditParts]:
    """``(double)`` before a division, ``(unsigned char)`` for a character, ``(int)`` for an unsigned difference."""
    for one in site.binaries:
        if one.text in ("/", "*"):
            yield site.replace(one.left, f"(double){_grouped(site, one.left)}")
        elif one.text in ("<", ">", "<=", ">="):
            yield site.replace(one.left, f"(int){_grouped(site, one.left)}", 0.7)
            yield site.replace(one.left, f"(long){_grouped(site, one.left)}", 0.4)
    for node in site.of("subscript_expression"):
        index = node.child_by_field_name("index")
        if index is not None and index.type in ("identifier", "subscript_expression", "pointer_expression"):
            yield site.replace(index, f"(unsigned char){site.text(index)}", 0.7)
    for call in site.calls:
        if call.name.startswith(("is", "to")) and len(call.arguments) == 1:
            argument = call.arguments[0]
            yield site.replace(argument, f"(unsigned char){_grouped(site, argument)}", 0.6)
    for node in site.of("cast_expression"):
        value = node.child_by_field_name("value")
        if value is not None:
            yield site.replace(node, site.text(value), 0.7)


@operator("pointer", "the value or the address, one star more or less", ("c",), weight=0.5)
def pointer(site: Site) -> Iterator[EditParts]:
    """``x``, ``*x`` and ``&x``; ``p->f`` and ``p.f`` are the compiler's to tell."""
    for node in site.of("pointer_expression"):
        argument = node.child_by_field_name("argument")
        if argument is not None:
            yield site.replace(node, site.text(argument))
    for node in site.uses:
        parent = node.parent
        if parent is not None and parent.type in (
            "argument_list",
            "binary_expression",
            "assignment_expression",
            "return_statement",
        ):
            yield site.replace(node, f"*{site.text(node)}", 0.6)
            if parent.type == "argument_list":
                yield site.replace(node, f"&{site.text(node)}")


@operator("step", "counted before or after, up or down", ("c",), weight=0.5)
def step(site: Site) -> Iterator[EditParts]:
    """``i++``, ``++i``, ``i--``, ``--i``."""
    for node in site.of("update_expression"):
        argument = node.child_by_field_name("argument")
        if argument is None:
            continue
        name = site.text(argument)
        sign = "++" if "++" in site.text(node) else "--"
        other = "--" if sign == "++" else "++"
        prefix = site.text(node).startswith(sign)
        if node.parent is not None and node.parent.type not in ("expression_statement", "for_statement"):
            yield site.replace(node, f"{name}{sign}" if prefix else f"{sign}{name}")
            yield site.replace(node, name, 0.6)
        yield site.replace(node, f"{other}{name}" if prefix else f"{name}{other}", 0.6)


@operator("empty-body", "a semicolon that cuts a loop or branch off from its body goes", ("c",), weight=0.9)
def empty_body(site: Site) -> Iterator[EditParts]:
    """``for (…);`` before a block (gcc -Wempty-body)."""
    for node in site.of("for_statement", "while_statement", "if_statement"):
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        if body is not None and site.text(body) == ";":
            yield site.remove(body) if site.begins_line(body) else site.replace(body, "")


@operator("freed", "memory freed twice, too early, or not set to null", ("c",), weight=0.5)
def freed(site: Site) -> Iterator[EditParts]:
    """A ``free`` goes, moves to the end of its block, or is followed by ``p = NULL``."""
    for one, block, place in site.statements:
        match = re.fullmatch(r"free\s*\((.+)\)\s*;", site.text(one), re.S)
        if match is None:
            continue
        yield site.remove(one)
        yield site.after(one, f"{match[1]} = NULL;")
        last = block[-1]
        if place < len(block) - 1:
            cut = site.remove(one).parts[0]
            spot = (last.start_byte, last.start_byte, f"{site.text(one)}\n{site.indent(last)}")
            yield EditParts((cut, spot), site.line(one))


@operator("null-check", "a pointer that may be null is looked at before it is used", ("c",), weight=0.45)
def null_check(site: Site) -> Iterator[EditParts]:
    """``if (!p) return …;`` after the assignment, or around the statement."""
    results = ["", "0", "-1", "NULL"]
    for one, _, _ in site.statements:
        names = _pointed(site, one)
        if not site.begins_line(one) or not site.is_simple(one) or one.type == "declaration":
            continue
        for name in sorted(names):
            if not re.fullmatch(r"\w+(?:->\w+)?", name):
                continue
            yield site.replace(one, f"if ({name})\n{site.indent(one)}    {site.text(one)}")
            for result in results:
                yield site.before(one, f"if (!{name})\n    return{' ' if result else ''}{result};", 0.7)


def _pointed(site: Site, statement: tree_sitter.Node) -> set[str]:
    """What a statement follows a pointer from."""
    found = set()
    for node in site.of("field_expression", "pointer_expression"):
        argument = node.child_by_field_name("argument")
        if argument is not None and statement.start_byte <= node.start_byte < statement.end_byte:
            found.add(site.text(argument))
    return found


@operator("terminator", "a string that ends where its text does", ("c",), weight=0.5)
def terminator(site: Site) -> Iterator[EditParts]:
    """``s[n] = '\\0';`` added before a return or at the end; ``strlen(s)`` one more."""
    indexed = [node.child_by_field_name("argument") for node in site.of("subscript_expression")]
    arrays = {site.text(node) for node in indexed if node is not None}
    names = [one for one in sorted(arrays) if re.fullmatch(r"\w+(?:->\w+)?", one)]
    indices = [name for name in site.variables if name not in names]
    for one, block, place in site.statements:
        if one.parent != site.body or not site.begins_line(one):
            continue
        for array in names[:3]:
            for index in indices[:5]:
                text = f"{array}[{index}] = '\\0';"
                if one.type == "return_statement":
                    yield site.before(one, text)
                elif place == len(block) - 1:
                    yield site.after(one, text)


@operator("mask", "the bits beyond the last are left out", ("c",), weight=0.35)
def mask(site: Site) -> Iterator[EditParts]:
    """``x`` becomes ``x & mask`` or ``x % size`` with a name of the scope; shifts are made in a wider type."""
    names = [one for one in site.variables if re.search(r"mask|size|len|cap|count|bits|n$", one)]
    for node in site.of("subscript_expression"):
        index = node.child_by_field_name("index")
        if index is not None:
            for name in names[:4]:
                yield site.replace(index, f"{_grouped(site, index)} % {name}", 0.8)
    for one in site.binaries:
        if one.text == "<<" and site.text(one.left) == "1":
            yield site.replace(one.left, "1u")
            yield site.replace(one.left, "1ull")
    fields = {site.text(node) for node in site.of("field_expression")}
    for node in site.of("subscript_expression"):
        index = node.child_by_field_name("index")
        for size in sorted(one for one in fields if re.search(r"cap|size|len", one))[:3]:
            if index is not None and size not in site.text(index):
                yield site.replace(index, f"{_grouped(site, index)} % {size}", 0.7)


@operator("format", "another conversion in a format", ("c",), weight=0.4)
def formats(site: Site) -> Iterator[EditParts]:
    """``%d`` for ``%c``, ``%f``, ``%u``, ``%s``; a line break or blank more or less at the end."""
    readers = {call.arguments[0] for call in site.calls if call.name == "scanf" and call.arguments}
    for node in site.of("string_literal"):
        text = site.text(node)
        if node in readers and "%s" in text:  # a word is read where a line is meant
            yield site.replace(node, text.replace("%s", "%[^\\n]"), 1.3)
        for match in re.finditer(r"%([-+0 #]*\d*(?:\.\d+)?)(hh|h|ll|l|z)?([dciufgsxX])", text):
            for new in ("d", "c", "f", "lf", "u", "s", "x", "ld", "lld"):
                old = (match[2] or "") + match[3]
                if new != old:
                    yield site.replace(node, text[: match.start()] + f"%{match[1]}{new}" + text[match.end() :])
        if text.endswith('\\n"'):
            yield site.replace(node, text[:-3] + '"', 0.6)
        elif len(text) > 2:
            yield site.replace(node, text[:-1] + '\\n"', 0.6)


@operator("character", "another character, or the number for it", ("c",), weight=0.4)
def character(site: Site) -> Iterator[EditParts]:
    """``'0'`` and ``0``, upper and lower case, line break, blank and end of string."""
    for node in site.of("char_literal"):
        text = site.text(node)
        inner = text[1:-1]
        for new in ("'\\n'", "'\\0'", "' '", "'0'"):
            yield site.replace(node, new, 0.7)
        if len(inner) == 1 and inner.isalpha():
            yield site.replace(node, f"'{inner.swapcase()}'")
    for node in site.of("number_literal"):
        if site.text(node) == "0":
            yield site.replace(node, "'0'", 0.6)
        if re.fullmatch(r"\d+", site.text(node)):
            yield site.replace(node, f"{site.text(node)}.0", 0.5)


@operator("letter-case", "a character is taken as a small or a capital letter", ("c",), weight=0.6)
def letter_case(site: Site) -> Iterator[EditParts]:
    """``switch (*word)`` becomes ``switch (toupper((unsigned char)*word))``: what a character is compared with, looked up
    in, indexes or is added to. The header comes along."""
    for node in _characters(site):
        for name in ("tolower", "toupper"):
            edit = site.replace(node, f"{name}((unsigned char){site.text(node)})")
            yield EditParts((*_with_header(site, "ctype.h"), *edit.parts), edit.line, 1.0 if _is_handled(node) else 0.6)


def _characters(site: Site) -> Iterator[tree_sitter.Node]:
    """Expressions that are one character of a text, or a variable that holds one, where their value is used."""
    declared = [one for one in walk(site.function.node) if one.type in _DECLARES]
    texts, single = set[str](), set[str]()
    for one in declared:
        kind = one.child_by_field_name("type")
        if kind is None or "char" not in site.text(kind).split():
            continue
        for declarator in one.children_by_field_name("declarator"):
            name = next((inner for inner in walk(declarator) if inner.type == "identifier"), None)
            if name is not None:
                (texts if site.text(name) in site.pointers else single).add(site.text(name))
    for node in site.of(*_ONE_OF_TEXT):
        base = next((inner for inner in walk(node) if inner.type == "identifier"), None)
        if base is not None and site.text(base) in texts and not site.text(node).startswith("&") and _is_read(node):
            yield node
    yield from (node for node in site.uses if site.text(node) in single and _is_read(node))


def _is_read(node: tree_sitter.Node) -> bool:
    """Whether a node is read: not written to, nor a part of an expression that is one itself."""
    parent = node.parent
    if parent is None or parent.type in (*_ONE_OF_TEXT, "update_expression", "init_declarator", "expression_statement"):
        return parent is not None and parent.type == "init_declarator" and node == parent.child_by_field_name("value")
    return not (parent.type == "assignment_expression" and node == parent.child_by_field_name("left"))


def _is_handled(node: tree_sitter.Node) -> bool:
    """Whether a ``switch`` or a call handles the character as a whole, so that one change is all that lacks."""
    one = node.parent
    while one is not None and one.type == "parenthesized_expression":
        one = one.parent
    return one is not None and one.type in ("switch_statement", "argument_list")


def _with_header(site: Site, header: str) -> tuple[tuple[int, int, str], ...]:
    """The insertion that includes a system header; none where it is there."""
    return inserted(site.source, insert_include(site.source, header, True, site.function.first)[0])


@operator("zero-step", "a loop that would not move on is left out", ("c",), weight=0.6)
def zero_step(site: Site) -> Iterator[EditParts]:
    """``for (j = f; j < n; j += f)`` never ends where ``f`` is 0: it becomes ``for (j = f; f != 0 && j < n; j += f)``."""
    for node in site.of("for_statement"):
        update, test = node.child_by_field_name("update"), node.child_by_field_name("condition")
        if update is None or test is None or update.type != "assignment_expression":
            continue
        step, text = update.child_by_field_name("right"), site.text(update)
        if step is not None and step.type != "number_literal" and re.search(r"[+\-]=", text):
            yield site.replace(test, f"{_grouped(site, step)} != 0 && {_grouped(site, test)}")


@operator("tested-at-end", "a loop tested at its end, or the other way round", ("c",), weight=0.4)
def tested_at_end(site: Site) -> Iterator[EditParts]:
    """``while (c) s`` becomes ``do s while (c);``, and back."""
    for node in site.of("while_statement"):
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is not None and body is not None and site.text(body) != ";":
            tail = body.end_byte, body.end_byte, f" while {site.text(test)};"
            yield EditParts(((node.start_byte, body.start_byte, "do "), tail), site.line(node))
    for node in site.of("do_statement"):
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is not None and body is not None:
            head = (node.start_byte, body.start_byte, f"while {site.text(test)} ")
            yield EditParts((head, (body.end_byte, node.end_byte, "")), site.line(node))
