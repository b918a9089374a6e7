"""Union-find: which things belong together, directly or through others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class UnionFind(Generic[K]):
    """Sets that grow together. Order of ``items`` is kept in the groups."""

    def __init__(self, items: Iterable[K]) -> None:
        self._parent: dict[K, K] = {item: item for item in items}

    def find(self, item: K) -> K:
        """The set's representative."""
        root = item
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[item] != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def union(self, a: K, b: K) -> None:
        """Join the sets of ``a`` and ``b``."""
        self._parent[self.find(b)] = self.find(a)

    def groups(self) -> list[tuple[K, ...]]:
        """The sets, in order of their first member."""
        found: dict[K, list[K]] = {}
        for item in self._parent:
            found.setdefault(self.find(item), []).append(item)
        return [tuple(members) for members in found.values()]
