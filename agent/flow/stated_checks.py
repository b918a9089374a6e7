"""Checks of a candidate that nobody wrote: examples that its contract, the task or a document states, never committed."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath

from agent.coding.files import LazyFiles, put_back
from agent.coding.stated import Stated, stated_of
from agent.coding.writing.candidates import CheckScore
from agent.flow.isolated_tests import IsolatedTests
from agent.flow.run_parts import RunParts
from agent.languages import is_unit, reader_of
from agent.task.documents import with_documents

STAGE = "stated_checks"


class StatedChecks:
    """The stated examples of one run, by function. Files of these checks never come into the change."""

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts
        self._known: dict[tuple[str, str], tuple[Stated, ...]] = {}

    async def known(self, name: str, path: str, contract: str) -> tuple[Stated, ...]:
        """What is stated of a function; told once, where there is something."""
        if not self.parts.ctx.config.coding.stated_checks:
            return ()
        found = self._known.get((path, name))
        if found is None:
            text = await asyncio.to_thread(with_documents, self.parts.found.task, LazyFiles(self.parts.tree.files))
            found = self._known[path, name] = stated_of(name, f"{contract}\n\n{text}")
            if found:
                shown = "; ".join(one.shown for one in found[:4])
                said = f"The examples stated for {name} are checked in each version and not committed: {shown}"
                self.parts.ctx.notice("info", said, STAGE)
        return found

    async def score(self, path: str, header: str, stated: tuple[Stated, ...]) -> CheckScore | None:
        """The share of ``stated`` that the version which stands in ``path`` fulfils, and the first that it does not; None
        when the checks cannot be built or come to no end."""
        reader, interface = reader_of(path), (header or path,)
        place = str(PurePosixPath(path).with_name("test_what_is_stated" + PurePosixPath(path).suffix))
        files = self.parts.tree.files
        if reader is None or files.exists(place):
            return None
        text = reader.tests.stating(place, interface, [(one.call, one.result) for one in stated])
        if not text:
            return None
        try:
            files.write_bytes(place, text.encode())
            if is_unit(place) and not (await self.parts.compiler(place)).ok:
                return None
            done = await IsolatedTests(self.parts, interface).run(place)
        finally:
            put_back(files, {place: None})
        if done.ok:
            return CheckScore(1.0)
        failing = [one for number, one in enumerate(stated) if f"test_{number}" in done.failures]
        if not failing or done.trouble:
            return None
        return CheckScore(1 - len(failing) / len(stated), f"This is stated but does not hold: {failing[0].shown}")
