"""Git as a child process: plumbing only, no hooks, no signing, no prompts, none of the caller's ``GIT_*``.

A folder that holds a repository is proven before git is used in it, and from then on every call names the repository and
its files with ``--git-dir`` and ``--work-tree``. Git therefore never looks for a repository by itself: a ``.git`` that
somebody puts into a folder is not taken for one, and a repository further up is never used by accident. A run's place is
checked before each call; one that was changed or removed is refused with a sentence.

Settings of its own come with every call (``git -c …``), so that a person's configuration can neither break a run (hooks,
signing, a missing name) nor run a program: see git-config(1) for what each names.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

NAME = "Clean Room"
EMAIL = "clean-room@localhost"

_SETTINGS = (
    f"user.name={NAME}",
    f"user.email={EMAIL}",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "log.mailmap=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "safe.bareRepository=explicit",
)
# These say where a person's own settings are (excludes, line endings); all other GIT_* point at somebody else's repository.
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
_FILTER_KEYS = ("clean", "smudge", "process")


WHOLE = "core.sparseCheckout=false"
"""The place of a run has every file, also where the person's checkout is sparse (git-sparse-checkout(1))."""


class WorkspaceError(Exception):
    """Something in the working place went wrong; the text is a sentence for the person who can fix it."""


class GitError(WorkspaceError):
    """Git refused. ``stderr`` holds git's own message."""

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message)
        self.stderr = stderr


class CheckoutChanged(GitError):
    """The place of a run is not the one that was made: somebody removed it or put another in its place."""


class Checkout(msgspec.Struct, frozen=True):
    """A folder and the repository that was proven to be its own.

    ``top`` is the folder, ``git_dir`` the repository's (of a linked worktree: its part below ``worktrees``). ``link`` is
    what the file ``.git`` in ``top`` must hold, byte by byte; "" for a folder without such a file. ``identity`` is device
    and inode of ``top``. ``silenced`` are settings for each call: those that switch off the filter drivers
    (gitattributes(5)) that may not run. ``ours``: the place of a run, which code under check can write.
    """

    top: Path
    git_dir: Path
    identity: tuple[int, int]
    link: str = ""
    silenced: tuple[str, ...] = ()
    ours: bool = False

    def verify(self) -> None:
        """Prove that this is still the checkout that was made.

        Raises:
            CheckoutChanged: it is gone, or something else is in its place.
        """
        try:
            info = os.lstat(self.top)
        except OSError:
            raise CheckoutChanged(f"The run's folder {self.top} is gone, so the run cannot go on. {_UNTOUCHED}") from None
        if not stat.S_ISDIR(info.st_mode) or (info.st_dev, info.st_ino) != self.identity:
            raise CheckoutChanged(
                f"The run's folder {self.top} was replaced by something else, so it is not used any more. {_UNTOUCHED}"
            )
        if _link_in(self.top) != self.link:
            raise CheckoutChanged(
                f"The file .git in {self.top} was removed or changed, by a command that the run carried out or by somebody "
                f"else. Git is not used there any more. {_UNTOUCHED}"
            )
        if not (self.git_dir / "HEAD").is_file():
            raise CheckoutChanged(f"Git's folder {self.git_dir} is gone, so the run cannot go on. {_UNTOUCHED}")


_UNTOUCHED = "Your repository was not touched; the commits made so far are on the run's branch."

_checkouts: dict[Path, Checkout] = {}
"""The checkouts that were proven in this process, by top folder."""


def _link_in(top: Path) -> str:
    """The contents of the file ``.git`` in ``top``: "" when there is none, and "?" for anything but a regular file."""
    path = top / ".git"
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return "?"
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError:
        return "?"


def register(top: Path, git_dir: Path, *, filters: Sequence[str] = ()) -> Checkout:
    """Remember the place of a run just made or just proven; every later git call in it uses ``git_dir`` and no other.

    Raises:
        CheckoutChanged: ``top`` is not a folder.
    """
    info = os.lstat(top)
    settings = (*_other_filters(git_dir, filters), WHOLE)
    made = Checkout(top, git_dir, (info.st_dev, info.st_ino), _link_in(top), settings, True)
    made.verify()
    _checkouts[top] = made
    return made


def forget(top: Path) -> None:
    """Forget a checkout, because its folder is removed."""
    _checkouts.pop(top, None)


def run_place_of(path: Path) -> Path | None:
    """The top of the run's place that holds ``path``, None when it is in none."""
    return next((one for one in (path, *path.parents) if one in _checkouts and _checkouts[one].ours), None)


