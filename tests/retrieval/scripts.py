"""Scripted answers by stage and item, and the items that were asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agent.prompts import (
    precision_pass1,
    precision_pass2,
    precision_pass3,
    refilter,
    scope,
    similarity,
    stage_routing,
    task_analysis,
)
from tests.fakes.script import Answer, RecordedCall

SYSTEMS = {
    "scope": scope.SYSTEM,
    "similarity": similarity.SYSTEM,
    "precision_pass1": precision_pass1.SYSTEM,
    "precision_pass2": precision_pass2.SYSTEM,
    "precision_pass3": precision_pass3.SYSTEM,
    "stage_routing": stage_routing.SYSTEM,
    "refilter": refilter.SYSTEM,
    "task_analysis": task_analysis.SYSTEM,
}

SAYS_YES = {
    "scope": {"context_assembly.py", "pipeline.py"},
    "precision_pass1": {
        "BudgetTracker", "BudgetTracker.can_fit", "BudgetTracker.remaining", "estimate_tokens",
        "estimate_tokens_conservative", "CHARS_PER_TOKEN", "assemble_context",
    },
    "precision_pass2": {"BudgetTracker", "BudgetTracker.can_fit", "BudgetTracker.remaining"},
    "precision_pass3": {"estimate_tokens", "estimate_tokens_conservative"},
}  # fmt: skip
"""What the model says yes to in the worked example."""


def stage_of(call: RecordedCall) -> str:
    """The stage of a call, by its system prompt."""
    return next((stage for stage, system in SYSTEMS.items() if system == call.system), "")


def item_of(call: RecordedCall) -> str:
    """The file, symbol or pair a yes/no call asks about."""
    pair = re.search(r"^File A: ([^:]+):.*\nFile B: ([^:]+):", call.prompt, re.MULTILINE)
    if pair:
        return f"{pair[1]} + {pair[2]}"
    found = re.search(r"^(?:File|Symbol): (\S+)", call.prompt, re.MULTILINE)
    return found[1] if found else ""


def by_stage(yes: Mapping[str, set[str]], **texts: str | Callable[[RecordedCall], str]) -> Callable[[RecordedCall], Answer]:
    """Yes to the named items of each stage, no to others; ``texts`` answers the stages that are not yes/no."""

    def script(call: RecordedCall) -> Answer:
        stage = stage_of(call)
        if stage in texts:
            text = texts[stage]
            return Answer(text(call) if callable(text) else text, logprobs=False)
        if stage == "task_analysis":
            return Answer("Bug fix in token budget tracking logic", logprobs=False)
        return Answer("yes" if item_of(call) in yes.get(stage, set()) else "no")

    return script


def asked(calls: list[RecordedCall], stage: str) -> list[str]:
    """The items a stage asked about, in order of arrival."""
    return [item_of(call) for call in calls if stage_of(call) == stage]
