"""Test steps of a plan: one for each interface that the plan adds, and those that the task asks for. No model.

A test is written into a new file, as a step of its own, after everything it tests. Which interfaces a plan adds is a fact:
the new headers of a scaffold step, a new Python module, a new public function. An existing test file is never a target: the
tests asked for go into a file beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import msgspec

from agent.languages import is_code, is_interface, is_unit, language_of
from agent.planning.paths import meant, pair_of
from agent.planning.schema import Plan, PlanStep
from agent.planning.test_location import Project, place_for_test
from agent.task.intent import read_intent
from agent.workspace.protected import is_hidden, is_test_file

KIND: Final = "test_implement"
MOST = 3
"""Test steps in one plan: each costs a generation of some hundred tokens and a run."""


def plan_only_tests(task: str, project: Project | None) -> Plan | None:
    """A plan of test steps alone: the task asks for tests of files that it names and for nothing else."""
    intent = read_intent(task)
    if project is None or not intent.only_tests:
        return None
    named = [meant(path, project.paths) for path in intent.source_files]
    interfaces = list(dict.fromkeys(_interface_of(path, project) for path in named))
    if not interfaces or "" in interfaces or len(interfaces) > MOST:
        return None
    steps = _steps([_NewInterface((path,)) for path in interfaces], (), project)
    return Plan(steps, "facts", (), ("The task asks for tests and nothing else.",)) if steps else None


def set_tests_apart(plan: Plan, task: str, project: Project | None, enabled: bool) -> Plan:
    """A model's plan, with the tests in it as steps of their own kind: a step all of whose files are tests becomes
    ``test_implement`` on a new file, and files of tests leave the steps that change code. Each change is noted."""
    if project is None:
        return plan
    steps = plan.steps
    settled: list[PlanStep] = []
    notes: list[str] = []
    wanted = enabled or read_intent(task).wants_tests
    by_id = {step.id: step for step in steps}
    code_left = any(not _only_tests(step) for step in steps)
    gone: set[str] = set()
    for step in steps:
        tests = [path for path in step.target_files if is_test_file(path)]
        if not tests or step.kind != "implement":
            settled.append(step)
        elif not _only_tests(step):
            code = tuple(path for path in step.target_files if path not in tests)
            settled.append(msgspec.structs.replace(step, target_files=code))
            notes.append(f"{', '.join(tests)} left step {step.id}: tests are written apart")
        elif not wanted and code_left:
            gone.add(step.id)
            notes.append(f"step {step.id} ({step.description}) was left out: nobody asked for tests")
        else:
            made = _as_test(step, tests[0], by_id, settled, project)
            settled.append(made)
            if made.target_files[:1] != (tests[0],):
                notes.append(f"{tests[0]} is there already and stays as it is: the new tests go to {made.target_files[0]}")
    kept = (msgspec.structs.replace(s, depends_on=tuple(d for d in s.depends_on if d not in gone)) for s in settled)
    return msgspec.structs.replace(plan, steps=tuple(kept), notes=(*plan.notes, *notes))


def with_test_steps(plan: Plan, task: str, known: Collection[str], project: Project | None, enabled: bool) -> Plan:
    """``plan`` with a test step at its end for each interface it adds; where the task asks for tests and nothing is new,
    for what the plan changes. ``known`` are the names of what is there or declared."""
    asked = read_intent(task).wants_tests
    if project is None or not (enabled or asked):
        return plan
    covered = {path for step in plan.steps if step.kind == KIND for path in step.interface}
    added = [one for one in _added(plan.steps, known, project) if covered.isdisjoint(one.files)]
    if not added and asked and not covered:
        added = _changed(plan.steps, project)
    taken = [path for step in plan.steps for path in step.target_files]
    steps = _steps(added[: max(0, MOST - len(covered))], [step.id for step in plan.steps], project, taken)
    return msgspec.structs.replace(plan, steps=(*plan.steps, *steps)) if steps else plan


def grown(planned: Sequence[PlanStep], more: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """A plan with the steps that were added while others were carried out (``more``). Tests stay last; they also wait for
    the new steps that depend on a step they wait for."""
    fresh = [step for step in more if step.id not in {known.id for known in planned}]
    code, tests = [s for s in planned if s.kind != KIND], [s for s in planned if s.kind == KIND]
    return (*code, *fresh, *(_waiting(test, fresh) for test in tests))


def _waiting(test: PlanStep, fresh: Sequence[PlanStep]) -> PlanStep:
    needed = list(test.depends_on)
    needed += [s.id for s in fresh if s.id not in needed and not set(s.depends_on).isdisjoint(test.depends_on)]
    return msgspec.structs.replace(test, depends_on=tuple(needed))


def _only_tests(step: PlanStep) -> bool:
    return bool(step.target_files) and all(is_test_file(path) for path in step.target_files)


def _as_test(
    step: PlanStep, path: str, by_id: dict[str, PlanStep], before: Sequence[PlanStep], project: Project
) -> PlanStep:
    """A step of a model as a test step: of what it waits for, else of all the code changed before it."""
    needs = [by_id[name] for name in step.depends_on if name in by_id] or list(before)
    interface = _interfaces((p for s in needs if s.kind != KIND for p in s.target_files), project)
    if not interface:
        named = PurePosixPath(path).stem.removeprefix("test_").removesuffix("_test")
        interface = _interfaces((p for p in project.paths if PurePosixPath(p).stem == named), project)[:1]
    kinds = [language_of(one) for one in interface]
    fits = kinds == [] or kinds[0] == language_of(path)
    if path in project.paths or project.exists(path) or is_hidden(path, project.hidden) or not fits:
        fresh = place_for_test(interface[0] if interface else path, project, [p for s in before for p in s.target_files])
        path = fresh or path
    return msgspec.structs.replace(
        step, target_files=(path,), target_symbols=(), kind=KIND, interface=interface,
        depends_on=tuple(s.id for s in needs),
    )  # fmt: skip


class _NewInterface(NamedTuple):
    """An interface that a plan adds: its files, the ids of the steps that make it, and its names that are new."""

    files: tuple[str, ...]
    steps: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _added(steps: Sequence[PlanStep], known: Collection[str], project: Project) -> list[_NewInterface]:
    found: dict[tuple[str, ...], list[PlanStep]] = {}
    for step in steps:
        if step.kind == "scaffold":
            files = tuple(path for path in step.target_files if is_interface(path))
        elif step.kind == "implement":
            files = tuple(dict.fromkeys(path for path in step.target_files if _is_new(step, path, known, project)))
            files = _interfaces(files, project)
        else:
            continue
        if files:
            found.setdefault(files, []).append(step)
    return [
        _NewInterface(
            files, tuple(step.id for step in made), tuple(n for s in made for n in s.target_symbols if n not in known)
        )
        for files, made in found.items()
    ]


def _is_new(step: PlanStep, path: str, known: Collection[str], project: Project) -> bool:
    """Whether a step makes this file as a new module, or writes a new public function in it."""
    if is_test_file(path) or PurePosixPath(path).name in ("__init__.py", "__main__.py", "setup.py"):
        return False
    if path not in project.paths and not project.exists(path):
        return True
    fresh = [name for name in step.target_symbols if name not in known]
    return any(not name.rpartition(".")[2].startswith("_") for name in fresh)


def _changed(steps: Sequence[PlanStep], project: Project) -> list[_NewInterface]:
    """What a plan changes, file by file, for a task that asks for tests of it."""
    found: dict[str, list[str]] = {}
    for step in steps:
        for path in _interfaces((p for p in step.target_files if not is_test_file(p)), project):
            found.setdefault(path, []).append(step.id)
    return [_NewInterface((path,), tuple(ids)) for path, ids in found.items()]


def _steps(
    added: Sequence[_NewInterface], ids: Sequence[str], project: Project, taken: Sequence[str] = ()
) -> tuple[PlanStep, ...]:
    made: list[PlanStep] = []
    for interface, needs, names in added:
        used = [*taken, *(path for step in made for path in step.target_files)]
        path = place_for_test(interface[0], project, used)
        if path:
            name = _free_id([*ids, *(step.id for step in made)])
            promise = f"{', '.join(interface)} {'promises' if len(interface) == 1 else 'promise'}"
            text = f"Test {', '.join(names)}, as {promise}." if names else f"Test what {promise}."
            made.append(PlanStep(name, text, (path,), names, needs, "", KIND, interface))
    return tuple(made)


def _interfaces(paths: Iterable[str], project: Project) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for path in paths if (one := _interface_of(path, project))))


def _interface_of(path: str, project: Project) -> str:
    """The file that promises what ``path`` does: a module itself, a C file's header; "" when there is none."""
    if not path or is_test_file(path) or is_hidden(path, project.hidden) or not is_code(path):
        return ""
    return pair_of(path, project.paths) if is_unit(path) else path


def _free_id(ids: Sequence[str]) -> str:
    number = len(ids) + 1
    while f"t{number}" in ids or f"s{number}" in ids:
        number += 1
    return f"s{number}"
