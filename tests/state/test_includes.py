"""Only include lines that stand are counted."""

from __future__ import annotations

import pytest

from agent.events import Event, IncludeAdded, RunStarted, StepFinished, StepStarted
from agent.state.includes import StandingIncludes

IN = IncludeAdded("a.c", "stdlib.h", 2)
OUT = IncludeAdded("a.c", "stdlib.h", 0, kept=False)
OTHER = IncludeAdded("a.c", "string.h", 3, "#include <string.h>")
BEGIN, FAILED, DONE = StepStarted("s1"), StepFinished("s1", False, rolled_back=True), StepFinished("s1", True)


@pytest.mark.parametrize(
    ("events", "standing"),
    [
        ((IN, OTHER), {"stdlib.h", "string.h"}),
        ((IN, OUT, IN, OUT, IN), {"stdlib.h"}),  # put in again for each version of a function
        ((OUT, OUT, OTHER), {"string.h"}),  # tried, did not help: it never stood
        ((IN, BEGIN, OTHER, FAILED), {"stdlib.h"}),
        ((BEGIN, OTHER, DONE, BEGIN, IN, FAILED), {"string.h"}),
        ((IN, BEGIN, OUT, FAILED), {"stdlib.h"}),  # a step that is taken back puts back what it took out
        ((BEGIN, IN, RunStarted("t", "/r", resumed_from="r1"), BEGIN, OTHER, DONE), {"string.h"}),
        ((BEGIN, StepStarted("s2"), IN, FAILED, StepFinished("s2", True)), {"stdlib.h"}),  # whose it was is not known
        ((BEGIN, IN, DONE, FAILED), {"stdlib.h"}),  # an end that is told once more
    ],
)
def test_what_stands(events: tuple[Event, ...], standing: set[str]) -> None:
    includes = StandingIncludes()
    for event in events:
        includes.hear(event)
    assert {line.split("<")[1].rstrip(">") for _, line in includes.lines} == standing
    assert len(includes) == len(standing)
