"""How a command can be isolated on this machine: with bubblewrap, user namespaces, or not at all.

This is tried once in each process. With bubblewrap the command has a file system of its own: the system's programs and
libraries, the toolchains of the person (:func:`toolchains`) and its own place, but no other files of the person; a
``/tmp`` of its own; no network. All its processes end with it. bubblewrap sets ``no_new_privs`` by itself. With
``unshare`` the command sees no network and no other processes; else limits and the scrubbed environment remain.
"""

from __future__ import annotations

import functools
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agent.workspace.git import checkout_of, common_dir, run_place_of
from agent.workspace.private import homes, private_places

Isolation = Literal["bwrap", "bwrap-net", "unshare", "none"]

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
    "/run/current-system", "/run/wrappers", "/var/lib/dpkg",
)  # fmt: skip
"""Where programs and libraries are on Linux (hier(7)), on NixOS and on Guix."""

_DEVICES = (
    "--tmpfs", "/dev", "--tmpfs", "/dev/shm", "--symlink", "/proc/self/fd", "/dev/fd",
    *(part for number, name in enumerate(("stdin", "stdout", "stderr"))
      for part in ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")),
    *(part for name in ("null", "zero", "full", "random", "urandom", "tty")
      for part in ("--dev-bind-try", f"/dev/{name}", f"/dev/{name}")),
)  # fmt: skip
"""What ``--dev`` makes, without pseudo-terminals: their file system cannot be mounted where process namespaces do not work.
The machine's own ``/dev`` is not bound, since it has the disks and the person's terminals."""

_OWN_TMP = ("/tmp", "/var/tmp", "/run/lock")
_TOOL_FOLDERS = (
    ".pyenv", ".rustup", ".cargo", ".asdf", ".nvm", ".sdkman", ".conda", ".nix-profile", ".nix-defexpr", ".local/bin",
    ".local/lib", ".local/share/uv", ".local/share/mise", ".local/share/pipx", ".local/share/virtualenvs", ".virtualenvs",
    "miniconda3", "miniforge3", "mambaforge", "anaconda3", "go", ".cache/uv", ".cache/pip", ".cache/ccache",
)  # fmt: skip
_TOOL_VARIABLES = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "SDKROOT",
    "JAVA_HOME",
    "GOROOT",
)
_SEARCHED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "PKG_CONFIG_PATH")


class Walls(msgspec.Struct, frozen=True):
    """What a command may reach besides the system: ``writable`` and ``readable`` folders, and whether the ``network``."""

    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: bool = False


@functools.cache
def isolation() -> Isolation:
    """The strongest kind that works here. Blocking, some 10 ms, once."""
    if not sys.platform.startswith("linux"):
        return "none"
    kinds: tuple[Isolation, ...] = ("bwrap", "bwrap-net", "unshare")
    for kind in kinds:
        command = wrap(kind, ["true"], Path("/"), Walls())
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return kind
    return "none"


