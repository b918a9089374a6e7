"""The words in which a model is asked to change code that exists: one symbol anew, or search/replace blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.languages import title_of
from agent.prompts.function_implement import advice, varied

_SYMBOL_SYSTEM = """You are an expert {language} programmer. You change one piece of code at a time.
Reply with the whole new version of that piece in one ```{fence} block, and nothing after it.
Rules:
- Change only what the step asks for. Keep name, parameters, comments and style.
- No other functions, no tests, no explanation."""

_WRITE_SYSTEM = """You are an expert {language} programmer. You write one piece of code that is still missing.
Reply with the whole piece in one ```{fence} block, and nothing after it.
Rules:
- Keep the given names and parameters. What the tests use of it must be there.
- Do exactly what the task, the docstring and the tests say, edge cases and messages of errors included.
- Imports and small helpers go above it, in the same block. No tests, no example, no explanation."""

_EDIT_SYSTEM = """You are an expert {language} programmer. You change files by search/replace blocks.
Write each change like this:
FILE: path/of/the/file
<<<<<<< SEARCH
the lines as they are now
=======
the lines as they shall be
>>>>>>> REPLACE
Rules:
- Copy the SEARCH lines exactly, with enough of them that they occur only once. Keep them few.
- Leave SEARCH empty to make a new file.
- Change only what the step asks for. Do not touch tests. No explanation."""

def symbol_system(language: str) -> str:
    """The instruction for a whole-symbol replacement; ``language`` by its name."""
    return _SYMBOL_SYSTEM.format(language=title_of(language), fence=language)


def write_system(language: str) -> str:
    """The instruction for a symbol without a body."""
    return _WRITE_SYSTEM.format(language=title_of(language), fence=language)


def edit_system(language: str) -> str:
    """The instruction for search/replace blocks."""
    return _EDIT_SYSTEM.format(language=title_of(language))


def task_context(task: str, context: str) -> str:
    """What all steps of a run share, byte for byte."""
    parts = [f"Task: {task.strip()}"] if task.strip() else []
    if context.strip():
        parts.append(f"The code around it:\n{context.strip()}")
    return "\n\n".join(parts) + "\n\n"


def write_question(
    name: str, path: str, module: str, source: str, language: str, *, told: str = "", cards: Sequence[str] = (),
    order: int = 1, trouble: str = "",
) -> str:  # fmt: skip
    """A symbol without a body: its ``source`` as it stands, its whole ``module``, what the tests say of it, advice, and what
    was wrong with an earlier version, which itself is never shown: a small model copies it. ``order`` (from 1) varies
    the end, so that samples differ."""
    parts = [f"{path} is now:\n```{language}\n{module.strip()}\n```"] if module.strip() != source.strip() else []
    parts += advice(cards, order)
    parts.append(f"Write {name} of {path}:\n```{language}\n{source.rstrip()}\n```")
    parts += [told] if told else []
    parts += varied(order)
    if trouble:
        parts.append(f"An earlier version was wrong.\n{trouble.strip()}\nWrite the whole correct {name}.")
    return "\n\n".join(parts)


def symbol_question(
    step: str, name: str, path: str, source: str, language: str, *, told: str = "", failure: str = "", trouble: str = ""
) -> str:
    """One symbol of ``path``, its source as it stands, what to do with it, and what went wrong before."""
    shown = f"{name} in {path} is now:\n```{language}\n{source.rstrip()}\n```"
    last = f"Write the new version of {name}."
    return _asked([f"Step: {step.strip()}", shown, told], "A check fails with it", failure, trouble, last)


def anew_question(
    step: str, name: str, path: str, head: str, language: str, *, told: str = "", failure: str = "", trouble: str = ""
) -> str:
    """A symbol of ``path`` to be written from its head and docstring alone, since its old body only got copied."""
    shown = f"{name} in {path} begins like this:\n```{language}\n{head.rstrip()}\n```"
    failed = "The body that it had fails a check"
    return _asked([f"Step: {step.strip()}", shown, told], failed, failure, trouble, f"Write {name} with another body.")


def new_symbol_question(
    step: str, name: str, path: str, *, told: str = "", failure: str = "", trouble: str = ""
) -> str:
    """A symbol that ``path`` shall get; ``told`` is what the tests expect of it."""
    last = f"{path} has no {name} yet. Write {name}."
    return _asked([f"Step: {step.strip()}", told], "A check fails", failure, trouble, last)


def edit_question(step: str, sources: Mapping[str, str], language: str, *, failure: str = "", trouble: str = "") -> str:
    """The files that the step names, and what to do with them."""
    parts = [f"FILE: {path}\n```{language}\n{text.rstrip()}\n```" for path, text in sources.items()]
    parts.append(f"Step: {step.strip()}")
    return _asked(parts, "A check fails now", failure, trouble, "Write the search/replace blocks.")


def tests_say(examples: Sequence[str]) -> str:
    """What the tests expect of a symbol, "" when they say nothing."""
    return "What the tests expect:\n" + "\n".join(examples) if examples else ""


def _asked(parts: list[str], failed: str, failure: str, trouble: str, last: str) -> str:
    """``parts``, what a check says, what was wrong with the last reply, and what to write."""
    said = [part for part in parts if part]
    if failure:
        said.append(f"{failed}:\n{failure.strip()}")
    if trouble:
        said.append(f"Your last reply could not be used: {trouble.strip()}")
    return "\n\n".join([*said, last])
