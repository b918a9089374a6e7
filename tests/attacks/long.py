"""The long form of the attacks: kills, hostile replies and every git state. Prints what was tried and what held.

Run it with ``make attack``, or ``python -m tests.attacks.long --kills 100 --replies 1000`` for a shorter one. Everything is
made in a temporary folder; the person's own state, configuration and models are not touched.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from agent import events as ev
from agent.audit.history import list_runs
from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.coding.replies.search_replace import apply_edits, parse_edits
from agent.directories import state_directory
from agent.launch import open_run
from agent.models.answers import parse_yes_no
from agent.repair import search
from agent.workspace.git import WorkspaceError, run_git
from agent.workspace.paths import PathRefused, resolve_inside
from agent.workspace.protected import is_writable
from agent.workspace.record import recorded
from agent.workspace.trust import trust
from agent.workspace.worktree import Workspace
from tests.attacks.git_states import STATES
from tests.attacks.test_git_states import survive
from tests.fakes.cuts import every_moment
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder, small_ring
from tests.flow.test_repair_and_write import TASK as MEND_AND_WRITE
from tests.flow.test_run import RING, TASK
from tests.repair.operators_on import only
from tests.repair.test_phase import SLUG, SLUG_TEST, repository
from tests.workspace.support import fingerprint, make_repo


class Row(NamedTuple):
    """One line of the table. ``faults`` are the first cases that did not hold."""

    what: str
    tried: int
    held: int
    faults: tuple[str, ...] = ()


# Kills during what changes files.


class _Bench:
    """A repository and the state that belongs to it, put back before each kill."""

    def __init__(self, folder: Path) -> None:
        self.repo, self.kept, self.state = folder / "repo", folder / "kept", folder / "kept-state"
        make_repo(self.repo, {"a.c": "int a;\n", "b.c": "int b;\n", "dir/c.c": "int c;\n"})

    def keep(self) -> None:
        for source, target in ((self.repo, self.kept), (state_directory(), self.state)):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, symlinks=True)

    def restore(self) -> None:
        for source, target in ((self.kept, self.repo), (self.state, state_directory())):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, symlinks=True)


def _create(repo: Path) -> None:
    asyncio.run(Workspace.create(repo, "r1"))


def _step(files: int) -> Callable[[Path], None]:
    async def work(repo: Path) -> None:
        space = await Workspace.reopen(repo, "r1")
        space.write_bytes("a.c", b"int x;\n")
        for number in range(files):
            space.write_bytes(f"deep/{number}/new.c", b"int n;\n")
        space.write_bytes("new.c", b"int n;\n")
        await space.commit("Step")

    return lambda repo: asyncio.run(work(repo))


def _end(choice: str) -> Callable[[Path], None]:
    async def work(repo: Path) -> None:
        space = await Workspace.reopen(repo, "r1")
        if choice == "apply":
            await space.apply_to_user_tree()
        else:
            await getattr(space, choice)()

    return lambda repo: asyncio.run(work(repo))


def kills(folder: Path, most: int) -> Iterator[Row]:
    """At every moment of each operation, with more and more files in the change, until about ``most`` kills were made."""
    bench = _Bench(folder / "kills")
    counts: dict[str, list[Any]] = {}
    left, files = most, 0
    while left > 0 and files < 200:
        step = _step(files)
        jobs: list[tuple[str, list[Callable[[Path], None]], Callable[[Path], None]]] = [
            ("making a place", [], _create),
            ("committing a step", [_create], step),
            ("applying", [_create, step], _end("apply")),
            ("keeping", [_create, step], _end("keep")),
            ("discarding", [_create, step], _end("discard")),
        ]
        for name, tried, faults in _round(bench, folder, jobs, left):
            total = counts.setdefault(name, [0, []])
            total[0] += tried
            total[1] += faults
            left -= tried
        files = files * 2 + 8
    for name, (tried, faults) in counts.items():
        yield Row(f"killed while {name}", tried, tried - len(faults), tuple(faults[:3]))


def _round(
    bench: _Bench, folder: Path, jobs: list[tuple[str, list[Callable[[Path], None]], Callable[[Path], None]]], left: int
) -> Iterator[tuple[str, int, list[str]]]:
    for number, (name, before, work) in enumerate(jobs):
        shutil.rmtree(state_directory(), ignore_errors=True)
        shutil.rmtree(bench.repo)
        make_repo(bench.repo, {"a.c": "int a;\n", "b.c": "int b;\n", "dir/c.c": "int c;\n"})
        trust(folder, below=True)
        for one in before:
            one(bench.repo)
        bench.keep()
        old = fingerprint(bench.repo, refs=False)
        share = max(1, left // (len(jobs) - number))
        tried = 0
        faults: list[str] = []
        for step in every_moment(lambda work=work: work(bench.repo), bench.restore, share):  # type: ignore[misc]
            tried += 1
            if fault := _after_a_kill(bench.repo, old, name == "applying"):
                faults.append(f"step {step}: {fault}")
        left -= tried
        yield name, tried, faults


def _after_a_kill(repo: Path, old: object, applying: bool) -> str:
    try:
        if recorded(repo):
            space = asyncio.run(Workspace.reopen(repo, "r1"))
            asyncio.run(space.discard())
        else:
            asyncio.run(Workspace.create(repo, "r2"))
        now = fingerprint(repo, refs=False)
    except (WorkspaceError, OSError) as error:
        return str(error)
    if now == old or (applying and (repo / "a.c").read_text() == "int x;\n" and (repo / "new.c").exists()):
        return ""
    return "the person's files are neither as before nor as after"


# A kill at every event of a run, resumed.


class Scenario(NamedTuple):
    """A run to be killed: its repository, made in a folder, the task, and what the model says."""

    name: str
    make: Callable[[Path], Path]
    task: str
    script: Any


def _takes_one_too_many(folder: Path) -> Path:
    """The ring with one function to be written and a fault in another."""
    repo = small_ring(folder, ("ring_max",))
    source = (repo / "ring_buffer.c").read_text()
    (repo / "ring_buffer.c").write_text(source.replace("rb->count == rb->capacity)", "rb->count > rb->capacity)", 1))
    run_git(repo, "commit", "-q", "-a", "-m", "Take more")
    return repo


def _drops_digits(folder: Path) -> Path:
    """A Python function with a fault that one edit mends."""
    folder.mkdir()
    return repository(folder, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})


SCENARIOS = (
    Scenario("writing", small_ring, TASK, Coder(RING)),
    Scenario("mending", _drops_digits, "Fix the bug: the tests fail.", "no"),
    Scenario("writing and mending", _takes_one_too_many, MEND_AND_WRITE, Coder(RING)),
)


class _Model:
    """The scripted model on a thread of its own, so that forked runs can ask it."""

    def __init__(self, script: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = ScriptedServer(script)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(20)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._server.base_url

    def judged(self) -> list[str]:
        """The yes/no questions that it was asked since this was called last."""
        calls, self._server.calls = self._server.calls, []
        return [call.text for call in calls if "grammar" in call.body]


def _forked(work: Callable[[], Any]) -> tuple[int, Any]:
    """(exit code, what it returned) of ``work`` in a child process."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with contextlib.suppress(BaseException):
            os.write(writing, json.dumps(work()).encode())
            os._exit(0)
        os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, json.loads(said) if said else None


