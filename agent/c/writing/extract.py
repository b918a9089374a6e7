"""The named function, and what it needs, out of whatever a small model replies.

Replies seen: the function alone, only its body, with helpers, the whole file again, the header again, a ``main`` on
top, prose around, no fence, two versions, another name, half a function because the reply was cut.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection

import msgspec

from agent.c.declarations.definitions import Piece, pieces_of
from agent.c.declarations.functions import CFunction, find_definition, functions
from agent.c.declarations.signature import definition_head, prototype_of, same_signature
from agent.c.preprocessor.comments import blanked
from agent.c.syntax.tree import parse_c
from agent.c.writing.slips.borrowed_result import with_owned_results
from agent.c.writing.slips.cplusplus_words import without_cplusplus
from agent.c.writing.slips.loop_variable import with_loop_variables_outside
from agent.c.writing.slips.shadowed_function import without_shadowing
from agent.c.writing.stubs import stub_evidence
from agent.language.code_blocks import CodeBlock, code_blocks
from agent.language.nesting import nesting_problem, partners
from agent.language.nodes import walk

_UNTIL_BODY = re.compile(r"[\s\w()]{0,400}\{")
_VERSIONS_READ = 10
"""Definitions of one name that are looked at, the last first: whether one is a stub is told by parsing the whole reply."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.M)


class Extracted(msgspec.Struct, frozen=True):
    """What a reply gave. ``function_text`` is the definition without a comment above ("" when there is none to use),
    ``helpers`` the definitions it needs that the project lacks, in order; ``includes`` the header names the reply lists, to
    be proven by compiling, ``<>`` or ``""`` left out. ``problems`` are sentences for the next prompt; with none the text is
    fit to be compiled. ``repairs`` are sentences about what was set right without asking again."""

    function_text: str = ""
    helpers: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is a function and nothing against it."""
        return bool(self.function_text) and not self.problems


def extract_function(
    reply: str, signature: str, *, known: Collection[str] = (), finish: str = "stop", result_freed: bool = False
) -> Extracted:
    """Take the function that ``signature`` declares out of ``reply``.

    Args:
        reply: the model's text.
        signature: the declared head, one line.
        known: names that the project already defines (functions, macros, types, globals), which are not taken again.
        finish: why the model stopped; ``length`` and ``context`` mean that the reply was cut.
        result_freed: whether the caller frees what the function returns.
    """
    declared = prototype_of(signature)
    if declared is None:
        return Extracted(problems=(f"The signature {signature!r} could not be read.",))
    blocks = [
        block for block in code_blocks(reply) if block.language not in ("bash", "sh", "shell", "console", "text", "makefile")
    ]
    if not blocks:
        return Extracted(problems=("The reply holds no code. Reply with the whole function in one ```c block.",))
    deep = nesting_problem(blanked("\n".join(block.text for block in blocks)))
    if deep:
        return Extracted(problems=(deep,))
    code, respelled = without_cplusplus(_joined(blocks, declared.name), known)
    includes = tuple(dict.fromkeys(one or other for one, other in _INCLUDE.findall(code)))
    found = _find(code, declared, known)
    if isinstance(found, str):
        return Extracted(includes=includes, problems=(_cut(found, declared, finish),))
    text, source, repairs = found
    written = find_definition(text.encode(), declared.name)
    if written is None or _open_braces(text):
        return Extracted(includes=includes, problems=(_cut("Its braces do not balance.", declared, finish),))
    text, problems, more = _with_declared_head(text, written, declared)
    if stub_evidence(text.encode(), find_definition(text.encode(), declared.name) or written) != "none":
        problems = (*problems, f"{declared.name} is still a stub: write the code that does what its contract says.")
    helpers = _helpers(source, text, {*known, declared.name}) if not problems else ()
    text, renamed = without_shadowing(text)
    text, moved = with_loop_variables_outside(text, known)
    text, owned = with_owned_results(text) if result_freed else (text, ())
    return Extracted(text, helpers, includes, problems, (*repairs, *more, *respelled, *renamed, *moved, *owned))


def extract_helper(reply: str, name: str, *, known: Collection[str] = ()) -> tuple[str, ...]:
    """The definition of ``name`` in ``reply`` as a static function, after the pieces it needs itself; () when the reply has
    no whole definition of it. ``known`` names are not taken again."""
    blocks = code_blocks(reply)
    if nesting_problem(blanked("\n".join(block.text for block in blocks))):
        return ()
    code = _joined(blocks, name)
    written = find_definition(code.encode(), name)
    if written is None or parse_c(code.encode()[written.start : written.end]).has_error:
        return ()
    text = _slice(code.encode(), written.start, written.end)
    if stub_evidence(text.encode(), find_definition(text.encode(), name) or written) != "none":
        return ()
    own = text if written.static else f"static {text}"
    return (*_helpers(code.encode(), text, {*known, name}), own)


def _joined(blocks: list[CodeBlock], name: str) -> str:
    """The blocks as one text; an example of use without the function itself is left out when others have the function."""
    having = [block for block in blocks if find_definition(block.text.encode(), name)]
    if not having:
        return blocks[0].text if len(blocks) == 1 else "\n\n".join(block.text for block in blocks)
    others = [block for block in blocks if block not in having and not find_definition(block.text.encode(), "main")]
    return "\n\n".join(block.text for block in [*others, *having])


def _find(code: str, declared: CFunction, known: Collection[str]) -> tuple[str, bytes, tuple[str, ...]] | str:
    """The definition's text, the code it stands in, and repairs made; or what is wrong."""
    source = code.encode()
    versions = [one for one in functions(source) if one.name == declared.name and one.defined]
    if versions:
        latest = versions[: -_VERSIONS_READ - 1 : -1]
        written = next((one for one in latest if stub_evidence(source, one) == "none"), latest[0])
        return _slice(source, written.start, written.end), source, ()
    scanned = _scan(code, declared.name)
    if scanned:
        return scanned, source, ()
    defined = [one for one in functions(source) if one.defined and one.name != "main"]
    strangers = [one for one in defined if one.name not in known]
    if not defined:
        body = _as_body(code, declared)
        if body:
            return body, body.encode(), (f"Only the body of {declared.name} was given; its head was added.",)
    elif len(strangers) == 1 and len(defined) == 1 and same_signature(declared, strangers[0]):
        text = _renamed(source, strangers[0], declared.name)
        return text, text.encode(), (f"{strangers[0].name} was renamed to {declared.name}.",)
    names = ", ".join(one.name for one in defined)
    return (
        f"The reply defines {names}, not {declared.name}." if names else f"The reply has no definition of {declared.name}."
    )


