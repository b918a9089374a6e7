"""What yes and no mean in each stage, for the person who labels: a text with a version, theirs to change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from agent.workspace.paths import write_atomically

_DEFAULT = """Yes when the answer to the question in the system prompt is yes for this item, judged by what is shown.
No when it is not. Skip what you cannot decide from what is shown.
"""

_TEXTS = {
    "scope": """Yes: somebody who does the task must read or change this file.
No: the task can be done without ever opening it, even if it shares words with the task.
A test that checks the changed behaviour is a yes; a file that only happens to be near is a no.
""",
    "similarity": """Yes: a change to one of the two files would call for the same kind of change in the other.
No: they share names or a folder, but each can change alone.
""",
    "precision_pass1": """Yes: the task changes the symbol, or whoever does it has to know it (types, helpers, callers).
No: nothing about the task depends on it.
""",
    "precision_pass2": """Yes: the symbol itself is modified, or the logic of the change runs through it.
No: it is only called, or only needed as a type.
""",
    "precision_pass3": """Yes: the task cannot be done well without seeing the symbol's body.
No: its signature or type says enough.
""",
    "shared_helper": """Yes: at least two of the functions have to compute the value that the rule describes, so that one
helper should hold it.
No: one function alone needs it, or the rule describes no value that is computed.
""",
    "part_grouping": """Yes: the two changes belong into one part: neither makes sense without the other.
No: each can be made and checked alone.
""",
    "part_dependency": """Yes: the part can only be done once the other is done.
No: the order does not matter.
""",
    "step_dependency": """Yes: the step needs something that the other step makes.
No: the order does not matter.
""",
    "error_classify_include": """Yes: an #include line is missing and would settle the error.
No: the header is there already, or the fault is another one.
""",
    "error_classify_signature": """Yes: a function's head differs from its declaration or from how it is called.
No: heads agree; the fault is in a body or somewhere else.
""",
    "error_classify_definition": """Yes: something is declared and used, but defined nowhere.
No: it is defined, or it is not even declared.
""",
    "adjustment_step_viability": """Yes: the step can still be carried out as planned after what failed.
No: what failed takes away what it needs.
""",
    "adjustment_root_cause": """Yes: this step caused the failure.
No: the failure would have come without it.
""",
    "adjustment_new_step": """Yes: the failure needs a step that the plan does not have.
No: a step of the plan, done anew, will settle it.
""",
}


class Guideline(msgspec.Struct, frozen=True):
    """A stage's text. ``version`` is the first ten hex digits of its SHA-256; it is stored with every label."""

    stage: str
    text: str
    version: str
    own: bool = False


def guidelines_folder(repo: Path) -> Path:
    """Where a repository's own texts are kept, one Markdown file a stage."""
    return repo / ".clean_room" / "guidelines"


def guideline(repo: Path, stage: str) -> Guideline:
    """The repository's text for a stage, else ours. A file that cannot be read counts as not there."""
    path = guidelines_folder(repo) / f"{stage}.md"
    try:
        text, own = path.read_text(encoding="utf-8"), True
    except (OSError, UnicodeDecodeError):
        text, own = _TEXTS.get(stage, _DEFAULT), False
    return Guideline(stage, text, hashlib.sha256(text.encode()).hexdigest()[:10], own)


def save_guideline(repo: Path, stage: str, text: str) -> Guideline:
    """Keep a text of one's own. Labels given before keep the version they were given under.

    Raises:
        ValueError: the stage's name can name no file.
        WorkspaceError: the file could not be written.
    """
    if not stage.replace("_", "").isalnum():
        raise ValueError(f"{stage!r} names no stage. Use letters, digits and underscores.")
    write_atomically(guidelines_folder(repo) / f"{stage}.md", text.encode("utf-8"))
    return guideline(repo, stage)
