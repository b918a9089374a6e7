"""Enrichment (A23): what a file is for, in the words the search and the scope prompt use."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You describe one source file for a code search.
purpose: what it does, at most twelve words. domain: the area of the program, one or two words.
concepts: two to five terms a person would search for.
Reply with JSON only: {"purpose": "...", "domain": "...", "concepts": ["...", ...]}"""

MAX_TOKENS = 160


def prompt(path: str, language: str, doc: str, symbols: Sequence[str]) -> str:
    """The file's name, its first comment and its public symbols."""
    lines = [f"File: {path} ({language or 'unknown'})"]
    if doc:
        lines.append(f"First comment: {doc[:600]}")
    if symbols:
        lines.append("Symbols: " + ", ".join(symbols[:40]))
    return "\n".join(lines)