def _cut(problem: str, declared: CFunction, finish: str) -> str:
    if finish in ("length", "context"):
        return f"The reply was cut off before {declared.name} was complete. Write it shorter, without comments or examples."
    return f"{problem} Reply with the whole function {declared.name} in one ```c block."


def _slice(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")


def _scan(code: str, name: str) -> str:
    """The definition by its braces, where the syntax tree was led astray by prose or by a macro; "" when there is none."""
    bare = blanked(code)
    round_ends, brace_ends = partners(bare, "()"), partners(bare, "{}")
    for match in reversed(list(re.finditer(rf"(?<!\w){re.escape(name)}\s{{0,80}}\(", bare))):
        close = round_ends.get(match.end() - 1, -1)
        after = _UNTIL_BODY.match(bare, close + 1) if close > 0 else None
        if not after:
            continue
        end = brace_ends.get(after.end() - 1, -1)
        start = bare.rfind("\n", 0, match.start()) + 1
        if not bare[start : match.start()].strip():
            start = bare.rfind("\n", 0, max(start - 1, 0)) + 1
        if end > 0 and re.fullmatch(r"[\w\s*]*[\s*]", bare[start : match.start()]):
            return code[start : end + 1].strip()
    return ""


def _open_braces(text: str) -> bool:
    bare = blanked(text)
    return bare.count("{") != bare.count("}")


def _as_body(code: str, declared: CFunction) -> str:
    """``code`` as the body of the declared function, "" when it is none."""
    inner = _INCLUDE.sub("", code).strip("\n")
    bare = blanked(inner)
    if bare.lstrip().startswith("{"):
        begin = bare.index("{")
        end = partners(bare, "{}").get(begin, -1)
        if end < 0:
            return ""
        inner = inner[begin + 1 : end].strip("\n")
    elif not re.search(r"[;}]\s*$", bare) or not re.search(r"\breturn\b|=|\(", bare):
        return ""
    indented = textwrap.indent(textwrap.dedent(inner.rstrip()), "    ")
    text = f"{definition_head(declared)}\n{{\n{indented}\n}}"
    root = parse_c(text.encode())
    return "" if root.has_error or not find_definition(text.encode(), declared.name) else text


def _renamed(source: bytes, function: CFunction, name: str) -> str:
    """The function with every use of its own name (recursion) replaced by ``name``."""
    text = bytearray(source)
    for node in reversed(list(walk(parse_c(source)))):
        inside = function.start <= node.start_byte and node.end_byte <= function.end
        if inside and node.type == "identifier" and node.text == function.name.encode():
            text[node.start_byte : node.end_byte] = name.encode()
    renamed = find_definition(bytes(text), name)
    return _slice(bytes(text), renamed.start, renamed.end) if renamed else ""


def _with_declared_head(text: str, written: CFunction, declared: CFunction) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The function under its declared head. Parameter names are the writer's own, since the body uses them."""
    if len(written.parameters) != len(declared.parameters) or written.variadic != declared.variadic:
        problem = f"{declared.name} must be declared exactly as `{definition_head(declared)}`, not as `{written.head}`."
        return text, (problem,), ()
    head = definition_head(declared, [parameter.name for parameter in written.parameters])
    front, body = text.encode()[: written.body_start].decode(), text.encode()[written.body_start :].decode()
    repairs: tuple[str, ...] = ()
    if not same_signature(declared, written):
        repairs = (f"The head `{written.head}` was set to the declared `{head}`.",)
    elif written.head == head or (declared.static, declared.inline) == (written.static, written.inline):
        return text, (), ()
    gap = front[len(front.rstrip()) :] or " "
    return f"{head}{gap}{body}", (), repairs


def _helpers(source: bytes, text: str, known: Collection[str]) -> tuple[str, ...]:
    """The other pieces of ``source`` that ``text`` needs, directly or through one another, and that nobody has yet."""
    available = [piece for piece in pieces_of(source) if not set(piece.names) & set(known) and "main" not in piece.names]
    wanted: set[int] = set()
    queue = [text]
    while queue:
        words = set(re.findall(r"\w+", blanked(queue.pop())))
        for index, piece in enumerate(available):
            if index not in wanted and words & set(piece.names):
                wanted.add(index)
                queue.append(piece.text)
    return tuple(_private(available[index]) for index in sorted(wanted))


def _private(piece: Piece) -> str:
    """A helper function made ``static``: it is not part of the interface."""
    if piece.kind != "function" or re.match(r"(?:static|extern)\b", piece.text):
        return re.sub(r"^extern\s+", "static ", piece.text) if piece.kind == "function" else piece.text
    return "static " + piece.text
