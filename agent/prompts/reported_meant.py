"""Does one example say what a task reports? It fails with the code as it is. The report and the code stand before the
question as they stand where the example is asked for (:mod:`agent.prompts.reported_check`)."""

from __future__ import annotations

SYSTEM = (
    "You check whether an example of a fault fits its report. It fits when the call is a case of what the report tells,\n"
    "and the result is the right one by the report and by what the code promises.\n"
    'Answer with one word: "yes" or "no".'
)


def item(example: str) -> str:
    """The question for one example."""
    return f"Example: {example}\nDoes the example fit the report?"
