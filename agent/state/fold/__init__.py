"""How each kind of event changes the state of a run: pure functions, one file a phase."""

from __future__ import annotations

from collections.abc import Callable

from agent.state.fold import calls, coding, deciding, plan, retrieval, run

HANDLERS: dict[type, Callable[..., None]] = {
    **run.HANDLERS,
    **calls.HANDLERS,
    **retrieval.HANDLERS,
    **plan.HANDLERS,
    **coding.HANDLERS,
    **deciding.HANDLERS,
}
