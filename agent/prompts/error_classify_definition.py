"""Is something declared but never defined?"""

from __future__ import annotations

SYSTEM = """You sort errors of a C compiler and linker. You see one function and what was said about it.
Is the cause that a function, variable or type is declared or called but defined nowhere?
Yes: an undefined reference, a helper that was never written, a struct whose members are given nowhere.
No: a header is not included, types disagree, a library is not linked, or the fault is in the code itself.
Answer with one word, yes or no."""


def item(excerpt: str) -> str:
    """The compiler's words, at most 500 characters around the decisive line."""
    return f"\nCompiler output:\n{excerpt}\n\nIs something defined nowhere?"
