"""Where a new test file belongs and what it is called, by the project's own convention. Never an existing file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent.languages import is_code, reader_of
from agent.workspace.protected import is_hidden, is_test_file


@dataclass(frozen=True)
class Project:
    """What is known of the files around a plan: the ``paths`` that a model may see, whether a path ``exists`` on the disk
    (ignored files too), and what is ``hidden``."""

    paths: tuple[str, ...]
    exists: Callable[[str], bool] = lambda path: False
    hidden: tuple[str, ...] = ()


def place_for_test(source: str, project: Project, also_taken: Iterable[str] = ()) -> str:
    """A path for a new test of ``source`` (code of any language that is read); "" for any other file.

    The folder and the style of the name are those of most tests of the same language; without any, ``test/`` if there is
    one, else ``tests/``, and ``test_NAME``. A name that some test has already gets a number, since pytest cannot tell two
    modules of one name apart.
    """
    language = reader_of(source)
    if language is None or not is_code(source):
        return ""
    suffix = language.tests.suffix
    tests = [path for path in project.paths if _is_test(path, suffix) and not is_hidden(path, project.hidden)]
    folder, style = _folder(source, suffix, tests, project), _style(language.tests.styles, tests)
    names = {PurePosixPath(path).name.casefold() for path in (*tests, *also_taken)}
    stem = _stem(source)
    for number in range(1, 1000):
        name = style.format(stem if number == 1 else f"{stem}_{number}") + suffix
        path = str(folder / name)
        free = name.casefold() not in names and path not in project.paths and not project.exists(path)
        if free and not is_hidden(path, project.hidden):
            return path
    return ""


def _is_test(path: str, suffix: str) -> bool:
    pure = PurePosixPath(path)
    return pure.suffix == suffix and is_test_file(path) and pure.name not in ("__init__.py", "conftest.py")


def _folder(source: str, suffix: str, tests: list[str], project: Project) -> PurePosixPath:
    near = PurePosixPath(source).parent
    folders = Counter(PurePosixPath(path).parent for path in tests)
    code = {PurePosixPath(p).parent for p in project.paths if PurePosixPath(p).suffix == suffix and not is_test_file(p)}
    beside = sum(count for folder, count in folders.items() if folder in code)
    if beside > len(tests) / 2:
        return near if near in code else max(folders, key=lambda one: folders[one])
    apart = [folder for folder in folders if folder not in code]
    if apart:  # a tree of tests that mirrors the code has a folder of the same name
        return max(apart, key=lambda one: (one.name == near.name != "", folders[one], -len(one.parts)))
    tops = {PurePosixPath(path).parts[0] for path in project.paths if len(PurePosixPath(path).parts) > 1}
    return PurePosixPath("test" if "test" in tops and "tests" not in tops else "tests")


def _style(styles: tuple[str, ...], tests: list[str]) -> str:
    stems = [PurePosixPath(path).stem for path in tests]
    counts = {style: sum(_has_style(stem, style) for stem in stems) for style in styles}
    return max(styles, key=lambda style: counts[style])


def _has_style(stem: str, style: str) -> bool:
    before, after = style.split("{}")
    return len(stem) > len(before + after) and stem.startswith(before) and stem.endswith(after)


def _stem(source: str) -> str:
    pure = PurePosixPath(source)
    return pure.parent.name if pure.stem == "__init__" and pure.parent.name else pure.stem
