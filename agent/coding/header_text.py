"""A header out of a model's reply, made sound by facts: guard, prototypes only, the declarations that were asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from agent.coding.csyntax import CFunction, comment_above, functions, parse_c, top_level
from agent.coding.pieces import pieces_of
from agent.coding.reply import code_blocks
from agent.coding.signature import definition_head, same_signature
from agent.coding.textfile import newline_of, to_newline

_GUARD = re.compile(r"^[ \t]*#[ \t]*(?:ifndef[ \t]+\w+\s*\n[ \t]*#[ \t]*define[ \t]+\w+|pragma[ \t]+once)", re.M)
_DECLARATION = re.compile(
    r"(?:(?:const|unsigned|signed|struct|enum|union|static|long|short)\s+)*\w+[\s*]+\**\w+\s*"
    r"\([^()]*(?:\([^()]*\)[^()]*)*\)"
)
_NOT_NAMES = frozenset({"if", "for", "while", "switch", "return", "sizeof", "int", "void", "char", "main"})
_TYPE_WORDS = frozenset(
    {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool", "struct",
     "union", "enum", "FILE"}
)  # fmt: skip
_FILE_LINE = re.compile(r"^[ \t]*(?:#+[ \t]*)?\**FILE\**:[ \t]*[`*]*(?P<path>[\w./-]+\.h)[`*]*[ \t]*$", re.M | re.I)


class Header(msgspec.Struct, frozen=True):
    """A header's ``text`` and, as a sentence, what is still wrong with it ("" when nothing is)."""

    text: str
    problem: str = ""


def prototypes_in_text(text: str) -> list[CFunction]:
    """The C function declarations that a task's own words hold, in order, each name once."""
    found: dict[str, CFunction] = {}
    for match in _DECLARATION.finditer(text):
        candidate = re.sub(r"\s+", " ", match[0]).strip()
        parsed = functions(f"{candidate};".encode())
        if len(parsed) == 1 and _is_prototype(parsed[0], candidate):
            found.setdefault(parsed[0].name, parsed[0])
    return list(found.values())


def _is_prototype(function: CFunction, text: str) -> bool:
    """Whether the text is a declaration and no English with brackets: types that are types, parameters that have one."""
    if function.name in _NOT_NAMES or parse_c(f"{text};".encode()).has_error:
        return False
    if not function.parameters:
        return text.endswith("(void)") and _is_type(function.before + function.after)
    named = all("*" in one.text or re.search(r"\w\s+\w", one.text) for one in function.parameters)
    return named and all(_is_type(one) for one in (function.before, *(one.text for one in function.parameters)))


def _is_type(text: str) -> bool:
    """Whether the words can be a C type: a pointer, a keyword type, a tagged one, or a name ending in ``_t``."""
    return "*" in text or any(word in _TYPE_WORDS or word.endswith("_t") for word in re.findall(r"\w+", text))


def header_from_reply(
    reply: str, path: str, wanted: Mapping[str, str], exact: Sequence[CFunction] = (), *, finish: str = "stop"
) -> Header:
    """The header of ``reply``.

    Bodies become prototypes, a missing guard is put on, ``wanted`` (name to what it does) supplies comments that are
    missing, and ``exact`` prototypes that are missing or declared otherwise are set right. A wanted function that is not
    declared and has no exact prototype is the problem.
    """
    blocks = [block.text for block in code_blocks(reply)]
    text = max(blocks, key=lambda block: len(functions(block.encode())), default="")
    if finish != "stop" and not text.rstrip().endswith("#endif"):
        return Header("", f"The reply was cut off before {path} was complete. Write it shorter.")
    if not functions(text.encode()) and not exact:
        return Header("", f"The reply declares no function. Reply with the whole header {path} in one ```c block.")
    text = _prototypes_only(text.strip() + "\n")
    text = _with_exact(text, exact)
    text = _with_comments(text, wanted)
    text = guarded(text, path)
    declared = {function.name for function in functions(text.encode())}
    missing = [name for name in wanted if name not in declared]
    return Header(text, f"It does not declare {', '.join(missing)}." if missing else "")


