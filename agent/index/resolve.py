"""From an include or import as written to the project file it means, whatever language it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent.languages import LANGUAGES, language_of


class ProjectResolver:
    """Resolves against one fixed set of files; make a new one when the set changes. ``folders`` are the search folders of
    each language by its name."""

    def __init__(self, paths: Iterable[str], folders: Mapping[str, Sequence[str]] | None = None) -> None:
        known = frozenset(paths)
        self._resolvers = {one.name: one.resolver(known, (folders or {}).get(one.name, ())) for one in LANGUAGES}

    def resolve(self, target: str, source: str, system: bool = False) -> str:
        """The project file that ``target`` in the file ``source`` means, or ""."""
        resolver = self._resolvers.get(language_of(source))
        return resolver.resolve(target, source, system=system) if resolver else ""
