"""Operators that take texts from the sources of failing checks: nearly the same ones, those that a list lacks, any other."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator

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
