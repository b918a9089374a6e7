"""Operators that take texts from failing checks: nearly the same ones, those that a list lacks, any other, their order."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.registry import CallNode, EditParts, Site, operator
from agent.repair.operators.told import quoted_pairs

_SHORTEST = 4
_NEAR = 0.7
"""Likeness of two texts (difflib's ratio) from which one may be meant for the other."""

_FEWEST, _MOST = 3, 8
"""Texts in a list that may lack one, and texts that are tried."""


@operator("near-text", "texts become those in the failing checks that are nearly the same", ("python",), weight=0.7)
def near_text(site: Site) -> Iterator[EditParts]:
    """``'Radish'`` becomes ``'Radishes'``: all at once, as one check may read several, then each alone."""
    found = [(node, near) for node, text in _literals(site) if (near := _near(site, text))]
    parts = tuple((node.start_byte, node.end_byte, repr(near)) for node, near in found)
    if parts:
        yield EditParts(parts, site.line(found[0][0]))
    for part, (node, _) in zip(parts, found, strict=True):
        yield EditParts((part,), site.line(node), 0.8)


@operator("missing-text", "a text of the failing checks put into a list of texts that lacks it", ("python",), weight=0.6)
def missing_text(site: Site) -> Iterator[EditParts]:
    """Behind the last one first, then before each; in place of one, too."""
    known = {text for _, text in _literals(site)}
    missing = [text for text in site.texts if len(text) >= _SHORTEST and text not in known][:_MOST]
    for node in site.of("list", "tuple") if missing else ():
        inside = [one for one in node.named_children if one.type != "comment"]
        if len(inside) < _FEWEST or any(one.type != "string" for one in inside):
            continue
        for text in map(repr, missing):
            last = inside[-1]
            yield EditParts(((last.end_byte, last.end_byte, f", {text}"),), site.line(last))
            for one in inside:
                yield EditParts(((one.start_byte, one.start_byte, f"{text}, "),), site.line(one), 0.8)
                yield site.replace(one, text, 0.5)


@operator("told-text", "a whole text becomes one of the failing checks", ("c", "python"), weight=0.5)
def told_text(site: Site) -> Iterator[EditParts]:
    """All places of the text in one statement change together: a copy names it twice."""
    places: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for node in site.of("string_literal") if not site.python else [node for node, _ in _literals(site)]:
        statement = node
        while statement.parent is not None and not statement.type.endswith(("_statement", "declaration")):
            statement = statement.parent
        places.setdefault((statement.start_byte, site.text(node)), []).append((node.start_byte, node.end_byte))
    told = [repr(text) if site.python else f'"{text}"' for text in site.texts[:_MOST]]
    for (start, written), found in places.items():
        line = site.source.count(b"\n", 0, start) + 1
        for text in told:
            if text != written:
                yield EditParts(tuple((begin, end, text) for begin, end in found), line)


def _literals(site: Site) -> list[tuple[tree_sitter.Node, str]]:
    """The plain strings of the function, with what they are."""
    found = []
    for node in site.of("string"):
        try:
            value = ast.literal_eval(site.text(node))
        except (ValueError, SyntaxError):  # a formatted one
            continue
        if isinstance(value, str) and (node.parent is None or node.parent.type != "expression_statement"):
            found.append((node, value))
    return found


def _near(site: Site, text: str) -> str:
    """The text of the failing checks that is most like ``text``; "" where none is, or where it is one of them itself."""
    if len(text) < _SHORTEST or text in site.texts:
        return ""
    return next(iter(difflib.get_close_matches(text, site.texts, 1, _NEAR)), "")


@operator("printed-order", "what is printed in the order that a failing check expects", ("c",), weight=0.8)
def printed_order(site: Site) -> Iterator[EditParts]:
    """``printf("low %d\\nhigh %d\\n", a, b)`` becomes ``printf("high %d\\nlow %d\\n", b, a)``, and two calls change places,
    where a check got the words that it expects in another order."""
    if not any(sorted(got.split()) == sorted(wanted.split()) for got, wanted in quoted_pairs(site)):
        return
    printing = [call for call in site.calls if call.name in _PRINTING]
    for place, one in enumerate(printing):
        yield from _pieces_swapped(site, one)
        for other in printing[place + 1 : place + 4]:
            if site.text(one.node) != site.text(other.node):
                yield site.swap(one.node, other.node)


_PRINTING = ("printf", "puts", "putchar")
_WORDS = r"(?:[^%\\]|\\[^n]|%%)*"
_PIECE = re.compile(rf"{_WORDS}%[-+0 #]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[a-zA-Z]{_WORDS}?(?:\\n|(?=\s)|$)")
"""A conversion of a format with the words before it, and a line break behind it."""


def _pieces_swapped(site: Site, call: CallNode) -> Iterator[EditParts]:
    if call.name != "printf" or not call.arguments or call.arguments[0].type != "string_literal":
        return
    form, values = call.arguments[0], call.arguments[1:]
    inner = site.text(form)[1:-1]
    pieces = list(_PIECE.finditer(inner))
    if not 2 <= len(pieces) == len(values) <= _MOST:
        return
    for first, one in enumerate(pieces):
        for second, other in enumerate(pieces[first + 1 :], first + 1):
            a, b = one[0].removesuffix("\\n"), other[0].removesuffix("\\n")
            ends = one.start() + len(a), other.start() + len(b)
            text = inner[: one.start()] + b + inner[ends[0] : other.start()] + a + inner[ends[1] :]
            swapped = site.swap(values[first], values[second]).parts
            yield EditParts(((form.start_byte, form.end_byte, f'"{text}"'), *swapped), site.line(form))
