"""A version of a C function put into its file, compiled there, and taken back unless it is one to keep."""

from __future__ import annotations

from collections.abc import Mapping

from agent.c.declarations.functions import find_definition
from agent.c.writing.extract import Extracted
from agent.c.writing.insertion import place_function
from agent.coding.c_context import reachable_headers
from agent.coding.files import Files, LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.replies.search_replace import changed_lines
from agent.coding.writing.candidates import Compiled, CompileFile, CompileReport, errors_of
from agent.context import RunContext
from agent.events import EditApplied, IncludeAdded


class CandidateTrial:
    """Where versions of ``wanted`` are tried. ``last`` is the report of the newest compile."""

    def __init__(self, ctx: RunContext, wanted: OpenFunction, files: Files, compile: CompileFile) -> None:
        self.ctx = ctx
        self.wanted = wanted
        self.files = files
        self.compile = compile
        self.last: CompileReport = Compiled(False)

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
        path, before = self.wanted.path, self.source
        placed = place_function(before, self.wanted.name, extracted)
        self.files.write_bytes(path, placed)
        removed, added = changed_lines(before.decode("utf-8", "replace"), placed.decode("utf-8", "replace"))
        self.ctx.emit(EditApplied(path, "function", self.wanted.name, added, removed))

    async def compiles(self, before: Mapping[str, bytes]) -> bool:
        """Whether the version that stands there compiles, or whatever fails is not its fault."""
        self.last = await self.compile(self.wanted.path, self.wanted.name, self.wanted.signature)
        return self.last.ok or await self._is_not_to_blame(before)

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
        source = self.source
        function = find_definition(source, self.wanted.name)
        return range(function.line - 1, source[: function.end].count(b"\n") + 2) if function is not None else range(0)

    def take_back(self, before: Mapping[str, bytes]) -> None:
        """Undo a version, and with it the include lines that were put in for it."""
        self._write(before)
        for path, header in self.last.includes:
            self.ctx.emit(IncludeAdded(path, header, 0, kept=False, symbol=self.wanted.name))

    def _write(self, contents: Mapping[str, bytes]) -> None:
        for path, data in contents.items():
            if self.files.read_bytes(path) != data:
                self.files.write_bytes(path, data)
