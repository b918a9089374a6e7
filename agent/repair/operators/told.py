"""Operators that take what they put in from what is told: the texts of failing checks, the numbers of the contract."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import tree_sitter

from agent.language.nodes import walk
from agent.repair.operators.conditions import connective_signs
from agent.repair.operators.expressions import compared
from agent.repair.operators.registry import EditParts, Site, operator

_QUOTED = re.compile(r'(?<!\w)"((?:[^"\\\n]|\\.)*)"|(?<!\w)\'((?:[^\'\\\n]|\\.)*)\'')
_CONVERSION = re.compile(r"%[-+0 #]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[a-zA-Z%]|\{[^{}]*\}")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}
_MOST_TEXTS = 6
_KNOWN = 0.3
_WORD = re.compile(r"[A-Za-z]{2}")
_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?!\w|\.\d)")
_MOST_NUMBERS = 6
_WORDS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SIZED = re.compile(rf"\b({'|'.join(_WORDS)})-(?=[a-z])", re.I)
"""A number as a word that is the measure of something, such as "ten-digit"."""

_MEANT = {"alphabet": "26", "percent": "100", "week": "7", "byte": "256", "dozen": "12", "minute": "60", "hour": "60"}
_EXAMPLE = re.compile(r"""\w+\((?:"[^"\n]*"|'[^'\n]*'|[^()A-Za-z_"'\n])*\)[^;\n]*?(?=\.\s|\.?$|[;\n])""", re.M)
"""A call with literals for all arguments, and what is said of it."""

_LETTER = re.compile(r"(?<![\w'])([A-Za-z])(?=\s*[,;)/|])")
_MOST_LETTERS = 12
_SIGNS = {"space": "' '", "blank": "' '", "newline": "'\\n'", "tab": "'\\t'", "zero": "'0'"}
_VALUES = {"identifier", "binary_operator", "binary_expression", "call", "call_expression"}
_PLACES = {"assignment", "assignment_expression", "init_declarator", "return_statement", "argument_list"}


@operator("expected-text", "a text becomes what a failing check expects in its place", weight=1.0)
def expected_text(site: Site) -> Iterator[EditParts]:
    """Of two quoted texts in a check's message one becomes the other when a part of a literal is exchanged; blank space
    counts as one blank. Where the function has the wanted text already, what is wrong is rather which one is taken."""
    literals = site.of("string_literal", "string") if site.said else []
    places = [place for node in literals for place in _pieces(site, node)]
    known = {_one_blank(_plain(site.source[start:end].decode("utf-8", "replace"))) for start, end in places}
    for start, end, text in replaced_texts(site, site.body):
        weight = _KNOWN if _one_blank(_plain(text)) in known else 1.0
        yield EditParts(((start, end, text),), site.source.count(b"\n", 0, start) + 1, weight)


def replaced_texts(site: Site, within: tree_sitter.Node) -> Iterator[tuple[int, int, str]]:
    """Parts of the string literals ``within`` a node and what a failing check expects in their place: start and end in
    bytes, new text, escaped as the literal asks for."""
    pairs = quoted_pairs(site)
    for node in site.of("string_literal", "string") if pairs else ():
        if not (within.start_byte <= node.start_byte and node.end_byte <= within.end_byte):
            continue
        for start, end in _pieces(site, node):
            written = site.source[start:end].decode("utf-8", "replace")
            piece = _one_blank(_plain(written))
            for got, wanted in pairs if _WORD.search(piece) else ():
                new = _in_place(piece, got, wanted)
                if new is not None:
                    lead, tail = _outer_blanks(written)
                    yield start, end, lead + _escaped(new, site.text(node)) + tail


def quoted_pairs(site: Site) -> list[tuple[str, str]]:
    """Quoted texts of each message of the failing checks, each with each other."""
    return [pair for said in site.said for pair in _pairs(said)]


def quoted(said: str) -> list[str]:
    """The quoted texts of a message, without their escapes."""
    return [_plain(one or other) for one, other in _QUOTED.findall(said)]


def _pairs(said: str) -> list[tuple[str, str]]:
    """Quoted texts of a message, each with each other: which of them is wanted is not known."""
    texts = [text for text in dict.fromkeys(map(_one_blank, quoted(said))) if _WORD.search(text)][:_MOST_TEXTS]
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
    """What has to stand in place of ``piece`` so that ``got`` becomes ``wanted``; None where nothing does."""
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
    """Numbers that the contract or the task names, at most six; not those of examples, which are no rule. Some words are or
    stand for a number."""
    wanted = _EXAMPLE.sub("", site.wanted)
    meant = [number for word, number in _MEANT.items() if re.search(rf"\b{word}s?\b", wanted, re.I)]
    written = [str(_WORDS.index(word.lower()) + 3) for word in _SIZED.findall(wanted)]
    return list(dict.fromkeys((*_NUMBER.findall(wanted), *meant, *written)))[:_MOST_NUMBERS]


@operator("told-number", "a number that the contract names, in place of another", weight=0.5)
def told_number(site: Site) -> Iterator[EditParts]:
    """``x > 100`` becomes ``x > 255`` where the contract tells of 255."""
    numbers = numbers_told(site)
    for node in site.of("integer", "number_literal", "float") if numbers else ():
        for new in numbers:
            if new != site.text(node):
                yield site.replace(node, new)


@operator("told-condition", "a case for another number that the contract names", weight=0.45)
def told_condition(site: Site) -> Iterator[EditParts]:
    """``y % 4 == 0`` becomes ``y % 4 == 0 || y % 100 == 0``: a comparison of the condition once more, with that number in
    place of its own, as it is or denied."""
    numbers = numbers_told(site)
    both, either = connective_signs(site)
    for test in site.conditions if numbers else ():
        text = site.text(test)
        for part in compared(site):
            if not (test.start_byte <= part.node.start_byte and part.node.end_byte <= test.end_byte):
                continue
            for number in (one for one in walk(part.node) if one.type in ("integer", "number_literal")):
                own, at = site.text(part.node), number.start_byte - part.node.start_byte
                for new in (one for one in numbers if one != site.text(number) and not re.search(rf"\b{one}\b", text)):
                    made = own[:at] + new + own[at + len(site.text(number)) :]
                    yield site.replace(test, f"{text} {either} {made}")
                    plain = text if test == part.node else f"({text})"
                    yield site.replace(test, f"{plain} {both} {made}", 0.7)
                    if part.text in _DENIED:
                        denied = made.replace(part.text, _DENIED[part.text], 1)
                        yield site.replace(test, f"{text} {either} {denied}", 0.7)
                        yield site.replace(test, f"{plain} {both} {denied}", 0.7)


_DENIED = {"==": "!=", "!=": "=="}


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


@operator("told-operand", "a number or sign that the contract names added to a value or taken from it", weight=0.35)
def told_operand(site: Site) -> Iterator[EditParts]:
    """``x`` becomes ``x + n`` or ``x - n``; in C also ``x + ' '`` where the contract tells of a space. No pointer moves: far
    from what it points to a program may pass its checks by chance."""
    signs = [] if site.python else [sign for word, sign in _SIGNS.items() if re.search(rf"\b{word}\b", site.wanted, re.I)]
    operands = [*numbers_told(site), *dict.fromkeys(signs)]
    for node in site.nodes if operands else ():
        if node.type in _VALUES and _is_value(node) and site.text(node) not in site.pointers:
            for told in operands:
                if told not in site.text(node):
                    yield site.replace(node, f"{site.text(node)} + {told}")
                    yield site.replace(node, f"{site.text(node)} - {told}", 0.6)


@operator("told-case", "a single letter that the contract lists and a condition lacks", weight=0.5)
def told_case(site: Site) -> Iterator[EditParts]:
    """``c == 'a'`` becomes ``c == 'a' || c == 'b'`` in C, ``case 'a':`` gets a ``case 'b':``, and a text that holds some
    of the letters gets the missing ones, as ``c in 'a'`` becomes ``c in 'ab'`` in Python."""
    letters = list(dict.fromkeys(_LETTER.findall(site.wanted)))[:_MOST_LETTERS]
    yield from _cases(site, letters)
    known = {site.text(node)[1:-1] for node in site.of("char_literal")}
    for one in site.binaries if letters else ():
        right = site.text(one.right)
        if one.text == "in" and one.right.type == "string" and len(right) > 2:
            missing = "".join(letter for letter in letters if letter not in right)
            if missing:
                yield site.replace(one.right, right[:-1] + missing + right[-1])
        elif one.text == "==" and one.right.type == "char_literal":
            grouped = one.node.parent is not None and any(child.type == "&&" for child in one.node.parent.children)
            for letter in (letter for letter in letters if letter not in known):
                text = f"{site.text(one.node)} || {site.text(one.left)} == '{letter}'"
                yield site.replace(one.node, f"({text})" if grouped else text)


def _cases(site: Site, letters: Sequence[str]) -> Iterator[EditParts]:
    """Letters that a switch, or a text that holds several of them, lacks."""
    labelled = [(node, node.child_by_field_name("value")) for node in site.of("case_statement")]
    labels = [(node, value) for node, value in labelled if value is not None]
    known = {site.text(value)[1:-1] for _, value in labels if value.type == "char_literal"}
    for node, value in labels if known & set(letters) else ():
        for letter in (letter for letter in letters if letter not in known):
            yield site.before(node, f"case '{letter}':", 1.0 if value.type == "char_literal" else 0.5)
    for node in site.of("string_literal"):
        inside = site.text(node)[1:-1]
        missing = "".join(letter for letter in letters if letter not in inside)
        if missing and inside.isalpha() and len(set(inside) & set(letters)) > 1:
            yield site.replace(node, f'"{inside}{missing}"')
            if told := "".join(letter for letter in inside if letter in letters):
                yield site.replace(node, f'"{told}{missing}"')


@operator("expected-character", "a character becomes the one that a failing check expects in its place", ("c",), weight=0.8)
def expected_character(site: Site) -> Iterator[EditParts]:
    """``'E'`` becomes ``'F'`` where a check expects F and got E; a character that begins without a value gets it."""
    for wanted, got in _differing(site, r"[^\W\d_]"):
        for node in site.of("char_literal"):
            if site.text(node) == f"'{got}'":
                yield site.replace(node, f"'{wanted}'")
    told = dict.fromkeys(one for pair in _differing(site, r"[^\W\d_]") for one in pair)
    for node in site.of("declaration"):
        kind = node.child_by_field_name("type")
        for part in node.children_by_field_name("declarator") if kind is not None and site.text(kind) == "char" else ():
            if part.type == "identifier":
                yield from (site.replace(part, f"{site.text(part)} = '{one}'", 0.7) for one in list(told)[:_MOST_TEXTS])


@operator("expected-shift", "a number that is off by as much as results are off", weight=0.6)
def expected_shift(site: Site) -> Iterator[EditParts]:
    """``x + 22`` becomes ``x + 32`` where what is printed is 10 too small each time, as a number or as a character."""
    numbers, signs = _differing(site, r"-?\d+"), _differing(site, r"\D")
    shifts = [int(wanted) - int(got) for wanted, got in numbers] + [ord(wanted) - ord(got) for wanted, got in signs]
    most = Counter(shifts).most_common(2)  # each shift stands there in both directions
    for shift in [one for one, count in most if abs(one) > 1 and count > 1 and 4 * count >= len(shifts)]:
        for node in site.of("integer", "number_literal"):
            value = int(site.text(node)) if site.text(node).isdigit() else 0
            if value > 1:  # what a sum begins with is hardly the place
                yield from (site.replace(node, str(new)) for new in (value + shift, value - shift) if new > 0)


def _differing(site: Site, pattern: str) -> list[tuple[str, str]]:
    """Words that a check's two quoted texts do not have in common, where it is one, and both are of the pattern; either of
    the two may be the wanted one."""
    found = []
    for said in site.said:
        texts = [text.split() for text in quoted(said)]
        for place, first in enumerate(texts):
            for second in texts[place + 1 :]:
                apart = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
                if len(first) == len(second) and len(apart) == 1 and all(re.fullmatch(pattern, one) for one in apart[0]):
                    found += [apart[0], apart[0][::-1]]
    return found


@operator("expected-rest", "what a check expects behind all that is printed, printed as well", ("c",), weight=0.6)
def expected_rest(site: Site) -> Iterator[EditParts]:
    """As the ``else`` of branches that have none, or before the end."""
    pairs = quoted_pairs(site)
    rests = [wanted[len(got) :].strip() for got, wanted in pairs if wanted.startswith(got)]
    for rest in dict.fromkeys(rest for rest in rests if _WORD.search(rest) and not re.search(r"\d", rest)):
        printed = 'printf("' + _escaped(rest, '"').replace("%", "%%") + '\\n");'
        for node in site.of("if_statement"):
            if node.child_by_field_name("alternative") is None:
                text = f"\n{site.indent(node)}else\n{site.indent(node)}    {printed}"
                yield EditParts(((node.end_byte, node.end_byte, text),), site.line(node))
        for node in site.of("return_statement"):
            if node.parent == site.body:
                yield site.before(node, printed, 0.6)


def _is_value(node: tree_sitter.Node) -> bool:
    """Whether a node is assigned, returned or passed on."""
    parent = node.parent
    if parent is None or parent.type not in _PLACES:
        return False
    return node not in (parent.child_by_field_name("left"), parent.child_by_field_name("declarator"))
