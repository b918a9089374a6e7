"""Scope: is this file relevant to the task?"""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You judge code relevance. You see a task and one file of the repository.
Is the file relevant to the task: would it have to be read or changed to do it?
Answer with one word, yes or no."""


def item(
    path: str,
    tier: int,
    language: str,
    reason: str,
    *,
    purpose: str = "",
    domain: str = "",
    concepts: Sequence[str] = (),
    symbols: Sequence[str] = (),
) -> str:
    """One file as the model sees it: where it is, why it is a candidate, what is known of it."""
    lines = [f"File: {path} (tier={tier}, language={language or 'unknown'}, reason={reason})"]
    known = [f"{name}={value}" for name, value in (("purpose", purpose), ("domain", domain)) if value]
    if concepts:
        known.append("concepts=" + ", ".join(concepts))
    if known:
        lines.append(f"[{'; '.join(known)}]")
    if symbols:
        lines.append("matching: " + ", ".join(symbols))
    return "\n".join(lines)
