"""What is still to be written, by facts alone: stubs, functions declared but defined nowhere, and types that are only named.

Everything here reads a mapping of project paths to bytes and asks no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from agent.c.declarations.functions import CFunction, functions
from agent.c.declarations.open_types import TypeFacts, type_facts
from agent.c.declarations.signature import definition_head
from agent.c.files import new_source_for
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.preprocessor.includes import includes_of
from agent.c.writing.stubs import find_stubs
from agent.languages import is_compiled, is_interface, is_module, is_unit, language_of, parse_file, reader_of
from agent.workspace.protected import is_test_file

_FOREIGN = frozenset({
    "vendor", "third_party", "thirdparty", "external", "deps", "node_modules", ".venv", "build", "test-framework", "unity",
})  # fmt: skip

_FREES = re.compile(r"(?i)(?:^|_)(?:free|destroy|delete|release|dispose|cleanup|deinit)(?:_|$)")


def names_freeing(name: str) -> bool:
    """Whether a word of a name says that memory is freed."""
    return bool(_FREES.search(name))


class OpenFunction(msgspec.Struct, frozen=True):
    """A function without a real body. ``path`` is the file it belongs in (which may not exist yet), ``header`` the one that
    declares it ("" when none does). ``name`` is qualified for Python methods. ``doc`` is the contract as it stands in the
    source, comment markers included for C. ``line`` is that of the stub or the declaration, 1-based. ``result_freed`` tells
    that a caller frees what it returns."""

    name: str
    path: str
    header: str
    signature: str
    doc: str
    why: Literal["stub", "undefined"]
    language: str
    line: int = 0
    result_freed: bool = False

    @property
    def only_frees(self) -> bool:
        """Whether a C function, by its name and type, only frees what another one made: tests pass with its stub as well."""
        returns_nothing = re.match(r"(?:static\s+)?void\b(?!\s*\*)", self.signature)
        return is_compiled(self.path) and bool(returns_nothing and names_freeing(self.name))


class OpenType(msgspec.Struct, frozen=True):
    """A struct or union that a header only names. ``spelling`` is ``struct tag``; ``users`` the functions that take or
    return it; ``typedefs`` its other names; ``path`` the source file its definition belongs in."""

    name: str
    spelling: str
    typedefs: tuple[str, ...]
    header: str
    path: str
    doc: str
    users: tuple[str, ...] = ()


def is_foreign_path(path: str) -> bool:
    """Whether a path lies in a folder of code that is not the project's own."""
    return any(part in _FOREIGN for part in PurePosixPath(path).parts[:-1])


def find_open_functions(files: Mapping[str, bytes]) -> list[OpenFunction]:
    """The open functions of the project: C ones in header order, headers by path, then those of no header, then Python.

    Tests, vendored folders and ``main`` are left out. A prototype counts as undefined when no file defines the name, and
    when it does not stand in an ``#if``: what only some builds declare is often the system's.
    """
    own = {path: data for path, data in files.items() if not is_foreign_path(path)}
    parsed = {path: functions(data) for path, data in own.items() if is_compiled(path)}
    defined = {function.name for found in parsed.values() for function in found if function.defined}
    stubs = {path: {stub.name: stub for stub in find_stubs(own[path])} for path in parsed}
    declared: dict[str, tuple[str, CFunction]] = {}
    for path in sorted(parsed, key=lambda path: (not is_interface(path), path)):
        for function in parsed[path]:
            known = declared.get(function.name)
            if function.defined or is_test_file(path):
                continue
            if known is None or (known[1].conditional and not function.conditional):
                declared[function.name] = (path, function)
    if any(name not in defined for name in declared):
        defined |= _defined_at_second_look(own)
    found: list[OpenFunction] = []
    for name, (path, prototype) in declared.items():
        place = next((source for source in parsed if name in stubs[source] and not is_test_file(source)), "")
        header = path if is_interface(path) else ""
        if place:
            found.append(_open(prototype, place, header, stubs[place][name].doc, "stub", stubs[place][name].line))
        elif name not in defined and name != "main" and not prototype.conditional:
            place = source_of(path, own) if header else path
            found.append(_open(prototype, place, header, "", "undefined", prototype.line))
    for path in sorted(parsed):
        if not is_test_file(path):
            rest = [stub for stub in stubs[path].values() if stub.name not in declared]
            found.extend(_open(stub, path, "", stub.doc, "stub", stub.line) for stub in rest)
    freed = frozenset[str]().union(*(reader.freed_results(own[path]) for path in parsed if (reader := reader_of(path))))
    found = [msgspec.structs.replace(one, result_freed=True) if one.name in freed else one for one in found]
    return found + _in_modules(own)


