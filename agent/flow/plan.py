"""From what the survey found to a plan: open points, known symbols and edges are handed to planning as plain values."""

from __future__ import annotations

import asyncio
import os

from agent.coding.open_items import source_of
from agent.context import RunContext
from agent.flow.survey import Survey
from agent.flow.test_contract import tested_interface
from agent.languages import is_code, is_module
from agent.planning.added_functions import KnownNames
from agent.planning.facts import plan_from_facts, plan_untold
from agent.planning.plan import make_plan
from agent.planning.schema import Edge, KnownSymbol, OpenPoint, Plan
from agent.planning.test_location import Project
from agent.values import CheckResult
from agent.workspace.protected import is_hidden


async def plan_run(ctx: RunContext, found: Survey, baseline: CheckResult | None = None) -> Plan:
    """The plan of a run; planning reports it as an event.

    Raises:
        PlanError: if no usable plan came about; the text says what was wrong.
    """
    async with ctx.stage("plan") as report:
        plan = await make_plan(
            ctx,
            task=found.task,
            package_text=found.package.text,
            files=[path for path in found.package.included_files if found.writable(path)],
            symbols=known_symbols(found),
            open_points=open_points(found),
            edges=[*include_edges(found), *call_edges(found)],
            failing_checks=baseline is not None and not baseline.ok and bool(baseline.passed or baseline.failed),
            repairs=found.intent.repairs,
            project=project_of(found),
            around=await asyncio.to_thread(surroundings, found),
            untold=await asyncio.to_thread(untold_header, found),
        )
        report.counts = {"steps": len(plan.steps)}
        report.note = plan.how
    return plan


def follows_from_facts(found: Survey) -> bool:
    """Whether the plan needs no model: what is open, or what tests use and nobody declares, makes it. Blocking."""
    points = open_points(found)
    return (plan_untold(found.task, untold_header(found), points) or plan_from_facts(found.task, points)) is not None


def untold_header(found: Survey) -> tuple[str, ...]:
    """The header that does not declare what tests use, and the source that goes with it; () when there is none. Blocking."""
    tested = tested_interface(found)
    return () if tested is None else (tested.header, source_of(tested.header, found.sources()))


def project_of(found: Survey) -> Project:
    """All files that a model may see, for the place of new tests."""
    paths = tuple(entry.path for entry in found.index.files() if not is_hidden(entry.path, found.hidden))
    return Project(paths, lambda path: os.path.lexists(found.root / path), found.hidden)


def surroundings(found: Survey) -> KnownNames:
    """What the repository has, for functions that a task wants added to it. Blocking: looks at every C and Python file."""
    symbols = list(found.index.symbols())
    classes = [one for one in symbols if one.kind == "class" and is_module(one.path) and found.writable(one.path)]
    return KnownNames(
        {symbol.name for symbol in symbols},
        {one.name: one.path for one in classes},
        [path for path in found.package.included_files if found.writable(path)],
        [one.path for one in found.index.files() if is_code(one.path) and found.writable(one.path)],
    )


def open_points(found: Survey) -> list[OpenPoint]:
    """Open types, then open functions, of files that a model may write."""
    types = [
        OpenPoint(item.name, item.path, item.header, item.spelling, "type", "declared, not defined", item.typedefs)
        for item in found.types
    ]
    functions = dict.fromkeys(
        OpenPoint(owner, item.path, "", f"class {owner}", "function", item.why)
        if (owner := found.open_class(item))
        else OpenPoint(item.name, item.path, item.header, item.signature, "function", item.why)
        for item in found.functions
    )
    return [point for point in (*types, *functions) if found.writable(point.path)]


def known_symbols(found: Survey) -> list[KnownSymbol]:
    """The symbols of the package that a change may target, best first."""
    return [
        KnownSymbol(symbol.name, symbol.path, symbol.kind, symbol.detail_level, symbol.signature, symbol.doc)
        for symbol in found.package.symbols
        if symbol.detail_level != "excluded" and not symbol.library and found.writable(symbol.path)
    ]


def include_edges(found: Survey) -> list[Edge]:
    """Which file of the package includes or imports which."""
    paths = set(found.package.included_files)
    return [
        Edge(path, target, "include")
        for path in found.package.included_files
        for target in found.index.imports_of(path)
        if target in paths
    ]


def call_edges(found: Survey) -> list[Edge]:
    """Which known symbol calls which."""
    names = {symbol.name for symbol in found.package.symbols if not symbol.library}
    return [
        Edge(symbol.name, called)
        for symbol in found.package.symbols
        for called in symbol.calls
        if symbol.name in names and called in names and called != symbol.name
    ]
