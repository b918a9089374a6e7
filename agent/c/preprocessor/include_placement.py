"""Where in a file an ``#include`` can go: above its use, outside of everything that would change what the header means.

A header that is read within ``#pragma pack(push, 1)`` lays its structs out anew, within ``visibility push(hidden)`` it
hides the C library's functions, between ``#define`` and ``#undef`` of a name it sees that name replaced. Such regions,
conditionals and ``extern "C"`` blocks are never a place. Feature-test macros (feature_test_macros(7)) and the
configuration header (Autoconf manual, "Configuration Headers") stay above every system header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent.c.preprocessor.comments import noise
from agent.c.preprocessor.directives import BRANCHES, CONDITIONALS, FEATURE_MACROS, INCLUDES, Directive, Include
from agent.c.preprocessor.text import CText

_LICENCE = re.compile(r"copyright|licen[cs]e|spdx|\(c\)|all rights reserved|@file|\\file", re.IGNORECASE)
_CONFIG = re.compile(r"(?:^|[/_-])(?:auto)?conf(?:ig(?:ure|uration)?)?(?:[_-]?(?:auto|build|host))?\.h(?:h|pp)?$", re.I)
_EXTERN_C = re.compile(r'extern\s+"C"\s*\{|\b_*[A-Z]*_*BEGIN_(?:C_)?DECLS\b')
_EXTERN_C_END = re.compile(r"^\s*\}|\b_*[A-Z]*_*END_(?:C_)?DECLS\b", re.MULTILINE)

_PACK = re.compile(r"pack\s*\(\s*(?P<what>push|pop|\d+|)\s*(?:,[^)]*)?\)")
_PAIRED = re.compile(
    r"(?:GCC|clang)?\s*(?P<kind>visibility|diagnostic|warning|attribute|optimize|managed)\b\s*\(?\s*(?P<what>push|pop)\b"
)
_OPTIONS = re.compile(r"GCC\s+(?P<what>push|pop)_options")
_MACRO = re.compile(r'(?P<what>push|pop)_macro\s*\(\s*"(?P<name>\w+)"')
_SETTING = re.compile(
    r"(?P<kind>scalar_storage_order|ms_struct|options\s+align\s*=|enum)\s*\(?\s*(?P<value>[\w-]+)"
)
_DEFAULTS = frozenset({"default", "reset", "off", "pop"})


class PragmaState:
    """What ``#pragma`` lines have changed and not yet put back."""

    def __init__(self) -> None:
        self._packing: list[str] = []
        self._packed = ""
        self._open: dict[str, int] = {}

    @property
    def plain(self) -> bool:
        """Whether all is as it was at the beginning."""
        return not self._packed and not self._packing and not any(self._open.values())

    def apply(self, pragma: str) -> None:
        """Follow one pragma, given without the word ``#pragma``."""
        if match := _PACK.match(pragma):
            self._pack(match["what"], pragma)
        elif match := _PAIRED.match(pragma):
            self._count(match["kind"], match["what"])
        elif match := _OPTIONS.match(pragma):
            self._count("options", match["what"])
        elif match := _MACRO.match(pragma):
            self._count(f"macro {match['name']}", match["what"])
        elif match := _SETTING.match(pragma):
            self._open[match["kind"]] = int(match["value"] not in _DEFAULTS)

    def _pack(self, what: str, pragma: str) -> None:
        if what == "push":
            self._packing.append(self._packed)
            value = re.search(r"(\d+)\s*\)", pragma)
            self._packed = value[1] if value else self._packed
        elif what == "pop":
            self._packed = self._packing.pop() if self._packing else ""
        else:
            self._packed = what

    def _count(self, kind: str, what: str) -> None:
        self._open[kind] = max(0, self._open.get(kind, 0) + (1 if what == "push" else -1))


@dataclass(frozen=True, slots=True)
class IncludeEffects:
    """What the files that a file includes do to what comes after. ``pragmas`` gives the arguments of all pragmas that an
    include brings, in order; ``configures`` tells whether it sets feature-test macros."""

    pragmas: Callable[[Include], Sequence[str]] = field(default=lambda _include: ())
    configures: Callable[[Include], bool] = field(default=lambda _include: False)


