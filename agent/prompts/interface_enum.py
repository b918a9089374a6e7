"""The words in which a model is asked which headers and functions a part needs."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You design the interface of a small C library: its headers, their types and functions.
Reply with JSON only, like this:
{"headers": [{"path": "src/stack.h", "purpose": "a stack of ints", "types": ["stack_t"],
 "functions": [{"name": "stack_push", "does": "Push a value. Returns 0, or -1 when memory is out."}]}]}
Rules:
- As few headers as possible, usually one.
- Every function that the task asks for, under the name the task gives it. Nothing private.
- "does" says what it returns and what happens at the edges."""


def task_context(task: str, context: str) -> str:
    """The task and what is there already."""
    parts = [f"Task: {task.strip()}"]
    if context.strip():
        parts.append(f"What is there already:\n{context.strip()}")
    return "\n\n".join(parts) + "\n\n"


def question(part: str, files: Sequence[str], prototypes: Sequence[str]) -> str:
    """The part, the files it may use, and the declarations that the task itself gives."""
    parts = [f"Part: {part.strip()}"] if part.strip() else []
    if files:
        parts.append(f"Files of this part: {', '.join(files)}")
    if prototypes:
        parts.append("The task declares:\n" + "\n".join(f"{one};" for one in prototypes))
    parts.append("Name the headers, types and functions.")
    return "\n\n".join(parts)
