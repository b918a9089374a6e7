"""Which files are tests, and which others decide whether tests run and pass: a change is measured by them.

This is the only such rule; index, retrieval, planning, coding and the workspace all use it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from agent.regular_files import read_regular
from agent.workspace.paths import PathRefused, resolve_inside

_FOLDERS = frozenset(
    {"test", "tests", "testing", "t", "spec", "specs", "unittest", "unittests", "testsuite", "testsuites", "__tests__"}
)
"""A file of any kind below such a folder belongs to the tests: pytest, Automake, Perl, RSpec, Jest."""

_CODE = frozenset(
    {".py", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".rs", ".go", ".js", ".ts", ".rb", ".sh", ".pl", ".lua"}
)
_STEM = re.compile(
    r"""(?:tests?|conftest|test_?(?:main|suite|runner|lib|utils?|helpers?)|run_?tests?)  # the whole name
      | tests?[-_.].+ | .+[-_.]tests?                                                   # test_ring, ring_test, ring-tests
    """,
    re.X,
)
_BY_SUFFIX = {
    ".c": re.compile(r"check_.+"),  # the convention of libcheck
    **dict.fromkeys((".rb", ".js", ".ts", ".lua"), re.compile(r".+[-_.]spec")),
}
_CAMEL = re.compile(r"Test[A-Z]\w*|[A-Z]\w*Tests?")
"""Unity and CppUTest name a file TestRing.c or RingTest.c."""

_DATA_FOLDERS = frozenset(
    {"fixtures", "testdata", "test_data", "test-data", "__snapshots__", "snapshots", "golden", "goldens"}
)
_RUNNERS = (
    # build files
    "makefile", "gnumakefile", "makefile.*", "*.mk", "*.mak", "cmakelists.txt", "*.cmake", "meson.build", "meson.options",
    "meson_options.txt", "configure", "configure.ac", "sconstruct", "justfile", "taskfile.yml", "taskfile.yaml", "dodo.py",
    "rakefile", "build.ninja", "compile_commands.json",
    # configuration of test runners
    "pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".coveragerc",
    "conftest.py", "ctesttestfile.cmake",
    # files that Python runs at its start
    "sitecustomize.py", "usercustomize.py", "*.pth",
    # configuration of git and of its host
    ".gitattributes", ".gitmodules", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "jenkinsfile",
)  # fmt: skip
_RUNNER_FOLDERS = frozenset({".github", ".circleci", ".gitlab", ".husky"})
_TEST_LIBRARIES = frozenset(
    {
        "pytest",
        "_pytest",
        "unittest",
        "pluggy",
        "iniconfig",
        "doctest",
        "nose",
        "nose2",
        "hypothesis",
        "pytest_asyncio",
        "xdist",
    }
)
"""Modules that a file or folder of the same name in the project would shadow."""

_TEST_LIBRARY_FILES = frozenset(
    {
        "assert.h",
        "check.h",
        "greatest.h",
        "minunit.h",
        "unity.c",
        "unity.h",
        "unity_internals.h",
        "cmocka.c",
        "cmocka.h",
        "munit.c",
        "munit.h",
    }
)
"""Files of test libraries that C projects keep a copy of."""

_CALLED_FILE = re.compile(r"(?<![\w./-])\.?/?([\w.-]+(?:/[\w.-]+)*)")


def is_test_file(path: str) -> bool:
    """Whether a path (relative, with ``/``) is a test, a helper of tests, or data that they read."""
    pure = PurePosixPath(path)
    if any(part.casefold() in _FOLDERS for part in pure.parts[:-1]):
        return True
    if pure.suffix.casefold() not in _CODE:
        return False
    own = _BY_SUFFIX.get(pure.suffix.casefold(), _STEM)
    stem = pure.stem.casefold()
    return bool(_STEM.fullmatch(stem) or own.fullmatch(stem) or _CAMEL.fullmatch(pure.stem))


def is_protected(path: str, hidden: Iterable[str] = ()) -> bool:
    """Whether a model may not change ``path`` unasked: a test, what decides whether tests run and pass, or below one of
    ``hidden``."""
    return is_test_file(path) or decides_tests(path) or is_hidden(path, hidden)


def decides_tests(path: str) -> bool:
    """Whether ``path`` is not a test itself, but builds, configures, feeds or runs tests, or would shadow the library they
    use."""
    pure = PurePosixPath(path)
    name = pure.name.casefold()
    folders = {part.casefold() for part in pure.parts[:-1]}
    if folders & _DATA_FOLDERS or folders & _RUNNER_FOLDERS or folders & _TEST_LIBRARIES:
        return True
    if pure.suffix == ".py" and pure.stem.casefold() in _TEST_LIBRARIES:
        return True
    return name in _TEST_LIBRARY_FILES or any(fnmatchcase(name, pattern) for pattern in _RUNNERS)


def called_by(root: Path, command: str) -> frozenset[str]:
    """Scripts of the project, relative to ``root``, that the test command names, or a recipe of its Makefiles. Sources that
    are only compiled are not among them."""
    words = [command]
    for pattern in ("[Mm]akefile", "GNUmakefile", "*.mk"):
        for makefile in sorted(root.glob(pattern)):
            try:
                lines = read_regular(makefile).decode("utf-8", "replace").splitlines()
            except OSError:
                continue
            words += [line for line in lines if line.startswith("\t")]
    found = {match[1] for line in words for match in _CALLED_FILE.finditer(line)}
    return frozenset(name for name in found if _is_script(root / name))


def _is_script(path: Path) -> bool:
    if path.suffix in (".sh", ".bash", ".pl", ".awk", ".tcl", ".exp"):
        return path.is_file()
    try:
        return read_regular(path).startswith(b"#!")
    except OSError:
        return False


def is_writable(
    root: Path,
    path: str,
    hidden: Iterable[str] = (),
    *,
    named: Collection[str] = (),
    called: Collection[str] = (),
    submodules: Collection[str] = (),
) -> bool:
    """Whether a model may write a file at ``path`` below ``root``.

    It may not write a protected file (:func:`is_protected`) or a script of ``called`` (see :func:`called_by`), unless the
    task names it (``named``: its path or the end of it) and it is not hidden; nor a file in ``submodules``, which belong to
    another repository; nor a path that leads outside or where no file can be.
    """
    try:
        full = resolve_inside(root, path)
        asked_for = any(path == name or path.endswith(f"/{name}") for name in named)
        shut = (is_protected(path) or path in called) and not asked_for
        shut = shut or is_hidden(path, hidden) or is_hidden(path, submodules)
        return not shut and not full.is_dir() and _can_hold_a_file(full.parent)
    except (PathRefused, OSError):  # OSError: a name that the file system does not take
        return False


def _can_hold_a_file(folder: Path) -> bool:
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return there is not None and there.is_dir()


def is_hidden(path: str, hidden: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``hidden`` (files, or folders with or without a final ``/``) or below it."""
    pure = PurePosixPath(path)
    return any(pure.is_relative_to(PurePosixPath(entry.rstrip("/"))) for entry in hidden if entry.strip("/"))
