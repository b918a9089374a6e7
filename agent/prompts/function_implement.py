"""The words in which a model is asked for one C function, or for the definition of one struct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SYSTEM = """You are an expert C programmer. You write one C function at a time.
Reply with that function only, in one ```c block, and nothing after it.
Rules:
- Keep the given name, parameters and return type.
- Do exactly what the comment above the declaration says, edge cases included.
- Use the members of the structs as they are declared. Do not repeat structs, headers or other functions.
- If you need a small helper, write it as a static function above the function.
- Standard headers are included for you. No main, no example, no explanation."""


STEPS_FIRST = "Begin the body with a comment that lists the steps, then write the code for each."
SIMPLY = "Write it in the simplest way that gives each of the expected results."
SAY_WHY = "Begin the body with a comment that says why the expected result is right there."
"""Reasons written down before the code. Of eight samples of one predicate two came out right with such a sentence, none with
the failure alone."""

RESULT_FREED = "The caller frees what it returns: return memory from malloc in every case."

_VARIED = ("", "", STEPS_FIRST, SIMPLY)
"""Last words of the question, by the number of the sample."""


def varied(order: int) -> list[str]:
    """What ends the question of sample ``order`` (from 1), so that samples differ; [] for nothing. It stands last: all
    before it is the same for every sample, and a server that caches prefixes reads it once."""
    return list(filter(None, [_VARIED[(order - 1) % len(_VARIED)]]))


def advice(cards: Sequence[str], order: int) -> list[str]:
    """Cards of knowledge in sample ``order`` (from 1): two samples with them, two without. A small model copies what a card
    says, and one that is beside the point must not spoil all samples. They stand before what is asked for: what stands last
    weighs most."""
    return [f"Keep in mind: {card}" for card in cards] if (order - 1) % 4 < 2 else []


def task_context(task: str, headers: Mapping[str, str], path: str, top: str) -> str:
    """What all functions of ``path`` share, byte for byte: the task, the headers, and the types at the top of the file."""
    parts = [f"Task: {task.strip()}"] if task.strip() else []
    parts += [f"File {name}:\n```c\n{text.strip()}\n```" for name, text in headers.items()]
    if top.strip():
        parts.append(f"At the top of {path}:\n```c\n{top.strip()}\n```")
    return "\n\n".join(parts) + "\n\n"


def question(
    name: str,
    signature: str,
    contract: str,
    path: str,
    *,
    written: Sequence[str] = (),
    examples: Sequence[str] = (),
    cards: Sequence[str] = (),
    result_freed: bool = False,
    order: int = 1,
    trouble: str = "",
    failing: str = "",
) -> str:
    """The function that is wanted now.

    ``written`` are definitions that stand in the file already, ``examples`` what the tests say of the function, ``cards``
    advice for its kind, ``result_freed`` tells that the caller frees the result, ``trouble`` what the compiler said of an
    earlier version, and ``failing`` what a check expected of one. That version itself is never shown: a small model copies
    it. ``order`` (from 1) varies the end of the question, so that samples differ.
    """
    parts = []
    if written:
        parts.append(f"Already written in {path}:\n```c\n" + "\n\n".join(written) + "\n```")
    declared = f"{contract.strip()}\n{signature};" if contract.strip() else f"{signature};"
    parts += advice(cards, order)
    parts.append(f"Write the function {name} of {path}:\n```c\n{declared}\n```")
    parts += ["What the tests expect:\n" + "\n".join(examples)] if examples else []
    parts += [RESULT_FREED] if result_freed else []
    parts += [] if failing else varied(order)
    wrong = [f"{failing.strip()}\n{SAY_WHY}"] if failing else []
    wrong += [trouble.strip()] if trouble else []
    if wrong:
        parts.append("\n".join(["An earlier version was wrong.", *wrong, f"Write the whole correct function {name}."]))
    return "\n\n".join(parts)


def helper_question(name: str, caller: str, path: str, written: Sequence[str] = ()) -> str:
    """The helper ``name`` that ``caller``, a whole function, calls; ``written`` are definitions that stand in the file.

    Asked under the same system prompt and task context as the function, so that a server's prefix cache serves it.
    """
    parts = []
    if written:
        parts.append(f"Already written in {path}:\n```c\n" + "\n\n".join(written) + "\n```")
    parts.append(f"This function calls {name}, which does not exist yet:\n```c\n{caller.strip()}\n```")
    parts.append(f"Write only {name}, as a static function that takes the arguments of that call.")
    return "\n\n".join(parts)


TYPE_SYSTEM = """You are an expert C programmer. You define the data structure that a header leaves open.
Reply with the definition only, in one ```c block, and nothing after it.
Rules:
- Give it every member that the functions of the header need, sizes and counters included.
- Helper structs go above it. No functions, no typedef that the header has already, no explanation."""


def type_question(spelling: str, path: str, doc: str, users: Sequence[str], trouble: str = "") -> str:
    """The struct that is wanted: its spelling, its comment, and the functions that will use it."""
    about = f"{doc.strip()}\n" if doc.strip() else ""
    parts = [f"Write the definition of `{spelling}` for {path}:\n```c\n{about}{spelling} {{ ... }};\n```"]
    if users:
        parts.append(f"It is used by {', '.join(users)}.")
    if trouble:
        parts.append(trouble.strip())
    return "\n\n".join(parts)
