"""Linking once all is compiled: libraries added where a symbol asks for one, missing bodies named."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.compiling.build import Build
from agent.compiling.classifying.link_rules import LinkVerdict, link_verdicts
from agent.compiling.compiler import CompileOutcome
from agent.compiling.reading.symptoms import symptoms
from agent.events import ErrorClassified, Notice, RecoveryDone
from agent.values import Diagnostic, Rung

_MAX_RELINKS = 4


class LinkRecovered(msgspec.Struct, frozen=True):
    """What linking came to. ``libraries`` are the flags that were needed; ``missing`` the functions and variables that are
    declared but defined nowhere, in the linker's order: they are to be implemented, then the link tried again."""

    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    libraries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    context: str = ""


async def link_with_recovery(
    build: Build, paths: Sequence[str], *, shared: bool = False, libraries: Sequence[str] = ()
) -> LinkRecovered:
    """Link the objects of ``paths``; add library flags while that helps, and say which."""
    flags = list(libraries)
    outcome = await build.link(paths, flags, shared=shared)
    label = " ".join(paths)
    for _ in range(_MAX_RELINKS):
        if outcome.ok:
            break
        verdicts = _verdicts(build, paths, outcome)
        wanted = [v for v in verdicts if v.flag.startswith("-") and v.flag not in flags]
        if not wanted:
            break
        tried = [*flags, *dict.fromkeys(v.flag for v in wanted)]
        again = await build.link(paths, tried, shared=shared)
        _report_library(build, label, wanted, again)
        if not again.ok and len(again.diagnostics) >= len(outcome.diagnostics):
            break
        flags, outcome = tried, again
    if outcome.ok:
        return LinkRecovered(True, outcome.diagnostics, tuple(flags))
    return _failed(build, paths, outcome, flags)


def _verdicts(build: Build, paths: Sequence[str], outcome: CompileOutcome) -> list[LinkVerdict]:
    build.project.forget()
    complaints = [s for s in symptoms(outcome.diagnostics) if s.kind.startswith("link_")]
    return link_verdicts(complaints, build.project, paths[0] if paths else "", build.system.table)


def _report_library(build: Build, label: str, wanted: Sequence[LinkVerdict], again: CompileOutcome) -> None:
    first = wanted[0]
    rung = Rung("Is a library not linked?", first.detail, "deterministic")
    build.emit(ErrorClassified(label, "logic_error", "deterministic", (rung,), context=first.detail, symbol=first.symbol))
    flags = " ".join(dict.fromkeys(v.flag for v in wanted))
    build.emit(RecoveryDone(label, "logic_error", f"linked with {flags}", again.ok, False, first.symbol))
    names = ", ".join(dict.fromkeys(v.symbol for v in wanted))
    build.emit(
        Notice(
            "info",
            f"The program needs {flags} at link time (for {names}). The checks use it; add it to the project's build.",
            "link",
        )
    )


def _failed(build: Build, paths: Sequence[str], outcome: CompileOutcome, flags: Sequence[str]) -> LinkRecovered:
    verdicts = _verdicts(build, paths, outcome)
    missing = tuple(dict.fromkeys(v.symbol for v in verdicts if v.category == "missing_definition" and v.symbol))
    label = " ".join(paths)
    first = next((v for v in verdicts if v.category == "missing_definition"), verdicts[0] if verdicts else None)
    if first is not None:
        rung = Rung("Is a symbol undefined at link time?", first.detail, "deterministic")
        build.emit(
            ErrorClassified(label, first.category, "deterministic", (rung,), context=first.detail, symbol=first.symbol)
        )
        action = f"{', '.join(missing)} must be defined" if missing else "retry with the diagnostics"
        build.emit(RecoveryDone(label, first.category, action, False, not missing, first.symbol))
    context = "\n".join(dict.fromkeys(v.detail for v in verdicts)) or outcome.stderr.strip()
    return LinkRecovered(False, outcome.diagnostics, tuple(flags), missing, context)
