"""Versions of a piece of code that work and were measured: taken back one after the other, the best put in again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.coding.files import Files, content, put_back


class Versions:
    """What was tried of one symbol. Truthy once a version was measured; ``len`` counts them."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._tried: list[tuple[float, dict[str, bytes | None]]] = []

    def __len__(self) -> int:
        return len(self._tried)

    def before(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The contents that a version is about to change."""
        return {path: content(self.files, path) for path in paths}

    def take_back(self, points: float, before: Mapping[str, bytes | None]) -> None:
        """Remember the version that stands there with its ``points``, and put back what was there before it."""
        self._tried.append((points, {path: content(self.files, path) for path in before}))
        put_back(self.files, dict(before))

    @property
    def differ(self) -> bool:
        """Whether one did better than another."""
        return len({points for points, _ in self._tried}) > 1

    def put_best(self) -> int:
        """Put the best version in, the earliest among equals. Returns its number, from 1."""
        number = max(range(len(self._tried)), key=lambda one: (self._tried[one][0], -one))
        put_back(self.files, self._tried[number][1])
        return number + 1
