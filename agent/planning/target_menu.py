"""The menu a plan chooses from: every file and symbol that may change, so that a model picks instead of inventing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.planning.paths import ends_with
from agent.planning.schema import KnownSymbol, OpenPoint, inside
from agent.task.intent import read_intent
from agent.values import Value
from agent.workspace.protected import is_test_file

MAX_TARGETS = 40
"""Longer menus cost more than they help: a grammar of every file is slow, and a small model picks the first anyway."""

_LEVELS = {"primary": 0, "supporting": 1, "": 2, "type_context": 3}


class Target(Value, frozen=True):
    """A file, or a symbol in it. ``key`` is what the model writes: ``path`` or ``path:symbol``."""

    path: str
    symbol: str = ""
    note: str = ""
    primary: bool = False

    @property
    def key(self) -> str:
        return f"{self.path}:{self.symbol}" if self.symbol else self.path


class Menu(Value, frozen=True):
    """What may be changed, best first. ``open_ended`` when files that do not exist may be named too."""

    targets: tuple[Target, ...]
    open_ended: bool = False

    def find(self, written: str) -> Target:
        """The target that a reply means: its key, else a path's end or a symbol's name where only one fits.

        Raises:
            ValueError: if none or several fit; the text says so.
        """
        text = written.strip().strip("`'\"").removeprefix("./")
        exact = [t for t in self.targets if t.key == text]
        if exact:
            return exact[0]
        path, _, symbol = text.rpartition(":") if ":" in text else ("", "", text)
        close = [t for t in self.targets if _fits(t, text, path, symbol.removesuffix("()"))]
        if len(close) == 1:
            return close[0]
        if self.open_ended and not close and inside(text) and PurePosixPath(text).suffix:
            return Target(text, note="new file")
        if close:
            raise ValueError(f"{text!r} could be any of {', '.join(t.key for t in close[:4])}")
        raise ValueError(f"{text!r} is none of the targets")

    @property
    def primary(self) -> tuple[Target, ...]:
        """The symbols that retrieval called directly involved (a class gives way to its own methods)."""
        return tuple(t for t in self.targets if t.primary)


def build_menu(
    task: str,
    files: Sequence[str],
    symbols: Sequence[KnownSymbol],
    open_points: Sequence[OpenPoint],
    added: Sequence[Target] = (),
) -> Menu:
    """What is to be ``added``, primary symbols, then open points, other symbols, files; at most :data:`MAX_TARGETS`.

    Files of tests are not targets unless the task asks for tests: a model that may edit tests edits tests.
    """
    intent = read_intent(task)
    tests = intent.wants_tests or intent.edits_tests
    mentioned = [path for path in intent.files if inside(path)]
    all_files = [*files, *(p for p in mentioned if not any(ends_with(f, p) for f in files))]
    ranked = sorted((s for s in symbols if s.writable), key=lambda s: _LEVELS.get(s.level, 2))
    opened = [Target(p.path, p.name, "not written yet") for p in open_points]
    chosen = [s for s in ranked if s.level != "excluded"]
    holders = {(s.path, s.name.rpartition(".")[0]) for s in chosen if s.level == "primary"}
    by_symbol = [Target(s.path, s.name, s.signature or s.kind, _is_primary(s, holders)) for s in chosen]
    found = [*added, *(t for t in by_symbol if t.primary)] + opened + [t for t in by_symbol if not t.primary]
    unique: dict[str, Target] = {}
    for target in found[: MAX_TARGETS - min(len(all_files), 12)] + [Target(path) for path in all_files]:
        if inside(target.path) and (tests or not is_test_file(target.path)):
            unique.setdefault(target.key, target)
    return Menu(tuple(unique.values())[:MAX_TARGETS], intent.new_files or not unique)


def _is_primary(symbol: KnownSymbol, holders: set[tuple[str, str]]) -> bool:
    """Directly involved, and no class whose own methods are: rewriting them is the smaller change."""
    return symbol.level == "primary" and (symbol.path, symbol.name) not in holders


def _fits(target: Target, text: str, path: str, symbol: str) -> bool:
    if not path:
        return _same_name(target.symbol, symbol) if target.symbol else ends_with(target.path, text)
    return bool(target.symbol) and _same_name(target.symbol, symbol) and ends_with(target.path, path)


def _same_name(real: str, written: str) -> bool:
    return written in (real, real.rpartition(".")[2])
