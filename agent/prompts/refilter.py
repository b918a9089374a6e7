"""Re-filter: the context is over its budget; which files stay? One answer for the set: the budget ties them."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You choose which files a programmer keeps in view for a task, within a budget of tokens.
Keep what the change needs most. The sizes of the files you keep must add up to the budget at most.
Reply with JSON only: {"keep": ["path", ...]}"""


def prompt(budget: int, files: Sequence[tuple[str, int, str]]) -> str:
    """``files`` are (path, size in tokens, what of it is shown), best-ranked first."""
    total = sum(size for _, size, _ in files)
    listed = "\n".join(f"- {path} ({size} tokens): {what}" for path, size, what in files)
    return f"Budget: {budget} tokens. All files together: {total} tokens.\n\nFiles, best match first:\n{listed}"
