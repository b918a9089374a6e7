"""The application's services, from the engine: runs, the model, demos, earlier runs, the texts of a call."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

from agent.audit.history import events_of, list_runs
from agent.audit.log import Listener, LogError, known_log
from agent.audit.reader import CallTexts, LogReader
from agent.config.schema import Config, load
from agent.events import CallProgress, Envelope, RunFinished
from agent.gate import Gate
from agent.run import Run
from screens.runner import DemoTask, FetchProgress, ModelState, RecentRun, Services

_RECENT = 30
_FIRST_DEMO = "ring_buffer"


def engine_services(repo: Path | None = None) -> Services:
    """Everything the application can do, done by the engine. ``repo`` is whose configuration the home screen reads."""

    async def model_state() -> ModelState:
        return await look_at_models(load(repo))

    async def pull_model(progress: Callable[[FetchProgress], None]) -> None:
        from agent.models.pull import pull

        await pull(load(repo).models.coding, lambda done, total, text: progress(FetchProgress(done, total, text)))

    readers = _Readers()
    return Services(
        start_run,
        load_config=load,
        model_state=model_state,
        pull_model=pull_model,
        predicted_calls=predicted_calls,
        demos=demo_tasks,
        prepare_demo=prepare_demo,
        recent_runs=readers.recent,
        call_texts=readers.texts,
    )


async def predicted_calls(task: str, repo: Path) -> int | None:
    """About how many calls a task will take; None where there is nothing to index. Its index is in
    the cache, so that looking at a folder leaves nothing in it."""
    return await asyncio.to_thread(_predict, task, repo.resolve())


def _predict(task: str, repo: Path) -> int | None:
    from agent.flow.prediction import predict_calls
    from agent.index import Index, IndexUnavailable

    cache = Path(os.environ.get("CRA_CACHE_DIR") or platformdirs.user_cache_dir("cra")) / "index"
    cache.mkdir(parents=True, exist_ok=True)
    config = load(repo)
    limits = config.index
    try:
        name = hashlib.sha256(str(repo).encode()).hexdigest()[:16]
        index = Index.open(
            repo, db_path=cache / f"{name}.sqlite", hidden=hidden_files(repo), max_file_bytes=limits.max_file_kib * 1024,
            max_commits=limits.max_commits,
        )  # fmt: skip
    except IndexUnavailable:
        return None
    try:
        return predict_calls(index, task, config) if index.refresh().files else None
    finally:
        index.close()


class EngineRun:
    """A run of the engine as the screens want it. ``earlier`` is what a resumed run had emitted before."""

    def __init__(self, run: Run, earlier: list[Envelope] | None = None) -> None:
        self.run = run
        self.earlier = earlier or []

    def listen(self, listener: Listener) -> None:
        """``listener`` hears every event after it was committed; with the first, all that were committed before it."""
        earlier = self.earlier.copy()

        def hear(envelope: Envelope) -> None:
            before = earlier.copy()
            earlier.clear()
            for each in (*before, envelope):
                listener(each)

        self.run.ctx.listeners.append(hear if earlier else listener)

    def watch(self, onlooker: Callable[[CallProgress], None]) -> None:
        """``onlooker`` is told what a text has come to while it is written."""
        self.run.ctx.onlookers.append(onlooker)

    async def execute(self) -> RunFinished:
        """Do the work."""
        return await self.run.execute()

    def stop(self, why: str = "") -> None:
        """Stop soon."""
        self.run.stop(why)

    async def apply(self) -> tuple[bool, str]:
        """Into the person's files."""
        return await self.run.apply()

    async def keep(self) -> str:
        """On its branch."""
        return await self.run.keep()

    async def discard(self) -> str:
        """Away."""
        return await self.run.discard()

    async def pick(self, number: int) -> tuple[bool, str]:
        """Another edit that passes."""
        return await self.run.pick(number)

    async def aclose(self) -> None:
        """Close the log and the models."""
        await self.run.aclose()


