"""Whether a task asks for what is declared but not written yet, and for which of it. Words and names only; no model.

The rule, in this order:

1. A task that wants something else besides (rename, refactor, remove, port, add a new thing) cannot be planned from facts
   alone.
2. A task that repairs (fix, bug, wrong, crash) is planned from facts only if it names an open point. One that repairs and
   also wants what is declared asks for both: see :func:`declared_besides`.
3. "Implement NAME" with a name that is not an open point wants something new, which facts cannot plan.
4. With an implementing word (implement, complete, stub, missing functions, declared functions, make the tests pass) the
   open points of the files it names are asked for, or all of them if it names none. Files of tests do not narrow this.
5. If it does not speak of the whole ("the functions declared", "all", "stubs") and names open points, it is only those.
6. Without an implementing word, naming an open point in a repair is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.languages import is_compiled
from agent.planning.paths import ends_with
from agent.planning.schema import OpenPoint
from agent.task.intent import read_intent
from agent.task.mentions import code_names, implemented_names, last_part, looks_like_code, object_names, words_in


def asked_for(task: str, points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """The open points that the task asks to have written, in their order; empty where the rule says that facts cannot plan
    it."""
    intent = read_intent(task)
    if not points or intent.other_work:
        return ()
    named = named_points(task, points)
    if intent.repairs and not (intent.about_checks and intent.completes):
        return () if intent.completes else named
    return _of_the_declared(task, points, named)


def declared_besides(task: str, points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """The open points that a repair wants written besides, as in "fix the parser and implement the functions declared in
    report.h"."""
    intent = read_intent(task)
    if not intent.repairs or intent.about_checks or intent.other_work:
        return ()
    return _of_the_declared(task, points, named_points(task, points))


def _of_the_declared(task: str, points: Sequence[OpenPoint], named: tuple[OpenPoint, ...]) -> tuple[OpenPoint, ...]:
    intent = read_intent(task)
    if not intent.completes or _wants_something_new(task, points):
        return ()
    if named and not intent.whole:
        return named
    files = intent.source_files
    return tuple(p for p in points if not files or any(_lives_in(p, path) for path in files))


def named_points(task: str, points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """Open points named in the task. A name that could be an English word counts only where it is certainly a name: written
    as code, or a function right after the verb ("implement insert, lookup and size")."""
    prose, marked, objects = words_in(task), code_names(task), object_names(task)
    whole = read_intent(task).whole

    def is_named(point: OpenPoint) -> bool:
        name = last_part(point.name)
        if name in marked or (name in prose and looks_like_code(name)):
            return True
        return point.kind == "function" and name in objects and not whole

    return tuple(point for point in points if is_named(point))


def _wants_something_new(task: str, points: Sequence[OpenPoint]) -> bool:
    names = {last_part(p.name) for p in points}
    return any(last_part(name) not in names for name in implemented_names(task))


def _lives_in(point: OpenPoint, path: str) -> bool:
    """Whether ``path``, as a person writes it, names the point's file, its header, or the pair of either."""
    written = PurePosixPath(path)
    for own in (point.path, point.header):
        same_unit = PurePosixPath(own).stem == written.stem and is_compiled(own) and is_compiled(path)
        if own and (ends_with(own, path) or same_unit):
            return True
    return False
