"""The compiler within the same isolation and limits as checks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from agent.compiler_flags import include_folders
from agent.workspace.isolation import isolation, walls_for, wrap
from agent.workspace.sandbox import Limits, limited

_DEFAULT_LIMITS = Limits()


def shutting_in(
    root: Path, limits: Limits = _DEFAULT_LIMITS, origin: Path | None = None
) -> Callable[[list[str], Path], list[str]]:
    """A function that wraps a compiler's command line so that it runs isolated and limited, as checks do: an ``#include``
    that a model wrote could otherwise show the lines of any file in an error, and one of ``/dev/zero`` takes all memory.

    Include folders of the person's own checkout ``origin`` that a command names can be read, since generated headers
    are only there. Costs some 10 ms a compile. Blocking the first time.
    """
    kind = isolation()
    settings = [f"AS={limits.memory}"] if limits.memory else []
    settings += [f"FSIZE={limits.file_size}", "CORE=0", *([f"CPU={limits.cpu}"] if limits.cpu else [])]

    def shut_in(command: list[str], objects: Path) -> list[str]:
        written = {objects, *(Path(after).parent for before, after in pairwise(command) if before == "-o")}
        readable = [*map(Path, limits.readable), *_places_of_headers(command, origin)]
        walls = walls_for(root, [place for place in written if place.is_absolute()], readable=readable)
        return wrap(kind, _within_limits(command, settings), root, walls)

    return shut_in


def _within_limits(command: list[str], settings: list[str]) -> list[str]:
    """prlimit(1) starts twenty times as fast as our own script, and a run compiles often."""
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        return limited(command, settings)
    return [prlimit, *(f"--{setting.lower()}" for setting in settings), "--", *command]


def _places_of_headers(command: list[str], origin: Path | None) -> list[Path]:
    """Folders and forced headers inside ``origin`` that a command names."""
    if origin is None:
        return []
    named = [*include_folders(command), *(after for before, after in pairwise(command) if before == "-include")]
    real = [Path(os.path.realpath(name)) for name in named if os.path.isabs(name)]
    return [place for place in real if place.is_relative_to(origin) and place != origin]
