"""What the repository is and what of it matters for the task: index, retrieval, and what is still open by facts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from agent.coding.open_items import OpenFunction, OpenType, find_open_functions, find_open_types
from agent.context import RunContext
from agent.counts import plural
from agent.events import IndexRefreshed
from agent.index import Index
from agent.languages import EITHER, is_compiled
from agent.retrieval.package import ContextPackage
from agent.retrieval.pipeline import retrieve
from agent.retrieval.types import TaskFacts
from agent.task.intent import Intent, read_intent
from agent.workspace.checks import find_test_command
from agent.workspace.clean_room import private_file
from agent.workspace.protected import called_by, is_hidden, is_test_file, is_writable
from agent.workspace.worktree import Workspace

_BODIES = frozenset({"function", "method", "property", "class"})


class NothingToRead(Exception):
    """The repository holds no file that the index can read; the text says what was looked for."""


@dataclass
class Survey:
    """Index and context package of one run, and the open points of its worktree."""

    task: str
    root: Path
    index: Index
    package: ContextPackage
    hidden: tuple[str, ...] = ()
    called: frozenset[str] = frozenset()
    submodules: tuple[str, ...] = ()
    functions: list[OpenFunction] = field(default_factory=list)
    types: list[OpenType] = field(default_factory=list)

    @property
    def intent(self) -> Intent:
        """What the task asks for, its kind as retrieval settled it."""
        return msgspec.structs.replace(read_intent(self.task), kind=self.package.facts.kind)

    def sources(self) -> dict[str, bytes]:
        """Path to content of every indexed file that a model may see, as it is now."""
        return read_sources(self.root, self.index, self.hidden)

    def refresh_open(self) -> None:
        """Look again at what is open, after an edit."""
        sources = self.sources()
        found = find_open_functions(sources)
        self.functions = [one for one in found if not is_hidden(one.path, self.submodules)]
        self.types = find_open_types(sources, self.functions)

    def still_open(self, targets: set[str]) -> list[str]:
        """Those of ``targets`` that are still stubs or undefined."""
        self.refresh_open()
        return [one.name for one in self.functions if not targets.isdisjoint((one.name, one.name.rpartition(".")[0]))]

    def open_class(self, function: OpenFunction) -> str:
        """The class of an open method, "" when a method of it is written: without any it is written as one piece."""
        owner = function.name.rpartition(".")[0]
        if not owner or is_compiled(function.path):
            return ""
        still_open = {one.name for one in self.functions if one.path == function.path}
        symbols = self.index.symbols(function.path)
        written = [one for one in symbols if one.qualified.startswith(f"{owner}.") and one.kind in _BODIES]
        return "" if any(one.qualified not in still_open for one in written) else owner

    def writable(self, path: str) -> bool:
        """Whether a model may change a file; see :func:`agent.workspace.protected.is_writable`. A file that decides whether
        tests pass has to be named by the task, and a test only counts as named when the task wants tests changed."""
        return is_writable(
            self.root, path, self.hidden, named=self._named, called=self.called, submodules=self.submodules
        )

    @cached_property
    def _named(self) -> tuple[str, ...]:
        intent = read_intent(self.task)
        return tuple(name for name in intent.files if intent.edits_tests or not is_test_file(name))


def read_sources(root: Path, index: Index, hidden: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Path to content of the indexed files, hidden ones left out; a file that vanished meanwhile is left out too."""
    found: dict[str, bytes] = {}
    for entry in index.files():
        try:
            if not is_hidden(entry.path, hidden):
                found[entry.path] = (root / entry.path).read_bytes()
        except OSError:
            continue
    return found


async def survey(
    ctx: RunContext,
    workspace: Workspace,
    task: str,
    hidden: tuple[str, ...] = (),
    *,
    settled: Callable[[Survey], bool] = lambda _found: False,
) -> Survey:
    """Index the worktree and retrieve for the task. ``settled`` tells (blocking) whether what is open plans the task by
    itself: then no question of retrieval could change anything, and none is asked.

    Raises:
        NothingToRead: if there is no source file at all.
    """
    index = await refresh_index(ctx, workspace, hidden, empty=read_intent(task).creates_files)
    command = find_test_command(workspace.root, ctx.config.testing.test_command)
    called = await asyncio.to_thread(called_by, workspace.root, command)
    nothing = ContextPackage(index, TaskFacts(task), [], [])
    found = Survey(task, workspace.root, index, nothing, hidden, called, workspace.submodules)
    await asyncio.to_thread(found.refresh_open)
    found.package = await retrieve(ctx, index, task, settled=await asyncio.to_thread(settled, found))
    return found


async def refresh_index(ctx: RunContext, workspace: Workspace, hidden: tuple[str, ...], *, empty: bool = False) -> Index:
    """The index of the worktree, kept in the person's ``.clean_room`` so that only changes are read again.

    Raises:
        NothingToRead: there is no source file, and it may not be ``empty``.
    """
    limits = ctx.config.index
    async with ctx.stage("index") as report:
        index = Index.open(
            workspace.root,
            db_path=private_file(workspace.repo, "index.sqlite"),
            max_file_bytes=limits.max_file_kib * 1024,
            hidden=hidden,
            max_commits=limits.max_commits,
        )
        done = await asyncio.to_thread(index.refresh)
        skipped = sum(done.skipped.values())
        ctx.emit(IndexRefreshed(done.files, done.symbols, done.changed, skipped, done.ms, done.languages))
        report.counts = {"files": done.files, "symbols": done.symbols, "skipped": skipped}
    if not done.files and not empty:
        raise NothingToRead(
            f"No {EITHER} file that can be read was found in {workspace.repo}"
            + (f" ({plural(skipped, 'file')} skipped: {_reasons(done.skipped)})." if skipped else ".")
        )
    return index


def _reasons(skipped: dict[str, int]) -> str:
    return ", ".join(f"{count} as {reason}" for reason, count in sorted(skipped.items()))
