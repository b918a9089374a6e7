"""Programs that the product starts: this interpreter for its own modules, and others by a search that no folder can join."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping


def own_python(*arguments: str) -> list[str]:
    """The command line that runs this interpreter with ``arguments``. It looks for modules neither in the folder that it is
    started in, which may be a repository that nobody trusts, nor beside a script (``-P``)."""
    return [sys.executable, "-P", *arguments]


def search_named_places_only(environment: MutableMapping[str, str] = os.environ) -> None:
    """Take entries out of PATH that are not absolute, an empty one among them: they mean the folder that a program is
    started in (POSIX.1-2017, section 8.3), and there a repository could keep a ``git`` of its own."""
    if "PATH" in environment:
        environment["PATH"] = os.pathsep.join(filter(os.path.isabs, environment["PATH"].split(os.pathsep)))
