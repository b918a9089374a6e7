"""What the home screen is told about the models in use."""

from __future__ import annotations

import msgspec

from agent.config.schema import Config
from tui.services import weak_spots


def test_stages_in_which_a_model_adds_nothing_to_the_search_are_named() -> None:
    said = weak_spots(Config())
    assert "for symbols:" in said and Config().models.coding in said and "stronger or a decision model" in said
    assert "files" not in said, "there it was measured to help"


def test_a_stage_that_another_model_does_is_not_spoken_of() -> None:
    assert weak_spots(msgspec.convert({"models": {"overrides": {"precision": "other-model"}}}, Config)) == ""