def headers_from_reply(reply: str) -> dict[str, str]:
    """Path to the text below its ``FILE:`` line, for a reply that holds several headers."""
    marks = list(_FILE_LINE.finditer(reply))
    ends = [mark.start() for mark in marks[1:]] + [len(reply)]
    return {mark["path"]: reply[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}


def guarded(text: str, path: str) -> str:
    """``text`` with an include guard, its own if it has one."""
    if _GUARD.search(text):
        opened, closed = (
            len(re.findall(r"^[ \t]*#[ \t]*if", text, re.M)),
            len(re.findall(r"^[ \t]*#[ \t]*endif", text, re.M)),
        )
        return text.rstrip() + "\n" + "\n#endif\n" * (opened - closed)
    name = re.sub(r"\W", "_", path.rsplit("/", 1)[-1]).upper()
    return f"#ifndef {name}\n#define {name}\n\n{text.strip()}\n\n#endif\n"


def _prototypes_only(text: str) -> str:
    """Function bodies taken off, ``static inline`` ones left: those belong in a header."""
    source = text.encode()
    for function in reversed(functions(source)):
        if function.defined and not (function.static and function.inline):
            source = source[: function.start] + f"{definition_head(function)};".encode() + source[function.end :]
    return source.decode()


def _with_exact(text: str, exact: Sequence[CFunction]) -> str:
    for prototype in exact:
        source = text.encode()
        there = next((one for one in functions(source) if one.name == prototype.name), None)
        line = f"{definition_head(prototype)};"
        if there is None:
            text = insert_at_end(text, line)
        elif not same_signature(prototype, there):
            text = (source[: there.start] + line.encode() + source[there.end :]).decode()
    return text


def _with_comments(text: str, wanted: Mapping[str, str]) -> str:
    source = text.encode()
    for function in reversed(functions(source)):
        does = wanted.get(function.name, "").strip().replace("*/", "* /")
        if does and not function.doc:
            source = source[: function.start] + f"/** {does} */\n".encode() + source[function.start :]
    return source.decode()


def insert_at_end(header: str, text: str) -> str:
    """``header`` with ``text`` inside its guard, before the last ``#endif`` and a closing ``extern "C"``."""
    match = list(re.finditer(r"^[ \t]*#[ \t]*endif\b[^\n]*\n?", header, re.M))
    guard = bool(match) and _GUARD.search(header) is not None and "pragma" not in (_GUARD.search(header) or [""])[0]
    if not guard:
        return f"{header.rstrip()}\n\n{text}\n"
    at = match[-1].start()
    closing = re.search(r"#ifdef __cplusplus\s*\}\s*#endif\s*\Z", header[:at])
    at = closing.start() if closing else at
    return f"{header[:at].rstrip()}\n\n{text}\n\n{header[at:]}"


def merged(existing: bytes, generated: str) -> bytes:
    """``existing`` with those declarations of ``generated`` that it lacks, includes first, the rest before its end.

    Nothing that is there is changed or taken away.
    """
    newline = newline_of(existing)
    text = existing.decode("utf-8", "replace").replace("\r\n", "\n")
    have = {name for piece in pieces_of(existing) for name in piece.names}
    source = generated.encode()
    docs = {node.start_byte: comment_above(source, node)[0] for node in top_level(parse_c(source))}
    fresh = []
    for piece in pieces_of(source):
        is_guard = piece.kind == "macro" and piece.text.split()[-1] == piece.names[0]
        if not set(piece.names) & have and not is_guard:
            doc = docs.get(piece.start, "")
            fresh.append(f"{doc}\n{piece.text}" if doc else piece.text)
    includes = [line for line in re.findall(r"^[ \t]*#[ \t]*include[^\n]*", generated, re.M) if line not in text]
    if includes:
        at = max((match.end() for match in re.finditer(r"^[ \t]*#[ \t]*include[^\n]*\n", text, re.M)), default=-1)
        if at < 0:
            guard = _GUARD.search(text)
            at = text.find("\n", guard.end()) + 1 if guard else 0
        text = text[:at] + "\n".join(includes) + "\n" + text[at:]
    if fresh:
        text = insert_at_end(text, "\n\n".join(fresh))
    return to_newline(text, newline).encode() if includes or fresh else existing