async def start_run(task: str, repo: Path, config: Config, *, gate: Gate, resume: str = "") -> EngineRun:
    """A run that is ready to be executed, or with ``resume`` an earlier one to go on with: what that had shown is heard
    again first. A demo's hidden files stay so.

    Raises:
        PreflightError: it cannot begin; the sentence says why, ``hint`` what to do.
    """
    from agent.launch import open_run

    run = await open_run(task, repo, config=config, gate=gate, hidden=hidden_files(repo), resume=resume)
    return EngineRun(run, await asyncio.to_thread(_events_before, run) if resume else [])


def _events_before(run: Run) -> list[Envelope]:
    reader = LogReader(run.ctx.log.path)
    try:
        return events_of(reader, run.ctx.run_id)
    finally:
        reader.close()


def hidden_files(repo: Path) -> tuple[str, ...]:
    """The files that no model may see, if the repository is a copy of a demo."""
    from agent.workspace.demo import read_demo
    from agent.workspace.git import WorkspaceError

    if not (repo / "demo.toml").is_file():
        return ()
    try:
        return read_demo(repo).hidden
    except WorkspaceError:
        return ()


async def look_at_models(config: Config) -> ModelState:
    """Whether every model in use can answer, and what to do about the first that cannot."""
    from agent.audit.recording import recording
    from agent.models.router import Router
    from agent.models.store import entry_of

    router = Router(config.models, lookup=recording(config.models.replay))
    try:
        found = await router.check()
    finally:
        await router.aclose()
    for target, info in found:
        if not info.ok:
            can_fetch = target.provider == "embedded" and entry_of(target.model) is not None
            return ModelState(False, info.text, info.hint, can_fetch)
    names = sorted({f"{target.model} ({target.provider})" for target, _ in found})
    return ModelState(True, f"Ready: {', '.join(names)}", weak_spots(config))


def weak_spots(config: Config) -> str:
    """A sentence on what the model in use was measured to judge no better than the search ranks it; "" when nothing."""
    from agent.models.router import Router
    from agent.models.store import default_thresholds
    from agent.stages import STAGES

    weak: dict[str, list[str]] = {}
    router = Router(config.models)
    for stage in (stage for stage in STAGES.values() if stage.binary):
        model, what = router.target(stage.name).model, stage.unit
        default = default_thresholds(model).get(stage.name)
        if default is not None and default.leans_on_rank and what not in weak.setdefault(model, []):
            weak[model].append(what)
    said = "; ".join(f"{model} adds little to the search for {' and '.join(what)}" for model, what in weak.items() if what)
    return f"{said}: a stronger or a decision model would help there (F6)." if said else ""


def demo_tasks() -> list[DemoTask]:
    """The ready-made tasks, the one that ``cra demo`` opens first."""
    from agent.workspace.demo import list_demos

    demos = sorted(list_demos(), key=lambda demo: demo.name != _FIRST_DEMO)
    return [DemoTask(demo.name, demo.title, demo.task, demo.language) for demo in demos]


def prepare_demo(name: str) -> Path:
    """A copy of a demo, with its history, in which nothing was done yet."""
    from agent.flow.demo_copies import open_copy

    return open_copy(name)


class _Readers:
    """One read-only connection a repository, opened when it is first asked for."""

    def __init__(self) -> None:
        self._open: dict[Path, LogReader] = {}

    def _reader(self, repo: Path) -> LogReader | None:
        path = known_log(repo)
        if path not in self._open and path.is_file():
            with contextlib.suppress(LogError):
                self._open[path] = LogReader(path)
        return self._open.get(path)

    def recent(self, repo: Path) -> list[RecentRun]:
        """The repository's newest runs."""
        reader = self._reader(repo)
        if reader is None:
            return []
        try:
            runs = list_runs(reader, repo, _RECENT)
        except LogError:
            return []
        return [
            RecentRun(
                run.run_id, run.task, run.repo, run.status, run.started_at, run.calls, run.seconds,
                undecided=run.undecided and not run.busy, resumable=run.unfinished and run.place and not run.busy,
            )
            for run in runs
        ]  # fmt: skip

    def texts(self, repo: Path, call_id: int) -> CallTexts | None:
        """One call of the repository's log."""
        reader = self._reader(repo)
        try:
            return reader.call_texts(call_id) if reader is not None else None
        except LogError:
            return None
