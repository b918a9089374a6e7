"""How a task becomes a plan: by facts where they suffice, else by a model, in one call or in many small ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.context import RunContext
from agent.events import PlanMade
from agent.planning.added_functions import KnownNames, added_steps, find_added, with_added
from agent.planning.decomposed import decomposed_plan
from agent.planning.facts import plan_from_facts, plan_untold, with_declared
from agent.planning.interface_tests import plan_only_tests, set_tests_apart, with_test_steps
from agent.planning.monolithic import monolithic_plan, one_step
from agent.planning.new_c import merge_new_c, plan_new_c
from agent.planning.open_steps import split_open
from agent.planning.schema import Edge, KnownSymbol, OpenPoint, Plan, check_steps, ordered, repair_ids
from agent.planning.target_menu import Menu, build_menu
from agent.planning.test_location import Project
from agent.task.intent import read_intent

MAX_SUSPECTS = 8
"""Symbols tried in a repair; each costs a generation and a run of the checks."""


async def make_plan(
    ctx: RunContext,
    *,
    task: str,
    package_text: str,
    files: Sequence[str],
    symbols: Sequence[KnownSymbol],
    open_points: Sequence[OpenPoint],
    edges: Sequence[Edge] = (),
    failing_checks: bool = False,
    repairs: bool = False,
    project: Project | None = None,
    around: KnownNames | None = None,
    untold: Sequence[str] = (),
) -> Plan:
    """The checked plan of a task; emits PlanMade.

    Facts first (see ``asked_for``, ``facts``, ``new_c``, ``added_functions``); a repair with exactly one directly involved
    symbol is one step, since nothing is left to choose; so is one whose checks fail already (``failing_checks``), since they
    tell better than a model which of the symbols it is. What remains goes to the model: many small decisions with
    ``decomposed_planning``, else one call.

    ``repairs`` says that the task is to mend something, where its own words do not (``agent.task.intent``). ``package_text``
    is the assembled context, ``files`` and ``symbols`` what retrieval found (repository-relative paths), ``edges`` the known
    uses among symbols and files, ``project`` all files, for the place of new tests (None: no tests are planned; see
    ``interface_tests``), ``around`` the names and files that exist, for functions that the task wants added, ``untold`` the
    header (and its source) that does not declare what tests use.

    Raises:
        PlanError: if no usable plan could be made; the text says why and what to do.
        ModelError: if the model cannot answer.
        Stopped: if the person stopped the run.
    """
    tests = ctx.config.coding.interface_tests
    repairs = repairs or read_intent(task).repairs
    plan = (
        plan_only_tests(task, project)
        or plan_untold(task, untold, open_points, edges)
        or plan_from_facts(task, open_points, edges)
        or plan_new_c(task, files)
    )
    added = None if plan is not None else find_added(task, around or KnownNames())
    if added is not None and added.alone:
        note = f"{', '.join(added.names)} is new, and the task asks for nothing else, so no model is asked for a plan."
        plan = Plan(added_steps(task, added), "facts", (), (note,))
    if plan is None:
        menu = build_menu(task, files, symbols, open_points, added.targets if added is not None else ())
        plan = (
            _only_choice(task, menu, repairs)
            or _let_checks_choose(task, menu, repairs and failing_checks)
            or await _ask(ctx, task, package_text, menu, open_points, edges)
        )
        plan = _settle(set_tests_apart(plan, task, project, tests), open_points, files)
        plan = with_added(plan, task, added) if added is not None else with_declared(plan, task, open_points, edges)
    known = {one.name for one in symbols} | {point.name for point in open_points}
    tested = bool(untold) and any(untold[0] in step.target_files for step in plan.steps if step.kind == "scaffold")
    plan = with_test_steps(plan, task, known, project, tests and not tested)
    ctx.emit(PlanMade(plan.steps, plan.how, plan.parts, plan.notes))
    return plan


def _only_choice(task: str, menu: Menu, repairs: bool) -> Plan | None:
    """A repair whose place is known is one step; there is nothing to ask."""
    if len(menu.primary) != 1 or not repairs:
        return None
    note = f"The task repairs something, and {menu.primary[0].key} alone is directly involved: one step, no question."
    return Plan(one_step(task, menu.primary), "facts", (), (note,))


def _let_checks_choose(task: str, menu: Menu, failing_checks: bool) -> Plan | None:
    """A repair that failing checks can judge: one step over the symbols that may be at fault, tried one by one."""
    suspects = [target for target in menu.primary if target.symbol][:MAX_SUSPECTS]
    if not (failing_checks and suspects):
        return None
    names = ", ".join(target.symbol for target in suspects)
    note = f"The task repairs something and checks fail: {names} are tried one by one, and the checks tell which one it was."
    return Plan(one_step(task, suspects), "facts", (), (note,))


async def _ask(
    ctx: RunContext, task: str, package: str, menu: Menu, open_points: Sequence[OpenPoint], edges: Sequence[Edge]
) -> Plan:
    if ctx.config.orchestrator.decomposed_planning:
        return await decomposed_plan(ctx, task=task, package=package, menu=menu, open_points=open_points, edges=edges)
    return await monolithic_plan(ctx, task=task, package=package, menu=menu)


def _settle(plan: Plan, open_points: Sequence[OpenPoint], files: Sequence[str]) -> Plan:
    steps, notes = repair_ids(plan.steps)
    steps = split_open(merge_new_c(steps, files), open_points)
    check_steps(steps)
    return msgspec.structs.replace(plan, steps=ordered(steps), notes=(*plan.notes, *notes))
