"""What the tests that a model may see say of the code: examples of a function, and the interface that no header declares."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from agent.c.declarations.functions import definitions
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.preprocessor.includes import includes_of
from agent.c.usage import Usage, undeclared_usage
from agent.coding.open_items import is_foreign_path
from agent.flow.survey import Survey
from agent.languages import is_interface, is_unit, reader_of
from agent.workspace.protected import is_test_file

_WORD = re.compile(r"[^\W\d]\w*")
_HELPERS_DEEP = 3
_BY_NAME = 0.2

LONGEST = 1600
"""Characters of the examples of one function in a prompt."""

MISSED = 4
"""Examples that an earlier version missed, as told with the next question."""


class TestedInterface(msgspec.Struct, frozen=True):
    """What tests use and no header declares, the header it belongs in, and the test files that call it."""

    __test__ = False

    header: str
    usage: Usage
    callers: tuple[str, ...]


class TestContract:
    """Read once a run: tests do not change in it. ``__test__`` tells pytest that this is not a test."""

    __test__ = False

    def __init__(self, found: Survey) -> None:
        self.found = found
        sources = found.sources()
        self.tests = {path: data for path, data in sources.items() if is_test_file(path)}

    def calls(self, name: str) -> bool:
        """Whether a test holds a call of the function."""
        word = re.compile(rb"\b" + re.escape(name.rpartition(".")[2].encode()) + rb"\s*\(")
        return any(word.search(data) for data in self.tests.values())

    def sources(self, language: str) -> tuple[bytes, ...]:
        """The files of tests in one language."""
        known = ((reader_of(path), data) for path, data in self.tests.items())
        return tuple(data for reader, data in known if reader is not None and reader.name == language)

    def examples(self, name: str, language: str) -> tuple[str, ...]:
        """What the tests say of a function, method or class, bounded; () when they do not use it. Blocking."""
        own = name.rpartition(".")[2]
        told: dict[str, None] = {}
        for path, data in self.tests.items():
            reader = reader_of(path)
            if reader is not None and reader.name == language and own.encode() in data:
                told.update(dict.fromkeys(reader.tests.examples(data, [own]).get(own, ())))
        kept: list[str] = []
        for one in told:
            if sum(map(len, kept)) + len(one) <= LONGEST:
                kept.append(one)
        return tuple(kept)

    def missed(self, name: str, failing: Mapping[str, str]) -> str:
        """What a function should come to in tests that fail, with what these say (by test function), a line each, at most
        :data:`MISSED`. A test that uses it and holds no example of it is told by the words of its name. "" when the tests do
        not tell. Blocking."""
        own, lines = name.rpartition(".")[2], list[str]()
        for test, said in failing.items():
            for path, data in self.tests.items():
                reader = reader_of(path)
                if reader is None or test not in self._words or test.encode() not in data:
                    continue
                told = [one for one in reader.tests.examples_in(data, own, test)[:1] if "\n" not in one]
                lines += [f"{one}, but: {said}" if said else one for one in told]
                if said and not told and own in self._words[test]:
                    lines.append(f"{' '.join(test.removeprefix('test').split('_')).strip()}: {said}")
        return "\n".join(lines[:MISSED])

    def concerning(self, name: str, others: Collection[str] = ()) -> frozenset[str]:
        """The test functions that use ``name``, themselves or through helpers in their file, and none of ``others``: what
        they say is said of it alone. Own names only. Blocking."""
        own = name.rpartition(".")[2]
        unwanted = {one.rpartition(".")[2] for one in others} - {own}
        return frozenset(test for test, words in self._words.items() if own in words and unwanted.isdisjoint(words))

    def suspicion(self, name: str, failing: Collection[str]) -> float | None:
        """How much speaks for a fault in ``name``, from 0 on, given the tests that fail: those that use it and fail against
        those that use it and pass (the Ochiai coefficient; Abreu, Zoeteweij, van Gemund, 2007), and a little for its name in
        theirs. None when no test that fails is known. Blocking."""
        known = self._words.keys() & set(failing)
        if not known:
            return None
        using = self.concerning(name)
        if using and using.isdisjoint(known):  # its own tests pass, whatever those that fail are called
            return 0.0
        told = len(using & known) / math.sqrt(len(known) * max(1, len(using)))
        return told + _BY_NAME * self._named(name, known)

    def _named(self, name: str, failing: Collection[str]) -> float:
        """How many more of the failing tests than of the others have the function in their name, as shares, at least 0:
        helpers that use every function hide which one a test is about."""
        own = name.rpartition(".")[2].lower()
        named = {test for test in self._words if own in test.lower()}
        rest = self._words.keys() - set(failing)
        return max(0.0, len(named & set(failing)) / len(failing) - len(named & rest) / max(1, len(rest)))

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        """Test function to every word in it and in the functions of its file that it uses."""
        found: dict[str, frozenset[str]] = {}
        for path, data in self.tests.items():
            reader = reader_of(path)
            if reader is None:
                continue
            bodies = [one for one in reader.parse(data).symbols if one.kind in ("function", "method")]
            words = {one.name: set(_WORD.findall(data[one.start : one.end].decode("utf-8", "replace"))) for one in bodies}
            for _ in range(_HELPERS_DEEP):
                for own in words.values():
                    own |= {word for helper in own & words.keys() for word in words[helper]}
            tests = reader.tests.names(data.decode("utf-8", "replace"))
            found.update((test, frozenset(words[test])) for test in tests if test in words)
        return found


def tested_interface(found: Survey) -> TestedInterface | None:
    """The functions that tests call and nobody declares, with the header they belong in; None when there are none, or when
    it cannot be told which header. Blocking."""
    sources = found.sources()
    tests = [path for path in sources if is_test_file(path) and is_unit(path)]
    headers = [data for path, data in sources.items() if is_interface(path)]
    calling = [path for path in tests if _tests_something(path, sources, found)]
    usage = undeclared_usage([sources[path] for path in calling], headers)
    if not usage.functions:
        return None
    defined = _defined(sources)
    usage = msgspec.structs.replace(usage, functions=tuple(one for one in usage.functions if one.name not in defined))
    places = {header for path in calling for header in _own_headers(path, sources, found)}
    named = [path for path in places if PurePosixPath(path).name in found.task] or list(places)
    if len(named) != 1 or not usage.functions:
        return None
    return TestedInterface(named[0], usage, tuple(calling))


def _tests_something(path: str, sources: Mapping[str, bytes], found: Survey) -> bool:
    return bool(_own_headers(path, sources, found))


def _own_headers(path: str, sources: Mapping[str, bytes], found: Survey) -> list[str]:
    """The project headers that a test includes and that a model may write."""
    resolver = IncludeResolver(sources)
    names = (resolver.resolve(one.name, path, system=one.system) for one in includes_of(sources[path]))
    own = [name for name in names if name and is_interface(name) and name in sources and not is_foreign_path(name)]
    return [name for name in own if found.writable(name)]


def _defined(sources: Mapping[str, bytes]) -> set[str]:
    return {function.name for path, data in sources.items() if is_unit(path) for function in definitions(data)}
