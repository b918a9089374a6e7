"""The table of stages is complete, and everything that speaks of stages derives from it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import agent
import agent.prompts
from agent.stages import GROUPS, STAGES, Stage, binary_stages, stage_named, stage_of

SOURCES = [path for path in Path(agent.__file__).parent.rglob("*.py") if path.name != "stages.py"]


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)
def test_every_stage_can_be_shown(stage: Stage) -> None:
    assert 0 < len(stage.short) <= 10
    assert stage.title and stage.unit and stage.pane
    assert stage.binary == stage.short.endswith("?") or stage.name in ("symbol_targeting", "error_which_include")
    assert stage.binary == (stage.activity == "judging")
    if stage.binary:
        assert stage.guideline.startswith("Yes: ") and "\nNo: " in stage.guideline


def test_a_group_holds_only_yes_no_stages() -> None:
    """A decision model answers a whole group, and it can answer nothing but yes or no."""
    assert GROUPS == ("precision", "classify", "adjust_binary")
    assert all(stage.binary for stage in STAGES.values() if stage.group)


def test_short_questions_are_unambiguous() -> None:
    shorts = [STAGES[name].short for name in binary_stages()]
    assert len(set(shorts)) == len(shorts)


@pytest.mark.parametrize("stage", binary_stages())
def test_every_question_is_asked_somewhere(stage: str) -> None:
    """A stage that no code asks is a promise that nothing keeps."""
    written = re.compile(rf'"{re.escape(stage.rstrip("123"))}["{{]')
    assert any(written.search(path.read_text(encoding="utf-8")) for path in SOURCES)


def test_every_prompt_belongs_to_a_stage() -> None:
    names = {module.name for module in pkgutil.iter_modules(agent.prompts.__path__)}
    with_system = {name for name in names if hasattr(importlib.import_module(f"agent.prompts.{name}"), "SYSTEM")}
    assert with_system - {"shared_helper"} <= set(STAGES)


def test_an_unknown_stage_is_text_under_its_own_name() -> None:
    tomorrow = stage_of("a_stage_of_tomorrow")
    assert (tomorrow.binary, tomorrow.title) == (False, "A stage of tomorrow")


def test_a_question_is_named_as_screens_show_it_or_as_files_do() -> None:
    for name, stage in STAGES.items():
        assert stage_named(stage.short) == stage_named(stage.short.upper()) == stage_named(name) == name
        assert not stage.binary or stage_named(stage.short.rstrip("?")) == name
    assert (stage_named("precision"), stage_named("no such"), stage_named("")) == ("precision", "no such", "")