def _defined_at_second_look(files: Mapping[str, bytes]) -> set[str]:
    """Functions that the index's tolerant reader finds: macros hide some from the grammar, and those are not undefined."""
    read = [parse_file(path, data) for path, data in files.items() if is_compiled(path)]
    return {symbol.name for one in read for symbol in one.symbols if symbol.kind == "function"}


def _open(
    function: CFunction, path: str, header: str, other_doc: str, why: Literal["stub", "undefined"], line: int
) -> OpenFunction:
    doc = function.doc or other_doc
    return OpenFunction(function.name, path, header, definition_head(function), doc, why, language_of(path), line)


def _in_modules(files: Mapping[str, bytes]) -> list[OpenFunction]:
    """The stubs of languages whose files need no interface."""
    modules = [path for path in sorted(files) if is_module(path)]
    tests = [files[path].decode("utf-8", "replace") for path in modules if is_test_file(path)]
    tested = {word for text in tests for word in re.findall(r"\w+", text)}
    return [
        OpenFunction(stub.name, path, "", stub.signature, stub.doc, "stub", language_of(path), stub.line)
        for path in modules
        if not is_test_file(path) and (reader := reader_of(path))
        for stub in reader.stubs(files[path], tested)
    ]


def source_of(header: str, files: Iterable[str] | Mapping[str, bytes]) -> str:
    """The source file a header's functions belong in: the one of its name, else the only one that includes it and has no
    ``main``, else a new file."""
    sources = [path for path in files if is_unit(path) and not is_test_file(path)]
    reader = reader_of(header)
    if reader is not None and (named := reader.counterpart(header, sources)):
        return named
    if isinstance(files, Mapping):
        resolver = IncludeResolver({*files, header})
        users = [
            path
            for path in sources
            if any(resolver.resolve(one.name, path, system=one.system) == header for one in includes_of(files[path]))
            and not re.search(rb"\bmain\s*\(", files[path])
        ]
        if len(users) == 1:
            return users[0]
    return new_source_for(header)


def find_open_types(files: Mapping[str, bytes], open_functions: Sequence[OpenFunction] = ()) -> list[OpenType]:
    """Structs and unions that a project header names, that no file defines, and that an open function uses.

    ``open_functions`` defaults to those of ``files``. A type that no open function's declaration names is left alone: it may
    be another library's.
    """
    own = {path: data for path, data in files.items() if not is_foreign_path(path) and is_compiled(path)}
    wanted = [function for function in (open_functions or find_open_functions(files)) if is_compiled(function.path)]
    facts: dict[str, TypeFacts] = {path: type_facts(own[path]) for path in sorted(own)}
    defined = {spelling for fact in facts.values() for spelling in fact.defined}
    found: dict[str, OpenType] = {}
    for header, fact in facts.items():
        if not is_interface(header) or is_test_file(header):
            continue
        for spelling, doc in fact.named.items():
            if spelling in defined or spelling in found:
                continue
            typedefs = tuple(dict.fromkeys(alias for other in facts.values() for alias in other.typedefs.get(spelling, ())))
            names = re.compile(
                r"\b(?:" + "|".join([re.escape(spelling).replace(r"\ ", r"\s+"), *map(re.escape, typedefs)]) + r")\b"
            )
            users = tuple(function.name for function in wanted if names.search(function.signature))
            if users:
                tag = spelling.split()[-1]
                found[spelling] = OpenType(tag, spelling, typedefs, header, source_of(header, own), doc, users)
    return list(found.values())


def in_dependency_order(wanted: Sequence[OpenFunction]) -> list[OpenFunction]:
    """``wanted`` with a function after those that its contract mentions (``other()`` or the bare name), else as given.

    Stubs have no calls yet, so the contracts are the only evidence. A cycle keeps the given order.
    """
    names = {function.name: function for function in wanted}
    needs = {
        function.name: [other for other in names if other != function.name and _mentions(function.doc, other)]
        for function in wanted
    }
    ordered: dict[str, OpenFunction] = {}
    open_now: set[str] = set()

    def visit(name: str) -> None:
        if name in ordered or name in open_now:
            return
        open_now.add(name)
        for other in needs[name]:
            visit(other)
        ordered[name] = names[name]

    for function in wanted:
        visit(function.name)
    return list(ordered.values())


def _mentions(doc: str, name: str) -> bool:
    return bool(re.search(rb"(?<!\w)" + re.escape(name).encode() + rb"(?!\w)", doc.encode()))
