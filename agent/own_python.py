"""This interpreter, for the product's own modules in a process of their own."""

from __future__ import annotations

import sys


def own_python(*arguments: str) -> list[str]:
    """The command line that runs this interpreter with ``arguments``. It looks for modules neither in the folder that it is
    started in, which may be a repository that nobody trusts, nor beside a script (``-P``)."""
    return [sys.executable, "-P", *arguments]