def include_places(
    shape: CText, *, system: bool, limit: int, surroundings: IncludeEffects | None = None
) -> list[int]:
    """The lines before which an include may go, all at most ``limit``, best first, each once; never empty.

    A system header goes behind the last system header of the file's beginning, a project header behind the last include of
    it; else to the top: below licence comment, guard, ``#pragma once``, configuration header and feature-test macros. The
    last resorts are behind the last include above ``limit``, and right above the declaration that ``limit`` is in.
    """
    scan = _Scan(shape, limit, surroundings or IncludeEffects())
    block = [i for i in scan.includes if i.line < scan.first_code]
    own = [i for i in block if i.system and not scan.configures(i)] if system else block
    wanted = [*_behind(own), *_behind(block), scan.top, *_behind(scan.includes)]
    lines = [*(max(line, scan.feature_macros_end) for line in wanted), scan.declaration]
    return list(dict.fromkeys(_clean_line(shape, max(1, min(line, limit)), limit) for line in lines))


def _behind(includes: Sequence[Include]) -> list[int]:
    return [includes[-1].end_line + 1] if includes else []


class _Scan:
    """One file looked through from its beginning to ``limit``."""

    def __init__(self, shape: CText, limit: int, surroundings: IncludeEffects) -> None:
        self.shape, self.limit, self.surroundings = shape, limit, surroundings
        self.regions = [*_pragma_regions(shape, surroundings.pragmas), *_macro_regions(shape), *_extern_c_regions(shape)]
        self.includes = [
            i for i in shape.includes
            if i.depth == 0 and i.live is not False and not i.braces and i.end_line < limit
            and not self.inside(i.end_line + 1)
        ]  # fmt: skip
        self.first_code = _first_code(shape, limit)
        self.feature_macros_end = self._feature_macros_end()
        self.top = self._top()
        self.declaration = self._below_directives(self._declaration())

    def inside(self, line: int) -> bool:
        """Whether an include put before ``line`` would be in a region."""
        return any(first < line <= last for first, last in self.regions)

    def configures(self, include: Include) -> bool:
        """Whether an include is the configuration's and belongs above all others."""
        return bool(_CONFIG.search(include.name)) or self.surroundings.configures(include)

    def _feature_macros_end(self) -> int:
        """The line behind the last feature-test macro, or the conditional around it, above ``limit``; else 0."""
        end, opened, touched = 0, False, False
        for d in self.shape.directives:
            if d.end_line >= self.limit:
                break
            outermost = d.depth == 0 and not _is_guard(self.shape, d) and not self.inside(d.line)
            if outermost and d.keyword in CONDITIONALS:
                opened, touched = True, False
            if d.keyword == "define" and not d.braces and re.split(r"\W", d.argument, maxsplit=1)[0] in FEATURE_MACROS:
                end = d.end_line + 1 if outermost else end
                touched = touched or d.depth > 0
            if outermost and d.keyword == "endif" and opened:
                end = d.end_line + 1 if touched else end
                opened = False
        return end

    def _top(self) -> int:
        """The first line below what must stay on top."""
        head = self._head_end()
        code = head + 1
        while code < self.limit and not self.shape.masked_line(code).strip():
            code += 1
        comment = _comment_before(self.shape, head + 1, code)
        if comment is None:
            return min(code, self.limit)
        start, text = comment
        keeps_its_place = not head and _LICENCE.search(text)
        return min(code if keeps_its_place else start, self.limit)

    def _head_end(self) -> int:
        """The last line of guard, ``#pragma once``, configuration and feature-test macros that open the file, 0 if none."""
        shape, end, last, block = self.shape, 0, 0, -1
        guard = {id(shape.directives[i]) for i in (shape.guard.opened, shape.guard.defined)} if shape.guard else set()
        for index, d in enumerate(shape.directives):
            if d.end_line >= self.limit or shape.masked[last : d.start].strip():
                break
            last = d.end
            if index <= block:
                continue
            if id(d) in guard or self._opens(d):
                end = d.end_line
            elif d.depth == 0 and d.keyword in CONDITIONALS and (block := self._configuring_block(index)):
                end = shape.directives[block].end_line
            elif d.keyword != "pragma" or self.inside(d.line + 1):
                break
        return end

    def _opens(self, d: Directive) -> bool:
        """Whether a directive is one that a file opens with: ``#pragma once``, a feature-test macro, the configuration."""
        if d.keyword == "pragma":
            return d.argument.split()[:1] == ["once"]
        if d.keyword == "define":
            return re.split(r"\W", d.argument, maxsplit=1)[0] in FEATURE_MACROS
        found = next((i for i in self.shape.includes if i.line == d.line), None) if d.keyword in INCLUDES else None
        return found is not None and self.configures(found)

    def _configuring_block(self, opened: int) -> int:
        """The index of the ``#endif`` of a conditional that only configures (``#ifdef HAVE_CONFIG_H``); 0 for another."""
        for index in range(opened + 1, len(self.shape.directives)):
            d = self.shape.directives[index]
            between = self.shape.masked[self.shape.directives[index - 1].end : d.start]
            if between.strip():
                return 0
            if d.keyword == "endif" and d.depth == 0:
                inner = self.shape.directives[opened + 1 : index]
                return index if any(self._opens(one) for one in inner) else 0
        return 0

    def _declaration(self) -> int:
        """The first line of the declaration that ``limit`` is in, with its comment."""
        shape, line = self.shape, min(self.limit, self.shape.line_count + 1)
        offset = shape.starts[line - 1] if line <= len(shape.starts) else len(shape.masked)
        depth = 0
        for place in range(offset - 1, -1, -1):
            char = shape.masked[place]
            if char == "}":
                depth += 1
                if depth == 1 and not shape.masked[place + 1 : offset].strip():
                    return shape.line_of(place) + 1
            elif char == "{":
                depth -= 1
            if depth <= 0 and (char == ";" or (char == "}" and depth == 0)) and _outside(shape, place):
                return shape.line_of(place) + 1
        return 1


    def _below_directives(self, start: int) -> int:
        """The line behind the directives that follow at ``start`` with no code between, as long as it is in no region and no
        conditional: a name that was taken back by ``#undef`` can be declared again only there."""
        shape, best = self.shape, start
        for d in shape.directives:
            if d.line < start:
                continue
            code = any(shape.masked_line(line).strip() for line in range(start, d.line))
            if code or d.end_line >= self.limit:
                break
            start = d.end_line + 1
            if d.depth == 0 and d.keyword not in (*CONDITIONALS, *BRANCHES) and not self.inside(start):
                best = start
        return best


