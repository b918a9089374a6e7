"""A header out of a model's reply, made sound by facts: guard, prototypes only, the declarations that were asked for."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

import msgspec

from agent.c.declarations.definitions import pieces_of
from agent.c.declarations.functions import CFunction, comment_above, functions
from agent.c.declarations.signature import definition_head, same_signature
from agent.c.files import is_header
from agent.c.preprocessor.guards import end_of_declarations, is_guarded, unclosed
from agent.c.preprocessor.includes import analyse, insert_include
from agent.c.spelled_out import TYPE_WORDS, Spelled, SpelledStruct, SpelledType
from agent.c.syntax.readable import readable
from agent.c.syntax.tree import top_level
from agent.language.code_blocks import code_blocks
from agent.textfile import read_text

_FENCE = re.compile(r"^[ \t]*```", re.M)
_FILE_LINE = re.compile(r"^[ \t]*(?:#+[ \t]*)?\**FILE\**:[ \t]*[`*]*(?P<path>[\w./-]+)[`*]*[ \t]*$", re.M | re.I)


_POINTED = re.compile(r"(?<!struct )(?<!union )(?<!enum )\b([A-Za-z_]\w*)(?:\s+const)?\s*\*")


_SYSTEM_INCLUDE = re.compile(r"^[ \t]*(#[ \t]*include[ \t]*<[^>\n]+>)", re.M)


class Header(msgspec.Struct, frozen=True):
    """A header's ``text`` and, as a sentence, what is still wrong with it ("" when nothing is)."""

    text: str
    problem: str = ""


def header_from_reply(
    reply: str,
    path: str,
    wanted: Mapping[str, str],
    exact: Sequence[Spelled] = (),
    *,
    types: Sequence[SpelledType] = (),
    finish: str = "stop",
) -> Header:
    """The header of ``reply``.

    Bodies become prototypes, a missing guard is put on, ``wanted`` (name to what it does) supplies comments that are
    missing, and ``exact`` prototypes that are missing or declared otherwise are set right; so are ``types``. A wanted
    function that is not declared and has no exact prototype is the problem.
    """
    blocks = [block.text for block in code_blocks(reply)]
    text = max(blocks, key=_declares, default="")
    if finish != "stop" and not text.rstrip().endswith("#endif"):
        return Header("", f"The reply was cut off before {path} was complete. Write it shorter.")
    if not functions(text.encode()) and not exact:
        return Header("", f"The reply declares no function. Reply with the whole header {path} in one ```c block.")
    text = _prototypes_only(text.strip() + "\n")
    text = _with_types(text, types)
    text = _with_exact(text, exact)
    text = _with_comments(text, wanted, exact)
    text = guarded(text, path)
    declared = {function.name for function in functions(text.encode())}
    missing = [name for name in wanted if name not in declared]
    return Header(text, f"It does not declare {', '.join(missing)}." if missing else "")


def header_from_words(
    path: str, exact: Sequence[Spelled], structs: Sequence[SpelledStruct] = (), types: Sequence[SpelledType] = ()
) -> str:
    """The header that declarations spelled out in words make by themselves: the ``types`` as they are spelled, the structs
    whose members are told, an opaque
    ``typedef struct T T;`` for other types that are only used behind a pointer, ``struct T;`` for tags, and contracts above
    prototypes. Rules that are about no single function go to the top."""
    text = _with_comments(_with_exact("", exact), {}, exact)
    spelled = {name for one in types for name in one.names}
    structs = [one for one in structs if one.name not in spelled]
    told = [one.name for one in structs]
    opaque = [name for name in opaque_types([one.function for one in exact]) if name not in told and name not in spelled]
    named = told + opaque
    typedefs = "\n".join(f"typedef struct {name} {name};" for name in named)
    own_tags = _own_tags([one.function for one in exact])
    tags = "\n".join(f"{tag};" for tag in own_tags if tag.split()[1] not in {*named, *spelled})
    bodies = [f"struct {one.name} {{\n" + "".join(f"    {m};\n" for m in one.members) + "};" for one in structs]
    rules = "".join(block_comment(one.rules) for one in exact if one.rules)
    parts = [rules, typedefs, tags, *(one.text for one in types), *bodies, text.strip()]
    return guarded("\n\n".join(filter(None, parts)), path)


def declaration_from_reply(reply: str, name: str, says: str) -> Header:
    """The one declaration of ``name`` in a reply, with its comment (``says`` where it has none) and the system headers that
    the reply includes; whatever else it holds is left out."""
    source = "\n".join(block.text for block in code_blocks(reply)).encode()
    function = next((one for one in functions(source) if one.name == name), None)
    if function is None:
        return Header("", f"It does not declare {name}. Reply with its comment and its prototype in one ```c block.")
    if function.static:
        return Header("", f"{name} is static: declare it without static, so that other files can call it.")
    includes = "\n".join(_SYSTEM_INCLUDE.findall(source.decode()))
    return Header(f"{includes}\n\n{function.doc or block_comment(says)}\n{definition_head(function)};\n".lstrip())


def opaque_types(prototypes: Sequence[CFunction]) -> list[str]:
    """Names that ``prototypes`` use as types behind a pointer and that no standard header can mean, in order."""
    found: dict[str, None] = {}
    for prototype in prototypes:
        for part in (prototype.before, *(one.text for one in prototype.parameters)):
            for name in _POINTED.findall(part):
                if name not in TYPE_WORDS and not name.endswith("_t"):
                    found[name] = None
    return list(found)


