"""Operators that take what they put in from what is told: the texts of failing checks, the numbers of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator

_QUOTED = re.compile(r'(?<!\w)"((?:[^"\\\n]|\\.)*)"|(?<!\w)\'((?:[^\'\\\n]|\\.)*)\'')
_CONVERSION = re.compile(r"%[-+0 #]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[a-zA-Z%]|\{[^{}]*\}")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}
_MOST_TEXTS = 6
_KNOWN = 0.3
_WORD = re.compile(r"[A-Za-z]{2}")
_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?!\w|\.\d)")
_MOST_NUMBERS = 6
_VALUES = {"identifier", "binary_operator", "binary_expression", "call", "call_expression"}
_PLACES = {"assignment", "assignment_expression", "init_declarator", "return_statement", "argument_list"}


@operator("expected-text", "a text becomes what a failing check expects in its place", weight=1.0)
def expected_text(site: Site) -> Iterator[EditParts]:
    """Of two quoted texts in a check's message one becomes the other when a part of a literal is exchanged; blank space
    counts as one blank. Where the function has the wanted text already, what is wrong is rather which one is taken."""
    pairs = [pair for said in site.said for pair in _pairs(said)]
    literals = site.of("string_literal", "string") if pairs else []
    places = [(node, *place) for node in literals for place in _pieces(site, node)]
    known = {_one_blank(_plain(site.source[start:end].decode("utf-8", "replace"))) for _, start, end in places}
    for node, start, end in places:
        written = site.source[start:end].decode("utf-8", "replace")
        piece = _one_blank(_plain(written))
        for got, wanted in pairs if _WORD.search(piece) else ():
            new = _in_place(piece, got, wanted)
            if new is not None:
                lead, tail = _outer_blanks(written)
                text = lead + _escaped(new, site.text(node)) + tail
                yield EditParts(((start, end, text),), site.line(node), _KNOWN if new.strip() in known else 1.0)


def _pairs(said: str) -> list[tuple[str, str]]:
    """Quoted texts of a message, each with each other: which of them is wanted is not known."""
    texts = [_one_blank(_plain(one or other)) for one, other in _QUOTED.findall(said)]
    texts = [text for text in dict.fromkeys(texts) if _WORD.search(text)][:_MOST_TEXTS]
    return [(one, other) for one in texts for other in texts if one != other]


def _pieces(site: Site, node: tree_sitter.Node) -> Iterator[tuple[int, int]]:
    """Where the parts of a literal between its conversions stand, in bytes."""
    text = site.source[node.start_byte : node.end_byte]
    opening = re.match(rb"[A-Za-z]*(\"\"\"|'''|\"|')", text)
    if opening is None:
        return
    at, last = opening.end(), len(text) - len(opening[1])
    inner = text[at:last].decode("latin-1")
    for match in _CONVERSION.finditer(inner):
        yield node.start_byte + at, node.start_byte + opening.end() + match.start()
        at = opening.end() + match.end()
    yield node.start_byte + at, node.start_byte + last


def _in_place(piece: str, got: str, wanted: str) -> str | None:
    """What has to stand in the place of ``piece`` so that ``got`` becomes ``wanted``; None where nothing does."""
    at = got.find(piece)
    while piece and at >= 0:
        before, after = got[:at], got[at + len(piece) :]
        if wanted.startswith(before) and wanted.endswith(after) and len(wanted) > len(before) + len(after):
            return wanted[len(before) : len(wanted) - len(after)]
        at = got.find(piece, at + 1)
    return None


def _plain(written: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), written)


def _one_blank(text: str) -> str:
    return " ".join(text.split())


def _outer_blanks(written: str) -> tuple[str, str]:
    """The blank space at both ends of what is written in a literal, line breaks included."""
    lead = re.match(r"(?:\s|\\[nt])*", written)
    tail = re.search(r"(?:\s|\\[nt])*$", written)
    return lead[0] if lead else "", tail[0] if tail else ""


def _escaped(text: str, literal: str) -> str:
    quote = literal.rstrip()[-1]
    return text.replace("\\", "\\\\").replace(quote, f"\\{quote}")


def numbers_told(site: Site) -> list[str]:
    """Numbers that the contract or the task names, at most six."""
    return list(dict.fromkeys(_NUMBER.findall(site.wanted)))[:_MOST_NUMBERS]


@operator("told-number", "a number that the contract names, in the place of another", weight=0.5)
def told_number(site: Site) -> Iterator[EditParts]:
    """``x > 100`` becomes ``x > 255`` where the contract tells of 255."""
    for node in site.of("integer", "number_literal", "float"):
        for new in numbers_told(site):
            if new != site.text(node):
                yield site.replace(node, new)


@operator("told-modulus", "a value taken modulo a number that the contract names", weight=0.4)
def told_modulus(site: Site) -> Iterator[EditParts]:
    """``x`` becomes ``x % n`` where it is assigned, returned, passed on or calculated with; ``x - c`` also ``x % n + c``."""
    moduli = [one for one in numbers_told(site) if int(one) > 1]
    for node in site.nodes if moduli else ():
        if node.type in _VALUES and _is_value(node):
            yield from (site.replace(node, f"{site.grouped(node)} % {one}") for one in moduli)
    for sum_ in site.binaries if moduli else ():
        if sum_.text in ("+", "-"):
            left, right = site.grouped(sum_.left), site.text(sum_.right)
            for one in moduli:
                yield from (site.replace(sum_.node, f"{left} % {one} {sign} {right}", 0.8) for sign in ("+", "-"))


def _is_value(node: tree_sitter.Node) -> bool:
    """Whether a node is assigned, returned or passed on."""
    parent = node.parent
    if parent is None or parent.type not in _PLACES:
        return False
    return node not in (parent.child_by_field_name("left"), parent.child_by_field_name("declarator"))