def _outside(shape: CText, offset: int) -> bool:
    """Whether ``offset`` is outside of all braces."""
    return shape.masked.count("{", 0, offset + 1) == shape.masked.count("}", 0, offset + 1)


def _first_code(shape: CText, limit: int) -> int:
    """The first line at file scope that is not a directive, at most ``limit``."""
    taken = {n for d in shape.directives for n in range(d.line, d.end_line + 1)}
    for line in range(1, min(limit, shape.line_count) + 1):
        if line not in taken and not shape.dead(line) and shape.masked_line(line).strip():
            return line
    return limit


def _pragma_regions(shape: CText, brought: Callable[[Include], Sequence[str]]) -> Iterable[tuple[int, int]]:
    """From the line that changes something to the line that puts it back, or to the end."""
    state, opened = PragmaState(), 0
    includes = {i.line: i for i in shape.includes}
    for d in shape.directives:
        if d.keyword == "pragma":
            state.apply(d.argument)
        elif d.line in includes and d.live is not False:
            for pragma in brought(includes[d.line]):
                state.apply(pragma)
        if not state.plain and not opened:
            opened = _outermost(shape, d)
        elif state.plain and opened:
            yield opened, d.end_line
            opened = 0
    if opened:
        yield opened, shape.line_count + 1


