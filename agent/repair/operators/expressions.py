"""Operators on expressions: comparison, arithmetic, constants, operands, arguments, slices."""

from __future__ import annotations

from collections.abc import Iterator

from agent.language.nodes import walk
from agent.repair.operators.registry import Binary, EditParts, Site, operator

_COMPARISONS = {
    "<": ("<=", ">", "!=", ">=", "=="), "<=": ("<", ">=", "==", ">", "!="), ">": (">=", "<", "!=", "<=", "=="),
    ">=": (">", "<=", "==", "<", "!="), "==": ("!=", ">=", "<=", "<", ">"), "!=": ("==", "<", ">", "<=", ">="),
}  # fmt: skip
_PYTHON_COMPARISONS = {"in": ("not in",), "not in": ("in",), "is": ("==", "is not"), "is not": ("!=", "is")}
_NEAR = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_ARITHMETIC = {
    "+": ("-", "*"), "-": ("+", "*"), "*": ("/", "+", "-", "**"), "/": ("*", "//", "%"), "//": ("/", "%", "*"),
    "%": ("/", "//", "*"), "**": ("*",), "&": ("|", "^", "%"), "|": ("&", "^"), "^": ("&", "|"), "<<": (">>",),
    ">>": ("<<",),
}  # fmt: skip
_ASSIGNING = {
    "+=": ("-=", "=", "*="), "-=": ("+=", "="), "*=": ("+=", "/="), "/=": ("*=", "//="), "//=": ("/=",), "%=": ("//=",),
    "&=": ("|=", "^="), "|=": ("&=", "="), "^=": ("&=", "|="), "<<=": (">>=",), ">>=": ("<<=",), "=": ("+=",),
}  # fmt: skip
_PLACES = {"subscript", "subscript_expression", "slice", "argument_list", "return_statement", "assignment",
           "assignment_expression", "init_declarator", "comparison_operator", "binary_expression", "pair",
           "augmented_assignment", "keyword_argument", "binary_operator"}  # fmt: skip
_VALUES = {"identifier", "call", "call_expression", "attribute", "field_expression", "subscript", "subscript_expression",
           "binary_operator", "binary_expression"}  # fmt: skip


def _known(site: Site, sign: str) -> bool:
    return site.python or sign not in ("**", "//", "in", "is", "not in", "is not", "//=")


_MOST_TWINS = 4


@operator("comparison", "another comparison: boundary taken in or left out, turned round, negated", weight=1.0)
def comparison(site: Site) -> Iterator[EditParts]:
    """``<`` for ``<=`` and the like; ``in`` and ``is`` in Python."""
    for one in site.binaries:
        for place, sign in enumerate(_COMPARISONS.get(one.text, ())):
            yield site.sign(one, sign, 1.0 if place == 0 else 0.75)
        for sign in _PYTHON_COMPARISONS.get(one.text, ()) if site.python else ():
            yield site.sign(one, sign)


@operator("twin-comparisons", "the boundary of all comparisons with one value taken in or left out", weight=0.5)
def twin_comparisons(site: Site) -> Iterator[EditParts]:
    """``all(a < v for ...) and all(b > v for ...)`` becomes ``a <= v`` and ``b >= v``: the slip is in all of them."""
    found: dict[str, list[Binary]] = {}
    for one in site.binaries:
        operands = [part for part in (one.left, one.right) if part.type in ("identifier", "attribute", "subscript")]
        for text in {site.text(part) for part in operands} if one.text in _NEAR and one.text[0] in "<>" else ():
            found.setdefault(text, []).append(one)
    for twins in found.values():
        for strict in (True, False):
            some = [one for one in twins if (len(one.text) == 1) == strict]
            if 2 <= len(some) <= _MOST_TWINS:
                signs = [site.sign(one, _NEAR[one.text]) for one in some]
                yield EditParts(tuple(part for sign in signs for part in sign.parts), signs[0].line)


