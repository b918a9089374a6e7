"""How a count is said, in every sentence of the engine, the screens and the command line."""

from __future__ import annotations


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 file``, ``1,300 files``: ``noun`` is the word for one, ``many`` the word for more where an s does not make it."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def counted(count: int, name: str) -> str:
    """``1 object``, ``2 objects``, ``1 library``: ``name`` is the word for many, or one that has no other form (``passed``).
    An exit code is not a count: ``exit code 2``."""
    if name == "exit code":
        return f"{name} {count}"
    if count == 1 and name.endswith("ies"):
        name = f"{name[:-3]}y"
    elif count == 1 and name.endswith("s") and not name.endswith("ss"):
        name = name[:-1]
    return f"{count:,} {name}"
