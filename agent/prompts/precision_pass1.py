"""Precision, pass 1: is this symbol relevant to the task? Also how a symbol is shown in all three passes."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You judge code relevance. You see a task and one symbol of the code.
Is the symbol relevant to the task?
Answer with one word, yes or no."""


def item(
    name: str,
    kind: str,
    path: str,
    line: int,
    end_line: int,
    signature: str,
    doc: str = "",
    calls: Sequence[str] = (),
    called_by: Sequence[str] = (),
) -> str:
    """One symbol as the model sees it. The line of references is shown in pass 1 only."""
    lines = [f"Symbol: {name} ({kind}) in {path}:{line}-{end_line}"]
    edges = []
    if calls:
        edges.append("calls " + ", ".join(calls))
    if called_by:
        edges.append("called by " + ", ".join(called_by))
    if edges:
        lines.append(f"[{'; '.join(edges)}]")
    lines.append(f"sig: {signature or name}")
    if doc:
        lines.append(f"doc: {doc}")
    return "\n".join(lines)
