"""The environment of a sandboxed command: variables that builds and tests need, and no secrets."""

from __future__ import annotations

import os
import site
from collections.abc import Mapping
from pathlib import Path

_KEPT = frozenset(
    {
        "PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
        "CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "LDLIBS", "MAKEFLAGS", "CPATH",
        "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PKG_CONFIG_PATH",
        "SDKROOT", "DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET", "NIX_CFLAGS_COMPILE", "NIX_LDFLAGS",
        "PYENV_ROOT", "PYENV_VERSION", "RUSTUP_HOME", "CARGO_HOME", "CCACHE_DIR",
        "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    }
)  # fmt: skip
_KEPT_START = ("LC_", "ASAN_", "UBSAN_", "LSAN_", "TSAN_")
# Tool shims find their own files below HOME, which is a temporary folder here.
_BELOW_HOME = {"PYENV_ROOT": ".pyenv", "RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}


def is_passed(name: str) -> bool:
    """Whether a command may see the variable ``name`` of the person's environment."""
    return name in _KEPT or name.startswith(_KEPT_START)


def sandbox_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A new environment with ``home`` as HOME and the temporary folder; tokens, keys and agents' sockets are not in it.

    Bytecode is not written, so that a file changed twice within a second is read again.
    """
    env = {name: value for name, value in os.environ.items() if is_passed(name)}
    env.setdefault("PATH", os.defpath)
    real_home = Path(os.path.expanduser("~"))
    for name, folder in _BELOW_HOME.items():
        if (real_home / folder).is_dir():
            env.setdefault(name, str(real_home / folder))
    if base := site.getuserbase():
        env["PYTHONUSERBASE"] = base
    env |= {
        "HOME": str(home),
        "TMPDIR": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }
    env.setdefault("LANG", "C.UTF-8")
    return env | dict(extra or {})
