"""Search/replace edits, read from a reply and applied to bytes. A model's mistake is a result, never an exception.

The format, as the prompts describe it::

    FILE: src/budget.py
    <<<<<<< SEARCH
    the lines as they are now
    =======
    the lines as they shall be
    >>>>>>> REPLACE

An empty search part on a file that does not exist creates it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from agent.coding.replies.text_matching import Match, find_match, nearest_text
from agent.textfile import is_binary, read_text

_OPEN = re.compile(r"^\s*(<{5,9})\s*(?:SEARCH|ORIGINAL|OLD)?\s*$", re.I)
_CLOSE = re.compile(r"^\s*>{5,9}\s*(?:REPLACE|UPDATED|NEW)?\s*$", re.I)
_MIDDLE = re.compile(r"^\s*(={5,9})\s*$")
_FILE = re.compile(
    r"^\s*(?:#+\s*)?\**(?:FILE|PATH)\**\s*:[\s*]*(?:[`'\"]\s*)?(?P<path>[^`'\"*\s][^`'\"*]*)[`'\"]?\**\s*$", re.I
)
_BARE_PATH = re.compile(r"^\s*(?:#+\s*)?[`*'\"]*(?P<path>[\w./-]+\.\w+)[`*'\"]*:?\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")

MAX_EDITS = 50
"""Blocks that one reply may hold. More are a model that repeats itself, and each would be searched for in a file."""

_LONGEST_MARKER = 500
"""Characters of a line that can name a file or open, part or close a block."""

_PROBLEMS_TOLD = 3


class EditBlock(msgspec.Struct, frozen=True):
    """One search/replace block. ``path`` is as the model wrote it, "" when it named none."""

    path: str
    search: str
    replace: str


class ParsedEdits(msgspec.Struct, frozen=True):
    """The blocks of a reply, and sentences about those that could not be read."""

    edits: tuple[EditBlock, ...]
    problems: tuple[str, ...] = ()


class EditResult(msgspec.Struct, frozen=True):
    """What became of one edit. ``data`` is the file after it (before it, when ``ok`` is False). ``how`` is exact,
    whitespace, symbol, or new. ``reason`` is a sentence; ``nearest`` the text of the file that comes closest to a
    search that missed; ``unchanged`` that the reply is what stands there already."""

    ok: bool
    path: str
    data: bytes
    how: str = ""
    reason: str = ""
    nearest: str = ""
    nearest_line: int = 0
    added: int = 0
    removed: int = 0
    unchanged: bool = False


class EditsOutcome(msgspec.Struct, frozen=True):
    """All edits of one reply together. ``files`` holds the new bytes of every changed file, and nothing unless all
    went well."""

    ok: bool
    files: dict[str, bytes]
    results: tuple[EditResult, ...]


def parse_edits(reply: str, default_path: str = "") -> ParsedEdits:
    """The search/replace blocks of ``reply``, in time linear in its length. A block without a path takes the last one
    named, else ``default_path``. A reply of more than :data:`MAX_EDITS` blocks gives none and a sentence."""
    lines = reply.replace("\r\n", "\n").split("\n")
    edits: list[EditBlock] = []
    problems: list[str] = []
    marks = _Marks(lines)
    path, position = default_path, 0
    while position < len(lines):
        line = lines[position] if len(lines[position]) <= _LONGEST_MARKER else ""
        named = _FILE.match(line) or (_BARE_PATH.match(line) if _opens_soon(lines, position) else None)
        if named:
            path = named["path"].strip()
        opened = _OPEN.match(line)
        if not opened:
            position += 1
            continue
        # as many = as there were <, so that an underline in the text is not a separator
        middle = _from(marks.middles[len(opened[1])], position + 1)
        close = -1 if middle < 0 else _from(marks.closes, middle + 1)
        reopened = _from(marks.opens, position + 1)
        if middle < 0 or close < 0 or -1 < reopened < close:
            missing = "=======" if middle < 0 or -1 < reopened < middle else ">>>>>>> REPLACE"
            problems.append(f"The edit block at line {position + 1} of the reply has no {missing} line, so it was not used.")
            position = reopened if reopened > 0 else len(lines)
            continue
        edits.append(EditBlock(path, "\n".join(lines[position + 1 : middle]), "\n".join(lines[middle + 1 : close])))
        position = close + 1
    if not edits and not problems:
        problems.append("The reply holds no <<<<<<< SEARCH block.")
    if len(edits) > MAX_EDITS:
        return ParsedEdits((), (f"The reply holds {len(edits)} edit blocks, more than {MAX_EDITS}: change less at once.",))
    return ParsedEdits(tuple(edits), tuple(problems[:_PROBLEMS_TOLD]))


class _Marks:
    """The numbers of the lines that open, part (by how many =) and close blocks, ascending: found in one pass."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.opens: list[int] = []
        self.closes: list[int] = []
        self.middles: dict[int, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            if len(line) > _LONGEST_MARKER:
                continue
            if _OPEN.match(line):
                self.opens.append(number)
            elif _CLOSE.match(line):
                self.closes.append(number)
            elif middle := _MIDDLE.match(line):
                self.middles[len(middle[1])].append(number)


def _from(numbers: Sequence[int], start: int) -> int:
    """The first of ``numbers`` that is not below ``start``, -1 when there is none."""
    at = bisect_left(numbers, start)
    return numbers[at] if at < len(numbers) else -1


def _opens_soon(lines: Sequence[str], position: int) -> bool:
    """Whether the next lines, fences and blanks left out, open a block: then a bare path above it names its file."""
    for line in lines[position + 1 : position + 4]:
        if len(line) <= _LONGEST_MARKER and _OPEN.match(line):
            return True
        if line.strip() and not _FENCE.match(line):
            return False
    return False


def apply_edit(source: bytes, edit: EditBlock) -> EditResult:
    """Replace the one place of ``source`` that ``edit.search`` matches.

    Matches whole lines exactly, then text within lines, then lines that differ only in white space (the replacement
    takes over the file's indentation). Several matches or none are failures. All other bytes stay as they are.
    """

    def failed(reason: str, nearest: str = "", line: int = 0) -> EditResult:
        return EditResult(False, edit.path, source, reason=reason, nearest=nearest, nearest_line=line)

    if is_binary(source):
        return failed(f"{edit.path} is a binary file and cannot be edited as text.")
    file = read_text(source)
    if not edit.search.strip():
        return failed(f"The search part is empty but {edit.path} exists: copy the lines to be changed into it.")
    if edit.search == edit.replace:
        return failed(f"The edit of {edit.path} changes nothing: search and replace are the same.")
    found = find_match(file.text, edit.search, edit.replace)
    if not isinstance(found, Match):
        if found > 1:
            return failed(
                f"The search text occurs {found} times in {edit.path}. Add lines around it so that it occurs once."
            )
        near = nearest_text(file.text, edit.search)
        return failed(f"The search text does not occur in {edit.path}.", near.text, near.line)
    replacement = file.with_newlines(found.replacement)
    try:
        data = file.encode(file.text[: found.start] + replacement + file.text[found.end :])
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        return failed(f"{edit.path} is written in {file.encoding}, which has no {letter!r}.")
    removed, added = changed_lines(file.text[found.start : found.end], replacement)
    return EditResult(True, edit.path, data, how=found.how, added=added, removed=removed)


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """(removed, added) lines between two texts, what they share at both ends left out."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return len(old) - head - tail, len(new) - head - tail


def apply_edits(
    files: Mapping[str, bytes], edits: Sequence[EditBlock], *, protected: Sequence[str] | Callable[[str], bool] = ()
) -> EditsOutcome:
    """Apply all ``edits`` in order to ``files`` (path to bytes), all or none.

    A path is matched by its end where that is unambiguous (``budget.py`` for ``src/budget.py``). What ``protected`` (paths,
    or a rule that is asked of the cleaned path) holds and paths that leave the project are refused.
    """
    guard = protected if callable(protected) else lambda path: path in protected
    changed: dict[str, bytes] = {}
    results: list[EditResult] = []
    for edit in edits:
        path, reason = resolve_path(edit.path, files, guard)
        if any(one.startswith(f"{path}/") or path.startswith(f"{one}/") for one in changed):
            reason = reason or f"{path} would be a file and a folder at once."
        current = changed.get(path, files.get(path))
        if reason:
            results.append(EditResult(False, edit.path, current or b"", reason=reason))
        elif current is None:
            results.append(_create(path, edit, files))
        else:
            results.append(apply_edit(current, EditBlock(path, edit.search, edit.replace)))
        if results[-1].ok:
            changed[path] = results[-1].data
    ok = bool(results) and all(result.ok for result in results)
    return EditsOutcome(ok, changed if ok else {}, tuple(results))


def _create(path: str, edit: EditBlock, files: Mapping[str, bytes]) -> EditResult:
    if edit.search.strip():
        known = ", ".join(sorted(files)[:8])
        return EditResult(
            False,
            path,
            b"",
            reason=f"There is no file {path}. Leave the search part empty to create it. Known: {known}.",
        )
    text = edit.replace.strip("\n") + "\n"
    return EditResult(True, path, text.encode(), how="new", added=text.count("\n"))


def resolve_path(path: str, known: Mapping[str, bytes], guard: Callable[[str], bool]) -> tuple[str, str]:
    """The project path that ``path`` means, cleaned (``./``, ``//``, backslashes), and a sentence why it is refused ("" when
    it is not)."""
    clean = path.strip().replace("\\", "/")
    if not clean:
        return clean, "The edit names no file: write FILE: and its path above the block."
    if clean.startswith(("/", "~")) or ".." in clean.split("/") or re.match(r"[A-Za-z]:", clean) or "\0" in clean:
        return clean, f"{path} lies outside the project; write a path from its root."
    if clean.endswith(("/", "/.")) or clean == ".":
        return clean, f"{path} names a folder; write the path of a file."
    clean = "/".join(part for part in clean.split("/") if part not in ("", "."))
    if clean not in known:
        matches = [candidate for candidate in known if candidate.endswith("/" + clean)]
        if len(matches) == 1:
            clean = matches[0]
    if guard(clean):
        return clean, f"{clean} is protected and must stay as it is: change the code, not the tests nor what lies elsewhere."
    return clean, ""