def checkout_of(path: Path) -> Checkout | None:
    """The proven checkout that holds ``path``; None where there is none.

    A run's place owns everything below it. Elsewhere a folder with a ``.git`` of its own on the way up is another
    repository."""
    place = run_place_of(path)
    if place is not None:
        return _checkouts[place]
    for folder in (path, *path.parents):
        known = _checkouts.get(folder)
        if known is not None:
            return known if known.git_dir.is_dir() and _link_in(folder) == known.link else None
        if os.path.lexists(folder / ".git"):
            return None
    return None


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for git: the caller's without ``GIT_*``, C locale, no prompts, no refreshing of the index, nothing
    fetched from another place (a partial clone would ask its server for what is missing)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    env |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat", "GIT_EDITOR": "true"}
    env |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
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

    Where ``cwd`` lies in a proven checkout (:func:`discover`, :func:`register`), that one is named to git. Else only a
    repository in ``cwd`` itself is used; git does not look further up.

    Raises:
        CheckoutChanged: ``cwd`` is in the place of a run, which was changed or removed.
        GitError: git is missing, took longer than ``timeout`` seconds, or (with ``check``) exited with an error.
    """
    known = None if args[:1] in (("init",), ("merge-file",)) else checkout_of(Path(os.path.abspath(cwd)))
    if known is not None and known.ours:
        known.verify()
    where = [] if known is None else [f"--git-dir={known.git_dir}", f"--work-tree={known.top}"]
    return _run(cwd, [*where, *args], known.silenced if known else (), args[0], input, env, check, timeout)


def _run(
    cwd: Path,
    args: Sequence[str],
    settings: Sequence[str],
    name: str,
    input: bytes | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
    timeout: float = 300.0,
) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git")
    if program is None:
        raise GitError("git was not found. Install git and make sure that it is on PATH.")
    command = [program]
    for setting in (*_SETTINGS, *settings):
        command += ["-c", setting]
    above = (os.path.dirname(os.path.abspath(cwd)), os.environ.get("GIT_CEILING_DIRECTORIES"))
    ceilings = os.pathsep.join(filter(None, above))
    try:
        result = subprocess.run(
            [*command, *args],
            cwd=cwd,
            env=git_environment({"GIT_CEILING_DIRECTORIES": ceilings} | dict(env or {})),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = f"git {name} in {cwd} did not finish within {timeout:.0f} s. Run it there by hand to see what it waits for."
        raise GitError(said) from error
    except OSError as error:
        raise GitError(f"git {name} could not be started in {cwd}: {error.strerror}.") from error
    if check and result.returncode != 0:
        words = result.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {name} failed in {cwd}: {_first_line(words)}", words)
    return result


def run_git_apart(
    git_dir: Path, work_tree: Path, *args: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git on the files of ``work_tree``, which holds no repository, with the one in ``git_dir``. No filter runs.

    Raises:
        GitError: git is missing or exited with an error.
    """
    settings = (*_other_filters(git_dir, ()), WHOLE)
    return _run(work_tree, [f"--git-dir={git_dir}", f"--work-tree={work_tree}", *args], settings, args[0], env=env)


