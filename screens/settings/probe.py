"""Trying a model out from the settings: can it be reached, and what does it say to one plain question.

A trial is not a decision: nothing uses its answer, so it is shown and not logged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from agent.config.errors import ConfigError
from agent.config.schema import Models
from agent.models.answers import parse_yes_no
from agent.models.router import Router
from agent.models.types import CompletionRequest, ModelError, ModelTarget, StatusCallback
from agent.stages import BINARY_MAX_TOKENS, STAGES

DEFAULTS = {"coding": "function_implement", "reasoning": "task_analysis"}
"""The two roles as rows of the table: the stage whose plain default stands for each."""

_SYSTEM = "Answer with one word, yes or no."
_STATE = "A line of C:\n\n    int count = 0;\n\n"
_QUESTION = "Does it declare a variable of type int?\nAnswer with one word, yes or no."


@dataclass(frozen=True)
class Probe:
    """How a trial went. ``ok`` None: it is under way."""

    ok: bool | None
    text: str


def target_of(models: Models, row: str, status: StatusCallback | None = None) -> tuple[Router, ModelTarget]:
    """A router, and the target of a row: a stage, a group of stages, or a role without its overrides.

    Raises:
        ConfigError: the overrides are wrong.
    """
    if row in DEFAULTS:
        models = msgspec.structs.replace(models, overrides={})
    router = Router(models, status=status)
    members = [name for name, stage in STAGES.items() if stage.group == row]
    return router, router.target(DEFAULTS.get(row) or (members[0] if members else row))


async def check(models: Models, row: str) -> Probe:
    """Whether the row's model can answer. Loads no embedded model."""
    try:
        router, target = target_of(models, row)
    except ConfigError as error:
        return Probe(False, str(error))
    try:
        info = await router.provider(target).check(target)
    finally:
        await router.aclose()
    return Probe(info.ok, f"{info.text} {'' if info.ok else info.hint}".strip())


async def ask(models: Models, row: str, tell: Callable[[str], None]) -> Probe:
    """Ask the row's model one yes/no question. ``tell`` hears what it waits for, such as a model that is loading."""
    try:
        router, target = target_of(models, row, lambda status, text: tell(text or status))
    except ConfigError as error:
        return Probe(False, str(error))
    target = msgspec.structs.replace(target, max_tokens=BINARY_MAX_TOKENS)
    request = CompletionRequest(
        _SYSTEM, _STATE + _QUESTION, "trial", target, yes_no=True, task_context=_STATE, question=_QUESTION
    )
    try:
        answer = await router.provider(target).complete(request)
    except ModelError as error:
        return Probe(False, f"{error} {error.hint}".strip())
    finally:
        await router.aclose()
    verdict = parse_yes_no(answer.text)
    said = "no answer" if verdict is None else "yes" if verdict else "no"
    p_yes = f", P(yes) {answer.p_yes:.2f}" if answer.p_yes is not None else ", no probability"
    right = "right" if verdict else "wrong: it is yes" if verdict is False else f"it wrote {answer.text[:60]!r}"
    return Probe(verdict is not None, f"“Does int count = 0; declare an int?” {said}{p_yes}, {answer.ms:.0f} ms ({right})")
