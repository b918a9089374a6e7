"""C that does not exist yet: its headers and stubs are laid down as one step, and what they declare is written after."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.languages import is_compiled, is_interface
from agent.planning.paths import ends_with
from agent.planning.schema import Plan, PlanStep, inside
from agent.task.intent import read_intent
from agent.workspace.protected import is_test_file


def plan_new_c(task: str, files: Sequence[str]) -> Plan | None:
    """One scaffold step when the task names the C files to create, a header among them, and no C file that is there.

    Which files these are is written in the task and which exist is known: there is nothing to ask a model. ``files`` are
    the repository's own files that the task may touch.
    """
    intent = read_intent(task)
    named = tuple(dict.fromkeys(path.removeprefix("./") for path in intent.files))
    sources = tuple(path for path in named if is_compiled(path) and inside(path) and not is_test_file(path))
    if not intent.creates or intent.repairs or len(sources) != len([p for p in named if not is_test_file(p)]):
        return None
    if not any(is_interface(path) for path in sources) or any(_exists(path, files) for path in sources):
        return None
    targets = tuple(sorted(sources, key=lambda path: not is_interface(path)))
    return Plan((PlanStep("s1", " ".join(task.split()), targets, (), (), "", "scaffold"),), "facts")


def merge_new_c(steps: Sequence[PlanStep], files: Sequence[str]) -> tuple[PlanStep, ...]:
    """Steps that only write C and create a header become one scaffold step, at the place of the first.

    A header and the functions it declares cannot be designed apart; the functions are written one by one afterwards anyway.
    """
    new = [step for step in steps if _creates(step, files)]
    if not any(is_interface(path) for step in new for path in step.target_files):
        return tuple(steps)
    first, gone = new[0], {step.id for step in new}
    targets = dict.fromkeys(path for step in new for path in step.target_files)
    behind = _behind(steps, gone)
    needed = dict.fromkeys(d for step in new for d in step.depends_on if d not in behind)
    merged = msgspec.structs.replace(
        first, description=" ".join(dict.fromkeys(step.description for step in new)), target_symbols=(),
        target_files=tuple(sorted(targets, key=lambda path: not is_interface(path))), depends_on=tuple(needed),
        kind="scaffold",
    )  # fmt: skip
    kept = [step for step in steps if step is first or step.id not in gone]
    return tuple(merged if step is first else _redirected(step, gone, first.id) for step in kept)


def _behind(steps: Sequence[PlanStep], start: set[str]) -> set[str]:
    """``start`` and every step that waits for one of them, directly or not: the merged step cannot wait for those."""
    found = set(start)
    while more := {step.id for step in steps if step.id not in found and not found.isdisjoint(step.depends_on)}:
        found |= more
    return found


def _creates(step: PlanStep, files: Sequence[str]) -> bool:
    all_c = bool(step.target_files) and all(is_compiled(path) for path in step.target_files)
    return all_c and step.kind == "implement" and not all(_exists(path, files) for path in step.target_files)


def _redirected(step: PlanStep, gone: set[str], to: str) -> PlanStep:
    needed = dict.fromkeys(to if d in gone else d for d in step.depends_on)
    return msgspec.structs.replace(step, depends_on=tuple(d for d in needed if d != step.id))


def _exists(path: str, files: Sequence[str]) -> bool:
    return any(ends_with(known, path) for known in files)
