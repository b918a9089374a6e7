"""Is a compile error a missing include? Also the context that all three error questions share."""

from __future__ import annotations

SYSTEM = """You sort errors of a C compiler. You see one function and what the compiler said about it.
Is the cause that a header is not included?
Yes: a name, type or macro that some header declares is unknown here (implicit declaration, undeclared, unknown type), or a
struct that some header defines is incomplete here (storage size isn't known, incomplete type).
No: the name is misspelt, is a variable that was never declared, or the fault is in the code itself.
Answer with one word, yes or no."""


def context(function: str, path: str, signature: str = "") -> str:
    """What all three questions share: the function and its file. Ends with a newline."""
    lines = [f"Function: {function}"] if function else []
    lines.append(f"File: {path}")
    if signature:
        lines.append(f"Signature: {signature}")
    return "\n".join(lines) + "\n"


def item(excerpt: str) -> str:
    """The compiler's words, at most 500 characters around the decisive line."""
    return f"\nCompiler output:\n{excerpt}\n\nIs a missing include the cause?"
