"""Which C sources are linked together: those behind the headers that a program includes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.flow.worktree_files import WorkTree
from agent.index import Index
from agent.languages import is_compiled, is_unit

_MAIN = re.compile(rb"^[^\n#/*]*\bmain\s*\(", re.M)


def sources_behind(index: Index, tree: WorkTree, paths: Iterable[str]) -> list[str]:
    """The C sources without a ``main`` among ``paths`` or beside the headers among them and, through the headers that those
    include, the sources that go with them."""
    todo = [path for path in paths if is_compiled(path)]
    seen: set[str] = set()
    found: list[str] = []
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        if is_part(tree, path):
            found.append(path)
        elif is_unit(path):
            continue
        else:
            todo.append(index.pair_of(path) or path)
        todo += index.imports_of(path)
    return sorted(found)


def is_part(tree: WorkTree, path: str) -> bool:
    """Whether a C source is linked with others: no test, nothing hidden, no program of its own."""
    if not is_unit(path) or not tree.writable(path) or not tree.files.exists(path):
        return False
    return not _MAIN.search(tree.files.read_bytes(path))
