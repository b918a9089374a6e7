"""What prose spells out: C declarations, what is said about them, header paths."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from agent.c.declarations.definitions import pieces_of
from agent.c.declarations.functions import CFunction, functions
from agent.c.syntax.tree import parse_c

_DECLARATION = re.compile(
    r"(?:(?:const|unsigned|signed|struct|enum|union|static|long|short)\s+)*\w+[\s*]+\**\w+\s*"
    r"\([^()]*(?:\([^()]*\)[^()]*)*\)"
)
_NOT_NAMES = frozenset({"if", "for", "while", "switch", "return", "sizeof", "int", "void", "char", "main"})
TYPE_WORDS = frozenset(
    {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool", "struct",
     "union", "enum", "const", "FILE"}
)  # fmt: skip
_HEADER = re.compile(r"(?<![\w./-])[\w./-]*\w\.h\b")

_BODY = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_TYPES = re.compile(
    rf"\btypedef\s+(?:struct|union|enum)\b[^;{{}}`]*{_BODY}\s*\w+\s*;?"
    rf"|\b(?:struct|union|enum)\s+\w+\s*{_BODY}\s*;?"
    r"|\btypedef\s+[\w\s*]+\(\s*\*\s*\w+\s*\)\s*\([^()]*\)\s*;?"
    r"|\btypedef\s+(?!(?:struct|union|enum)\b)[\w \t*]+\b\w+\s*(?:;|(?=`))"
    r"|^[ \t]*#[ \t]*define[ \t]+[A-Za-z_]\w*[ \t]+[^\n`]+|(?<=`)#[ \t]*define[ \t]+[A-Za-z_]\w*[ \t]+[^\n`]+"
    r"|\b(?:static\s+)?const\s+\w+(?:\s+\w+)?\s+[A-Z][A-Z0-9_]*\s*=\s*[^;`\n]+(?:;|(?=`))",
    re.M,
)
"""Code that introduces a type, a macro or a constant, wherever in a text it stands."""

_STRUCT_OF = re.compile(
    r"\s(?:(?:is|as|has|holds)\s+(?:an?\s+)?|:\s*(?:an?\s+)?)?(?:struct(?:ure)?|record)?\s*"
    r"(?:with|of|holding|that\s+holds|that\s+has|containing|consisting\s+of|whose\s+(?:members|fields)\s+are|"
    r"holds|has\s+the\s+(?:members|fields)|(?:with\s+)?(?:members|fields))\s*:?\s"
)
_FIELDS_OF = re.compile(r"\b(?:members|fields)\s+of\s+(`[^`]+`)\s*(?:are)?\s*:?\s*")
_CLAUSE_END = re.compile(r"[;.](?=\s|$)")
_QUOTED = re.compile(r"`([^`\n]+)`")

_CONTRACT_CHARACTERS = 600

_RULE = re.compile(
    r"(?<=\. )(?!(?:It|Its|This|That|They|He|She|If|When|Where|Unless|While|On|In|For|With|Without|After|Before|Otherwise|"
    r"Then|Returns?|NULL|Calling|Passing|Both|Nothing|Only|Also|The\s+(?:function|call|caller|result|return|returned|argument|"
    r"parameter|pointer|string|value|same|order|buffer))\b)"
    r"(?:[A-Z][\w']*\s+(?:[\w']+\s+){0,5}?(?:is|are|has|have|must|may|can|holds?|starts?|begins?|grows?|uses?|counts?|means?)\b"
    r"|[A-Z][\w']*\s+[\w']+s\s+\w)"
)
"""A sentence about a kind of thing (``A key's bucket is ...``, ``Buckets are ...``, ``Keys never ...``), where one about the
declared function goes on with ``it``, a verb or a condition."""


_PLACED = re.compile(r"^(?:to|in|into)\s+[\w./-]+\.[ch]\b[.,;:]?\s*", re.I)
_SUBJECT = re.compile(r"^(?:it|which|that)\s+(?=[a-z]+s\s)", re.I)
"""What a comment above the declaration need not say: where it goes, and that it is the one that does something."""


class Spelled(msgspec.Struct, frozen=True):
    """A declaration in prose, and the sentences that follow it up to the next one ("" when they say next to nothing).
    ``rules`` are sentences behind the last declaration of a text that are about no single function."""

    function: CFunction
    contract: str = ""
    rules: str = ""


class SpelledType(msgspec.Struct, frozen=True):
    """A type, macro or constant that a text spells as code, with every name that it introduces."""

    names: tuple[str, ...]
    text: str


class SpelledStruct(msgspec.Struct, frozen=True):
    """A struct that prose describes by its members, as C writes them (``char *key``)."""

    name: str
    members: tuple[str, ...]


def structs_in(text: str) -> list[SpelledStruct]:
    """Structs whose members a text lists in code quotes: "the type `entry` is a struct with `char *key` and `int value`",
    "`entry` holds a `char *key` and ...", "the fields of `entry`: ..."."""
    found: dict[str, SpelledStruct] = {}
    for clause in _CLAUSE_END.split(re.sub(r"\s+", " ", text)):
        cut = _STRUCT_OF.search(clause)
        if cut is None or not re.search(r"\b(?:struct|structure|record|members?|fields?|holds)\b", clause):
            continue
        if owner := _FIELDS_OF.search(clause):
            clause = f"{owner[1]} holds {clause[owner.end() :]}"
            cut = _STRUCT_OF.search(clause) or cut
        names = [name.removeprefix("struct ") for name in _QUOTED.findall(clause[: cut.start() + 1])]
        members = tuple(one.rstrip("; ") for one in _QUOTED.findall(clause[cut.end() :]) if _is_member(one.rstrip("; ")))
        if names and members and re.fullmatch(r"[A-Za-z_]\w*", names[-1]):
            found.setdefault(names[-1], SpelledStruct(names[-1], members))
    return list(found.values())


def types_in(text: str) -> list[SpelledType]:
    """Typedefs with their members, structs, unions, enums, macros and constants that a text spells as code, in order: in
    fences, in code quotes, or in the prose itself. What only names a type is left out, as is all that does not parse."""
    found: dict[str, SpelledType] = {}
    for match in _TYPES.finditer(re.sub(r"^[ \t]*```\w*[ \t]*$", "", text, flags=re.M)):
        code = match[0].strip().strip("`").strip()
        code = code if code.startswith("#") or code.endswith(";") else f"{code};"
        source = f"{code}\n".encode()
        if parse_c(source).has_error:
            continue
        for piece in pieces_of(source):
            if piece.kind in ("type", "macro", "global") and not set(piece.names) & found.keys():
                one = SpelledType(piece.names, piece.text)
                found.update(dict.fromkeys(piece.names, one))
    return list(dict.fromkeys(found.values()))


def _is_member(text: str) -> bool:
    """Whether the text is the declaration of one struct member."""
    return (
        "(" not in text
        and not parse_c(f"struct s {{ {text}; }};".encode()).has_error
        and bool(re.search(r"\w[\s*]+\w+(?:\[\w*\])?$", text))
    )


def headers_named(text: str) -> list[str]:
    """Paths of headers that the text names, the longer spelling of the same file only, in order."""
    names = list(dict.fromkeys(_HEADER.findall(text)))
    return [one for one in names if not any(other != one and other.endswith("/" + one) for other in names)]


def declarations_in(text: str) -> list[Spelled]:
    """The C function declarations in a text, in order, each name once, with what is said about them."""
    known = frozenset(name for one in types_in(text) for name in one.names)
    found: dict[str, tuple[CFunction, int, int]] = {}
    for match in _DECLARATION.finditer(text):
        candidate = re.sub(r"\s+", " ", match[0]).strip()
        parsed = functions(f"{candidate};".encode())
        if len(parsed) == 1 and _is_prototype(parsed[0], candidate, known):
            found.setdefault(parsed[0].name, (parsed[0], match.start(), match.end()))
    places = list(found.values())
    ends = [start for _, start, _ in places[1:]] + [len(text)] * bool(places)
    return [
        Spelled(function, *_said(text[end:stop], last=stop == len(text)))
        for (function, _, end), stop in zip(places, ends, strict=True)
    ]


def _is_prototype(function: CFunction, text: str, known: Collection[str] = ()) -> bool:
    """Whether the text is a declaration and no English with brackets: types that are types, parameters that have one."""
    if function.name in _NOT_NAMES or parse_c(f"{text};".encode()).has_error:
        return False
    if not function.parameters:
        return text.endswith("(void)") and _is_type(function.before + function.after, known)
    named = all("*" in one.text or re.search(r"\w\s+\w", one.text) for one in function.parameters)
    return named and all(_is_type(one, known) for one in (function.before, *(one.text for one in function.parameters)))


def _is_type(text: str, known: Collection[str]) -> bool:
    """Whether the words can be a C type: a pointer, a keyword type, a tagged one, a name ending in ``_t``, or a ``known``
    one."""
    words = re.findall(r"\w+", text)
    return "*" in text or any(word in TYPE_WORDS or word.endswith("_t") or word in known for word in words)


def _said(text: str, *, last: bool) -> tuple[str, str]:
    """(contract, rules): the sentences right behind a declaration, as comments say them."""
    paragraph = text.lstrip("`;,: )\t").split("\n\n")[0].split("```")[0]
    said = re.sub(r"\s+", " ", paragraph).replace("`", "").strip(" -*")
    if not last or not said.endswith("."):
        said = said[: max(said.rfind("."), said.rfind(";")) + 1]
    rule = _RULE.search(said) if last else None
    rules = said[rule.start() :].strip() if rule else ""
    return _sentence(said[: rule.start()] if rule else said), _cut(rules)


def _sentence(said: str) -> str:
    said = _SUBJECT.sub("", _PLACED.sub("", said.strip().rstrip(";")))
    if len(said) < 15 or re.match(r"(?:and|or|but|with|as|in|to)\b", said, re.I):
        return ""
    said = _cut(said)
    return said[0].upper() + said[1:] + ("" if said.endswith(".") else ".")


def _cut(said: str) -> str:
    """``said`` as far as whole sentences fit into a comment."""
    if len(said) <= _CONTRACT_CHARACTERS:
        return said
    return said[: said.rfind(".", 0, _CONTRACT_CHARACTERS) + 1] or said[:_CONTRACT_CHARACTERS]
