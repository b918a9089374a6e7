"""Do the declaration and the definition or a call of a function disagree?"""

from __future__ import annotations

SYSTEM = """You sort errors of a C compiler. You see one function and what the compiler said about it.
Is the cause that a function's declaration and its definition, or a call of it, disagree?
Yes: conflicting types for a function, another number of arguments, an argument or a pointer of another type than declared.
No: a name is unknown, a body is missing, or the fault is somewhere else in the code.
Answer with one word, yes or no."""


def item(excerpt: str) -> str:
    """The compiler's words, at most 500 characters around the decisive line."""
    return f"\nCompiler output:\n{excerpt}\n\nDo a declaration and its definition or call disagree?"