def _outermost(shape: CText, inner: Directive) -> int:
    """The line of the outermost conditional around a directive, its own when there is none."""
    if inner.depth == 0:
        return inner.line
    opened = [d for d in shape.directives if d.depth == 0 and d.keyword in CONDITIONALS and d.line <= inner.line]
    opened = [d for d in opened if not _is_guard(shape, d)]
    return opened[-1].line if opened else inner.line


def _macro_regions(shape: CText) -> Iterable[tuple[int, int]]:
    """From ``#define`` to ``#undef`` of the same name with an include between them."""
    defined: dict[str, int] = {}
    for d in shape.directives:
        name = re.split(r"\W", d.argument, maxsplit=1)[0] if d.keyword in ("define", "undef") else ""
        if d.keyword == "define":
            defined.setdefault(name, _outermost(shape, d))
        elif d.keyword == "undef" and name in defined:
            first = defined.pop(name)
            if any(first < include.line < d.line for include in shape.includes):
                yield first, d.end_line


def _extern_c_regions(shape: CText) -> Iterable[tuple[int, int]]:
    """``extern "C" {`` up to its brace, whether C++ alone sees it or not, and the macros that stand for the two."""
    text = shape.text
    for match in _EXTERN_C.finditer(text):
        if shape.opaque_at(match.start() + 1):
            continue
        line = shape.line_of(match.start())
        around = [d for d in shape.directives if d.line < line and d.depth == 0 and d.keyword in CONDITIONALS]
        around = [d for d in around if not _is_guard(shape, d)]
        first = around[-1].line if around and _open_at(shape, around[-1], line) else line
        yield first, _end_of_block(shape, match.end(), braced="{" in match[0])


def _open_at(shape: CText, opened: Directive, line: int) -> bool:
    """Whether the conditional ``opened`` still is open at ``line``."""
    closing = (d for d in shape.directives if d.keyword == "endif" and d.depth == 0 and d.line > opened.line)
    end = next(closing, None)
    return end is None or end.line > line


def _end_of_block(shape: CText, offset: int, *, braced: bool) -> int:
    if braced:
        depth = 1
        for place in range(offset, len(shape.masked)):
            depth += (shape.masked[place] == "{") - (shape.masked[place] == "}")
            if depth == 0:
                return shape.line_of(place)
    elif match := _EXTERN_C_END.search(shape.masked, offset):
        return shape.line_of(match.start())
    return shape.line_count + 1


def _is_guard(shape: CText, d: Directive) -> bool:
    return shape.guard is not None and d in (shape.directives[shape.guard.opened], shape.directives[shape.guard.closed])


def _comment_before(shape: CText, first: int, code: int) -> tuple[int, str] | None:
    """The comment that touches the line ``code`` from above and so documents it: its first line and text. Consecutive
    ``//`` comments are one."""
    start, text = code, ""
    for one in reversed([n for n in noise(shape.text) if n.comment]):
        line, end = shape.line_of(one.start), shape.line_of(max(one.start, one.end - 1))
        if line < first or end >= start:
            continue
        slashes = shape.text.startswith("//", one.start)
        if end != start - 1 or (text and not (slashes and text.startswith("//"))):
            break
        start, text = line, shape.text[one.start : one.end] + text
    return (start, text) if text else None


def _clean_line(shape: CText, line: int, limit: int) -> int:
    """The nearest line at or below ``line`` (else above) whose start is not a comment, literal or continued line."""
    below = (n for n in range(line, limit + 1) if _starts_clean(shape, n))
    above = (n for n in range(min(line, limit), 0, -1) if _starts_clean(shape, n))
    return next(below, next(above, 1))


def _starts_clean(shape: CText, line: int) -> bool:
    if line <= 1 or line > len(shape.starts):
        return True
    offset = shape.starts[line - 1]
    before = shape.text[:offset].rstrip("\r\n")
    if shape.text[offset - 1 : offset] == "\n" and before.endswith("\\") and len(shape.text[len(before) : offset]) <= 2:
        return False
    return not shape.opaque_at(offset)
