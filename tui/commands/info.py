"""``cra --info``: what a bug report needs, without personal data."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import subprocess
from importlib import metadata

from tui.say import say

_PACKAGES = ("textual", "rich", "httpx", "msgspec", "sqlite-utils", "tree-sitter", "xllamacpp")
_TOOLS = ("git", "make", "gcc", "clang", "bwrap", "unshare", "ctags")


def print_info() -> None:
    """Print versions, tools, terminal and paths."""
    from agent import __version__
    from agent.config.schema import user_config_path
    from agent.models.store import list_models, models_dir

    say(f"cra {__version__}, Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} cores")
    say("packages   " + ", ".join(f"{name} {_version(name)}" for name in _PACKAGES))
    say(f"sqlite     {sqlite3.sqlite_version}")
    for name in _TOOLS:
        say(f"{name:<10} {_tool(name)}")
    settings = {name: os.environ.get(name, "") for name in ("TERM", "COLORTERM", "NO_COLOR", "TEXTUAL_THEME", "LANG")}
    say("terminal   " + ", ".join(f"{name}={value}" for name, value in settings.items() if value))
    say(f"config     {user_config_path()}")
    _print_walls()
    say(f"models     {models_dir()}")
    for known in list_models():
        say(f"           {known.entry.name}: {'there' if known.path else 'not fetched'}")


def _print_walls() -> None:
    """How commands of a repository are isolated here, what they can read, and whether this repository is trusted."""
    from pathlib import Path

    from agent.directories import state_directory
    from agent.workspace.isolation import isolation, shortfall, toolchains
    from agent.workspace.trust import is_trusted

    kind = isolation()
    say(f"sandbox    {kind}" + (f". {shortfall(kind)}" if shortfall(kind) else ""))
    if kind in ("bwrap", "bwrap-net"):
        say("           commands can read the system's programs and " + ", ".join(map(str, toolchains())))
    here = Path.cwd()
    say(f"trust      {here} is {'' if is_trusted(here) else 'not '}trusted (kept in {state_directory()})")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        return "not found"
    done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False, errors="replace")
    return (done.stdout or done.stderr).split("\n", 1)[0].strip()
