"""A version of a C function put into its file, compiled there, and taken back unless it is one to keep."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agent.c.surroundings import reachable_headers
from agent.c.writing.extract import Extracted
from agent.c.writing.insertion import definition_lines, new_lines, place_function, standing
from agent.c.writing.slips.compile_errors import without_errors
from agent.coding.files import Files, LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.replies.search_replace import changed_lines
from agent.coding.writing.candidates import Compiled, CompileFile, CompileReport, errors_of
from agent.context import RunContext
from agent.events import EditApplied, IncludeAdded

MENDED = 4
"""Compiles of one version after errors in it were set right, at most: one hides another."""


class CandidateTrial:
    """Where versions of ``wanted`` are tried. ``last`` is the report of the newest compile; ``helpers`` are the functions
    that came along with versions before, of whatever function, as they were written."""

    def __init__(
        self, ctx: RunContext, wanted: OpenFunction, files: Files, compile: CompileFile, helpers: Collection[str] = ()
    ) -> None:
        self.ctx = ctx
        self.wanted = wanted
        self.files = files
        self.compile = compile
        self.helpers = helpers
        self.last: CompileReport = Compiled(False)
        self._includes: list[tuple[str, str]] = []

    @property
    def source(self) -> bytes:
        """The file as it stands."""
        return self.files.read_bytes(self.wanted.path)

    def snapshot(self) -> dict[str, bytes]:
        """The file and the project headers it includes: what compiling may change."""
        everything = LazyFiles(self.files)
        return {path: everything[path] for path in (self.wanted.path, *reachable_headers(self.wanted.path, everything))}

    def put(self, extracted: Extracted) -> None:
        """Write a version into the file, and tell of it."""
        self._includes = []
        path, before = self.wanted.path, self.source
        placed = place_function(before, self.wanted.name, extracted, self.helpers)
        self.files.write_bytes(path, placed)
        removed, added = changed_lines(before.decode("utf-8", "replace"), placed.decode("utf-8", "replace"))
        self.ctx.emit(EditApplied(path, "function", self.wanted.name, added, removed))

    async def compiles(self, before: Mapping[str, bytes]) -> bool:
        """Whether the version that stands there compiles, or whatever fails is not its fault. Errors in it are set right
        where only one thing can be meant."""
        await self._compile()
        for _ in range(MENDED):
            if self.last.ok or not self._set_right(before):
                break
            await self._compile()
        return self.last.ok or await self._is_not_to_blame(before)

    def standing(self, extracted: Extracted) -> Extracted:
        """``extracted`` as it stands in the file: with the warnings in it set right."""
        return standing(self.source, self.wanted.name, extracted)

    async def _compile(self) -> None:
        self.last = await self.compile(self.wanted.path, self.wanted.name, self.wanted.signature)
        self._includes += [one for one in self.last.includes if one not in self._includes]

    def _set_right(self, before: Mapping[str, bytes]) -> bool:
        """Set right what the errors say of the functions that are new in the file; whether anything changed."""
        path, source = self.wanted.path, self.source
        name = path.rsplit("/", 1)[-1]
        if any(not one.file.endswith(name) for one in errors_of(self.last.diagnostics)):
            return False
        lines, errors = new_lines(source, before.get(path, b"")), self.last.diagnostics
        headers = [data for other, data in before.items() if other != path]
        mended, told = without_errors(source, errors, lines, headers)
        if not told:
            return False
        self.files.write_bytes(path, mended)
        self.ctx.emit(EditApplied(path, "correction", self.wanted.name, len(told), len(told)))
        self.ctx.notice("info", f"{self.wanted.name}: {' '.join(told)}", "function_implement")
        return True

    async def _is_not_to_blame(self, before: Mapping[str, bytes]) -> bool:
        """Whether all errors lie outside the new code and were there before it: nothing that a new version could mend."""
        lines = self.lines()
        errors = errors_of(self.last.diagnostics)
        if not lines or not errors:
            return False
        name = self.wanted.path.rsplit("/", 1)[-1]
        if any(not one.line or (one.file.endswith(name) and one.line in lines) for one in errors):
            return False
        candidate = self.snapshot()
        self._write(before)
        base = await self.compile(self.wanted.path, self.wanted.name)
        self._write(candidate)
        return not {one.message for one in errors} - {one.message for one in errors_of(base.diagnostics)}

    def lines(self) -> range:
        """The lines of the definition that stands there, with one above it; none when there is none."""
        return definition_lines(self.source, self.wanted.name)

    def take_back(self, before: Mapping[str, bytes]) -> None:
        """Undo a version, and with it the include lines that were put in for it."""
        self._write(before)
        for path, header in self._includes:
            self.ctx.emit(IncludeAdded(path, header, 0, kept=False, symbol=self.wanted.name))

    def _write(self, contents: Mapping[str, bytes]) -> None:
        for path, data in contents.items():
            if self.files.read_bytes(path) != data:
                self.files.write_bytes(path, data)
