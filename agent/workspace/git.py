"""Git as a child process: plumbing only, no hooks, no signing, no prompts, none of the caller's ``GIT_*``.

Every call is made as ``git -c …`` with settings of its own, so that a person's configuration can neither break a run
(hooks, signing, a missing name) nor be changed by it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

NAME = "Clean Room"
EMAIL = "clean-room@localhost"

_SETTINGS = (
    f"user.name={NAME}",
    f"user.email={EMAIL}",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "core.quotePath=false",
)
# A repository that keeps files in LFS demands its filter; without that program a checkout holds pointers, as theirs does.
_NO_LFS = ("filter.lfs.required=false", "filter.lfs.process=", "filter.lfs.clean=", "filter.lfs.smudge=")
# These say where a person's own settings are (excludes, line endings); all other GIT_* point at somebody else's repository.
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")


class WorkspaceError(Exception):
    """Something in the working place went wrong; the text is a sentence for the person who can fix it."""


class GitError(WorkspaceError):
    """Git said no. ``stderr`` holds its own words."""

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message)
        self.stderr = stderr


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for git: the caller's without ``GIT_*``, C locale, no prompts, no refreshing of the index."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    env |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat", "GIT_EDITOR": "true"}
    return env | dict(extra or {})


def run_git(
    cwd: Path,
    *args: str,
    input: bytes | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
    timeout: float = 300.0,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in ``cwd`` and wait.

    Raises:
        GitError: git is missing, took longer than ``timeout`` seconds, or (with ``check``) exited with an error.
    """
    program = shutil.which("git")
    if program is None:
        raise GitError("git was not found. Install git and make sure that it is on PATH.")
    command = [program]
    for setting in (*_SETTINGS, *(() if shutil.which("git-lfs") else _NO_LFS)):
        command += ["-c", setting]
    try:
        result = subprocess.run(
            [*command, *args],
            cwd=cwd,
            env=git_environment(env),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {args[0]} in {cwd} did not finish within {timeout:.0f} s.") from error
    except OSError as error:
        raise GitError(f"git {args[0]} could not be started in {cwd}: {error.strerror}.") from error
    if check and result.returncode != 0:
        words = result.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {args[0]} failed in {cwd}: {_first_line(words)}", words)
    return result


async def git(
    cwd: Path, *args: str, input: bytes | None = None, env: Mapping[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[bytes]:
    """:func:`run_git` without blocking the event loop."""
    return await asyncio.to_thread(run_git, cwd, *args, input=input, env=env, check=check)


def text(result: subprocess.CompletedProcess[bytes]) -> str:
    """Standard output as text, without the final newline; bytes that are not UTF-8 survive a round trip through a path."""
    return result.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def paths(result: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The entries of NUL-separated output (``-z``)."""
    return [os.fsdecode(part) for part in result.stdout.split(b"\0") if part]


def shown(path: str) -> str:
    """A path as a sentence can hold it: control characters and bytes that are no UTF-8 written as escapes."""
    readable = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in readable)


def top_level(path: Path) -> Path | None:
    """The top of the work tree that holds ``path``; None if there is no repository.

    Raises:
        GitError: there is one, but git refuses to use it (bare, owned by somebody else), with what to do.
    """
    if shutil.which("git") is None:
        return None
    result = run_git(path, "rev-parse", "--show-toplevel", check=False)
    if result.returncode == 0:
        return Path(text(result)).resolve()
    words = result.stderr.decode("utf-8", "replace")
    if "dubious ownership" in words:
        raise GitError(
            f"git does not trust {path}, because another user owns it. "
            f"Allow it with: git config --global --add safe.directory {path}",
            words,
        )
    if "must be run in a work tree" in words:
        raise GitError(
            f"{path} is a bare repository, or git's own folder in one: it has no files to work on. "
            "Give the path of a checkout.",
            words,
        )
    return None


def _first_line(words: str) -> str:
    lines = [line for line in words.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (marked or lines or ["no message"])[0]
