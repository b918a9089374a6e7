"""The words in which a model is asked for a test file of an interface."""

from __future__ import annotations

from agent.languages import named

_SYSTEM = """You are an expert {title} programmer. You write one small {kind}.
Reply with the whole file in one ```{fence} block, and nothing after it.
Rules:
{rules}"""


def system(language: str, flavour: str = "") -> str:
    """The instruction for a language by its name; ``flavour`` is what runs the tests, where there are several programs."""
    known = named(language)
    words = known.tests.words(flavour)
    return _SYSTEM.format(title=known.title, kind=words.kind, fence=known.name, rules=words.rules)


def task_context(task: str, interface: str) -> str:
    """What all tries share: the task and the interface under test."""
    head = f"Task: {task.strip()}\n\n" if task.strip() else ""
    return f"{head}The code under test:\n{interface.strip()}\n\n"


def question(step: str, path: str, *, hint: str = "", trouble: str = "") -> str:
    """The file that is wanted, how it gets at what it tests, and what was wrong with the last try."""
    parts = [f"Step: {step.strip()}"] if step.strip() else []
    if trouble:
        parts.append(f"Your last reply could not be used: {trouble.strip()}")
    if hint:
        parts.append(hint)
    parts.append(f"Write {path}.")
    return "\n\n".join(parts)
