"""Precision, pass 2: is this relevant symbol directly involved in the change?"""

from __future__ import annotations

SYSTEM = """You judge code relevance. You see a task and one symbol of the code that is relevant to it.
Is the symbol directly involved in the change: will it be modified, or is it central to the logic?
Answer with one word, yes or no."""
