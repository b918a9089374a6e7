"""The copies of demos that earlier calls left in the data directory: found again, reused while untouched, cleaned away.

A copy that holds anything a person may still want is never cleaned: a change nobody decided on, a run that can be
resumed, a kept branch, labels, files or commits of their own, state that was moved aside.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from agent.atomic import replace_file
from agent.audit.history import RunSummary, list_runs
from agent.audit.log import LogError, known_log
from agent.audit.reader import LogReader
from agent.config.schema import repo_config_path
from agent.counts import plural
from agent.directories import data_directory
from agent.workspace.clean_room import claim, forget_repository, holds_aside
from agent.workspace.demo import Demo, create_demo, load_demo, read_demo
from agent.workspace.git import WorkspaceError, run_git, text
from agent.workspace.trust import trust_demo

Settings = dict[str, dict[str, Any]]
"""By section and key."""

_DEMO_ADDRESS = "demo@localhost"
_OWN_LABELS = (
    "select count(*) from labels where id in (select max(id) from labels group by call_id) and label is not null"
    " and source != 'outcome'"
)


class DemoCopy(msgspec.Struct, frozen=True):
    """One copy. ``kept_for`` says in words why it stays; without any reason it may go. ``untouched``: nothing was ever
    done in it."""

    path: Path
    runs: int
    kept_for: tuple[str, ...]
    untouched: bool


def demo_copies() -> list[DemoCopy]:
    """Every copy in the data directory, by name. Blocking, some 20 ms each."""
    home = data_directory() / "demos"
    if not home.is_dir():
        return []
    found = [path for path in sorted(home.iterdir()) if not path.name.startswith(".") and (path / "demo.toml").is_file()]
    return [_look_at(path) for path in found if not path.is_symlink()]


def open_copy(name: str, settings: Settings | None = None, into: Path | None = None) -> Path:
    """A copy of demo ``name`` to work in, with the demo's settings and ``settings`` over them: an earlier copy in which
    nothing was ever done, else a new one; ``into`` is the folder of a new one.

    Raises:
        WorkspaceError: no such demo, no place to write, or no git.
    """
    demo = load_demo(name)
    earlier = sorted((data_directory() / "demos").glob(f"{name}-*"), reverse=True) if into is None else []
    found = next((path for path in earlier if (path / "demo.toml").is_file() and _is_new(path, demo)), None)
    place = found if found is not None else create_demo(name, into)
    if into is not None:
        trust_demo(place)
    write_settings(place, {key: demo.settings.get(key, {}) | (settings or {}).get(key, {})
                           for key in {**demo.settings, **(settings or {})}})  # fmt: skip
    return place


def write_settings(repo: Path, settings: Settings) -> None:
    """Make ``settings``, by section and key, the configuration of ``repo``, which has none of its own yet."""
    if settings:
        claim(repo)
        replace_file(repo_config_path(repo), tomli_w.dumps(settings).encode())


def remove_copy(copy: DemoCopy) -> None:
    """Delete a copy that nothing keeps; half a copy is never left under its name.

    Raises:
        WorkspaceError: something keeps it, or it cannot be deleted.
    """
    now = _look_at(copy.path)
    if now.kept_for:
        raise WorkspaceError(f"{copy.path} holds {', '.join(now.kept_for)}, so it stays.")
    going = copy.path.with_name(f".{copy.path.name}.{secrets.token_hex(4)}.tmp")
    try:
        copy.path.rename(going)
        forget_repository(going)
        shutil.rmtree(going)
    except OSError as error:
        raise WorkspaceError(f"{copy.path} could not be deleted: {error.strerror}.") from error


def _look_at(path: Path) -> DemoCopy:
    try:
        runs, labels = _logged(path)
        reasons = [*_of_runs(path, runs), *([f"{plural(labels, 'label')} of yours"] if labels else [])]
        reasons += _of_git(path, runs)
        reasons += ["runs or labels of another machine, moved aside"] if holds_aside(path) else []
    except (LogError, WorkspaceError, OSError) as error:
        return DemoCopy(path, 0, (f"something that cannot be read ({error})",), False)
    return DemoCopy(path, len(runs), tuple(reasons), not runs and not reasons)


def _logged(path: Path) -> tuple[list[RunSummary], int]:
    """The runs, and how many calls bear a label that a person gave."""
    log = known_log(path)
    if not log.is_file():
        return [], 0
    reader = LogReader(log)
    try:
        return list_runs(reader, path), reader.select(_OWN_LABELS)[0][0]
    finally:
        reader.close()


def _of_runs(path: Path, runs: list[RunSummary]) -> Iterator[str]:
    if any(run.busy for run in runs):
        yield "a run that is going on"
    if any(run.undecided for run in runs):
        yield "a change you have not decided on"
    if any(run.place and not run.busy and (run.unfinished or run.status == "stopped") for run in runs):
        yield "a run that can be resumed"
    kept = {run.branch for run in runs if run.fate.choice == "kept"} & set(_branches(path))
    if kept:
        yield f"the kept branch {min(kept)}" if len(kept) == 1 else f"{len(kept)} kept branches"


def _of_git(path: Path, runs: list[RunSummary]) -> Iterator[str]:
    authors = set(text(run_git(path, "log", "--format=%ae", "main")).split())
    if authors - {_DEMO_ADDRESS}:
        yield "commits of yours"
    if not _is_clean(path, runs):
        yield "changed files"


def _is_clean(path: Path, runs: list[RunSummary]) -> bool:
    """Whether the files are those of the demo, or just what the last applied change made of them."""
    status = text(run_git(path, "status", "--porcelain"))
    if not status:
        return True
    here = set(_branches(path))
    applied = next((run.branch for run in runs if run.fate.choice == "applied" and run.branch in here), "")
    if not applied:
        return False
    new = {line[3:] for line in status.splitlines() if line.startswith("??")}
    in_change = set(text(run_git(path, "ls-tree", "-r", "--name-only", applied)).splitlines())
    same = run_git(path, "diff", "--quiet", applied, "--", check=False).returncode == 0
    return same if not new else new <= in_change and _same_files(path, applied, in_change)


def _same_files(path: Path, branch: str, names: set[str]) -> bool:
    return all(
        (path / name).is_file() and (path / name).read_bytes() == run_git(path, "show", f"{branch}:{name}").stdout
        for name in sorted(names)
    )


def _branches(path: Path) -> list[str]:
    return text(run_git(path, "for-each-ref", "--format=%(refname:short)", "refs/heads/cra")).split()


def _is_new(path: Path, demo: Demo) -> bool:
    """Whether a copy is as it was made, from the demo as it is now, and has no settings but the demo's."""
    config = repo_config_path(path)
    if config.exists() and config.read_text(encoding="utf-8") != tomli_w.dumps(demo.settings):
        return False
    try:
        if _logged(path)[0] or not _look_at(path).untouched:
            return False
        source = read_demo(demo.path, demo.name).path
        names = text(run_git(path, "ls-files")).splitlines()
        return all((path / each).read_bytes() == (source / each).read_bytes() for each in names)
    except (WorkspaceError, LogError, OSError):
        return False