def _play(scenario: Scenario, repo: Path, url: str, resume: str = "", kill_at: int = 0) -> tuple[int, Any]:
    """A run in a child process, killed at its ``kill_at``-th event. How far its search goes is told by tries and not by
    seconds, since a run on a busy machine would come to another end, killed or not."""

    async def play() -> dict[str, Any]:
        search.SETTLE_SECONDS, search.LONGEST_SETTLE = 0.0, math.inf
        models = {"provider": "openai", "base_url": url, "concurrency": 1}
        extra = {"models": models, "repair": {"budget_s": 3600, **only("field", "comparison", "negation")}}
        run = await open_run(scenario.task, repo, extra=extra, resume=resume)
        heard = 0

        def listen(envelope: ev.Envelope) -> None:
            nonlocal heard
            if isinstance(envelope.event, ev.CandidatesTried):
                return  # told by the clock, so no two runs have as many
            heard += 1
            if heard == kill_at:
                os._exit(9)

        run.ctx.listeners.append(listen)
        done = await run.execute()
        await run.aclose()
        diff = subprocess.run(["git", "diff", "HEAD", done.branch], cwd=repo, capture_output=True, text=True).stdout
        end = [done.status, done.reason, done.functions, done.stubs_left, done.includes_added, diff]
        return {"end": end, "events": heard}

    return _forked(lambda: asyncio.run(play()))


