"""The findings of AddressSanitizer and UndefinedBehaviorSanitizer, each with its function and line in the project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

_ERROR = re.compile(r"ERROR: \w+Sanitizer: (?:attempting )?(?P<kind>[\w-]+)")
_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (?P<function>\w+)(?:\([^)]*\)|\S*) (?P<path>[^\s:()]+):(?P<line>\d+)")
_UNDEFINED = re.compile(r"^(?P<path>[^\s:()]+):(?P<line>\d+):\d+: runtime error: (?P<what>.+)$")
_END = re.compile(r"^(?:SUMMARY: \w+Sanitizer|==\d+==ABORTING)|^\S* is located |^freed by |^previously allocated ")

_MEANING = {
    "heap-use-after-free": "memory is used after it was freed",
    "double-free": "memory is freed a second time",
    "bad-free": "what is freed was not allocated",
    "heap-buffer-overflow": "an access is outside of the allocated memory",
    "stack-buffer-overflow": "an access is outside of a local array",
    "global-buffer-overflow": "an access is outside of a global array",
    "stack-use-after-return": "a local variable is used after its function returned",
    "stack-use-after-scope": "a local variable is used outside of its block",
    "stack-overflow": "the stack is used up, by a recursion without end or a huge local array",
    "SEGV": "a pointer is followed that is NULL or was never set",
    "use-of-uninitialized-value": "a value is used that was never set",
}
"""What each kind of finding means, for a reader who does not know the name (the sanitizers' own documentation)."""


class SanitizerReport(msgspec.Struct, frozen=True):
    """One finding. ``path`` is as the project calls the file; ``line`` counts from 1; ``function`` is "" when the report
    names none."""

    kind: str
    function: str
    path: str
    line: int

    def sentence(self, code: str = "") -> str:
        """The finding in words, with the line of code where there is one."""
        place = f"{self.path}, line {self.line}"
        where = f"In {self.function} ({place})" if self.function else f"In {place}"
        shown = f", at `{code.strip()}`" if code.strip() else ""
        meaning = _MEANING.get(self.kind)
        return f"{where}{shown}: {meaning} ({self.kind})." if meaning else f"{where}{shown}: {self.kind}."


def findings(output: str, mine: Callable[[str], str | None]) -> list[SanitizerReport]:
    """The findings in a program's output, in order, each place once.

    Args:
        mine: gives the project's name of a path in the report, "" for one outside the project (a library's), None for a
            test: its callers only run the tests. The innermost frame of the project counts.
    """
    found: dict[tuple[str, int], SanitizerReport] = {}
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if error := _ERROR.search(line):
            frame = next(_frames(lines[number + 1 :], mine), None)
            one = SanitizerReport(error["kind"], *frame) if frame else None
        elif undefined := _UNDEFINED.match(line):
            path = mine(undefined["path"])
            frame = next(_frames(lines[number + 1 : number + 4], mine), None)
            function = frame[0] if frame and frame[1:] == (path, int(undefined["line"])) else ""
            one = SanitizerReport(undefined["what"].strip(), function, path, int(undefined["line"])) if path else None
        else:
            continue
        if one is not None:
            found.setdefault((one.path, one.line), one)
    return list(found.values())


def _frames(lines: list[str], mine: Callable[[str], str | None]) -> Iterator[tuple[str, str, int]]:
    """The frames of a report's own stack that lie in the project; not those of where memory came from."""
    for line in lines:
        if _END.match(line):
            return
        frame = _FRAME.match(line)
        path = mine(frame["path"]) if frame else ""
        if path is None:
            return
        if frame and path:
            yield frame["function"], path, int(frame["line"])
