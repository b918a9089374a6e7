"""The demo token_budget as one more labelled task, with the verdicts that are right for it."""

from __future__ import annotations

from pathlib import Path

from agent.workspace.demo import create_demo, load_demo
from benchmarks.commits import Commit

ID = "worked-example"
_DEMO = "token_budget"

RELEVANT_FILES = ("budget.py", "token_estimation.py", "context_assembly.py", "pipeline.py")
PRIMARY = ("budget.py:BudgetTracker", "budget.py:BudgetTracker.can_fit", "budget.py:BudgetTracker.remaining")
RELEVANT = (
    *PRIMARY,
    "token_estimation.py:estimate_tokens",
    "token_estimation.py:estimate_tokens_conservative",
    "token_estimation.py:CHARS_PER_TOKEN",
    "context_assembly.py:assemble_context",
)

GOLD = {"scope": RELEVANT_FILES, "precision_pass1": RELEVANT, "precision_pass2": PRIMARY}
"""What the example says yes to, by stage."""


def worked_example(folder: Path) -> tuple[Commit, Path]:
    """The task, and a fresh repository for it below ``folder``."""
    task = load_demo(_DEMO).task
    return Commit(ID, _DEMO, "python", "", task, RELEVANT_FILES, PRIMARY), create_demo(_DEMO, folder / ID)