def _own_tags(prototypes: Sequence[CFunction]) -> list[str]:
    """``struct T`` (or union) that ``prototypes`` use and that is this library's own: their names begin with T, as
    ``stack_new`` does. Others, such as ``struct stat``, come from elsewhere."""
    text = " ".join(part for one in prototypes for part in (one.before, *(each.text for each in one.parameters)))
    found = dict.fromkeys(re.findall(r"\b(?:struct|union)\s+\w+", text))
    return [tag for tag in found if any(one.name.startswith(tag.split()[1]) for one in prototypes)]


def headers_from_reply(reply: str) -> dict[str, str]:
    """Path to the text below its ``FILE:`` line, for a reply that holds several headers; other files in it are left out.

    Such a line within a code block cuts it: what follows is code.
    """
    marks = list(_FILE_LINE.finditer(reply))
    ends = [mark.start() for mark in marks[1:]] + [len(reply)]
    texts = {}
    for mark, end in zip(marks, ends, strict=False):
        inside = len(_FENCE.findall(reply[: mark.start()])) % 2
        texts[mark["path"]] = "```c\n" * inside + reply[mark.end() : end].lstrip("\n")
    return {path: text for path, text in texts.items() if is_header(path)}


def _declares(text: str) -> tuple[int, int]:
    """(prototypes for others, functions): the header of a reply that holds its source too is the block with more of them."""
    found = functions(text.encode())
    return sum(not function.defined and not function.static for function in found), len(found)


def guarded(text: str, path: str) -> str:
    """``text`` with an include guard, its own if it has one."""
    if is_guarded(text):
        return text.rstrip() + "\n" + "\n#endif\n" * unclosed(text)
    name = re.sub(r"\W", "_", path.rsplit("/", 1)[-1]).upper()
    return f"#ifndef {name}\n#define {name}\n\n{text.strip()}\n\n#endif\n"


def _prototypes_only(text: str) -> str:
    """Function bodies taken off, ``static inline`` ones left: those belong in a header."""
    source = text.encode()
    for function in reversed(functions(source)):
        if function.defined and not (function.static and function.inline):
            source = source[: function.start] + f"{definition_head(function)};".encode() + source[function.end :]
    return source.decode()


def _with_exact(text: str, exact: Sequence[Spelled]) -> str:
    for prototype in (one.function for one in exact):
        source = text.encode()
        there = next((one for one in functions(source) if one.name == prototype.name), None)
        line = f"{definition_head(prototype)};"
        if there is None:
            text = insert_at_end(text, line)
        elif not same_signature(prototype, there):
            text = (source[: there.start] + line.encode() + source[there.end :]).decode()
    return text


def _with_types(text: str, types: Sequence[SpelledType]) -> str:
    """``types`` as the task spells them, in place of whatever the reply makes of the same names."""
    if not types:
        return text
    source, names = text.encode(), {name for one in types for name in one.names}
    places = [piece.start for piece in pieces_of(source) if piece.kind in ("type", "prototype", "function")]
    at = min(places, default=len(source))
    for piece in reversed(pieces_of(source)):
        if set(piece.names) & names and piece.kind != "prototype":
            rest = source[piece.end :].lstrip(b" \t")
            source = source[: piece.start] + rest.removeprefix(b";").lstrip(b"\n")
            at = min(at, piece.start)
    text = "\n\n".join(one.text for one in types)
    return (source[:at] + text.encode() + b"\n\n" + source[at:]).decode()


def _with_comments(text: str, wanted: Mapping[str, str], exact: Sequence[Spelled]) -> str:
    """Contracts above the prototypes: the task's own words in place of the model's; else the enumeration's, if none."""
    spelled = {one.function.name: one.contract for one in exact if one.contract}
    source = text.encode()
    for function in reversed(functions(source)):
        said = spelled.get(function.name) or ("" if function.doc else wanted.get(function.name, "").strip())
        if said:
            start = function.doc_start if function.doc_start >= 0 else function.start
            gap = b"" if source[:start].endswith((b"\n\n", b"{\n")) or not source[:start].strip() else b"\n"
            source = source[:start] + gap + block_comment(said).encode() + b"\n" + source[function.start :]
    return source.decode()


def block_comment(text: str) -> str:
    """``text`` as a C comment of lines up to 100 characters."""
    lines = textwrap.wrap(text.replace("*/", "* /"), 100)
    return f"/* {lines[0]} */" if len(lines) == 1 else "/*\n" + "".join(f" * {line}\n" for line in lines) + " */"


def insert_at_end(header: str, text: str) -> str:
    """``header`` with ``text`` as its last declaration, inside its guard and a closing ``extern "C"``."""
    at = end_of_declarations(header)
    rest = header[at:].lstrip("\n")
    return f"{header[:at].rstrip()}\n\n{text}\n" + (f"\n{rest}" if rest else "")


def merged(existing: bytes, generated: str) -> bytes:
    """``existing`` with those declarations of ``generated`` that it lacks, includes first, the rest before its end.

    Nothing that is there is changed or taken away.
    """
    have = {name for piece in pieces_of(existing) for name in piece.names}
    source = generated.encode()
    docs = {node.start_byte: comment_above(source, node)[0] for node in top_level(readable(source)[1])}
    fresh = []
    for piece in pieces_of(source):
        is_guard = piece.kind == "macro" and piece.text.split()[-1] == piece.names[0]
        if not set(piece.names) & have and not is_guard:
            doc = docs.get(piece.start, "")
            fresh.append(f"{doc}\n{piece.text}" if doc else piece.text)
    data = existing
    for include in analyse(source).includes:
        if include.depth == 0 and include.live is True:
            data, _ = insert_include(data, include.name, include.system)
    if not fresh:
        return data
    file = read_text(data)
    text = insert_at_end(file.text.replace("\r\n", "\n"), "\n\n".join(fresh))
    return file.bom + file.with_newlines(text).encode(file.encoding, "replace")