@operator("comparison-constant", "another comparison together with a constant one more or less", weight=0.55)
def comparison_constant(site: Site) -> Iterator[EditParts]:
    """``n == 0`` for ``n <= 1``."""
    for one in site.binaries:
        number = one.right if one.right.type in ("integer", "number_literal") else None
        if one.text not in _COMPARISONS or number is None or not site.text(number).isdigit():
            continue
        value = int(site.text(number))
        for sign in ("<=", ">=", "<", ">", "==", "!="):
            for new in (value + 1, value - 1):
                if sign != one.text and (new >= 0 or sign in (">", ">=", "==", "!=")):
                    changed = site.sign(one, sign)
                    yield EditParts((*changed.parts, (number.start_byte, number.end_byte, str(new))), changed.line)


@operator("arithmetic", "another arithmetic or bit operator", weight=0.8)
def arithmetic(site: Site) -> Iterator[EditParts]:
    """``+`` for ``-``, ``/`` for ``//`` and so on."""
    for one in site.binaries:
        for sign in _ARITHMETIC.get(one.text, ()):
            if _known(site, sign):
                yield site.sign(one, sign)


@operator("rounding", "a whole division rounded down, up or to the nearest; a remainder that is never negative", weight=0.45)
def rounding(site: Site) -> Iterator[EditParts]:
    """C rounds ``a / b`` towards zero and gives ``a % b`` the sign of ``a`` (C17 6.5.5), Python rounds ``a // b`` down."""
    quotient = "//" if site.python else "/"
    for one in site.binaries:
        if one.text not in (quotient, "%") or any(node.type in ("call_expression", "call") for node in walk(one.node)):
            continue
        a, b = site.grouped(one.left), site.grouped(one.right)
        proposed: list[str] = []
        if one.text == quotient:
            proposed += [f"({a} + {b} - 1) {quotient} {b}", f"({a} + {b} {quotient} 2) {quotient} {b}"]
        if not site.python:
            proposed.append(f"{a} / {b} - ({a} % {b} < 0)" if one.text == "/" else f"({a} % {b} + {b}) % {b}")
        operand = one.node.parent is not None and "binary" in one.node.parent.type
        for text in proposed:
            yield site.replace(one.node, f"({text})" if operand else text)


