"""Every judgment and generation by name: which role's model it takes, which override group it is in, and whether its
answer is one word (design section 6)."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["coding", "reasoning"]

BINARY_MAX_TOKENS = 16
"""Reply limit of a yes/no stage (seed 002, part 2)."""


class Stage(msgspec.Struct, frozen=True):
    """A stage's place among the models."""

    role: Role = "reasoning"
    binary: bool = False
    group: str = ""


_CODING = ("function_implement", "implement", "test_implement", "header_gen", "scaffold", "documentation")
_TEXT = (
    "stage_routing", "refilter", "task_analysis", "enrichment", "change_point_enum", "symbol_targeting", "step_design",
    "interface_enum", "adjustment_finalize", "meta_plan", "part_plan", "adjustment",
)  # fmt: skip
_BINARY = (
    "scope", "similarity", "part_grouping", "part_dependency", "step_dependency", "shared_helper", "kb_pattern_relevance",
)  # fmt: skip
_GROUPS = {
    "precision": ("precision_pass1", "precision_pass2", "precision_pass3"),
    "classify": ("error_classify_include", "error_classify_signature", "error_classify_definition"),
    "adjust_binary": ("adjustment_step_viability", "adjustment_root_cause", "adjustment_new_step"),
}

STAGES: dict[str, Stage] = {
    **{name: Stage("coding") for name in _CODING},
    **{name: Stage() for name in _TEXT},
    **{name: Stage(binary=True) for name in _BINARY},
    **{name: Stage(binary=True, group=group) for group, names in _GROUPS.items() for name in names},
    "error_which_include": Stage(group="classify"),
}
"""All stages. ``error_which_include`` goes with the classify group but answers with a header, not with yes or no."""

GROUPS = tuple(_GROUPS)


def stage_of(name: str) -> Stage:
    """The stage; one that is not in the table (a probe, a test) is reasoning text."""
    return STAGES.get(name, Stage())


def binary_stages() -> tuple[str, ...]:
    """The yes/no stages, sorted."""
    return tuple(sorted(name for name, stage in STAGES.items() if stage.binary))
