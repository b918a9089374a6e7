"""What a task reports, said as one call and what it should come to."""

from __future__ import annotations

CODE_CAP = 4000
TASK_CAP = 1500

SYSTEM = """You read a report of a fault and say it as one example. Reply with one line and nothing else. To the report
"mean is wrong for numbers below zero" you reply:
mean([-4, -2]) should return -3
To the report "first_word forgets words with a hyphen" you reply:
first_word('well-known fact') should return 'well-known'
To the report "mean accepts an empty list" you reply:
mean([]) should raise ValueError
Rules:
- Call one of the functions that are shown, with literal arguments only.
- The arguments have to hold what the report speaks of, so that the fault shows.
- The result is the right one by the report and by what the code promises, not what the code gives today."""


def task_context(task: str, code: str) -> str:
    """What all tries share: the report and the functions that it may be about."""
    return f"Report:\n{task.strip()[:TASK_CAP]}\n\nThe code as it is:\n{code.strip()[:CODE_CAP]}\n\n"


def question(names: str, trouble: str = "") -> str:
    """``names`` are those of the functions; ``trouble`` says what was wrong with the last reply."""
    again = f"Your last reply could not be used: {trouble}\n\n" if trouble else ""
    return f"{again}Write the line. Functions: {names}."
