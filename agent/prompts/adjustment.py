"""The plan after a failure, revised in one call (``decomposed_adjustment`` off)."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = (
    "You revise the rest of a plan after something failed. Keep the steps that are still right, change or drop those that "
    "are not, and add a step only for what no step covers. Steps that are done cannot be undone and are not listed again.\n"
    "Kept steps keep their id. Reply with JSON only."
)


def prompt(
    task: str, failures: Sequence[str], done: Sequence[str], steps: str, places: str, diff: str, new_ids: Sequence[str]
) -> str:
    """The question. ``steps`` is the rest of the plan as JSON, ``places`` the files and symbols a step may target."""
    changes = f"<prior_changes>\n{diff}\n</prior_changes>\n\n" if diff.strip() else ""
    failed = "\n".join(f"- {failure}" for failure in failures)
    finished = "\n".join(f"- {step}" for step in done) or "- none"
    return (
        f"{changes}Task: {task.strip()}\n\nFailures observed:\n{failed}\n\nSteps already carried out:\n{finished}\n\n"
        f"<remaining_steps>\n{steps}\n</remaining_steps>\n\n"
        f"Files and symbols that a step may target: {places}\nIds for new steps: {', '.join(new_ids)}\n\n"
        'Write {"revised_steps": [{"id": "...", "description": "...", "target_files": [], "target_symbols": [], '
        '"depends_on": []}], "rationale": "...", "changes_made": ["..."]}'
    )