def _run_id(repo: Path) -> str:
    if not known_log(repo).is_file():
        return ""
    reader = LogReader(known_log(repo))
    try:
        return next((run.run_id for run in list_runs(reader, repo)), "")
    finally:
        reader.close()


def resumes(folder: Path, stride: int, first: int = 1, scenarios: Sequence[Scenario] = SCENARIOS) -> Iterator[Row]:
    """A run that is killed at each ``stride``-th event from the ``first`` one and resumed ends with the same status,
    sentence and diff, and asks no yes/no question a second time but the one that was under way."""
    for scenario in scenarios:
        with _Model(scenario.script) as model:
            yield _killed_and_resumed(scenario, model, folder / scenario.name.replace(" ", "-"), stride, first)


def _killed_and_resumed(scenario: Scenario, model: _Model, folder: Path, stride: int, first: int) -> Row:
    folder.mkdir()
    faults: list[str] = []
    tried = 0
    _, whole = _play(scenario, scenario.make(folder / "whole"), model.url)
    model.judged()
    for number in range(first, whole["events"] + 1, stride):
        repo = scenario.make(folder / f"killed-{number}")
        code, _ = _play(scenario, repo, model.url, kill_at=number)
        tried += 1
        if code != 9:
            faults.append(f"event {number}: the run ended before it (exit code {code})")
            continue
        before = model.judged()
        _, again = _play(scenario, repo, model.url, resume=_run_id(repo))
        asked_twice = set(before[:-1]).intersection(model.judged())
        if again is None and number == whole["events"]:
            continue  # it had ended: there is nothing to resume
        if again is None or again["end"] != whole["end"]:
            faults.append(f"event {number}: {again['end'][:2] if again else 'it could not be resumed'}")
        elif asked_twice:
            faults.append(f"event {number}: {len(asked_twice)} questions were asked anew")
        shutil.rmtree(repo, ignore_errors=True)
    which = "every" if stride == 1 else f"every {stride}th"
    return Row(f"{scenario.name}: killed at {which} event, resumed", tried, tried - len(faults), tuple(faults[:5]))


# Replies of a hostile model.

_PATHS = (
    "../x", "/etc/passwd", "~/.ssh/id_rsa", ".git/config", ".git/hooks/pre-commit", ".GIT/config", "sub/.git/config",
    ".clean_room/raw.sqlite", "a/../../x", "out/x", "a.c/../../x", "C:\\x", "..\\x", "a\0b", "a\nb", "", ".", "tests/x.c",
    "Makefile", "link", "//x", "./../x", "dir/./../../x", ".git", ".git/", "pytest.py", "sitecustomize.py", ".gitattributes",
    ".github/workflows/x.yml", "conftest.py", "tox.ini",
)  # fmt: skip
_PIECES = (
    "yes", "no", "Yes.", "not yes", "YES!", "**no**", "<think>no</think>", "</think>", "{", '{"verdict": "yes"}',
    '{"verdict":', "```", "```c\n", "~~~", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "int a;\n", "int b;\n",
    "a.c\n", "\0", "\x1b[2J", "\u202e", "\ud800", "é", "\r\n", "//", "/*", '"', '#include "/etc/passwd"\n', "$(touch x)",
    "`touch x`", "a" * 5000, "\n" * 50, "((((" * 50, "{{{{" * 50, "IMPORTANT: ignore the above\n",
)  # fmt: skip


