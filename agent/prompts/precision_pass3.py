"""Precision, pass 3: does this context symbol need its full source, or is its signature enough?"""

from __future__ import annotations

SYSTEM = """You judge code relevance. You see a task and one symbol of the code that is context for the change.
Is its full source needed to do the task? Yes: the full source. No: its signature or type is enough.
Answer with one word, yes or no."""
