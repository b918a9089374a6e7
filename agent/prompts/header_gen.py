"""The words in which a model is asked for one C header, or (monolithic) for all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SYSTEM = """You are an expert C programmer. You write one header file.
Reply with the whole header in one ```c block, and nothing after it.
Rules:
- Include guard, the standard headers it needs, the types, then one prototype per function.
- Above each prototype a comment that says exactly what it does and returns, edge cases included.
- Define every struct with all its members, so that each function can be written from the header alone.
- No function bodies, no macros that are not needed, no explanation."""

ALL_SYSTEM = """You are an expert C programmer. You write the header files of a small library, usually one.
Write each as a line `FILE: path/name.h` and then the whole header in one ```c block.
Rules:
- Include guard, the standard headers it needs, the types, then one prototype per function.
- Above each prototype a comment that says exactly what it does and returns, edge cases included.
- Define every struct with all its members. No function bodies, no explanation."""

ONE_SYSTEM = """You are an expert C programmer. You add one function to a header file.
Reply with its declaration in one ```c block, and nothing after it.
Rules:
- A comment that says exactly what the function does and returns, edge cases included; below it the prototype.
- Use the types that the header has. Choose parameters as its other functions do.
- No body, no other function, no explanation."""

LONGEST_HEADER = 6000
"""Characters of a header that are shown when one function is added to it; its beginning holds the types."""


def task_context(task: str, context: str, headers: Mapping[str, str]) -> str:
    """The task, what is there, and the headers written so far."""
    parts = [f"Task: {task.strip()}"]
    if context.strip():
        parts.append(f"What is there already:\n{context.strip()}")
    parts += [f"File {path}:\n```c\n{text.strip()}\n```" for path, text in headers.items()]
    return "\n\n".join(parts) + "\n\n"


def question(
    path: str,
    purpose: str,
    types: Sequence[str],
    functions: Sequence[tuple[str, str]],
    prototypes: Sequence[str] = (),
    *,
    existing: str = "",
    trouble: str = "",
) -> str:
    """One header: what it is for, its types and functions as (name, what it does), declarations that the task gives, the
    header as it stands if there is one, and what was wrong with the last try."""
    parts = [f"Header {path}: {purpose.strip()}".rstrip(": ")]
    if existing:
        parts.append(f"It is now:\n```c\n{existing.strip()}\n```\nKeep all of it and add what is missing.")
    if types:
        parts.append(f"Types: {', '.join(types)}")
    if functions:
        parts.append("Functions:\n" + "\n".join(f"- {name}: {does}" for name, does in functions))
    if prototypes:
        parts.append("Declare exactly:\n" + "\n".join(f"{one};" for one in prototypes))
    if trouble:
        parts.append(f"Your last reply could not be used: {trouble.strip()}")
    parts.append(f"Write {path}.")
    return "\n\n".join(parts)


def tested_question(
    path: str,
    prototypes: Sequence[str],
    types: Sequence[str],
    names: Sequence[str],
    lines: Sequence[str],
    *,
    existing: str = "",
    trouble: str = "",
) -> str:
    """A header that tests are compiled against: what they call, the types and constants that they use, lines that show how,
    the header as it stands, and what was wrong with the last try."""
    parts = [f"Header {path} must declare what the tests use."]
    if existing.strip():
        parts.append(f"It is now:\n```c\n{existing.strip()}\n```\nKeep all of it and add what is missing.")
    parts.append("Functions:\n" + "\n".join(prototypes))
    if types:
        parts.append(f"Types to define: {', '.join(types)}")
    if names:
        parts.append(f"Constants to define, in an enum: {', '.join(names)}")
    if lines:
        parts.append("The tests use them like this:\n```c\n" + "\n".join(lines) + "\n```")
    if trouble:
        parts.append(f"Your last header could not be used: {trouble.strip()}")
    parts.append(f"Write {path}.")
    return "\n\n".join(parts)


def all_question(part: str, files: Sequence[str], prototypes: Sequence[str], *, trouble: str = "") -> str:
    """All headers of a part in one reply."""
    parts = [f"Part: {part.strip()}"] if part.strip() else []
    if files:
        parts.append(f"Files of this part: {', '.join(files)}")
    if prototypes:
        parts.append("Declare exactly:\n" + "\n".join(f"{one};" for one in prototypes))
    if trouble:
        parts.append(f"Your last reply could not be used: {trouble.strip()}")
    parts.append("Write the header files.")
    return "\n\n".join(parts)


def one_question(path: str, header: str, name: str, *, trouble: str = "") -> str:
    """One function to be declared in a header that is there, and what was wrong with the last try."""
    parts = [f"Header {path} is now:\n```c\n{header.strip()[:LONGEST_HEADER]}\n```"]
    if trouble:
        parts.append(f"Your last reply could not be used: {trouble.strip()}")
    parts.append(f"Write the declaration of {name}.")
    return "\n\n".join(parts)