def text(result: subprocess.CompletedProcess[bytes]) -> str:
    """Standard output as text, without the final newline; bytes that are not UTF-8 survive a round trip through a path."""
    return result.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def paths(result: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The entries of NUL-separated output (``-z``)."""
    return [os.fsdecode(part) for part in result.stdout.split(b"\0") if part]


def shown(path: str) -> str:
    """A path as a sentence can hold it: control characters and bytes that are not UTF-8 written as escapes."""
    readable = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in readable)


def discover(path: Path) -> Checkout | None:
    """The repository that holds ``path``, proven and remembered; None if there is none.

    It is the nearest folder at or above ``path`` whose ``.git`` git accepts. ``core.worktree`` of its configuration, which
    may name any folder, is not followed. Blocking, one git call the first time.

    Raises:
        GitError: there is one, but git refuses to use it (bare, owned by somebody else), with what to do.
    """
    if shutil.which("git") is None:
        return None
    path = Path(os.path.realpath(path))
    if (known := checkout_of(path)) is not None:
        return known
    for folder in (path, *path.parents):
        if not os.path.lexists(folder / ".git"):
            continue
        asked = _run(folder, ["rev-parse", "--absolute-git-dir"], (), "rev-parse", check=False)
        words = asked.stderr.decode("utf-8", "replace")
        if "dubious ownership" in words:
            raise GitError(
                f"git does not trust {folder}, because another user owns it. "
                f"Allow it with: git config --global --add safe.directory {folder}",
                words,
            )
        git_dir = Path(text(asked)) if asked.returncode == 0 else None
        if git_dir is None:
            continue
        if path.is_relative_to(git_dir):
            raise _no_files(path)
        if _is_bare(folder):
            raise _no_files(path)
        _refuse_special(folder / ".gitattributes")
        info = os.lstat(folder)
        identity = (info.st_dev, info.st_ino)
        found = Checkout(folder, git_dir, identity, _link_in(folder), silenced=_other_filters(git_dir, ()))
        _checkouts[folder] = found
        return found
    if any((at / "HEAD").is_file() and (at / "objects").is_dir() and (at / "refs").is_dir() for at in (path, *path.parents)):
        raise _no_files(path)
    return None


def _refuse_special(path: Path) -> None:
    """A pipe of this name would keep every git command waiting, the person's own too."""
    try:
        plain = stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        plain = True
    if not plain:
        raise GitError(f"{path} is no regular file, and git would wait for it forever. Remove it.")


def _is_bare(folder: Path) -> bool:
    asked = _run(folder, ["config", "--local", "--type=bool", "--get", "core.bare"], (), "config", check=False)
    linked = (folder / ".git").is_file()
    return text(asked) == "true" and not linked


def _no_files(path: Path) -> GitError:
    return GitError(
        f"{path} is a bare repository, or git's own folder in one: it has no files to work on. Give the path of a checkout."
    )


def top_level(path: Path) -> Path | None:
    """The top of the work tree that holds ``path``; None if there is no repository. Raises as :func:`discover`."""
    found = discover(path)
    return None if found is None else found.top


def allow_filters(top: Path, names: Sequence[str]) -> None:
    """Let these filter drivers run in the checkout at ``top``: its own files need them."""
    known = _checkouts[top]
    _checkouts[top] = msgspec.structs.replace(known, silenced=_other_filters(known.git_dir, names))


def filters_needed(top: Path) -> dict[str, str]:
    """The filter drivers that are configured and that a tracked file in ``top`` is given, with their commands.

    A checkout of a repository that keeps files in Git LFS needs its filter, for instance. Blocking; one git call where none
    is configured.
    """
    known = checkout_of(top)
    drivers = _drivers(known.git_dir) if known else {}
    if not drivers:
        return {}
    names = run_git(top, "ls-files", "-z").stdout
    told = run_git(top, "check-attr", "-z", "--stdin", "filter", input=names).stdout.split(b"\0")
    used = {os.fsdecode(value) for value in told[2::3]}
    return {name: ", ".join(dict.fromkeys(commands.values())) for name, commands in drivers.items() if name in used}


def _drivers(git_dir: Path) -> dict[str, dict[str, str]]:
    """Name of each filter driver in any configuration that counts in ``git_dir``, with its commands by their keys.

    Raises:
        GitError: a name cannot be switched off: ``git -c`` ends a key at the first ``=``.
    """
    arguments = [f"--git-dir={git_dir}", "config", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"]
    asked = _run(git_dir if git_dir.is_dir() else Path("/"), arguments, (), "config", check=False)
    found: dict[str, dict[str, str]] = {}
    for entry in asked.stdout.split(b"\0"):
        key, _, command = os.fsdecode(entry).partition("\n")
        name, _, which = key.removeprefix("filter.").rpartition(".")
        if command and "=" in name:
            raise GitError(
                f"The configuration of {git_dir} has a filter {shown(name)!r} ({shown(command)}), and git cannot be told to "
                "do without a filter of that name. Nothing was read there. Remove it, or rename it without the sign =."
            )
        if command:
            found.setdefault(name, {})[which] = command
    return found


def common_dir(git_dir: Path) -> Path:
    """The repository that a linked worktree's part of it belongs to (gitrepository-layout(5), "commondir")."""
    try:
        named = (git_dir / "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / named))


def _other_filters(git_dir: Path, wanted: Sequence[str]) -> tuple[str, ...]:
    """Settings that switch off every configured filter driver but those ``wanted``, and those whose program is missing.

    The wanted drivers get the commands of the person's own checkout: a configuration can have commands that apply only in a
    worktree, or on a run's branch (git-config(1), "Conditional includes").
    """
    settings: list[str] = []
    here = _drivers(git_dir)
    persons = _drivers(common_dir(git_dir)) if wanted else {}
    for name in dict.fromkeys((*persons, *here)):
        commands = persons.get(name, {}) if name in wanted else {}
        words = " ".join(commands.values()).split()
        if not words or (name == "lfs" and not shutil.which(words[0])):
            commands = {}
        if not commands or here.get(name) != commands:
            settings.append(f"filter.{name}.required=false")
        # An empty "process" would keep git from "clean" and "smudge", so a key is only emptied where it is set.
        keys = [key for key in _FILTER_KEYS if not commands or key in commands or key in here.get(name, {})]
        settings += [f"filter.{name}.{key}={commands.get(key, '')}" for key in keys]
    return tuple(settings)


def _first_line(words: str) -> str:
    lines = [line for line in words.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (marked or lines or ["no message"])[0]
