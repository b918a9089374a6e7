"""The panes on the right, in the order of their keys 1 to 8."""

from __future__ import annotations

from screens.panes.adjust import AdjustPane
from screens.panes.base import Pane
from screens.panes.cascade import CascadePane
from screens.panes.checks import ChecksPane
from screens.panes.compile import CompilePane
from screens.panes.diff import DiffPane
from screens.panes.log import LogPane
from screens.panes.plan import PlanPane
from screens.panes.repair import RepairPane

PANES: tuple[type[Pane], ...] = (CascadePane, CompilePane, PlanPane, AdjustPane, DiffPane, ChecksPane, LogPane, RepairPane)
BY_NAME = {pane.name: pane for pane in PANES}


def key_of(name: str) -> str:
    """The key that shows a pane."""
    return str(list(BY_NAME).index(name) + 1)
