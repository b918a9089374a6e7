"""Arrays of two dimensions as parameters: what the calls tell of their sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

NAME = "@"
"""Where the name stands in a type that is not all in front of it: ``int (*@)[3]``."""

_GRID = re.compile(r"(?P<base>[^\[\]]+?) \[(?P<height>\d+)\]\[(?P<width>\d+)\]")
Sizes = list[tuple[re.Match[str], tuple[str, ...]]]


def declare(kind: str, name: str) -> str:
    """The declaration of ``name`` with a type; see :data:`NAME`."""
    if NAME in kind:
        return kind.replace(NAME, name)
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def with_grids(
    calls: Sequence[tuple[str, ...]], numbers: Sequence[tuple[str, ...]], parameters: tuple[str, ...], names: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parameters and names of a function, where arrays such as ``int [2][3]`` are handed over: a pointer to rows of one
    width, or an array whose sizes are parameters before it (C99 6.7.5.3). ``calls`` are the types of the arguments of each
    call, ``numbers`` their texts where they are whole numbers. The type is "" where neither holds."""
    kinds, shown = list(parameters), list(names)
    for place in range(len(kinds)):
        handed = [(call, told) for call, told in zip(calls, numbers, strict=True) if len(call) > place]
        grids = [(match, told) for call, told in handed if (match := _GRID.fullmatch(call[place]))]
        if not grids:
            continue
        base = grids[0][0]["base"].removeprefix("const ")
        widths = {match["width"] for match, _ in grids}
        rows, columns = _size(grids, "height", place), _size(grids, "width", place)
        if len(widths) == 1 and columns < 0:
            kinds[place] = f"{base} (*{NAME})[{widths.pop()}]"
        elif rows >= 0 and columns >= 0 and rows != columns:
            shown[rows], shown[columns] = shown[rows] or "rows", shown[columns] or "columns"
            shown[place] = shown[place] or "grid"
            kinds[place] = f"{base} {NAME}[{shown[rows]}][{shown[columns]}]"
        else:
            kinds[place] = ""
    return tuple(kinds), tuple(shown)


def _size(grids: Sizes, part: str, before: int) -> int:
    """The place of the number, in front of ``before``, that is a size of the array in every call; -1 for none."""
    found = [at for at in range(before) if all(len(told) > at and told[at] == match[part] for match, told in grids)]
    return found[-1 if part == "width" else 0] if found else -1
