"""Making a run ready: everything that can be refused is refused here, before anything is changed."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import Any

import msgspec

from agent import __version__
from agent.audit.log import AuditLog, Mark, log_path
from agent.audit.recording import recording
from agent.audit.run_name import new_run_id
from agent.compiling.compiler import Compiler, CompilerMissing
from agent.config.authority import is_loopback
from agent.config.schema import Config, load, load_with_notes
from agent.context import RunContext
from agent.events import ModelStatus
from agent.folders import WHAT_TO_DO, no_folder
from agent.gate import Gate
from agent.index.scan import list_files
from agent.languages import EITHER, LANGUAGES, language_of, named
from agent.learning.examples import LabelledExamples
from agent.models.http import without_credentials
from agent.models.keys import guard
from agent.models.router import Router
from agent.run import Run
from agent.task.intent import read_intent
from agent.verdict.in_force import thresholds_of
from agent.workspace.git import filters_needed, shown, top_level
from agent.workspace.isolation import isolation
from agent.workspace.lease import RunLease
from agent.workspace.sweeping import sweep_temporary
from agent.workspace.trust import is_trusted, test_command, was_trusted
from agent.workspace.worktree import Workspace

CODE = frozenset(language.name for language in LANGUAGES)
"""Languages that a run can change."""

_TASK_CHARACTERS = 1.5
"""Characters of a task for each token of the window: about three a token, and half the window for everything else."""


class PreflightError(Exception):
    """A run cannot begin. ``str()`` says what is wrong and where, ``hint`` what to do, ``exit_code`` what the shell gets
    (2: the call or the configuration, 3: a model or tool is missing)."""

    def __init__(self, message: str, hint: str = "", exit_code: int = 2) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


class NotTrusted(PreflightError):
    """The person was not asked yet whether the repository's commands may run. ``question`` says what would run, and where
    prompts would go, in lines."""

    def __init__(self, repo: Path, question: str) -> None:
        way = f"{question} Trust it with: cra trust {shlex.quote(str(repo))}"
        super().__init__(f"{repo} is not trusted yet, so nothing in it is run.", way)
        self.repo = repo
        self.question = question


async def open_run(
    task: str,
    repo: Path,
    *,
    config: Config | None = None,
    extra: dict[str, dict[str, Any]] | None = None,
    gate: Gate | None = None,
    hidden: tuple[str, ...] = (),
    apply_when_complete: bool = False,
    resume: str = "",
    with_model: bool = True,
) -> Run:
    """A run that is ready to be executed; with ``resume`` (a run's id) that run is taken up where its last commit is.
    Without a model only failing checks are repaired, by small edits.

    Raises:
        PreflightError: no task, or one too long for the window, no such folder, nothing to read in it, no compiler for its
            C, no model.
        NotTrusted: the person has not said that commands of this repository may run.
        ConfigError: a configuration file is wrong.
        WorkspaceError: a bare repository, or no place to work could be made.
        LogError: the log cannot be opened.
    """
    if not task.strip():
        raise PreflightError("The task is empty.", "Describe in a sentence or two what to do.")
    repo = repo.expanduser().resolve()
    if why := no_folder(repo):
        raise PreflightError(why, WHAT_TO_DO)
    given = config
    config = config or load(repo, extra)
    _require_room(task, config.models.context_window)
    await asyncio.to_thread(top_level, repo)  # refuses a bare repository and one that git does not trust, with what to do
    languages = await asyncio.to_thread(_languages, repo)
    languages |= _require_sources(repo, languages, task)
    if not await asyncio.to_thread(is_trusted, repo):
        raise NotTrusted(repo, await asyncio.to_thread(trust_question, repo, extra))
    notes = () if given else (await asyncio.to_thread(load_with_notes, repo, extra))[1]
    if any(named(language).linked for language in languages):
        await _require_compiler(config)
    guard(_key_names(config))
    await asyncio.to_thread(sweep_temporary)
    status = StatusRelay()
    router = Router(config.models, status=status, lookup=recording(config.models.replay))
    lease: RunLease | None = None
    try:
        if with_model:
            await require_models(router)
        lease = RunLease(repo, resume) if resume else None  # before its place is touched: it may be going on elsewhere
        workspace = await _place(repo, config, resume)
        lease = lease or RunLease(repo, workspace.run_id)
        ctx = _context(task, repo, config, router, gate, workspace, bool(resume))
    except BaseException:
        if lease is not None:
            lease.release()
        await router.aclose()
        raise
    status.report_to(ctx)
    workspace.add_notes(notes)
    return Run(
        ctx, task, workspace, hidden=hidden, apply_when_complete=apply_when_complete, resumed=bool(resume), lease=lease,
        with_model=with_model,
    )  # fmt: skip


def _key_names(config: Config) -> set[str]:
    """The environment variables that hold keys: code under check must not find them there."""
    overrides = config.models.overrides.values()
    return {config.models.api_key_env, *(one.api_key_env for one in overrides if not isinstance(one, str))}


def _server(provider: str, address: str) -> str:
    shown_address = without_credentials(address)[0]
    return f"{provider} {shown_address}".strip() + (", on this machine" if is_loopback(address) else "")


def trust_question(repo: Path, extra: dict[str, dict[str, Any]] | None = None) -> str:
    """What a person decides on when they trust ``repo``: what would run and how it is shut in, where prompts would go, and
    which settings of the repository do not count. Blocking."""
    config, ignored = load_with_notes(repo, extra, trusted=True)
    command = config.testing.test_command or test_command(repo)
    again = "Its configuration or test command changed since you trusted it. " if was_trusted(repo) else ""
    runs = f"A run executes `{shown(command)}`" if command else "A run executes whatever compiles and tests it"
    walls = {
        "bwrap": "without network and without your other files (bubblewrap)",
        "bwrap-net": "without network and without your other files (bubblewrap)",
        "unshare": "without network, but with access to your files (bubblewrap does not work here)",
        "none": "with your files and the network within reach (bubblewrap does not work here)",
    }[isolation()]
    if config.sandbox.network:
        walls = walls.replace("without network", "with network")
    targets = Router(config.models).targets()
    where = ", ".join(sorted({_server(provider, address) for provider, address, _ in targets}))
    asked = f"The task and parts of the source go to: {shown(where)}."
    return " ".join((f"{again}{runs} in a copy of it, {walls}.", *_filters(repo), asked, *ignored))


def _filters(repo: Path) -> list[str]:
    top = top_level(repo)
    needed = {} if top is None else filters_needed(top)
    return [f"Git runs the filter {shown(name)} ({shown(words)}), outside of these walls." for name, words in needed.items()]


async def _place(repo: Path, config: Config, resume: str) -> Workspace:
    if resume:
        return await Workspace.reopen(repo, resume)
    return await Workspace.create(repo, new_run_id(), config.workspace.carry_uncommitted)


class StatusRelay:
    """Turns what providers say about their server into events, once there is a run to say it in."""

    def __init__(self) -> None:
        self.ctx: RunContext | None = None

    def report_to(self, ctx: RunContext) -> None:
        """The run that is there now."""
        self.ctx = ctx

    def __call__(self, status: str, text: str) -> None:
        """One message of a provider."""
        if self.ctx is not None and status == "notice":
            self.ctx.notice("warning", text)
        elif self.ctx is not None:
            self.ctx.emit(ModelStatus(status, text=text))  # type: ignore[arg-type]


def _require_room(task: str, window: int) -> None:
    most = int(window * _TASK_CHARACTERS)
    if len(task) > most:
        raise PreflightError(
            f"The task has {len(task):,} characters; the most that a model's window of {window:,} tokens leaves room for is "
            f"about {most:,}.",
            "Put the details into a file of the repository and name it in the task.",
        )


def _languages(repo: Path) -> set[str]:
    return {language_of(path) for path in list_files(repo).paths} & CODE


def _require_sources(repo: Path, languages: set[str], task: str) -> set[str]:
    """The languages of the files that a task wants made where there are none yet."""
    if languages:
        return set()
    if not read_intent(task).creates_files:
        raise PreflightError(
            f"There is no {EITHER} source file in {repo}.",
            "Name a repository that holds some (files that git ignores do not count), or the files to write in the task.",
        )
    return {language_of(path) for path in read_intent(task).files} & CODE


async def _require_compiler(config: Config) -> None:
    try:
        await asyncio.to_thread(Compiler.find, config.compile.compiler or None)
    except CompilerMissing as error:
        raise PreflightError(str(error), "", 3) from None


async def require_models(router: Router) -> None:
    """Refuse to begin when the models in use cannot answer.

    Raises:
        PreflightError: naming the first that cannot, and what to do.
    """
    for stage in ("task_analysis", "function_implement"):
        target = router.target(stage)
        info = await router.provider(target).check(target)
        if not info.ok:
            raise PreflightError(info.text, info.hint, 3)


def _context(
    task: str, repo: Path, config: Config, router: Router, gate: Gate | None, workspace: Workspace, resumed: bool
) -> RunContext:
    log = AuditLog(log_path(repo))
    mark = log.reopen_run(workspace.run_id) if resumed else Mark()
    if not resumed:
        log.start_run(
            workspace.run_id, task=task, repo=str(repo), model=config.models.coding, version=__version__,
            config=msgspec.json.encode(config).decode(), branch=workspace.branch, base_commit=workspace.base,
            worktree=str(workspace.root),
        )  # fmt: skip
    return RunContext(
        run_id=workspace.run_id, config=config, log=log, router=router, gate=gate,
        thresholds=thresholds_of(repo, config), mark=mark,
        examples=LabelledExamples(log_path(repo), config.judgment.examples, task, str(repo)),
    )  # fmt: skip