def wrap(kind: Isolation, command: Sequence[str], cwd: Path, walls: Walls) -> list[str]:
    """The command line that runs ``command`` in ``cwd``, isolated by ``kind``.

    With bubblewrap only ``walls.writable`` and a fresh ``/tmp`` can be written. The file ``.git`` of a run's place and the
    repository behind it can be read only.
    """
    if kind == "none":
        return list(command)
    if kind == "unshare":
        network = [] if walls.network else ["--net"]
        return ["unshare", "--user", "--map-root-user", *network, "--pid", "--fork", "--kill-child", "--mount-proc", "--",
                *command]  # fmt: skip
    line = ["bwrap", "--die-with-parent", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--cap-drop", "ALL"]  # bubblewrap keeps the capabilities of root, which can make a mount writable again
    line += [] if walls.network else ["--unshare-net"]
    if kind == "bwrap":
        line += ["--unshare-user-try", "--unshare-pid", "--proc", "/proc", "--dev", "/dev"]
        line += ["--remount-ro", "/proc"]  # the kernel's settings are files there, which root can write
    else:
        # Without a user namespace, /proc/PID/root of the person's other processes would lead out (ptrace(2), access modes).
        line += ["--unshare-user", "--ro-bind", "/proc", "/proc", *_DEVICES]
    line += [part for place in _SYSTEM for part in _system_place(place)]
    line += ["--ro-bind-try", "/sys/devices/system/cpu", "/sys/devices/system/cpu"]
    if walls.network and Path("/run/systemd/resolve").is_dir():
        line += ["--ro-bind", "/run/systemd/resolve", "/run/systemd/resolve"]
    line += [part for place in _OWN_TMP for part in ("--tmpfs", place)]
    tools = toolchains()
    line += [part for place in (*tools, *walls.readable) for part in ("--ro-bind-try", str(place), str(place))]
    for repository in dict.fromkeys(git for place in walls.writable for git in _repositories(place)):
        line += ["--ro-bind-try", str(repository), str(repository)]
    for place in walls.writable:
        line += ["--bind", str(place), str(place)]
    for link in (place / ".git" for place in walls.writable):
        if os.path.lexists(link):
            line += ["--ro-bind", str(link), str(link)]
    folders, files = private_places((cwd, *walls.writable))
    for folder in folders:
        if _is_visible(folder, (*tools, *walls.readable, *walls.writable)):
            line += ["--tmpfs", str(folder)]
    for file in files:
        if _is_visible(file, (*tools, *walls.readable, *walls.writable)):
            line += ["--ro-bind", os.devnull, str(file)]  # a device that cannot be opened there, so nothing is read
    return [*line, "--chdir", str(cwd), "--", *command]


def walls_for(cwd: Path, writable: Sequence[Path] = (), *, readable: Sequence[Path] = (), network: bool = False) -> Walls:
    """The walls of a command that runs in ``cwd``: it may write the run's whole place if ``cwd`` is in one, else ``cwd``."""
    return Walls((run_place_of(cwd) or cwd, *writable), tuple(readable), network)


def toolchains() -> tuple[Path, ...]:
    """Folders outside the system's that hold programs, libraries and this interpreter: the entries of the person's
    ``PATH`` and similar variables, and the usual places of toolchains in their home. Checks can read these and nothing else
    in a home."""
    return _toolchains(
        tuple(os.environ.get(name, "") for name in (*_SEARCHED, *_TOOL_VARIABLES)), os.environ.get("HOME", "")
    )


@functools.lru_cache(maxsize=4)
def _toolchains(_variables: tuple[str, ...], _home: str) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    own = {Path(os.path.realpath(home)) for home in homes()}
    for place in _tool_places():
        real = Path(os.path.realpath(place))
        inside_system = all(any(one.is_relative_to(system) for system in _SYSTEM) for one in (place, real))
        too_much = any(home == real or home.is_relative_to(real) for home in own)
        if not inside_system and not too_much and real != Path("/") and place.exists():
            found[place] = None
            found[real] = None
    return tuple(place for place in found if not any(place != other and place.is_relative_to(other) for other in found))


def _tool_places() -> Iterator[Path]:
    for home in homes():
        for name in _TOOL_FOLDERS:
            yield home / name
    yield from (Path(place) for place in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    yield Path(os.path.realpath(sys.executable)).parent.parent
    yield Path(__file__).resolve().parents[2] / "agent"
    if site.ENABLE_USER_SITE:
        yield Path(site.getusersitepackages())
    for variable in _TOOL_VARIABLES:
        if os.path.isabs(place := os.environ.get(variable, "")):
            yield Path(place)
    for variable in _SEARCHED:
        for name in os.environ.get(variable, "").split(os.pathsep):
            if not os.path.isabs(name):
                continue
            entry = Path(name)
            yield entry
            if (
                variable == "PATH"
                and entry.name in ("bin", "sbin")
                and any((entry.parent / lib).is_dir() for lib in _LIBRARIES)
            ):
                yield entry.parent  # a prefix of its own: its programs need its libraries


_LIBRARIES = ("lib", "lib64", "libexec", "share")


def _system_place(place: str) -> list[str]:
    """/bin and /lib are links on most systems, and stay links."""
    if os.path.islink(place):
        return ["--symlink", os.readlink(place), place]
    return ["--ro-bind-try", place, place]


def _repositories(place: Path) -> list[Path]:
    """Git's folders of the checkout around ``place``: a build may ask git for a version."""
    known = checkout_of(place)
    if known is None or not known.link:
        return []
    return [common_dir(known.git_dir)]


def _is_visible(place: Path, shown: Sequence[Path]) -> bool:
    inside = f"{place}/"
    return any(inside.startswith(f"{str(one).rstrip('/')}/") for one in (*_SYSTEM, *shown))


def shortfall(kind: Isolation) -> str:
    """What a command can do with this kind that the strongest kind prevents, in a sentence; "" for the strongest."""
    if kind == "bwrap":
        return ""
    if kind == "bwrap-net":
        return "Process namespaces do not work on this machine, so checks can see the other processes that run."
    other = "" if kind == "unshare" else ", use the network, and read the environment of your other programs"
    return (
        "bubblewrap does not work on this machine, so checks, which run code that a model wrote, can read and write "
        f"what you can{other}. On Linux, install bubblewrap to isolate them."
    )