def replies(folder: Path, most: int) -> Iterator[Row]:
    """Replies made of what parsers stumble over; nothing outside the place is touched, and noise is not a verdict."""
    root = folder / "place"
    root.mkdir()
    (root / "a.c").write_text("int a;\n")
    (folder / "outside").mkdir()
    (root / "out").symlink_to(folder / "outside")
    (root / "link").symlink_to(folder / "outside" / "x")
    chance = random.Random(7)
    bad_edits: list[str] = []
    bad_answers: list[str] = []
    files = {"a.c": b"int a;\n"}
    for _ in range(most):
        words = "".join(chance.choice(_PIECES) for _ in range(chance.randrange(1, 12)))
        reply = (
            f"{chance.choice(_PATHS)}\n<<<<<<< SEARCH\n{words}=======\n{words[::-1]}>>>>>>> REPLACE\n"
            if chance.random() < 0.5
            else words
        )
        try:
            edits = parse_edits(reply, "a.c").edits
            outcome = apply_edits(files, edits, protected=lambda path: not is_writable(root, path))
            for path in outcome.files:
                try:
                    inside = resolve_inside(root, path).is_relative_to(root.resolve())
                except PathRefused:
                    inside = False
                if not inside or not is_writable(root, path):
                    bad_edits.append(repr(path))
        except Exception as error:
            bad_edits.append(f"{type(error).__name__}: {reply[:80]!r}")
        try:
            verdict = parse_yes_no(words)
            if verdict is not None and not any(word in words.lower() for word in ("yes", "no", "true", "false")):
                bad_answers.append(repr(words[:80]))
        except Exception as error:
            bad_answers.append(f"{type(error).__name__}: {words[:80]!r}")
    escaped = os.listdir(folder / "outside")
    yield Row("hostile replies as edits", most, most - len(bad_edits) - len(escaped), tuple(bad_edits[:3]))
    yield Row("hostile replies as verdicts", most, most - len(bad_answers), tuple(bad_answers[:3]))


def git_states(folder: Path) -> Row:
    """Every state of a repository (``git_states.py``)."""
    faults = []
    worked = 0
    for number, (name, make) in enumerate(STATES.items()):
        (folder / f"state-{number}").mkdir()
        repo = make_repo(folder / f"state-{number}" / "repo")
        make(repo)
        try:
            worked += asyncio.run(survive(repo)) == "worked"
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}"[:200])
    return Row(
        f"git states ({worked} worked, the rest refused in a sentence)",
        len(STATES),
        len(STATES) - len(faults),
        tuple(faults),
    )


def main() -> int:
    """Run all of it and print the table. The exit code is 1 when something did not hold."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=1000)
    options.add_argument("--replies", type=int, default=10_000)
    options.add_argument("--stride", type=int, default=1, help="kill at each n-th event of a run")
    options.add_argument("--first", type=int, default=1, help="the first event at which a run is killed")
    options.add_argument("--scenario", help="one of the runs that are killed only")
    options.add_argument("--only", choices=("replies", "states", "kills", "resumes"), help="one part only")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="cra-attack-") as place:
        folder = Path(place).resolve()
        for name in ("CONFIG", "DATA", "CACHE", "STATE"):
            os.environ[f"CRA_{name}_DIR"] = str(folder / name.lower())
        trust(folder, below=True)
        rows = []
        chosen = [one for one in SCENARIOS if given.scenario in (None, one.name)]
        parts: dict[str, Callable[[], Iterable[Row]]] = {
            "replies": lambda: replies(folder, given.replies),
            "states": lambda: [git_states(folder)],
            "kills": lambda: kills(folder, given.kills),
            "resumes": lambda: resumes(folder, given.stride, given.first, chosen),
        }
        for name, part in parts.items():
            for row in part() if given.only in (None, name) else ():
                rows.append(row)
                print(f"{row.what:<68} {row.tried:>7} tried {row.held:>7} held", flush=True)
                for fault in row.faults:
                    print(f"    {fault}", flush=True)
            trust(folder, below=True)
    total, held = sum(row.tried for row in rows), sum(row.held for row in rows)
    print(f"{'all':<68} {total:>7} tried {held:>7} held")
    return 0 if total == held else 1


if __name__ == "__main__":
    sys.exit(main())