@operator("assignment", "another assigning operator", weight=0.6)
def assigning(site: Site) -> Iterator[EditParts]:
    """``+=`` for ``-=`` or ``=``; only names that have a value already are added to."""
    for node in site.of("augmented_assignment", "assignment_expression", "assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or node.child_by_field_name("type") is not None:
            continue
        between = site.source[left.end_byte : right.start_byte].decode("utf-8", "replace")
        for sign in _ASSIGNING.get(between.strip(), ()):
            if _known(site, sign):
                part = (left.end_byte, right.start_byte, between.replace(between.strip(), sign))
                yield EditParts((part,), site.line(node), 0.5 if "=" in (sign, between.strip()) else 1.0)


@operator("constant", "a number one more, one less, 0, 1 or of the other sign", weight=0.8)
def constant(site: Site) -> Iterator[EditParts]:
    """Whole numbers only."""
    for node in site.of("integer", "number_literal"):
        text = site.text(node)
        if not text.isdigit() or (len(text) > 1 and text[0] == "0"):
            continue
        value = int(text)
        for place, new in enumerate(dict.fromkeys((value + 1, value - 1, 0, 1, -value, 2 * value))):
            if new != value:
                yield site.replace(node, str(new), 1.0 if place < 2 else 0.6)


@operator("off-by-one", "an index, bound, size or argument one more or one less", weight=0.75)
def off_by_one(site: Site) -> Iterator[EditParts]:
    """``x`` becomes ``x + 1`` or ``x - 1``; a ``+ 1`` or ``- 1`` that is there goes."""
    for node in site.nodes:
        parent = node.parent
        if parent is None or node.type not in _VALUES or parent.type not in _PLACES:
            continue
        if node in (parent.child_by_field_name("function"), parent.child_by_field_name("left"), parent.child_by_field_name("value")) and parent.type in ("call", "call_expression", "assignment", "augmented_assignment", "assignment_expression", "subscript"):  # noqa: E501  # fmt: skip
            continue
        if parent.type in ("binary_operator", "binary_expression") and not _is_compared(site, parent):
            continue
        if parent.type in ("subscript_expression",) and node == parent.child_by_field_name("argument"):
            continue
        weight = 1.0 if parent.type in ("subscript", "subscript_expression", "slice", "argument_list") else 0.7
        text = site.grouped(node) if node.type not in ("binary_operator", "binary_expression") else site.text(node)
        yield site.replace(node, f"{text} + 1", weight)
        yield site.replace(node, f"{text} - 1", weight)
    for one in site.binaries:
        if one.text in ("+", "-") and site.text(one.right) == "1":
            yield site.replace(one.node, site.text(one.left))
        if one.text == "+" and site.text(one.left) == "1":
            yield site.replace(one.node, site.text(one.right))


def _is_compared(site: Site, node: object) -> bool:
    return any(one.node == node and one.text in _COMPARISONS for one in site.binaries)


@operator("operand", "an operand left out or one instead, or the two of them swapped", weight=0.6)
def operand(site: Site) -> Iterator[EditParts]:
    """``a - b`` for ``b - a``, ``a``, ``b`` or ``a - 1``."""
    for one in site.binaries:
        if one.text in _COMPARISONS or one.text in _PYTHON_COMPARISONS:
            continue
        if one.text not in ("+", "*", "and", "or", "&&", "||", "&", "|", "^"):
            yield site.swap(one.left, one.right)
        elif one.text in ("+", "and", "or", "&&", "||"):
            yield site.swap(one.left, one.right, 0.4)
        yield site.replace(one.node, site.text(one.left), 0.9)
        yield site.replace(one.node, site.text(one.right), 0.9)
        if one.text in ("+", "-") and one.right.type in _VALUES:
            yield site.replace(one.right, "1", 0.8)


@operator("arguments", "two arguments of a call swapped", weight=0.7)
def arguments(site: Site) -> Iterator[EditParts]:
    """Any two of at most five; what ``scanf`` reads has its order from what is read."""
    for call in site.calls:
        args = call.arguments[:5]
        scale = 0.4 if call.name in ("scanf", "sscanf", "fscanf") else 1.0
        for first in range(len(args)):
            for second in range(first + 1, len(args)):
                if args[first].type != "keyword_argument" != args[second].type:
                    yield site.swap(args[first], args[second], scale * (1.0 if second == first + 1 else 0.7))


@operator("operand-added", "a term with another name added to a value", weight=0.45)
def operand_added(site: Site) -> Iterator[EditParts]:
    """``x - y``, ``x + y``, ``y + x`` or ``x * y`` for ``x`` that is returned, passed on, kept, indexed by or assigned."""
    signs = ("+", "-", "*")
    for node in site.nodes:
        parent = node.parent
        if parent is None or parent.type not in ("argument_list", "return_statement", "assignment", "init_declarator",
                                                 "subscript", "assignment_expression", "subscript_expression",
                                                 "binary_operator", "binary_expression", "tuple", "list",
                                                 "pair"):  # fmt: skip
            continue
        factor = parent.type == "binary_expression"  # C has one kind of node for calculations and comparisons
        named = (
            parent.child_by_field_name("left"),
            parent.child_by_field_name("value"),
            parent.child_by_field_name("function"),
        )
        whole = ("init_declarator", "binary_operator", "binary_expression")
        if not node.is_named or (node in named and parent.type not in whole):
            continue
        if node.type in ("string", "string_literal", "keyword_argument", "comment", "integer", "number_literal", "true",
                         "false", "none", "null", "type_identifier", "argument_list", "pointer_expression"):  # fmt: skip
            continue
        text = site.text(node)
        for name in site.variables[:7]:
            if name == text or name in site.flags:
                continue
            for sign in _signs_for(site, node, parent) if factor else signs:
                told = parent.type in ("argument_list", "return_statement", "subscript", "subscript_expression")
                weight = (1.0 if told else 0.6) * (0.5 if sign == "*" else 1.0)
                new = f"{site.grouped(node)} {sign} {name}"
                yield site.replace(node, f"({new})" if factor and sign != "*" else new, weight)
                if sign == "+" and site.python and node.type in ("list", "list_comprehension", "call", "string"):
                    yield site.replace(node, f"{name} + {text}")


def _signs_for(site: Site, node: object, parent: object) -> tuple[str, ...]:
    """With which signs a term can be added to an operand: a factor in a sum, a summand in what is multiplied or divided."""
    one = next((one for one in site.binaries if one.node == parent), None)
    if one is None:
        return ()
    return ("*",) if one.text in ("+", "-") else ("+", "-") if one.text in ("*", "/", "%") and one.left == node else ()


@operator("slice", "bounds of a slice moved, added or left out", ("python",), weight=0.5)
def slices(site: Site) -> Iterator[EditParts]:
    """``x[1:]``, ``x[:-1]``, ``x`` and bounds one more or less."""
    for node in site.of("slice"):
        parts = site.text(node).split(":")
        for place in range(2):
            if len(parts) > place and parts[place].strip():
                yield site.replace(node, ":".join("" if n == place else part for n, part in enumerate(parts)))
        if len(parts) == 2:
            low, high = (part.strip() for part in parts)
            for text in (f"{low or 1}:{high}", f"{low}:{high or -1}", f"{low} + 1:{high}" if low else "1:" + high):
                yield site.replace(node, text)
            if low and high:
                yield site.replace(node, f"{low}:{high} + 1")
                yield site.replace(node, f"{low}:{high} - 1")
    for node in site.uses:
        parent = node.parent
        if parent is not None and parent.type in ("argument_list", "return_statement", "binary_operator", "for_statement"):
            for bounds in ("[1:]", "[:-1]", "[:]", "[::-1]"):
                yield site.replace(node, site.text(node) + bounds, 0.7)
    for node in site.of("subscript"):
        value = node.child_by_field_name("value")
        if value is not None and any(child.type == "slice" for child in node.children):
            yield site.replace(node, site.text(value))


@operator("constant-result", "a fixed result replaced by what the function knows", weight=0.35)
def constant_result(site: Site) -> Iterator[EditParts]:
    """``return True`` becomes ``return not x`` or ``return x == 0``; a returned number becomes a name."""
    fixed = ("true", "false", "none", "integer", "number_literal", "null")
    for node in site.of("return_statement"):
        value = node.named_children[0] if node.named_children else None
        if value is None or value.type not in fixed:
            continue
        for name in site.variables:
            if value.type in ("true", "false"):
                no = f"not {name}" if site.python else f"!{name}"
                for text in (f"{name} == 0", no, f"{name} != 0", name):
                    yield site.replace(value, text)
            else:
                yield site.replace(value, name)


@operator("conditional", "the two branches of a conditional expression swapped, or one of them taken", weight=0.4)
def conditional(site: Site) -> Iterator[EditParts]:
    """``a if c else b`` and ``c ? a : b``."""
    for node in site.of("conditional_expression"):
        parts = node.named_children
        if len(parts) == 3:
            one, other = (parts[0], parts[2]) if site.python else (parts[1], parts[2])
            yield site.swap(one, other)
            yield site.replace(node, site.text(one), 0.6)
            yield site.replace(node, site.text(other), 0.6)


def compared(site: Site) -> list[Binary]:
    """The comparisons of a function."""
    return [one for one in site.binaries if one.text in _COMPARISONS or one.text in _PYTHON_COMPARISONS]


@operator("near-pair", "two comparisons of one condition moved to their boundary together", weight=0.45)
def near_pair(site: Site) -> Iterator[EditParts]:
    """``a < b && b < c`` for ``a <= b && b <= c``."""
    found = [one for one in site.binaries if one.text in ("<", "<=", ">", ">=")]
    for place, one in enumerate(found):
        for other in found[place + 1 : place + 5]:
            if site.line(other.node) - site.line(one.node) <= 3:
                first, second = site.sign(one, _NEAR[one.text]), site.sign(other, _NEAR[other.text])
                yield EditParts((*first.parts, *second.parts), first.line)
    for condition in site.conditions:
        inside = [one for one in found if condition.start_byte <= one.node.start_byte < condition.end_byte]
        if len(inside) > 2:
            changed = [site.sign(one, _NEAR[one.text]) for one in inside]
            yield EditParts(tuple(part for one in changed for part in one.parts), changed[0].line)
    if len(found) > 2:
        strict = [site.sign(one, _NEAR[one.text]) for one in found if one.text in ("<", ">")]
        if len(strict) > 1:
            yield EditParts(tuple(part for one in strict for part in one.parts), strict[0].line, 1.5)
