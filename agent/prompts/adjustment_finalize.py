"""The verdicts are in: write the revised list of steps."""

from __future__ import annotations

SYSTEM = (
    "You write down a revised plan. The analysis is done; you are told its results and follow them exactly:\n"
    "- a step marked VALID stays, with its id; a step marked INVALID is left out\n"
    "- a step that caused a failure stays, with a description that says how to avoid the failure\n"
    "- each failure that needs a new step gets one, with the new id given for it\n"
    "- steps that are done are not listed again\n"
    "Reply with JSON only."
)


def prompt(task: str, verdicts: str, steps: str, places: str, diff: str) -> str:
    """The question. ``verdicts`` in words, ``steps`` as JSON, ``places`` the files and symbols a step may target."""
    changes = f"<prior_changes>\n{diff}\n</prior_changes>\n\n" if diff.strip() else ""
    return (
        f"{changes}Task: {task.strip()}\n\n"
        f"<adjustment_verdicts>\n{verdicts}\n</adjustment_verdicts>\n\n"
        f"<remaining_steps>\n{steps}\n</remaining_steps>\n\n"
        f"Files and symbols that a step may target: {places}\n\n"
        'Write {"revised_steps": [{"id": "...", "description": "...", "target_files": [], "target_symbols": [], '
        '"depends_on": []}], "rationale": "...", "changes_made": ["..."]}'
    )
