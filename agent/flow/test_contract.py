"""What the tests that a model may see say of the code: examples of a function, and the interface that no header declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec

from agent.c.declarations.functions import definitions
from agent.c.files import is_header, is_source
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.preprocessor.includes import includes_of
from agent.c.usage import Usage, undeclared_usage
from agent.flow.survey import Survey
from agent.languages import language_of, named
from agent.workspace.protected import is_test_file

LONGEST = 1600
"""Characters of the examples of one function in a prompt."""


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

    def examples(self, name: str, language: str) -> tuple[str, ...]:
        """What the tests say of a function or method, bounded; () when they do not call it. Blocking."""
        own = name.rpartition(".")[2]
        told: dict[str, None] = {}
        for path, data in self.tests.items():
            if own.encode() in data and language_of(path) == language:
                told.update(dict.fromkeys(named(language).tests.examples(data, [own]).get(own, ())))
        kept: list[str] = []
        for one in told:
            if sum(map(len, kept)) + len(one) > LONGEST:
                break
            kept.append(one)
        return tuple(kept)


def tested_interface(found: Survey) -> TestedInterface | None:
    """The functions that tests call and nobody declares, with the header they belong in; None when there are none, or when
    it cannot be told which header. Blocking."""
    sources = found.sources()
    tests = [path for path in sources if is_test_file(path) and is_source(path)]
    headers = [data for path, data in sources.items() if is_header(path)]
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
    own = [name for name in names if name and is_header(name) and name in sources and not _foreign(name)]
    return [name for name in own if found.writable(name)]


def _foreign(path: str) -> bool:
    """Whether a header is that of a test framework."""
    return any(part in ("test-framework", "unity", "vendor", "third_party") for part in PurePosixPath(path).parts[:-1])


def _defined(sources: Mapping[str, bytes]) -> set[str]:
    return {function.name for path, data in sources.items() if is_source(path) for function in definitions(data)}
