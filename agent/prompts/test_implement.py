"""The words in which a model is asked for a test file of an interface."""

from __future__ import annotations

_SYSTEM = {
    "c": """You are an expert C programmer. You write one small test program.
Reply with the whole file in one ```c block, and nothing after it.
Rules:
- Test only what the comments of the header promise, edge cases included.
- Check with assert() from <assert.h>. One static function per test, called test_...; main calls them all.
- At most six tests, each a few lines long and independent of the others.
- Use only the functions that the header declares. No explanation.""",
    "python": """You are an expert Python programmer. You write one small pytest file.
Reply with the whole file in one ```python block, and nothing after it.
Rules:
- Test only what the docstrings promise, edge cases included.
- One short function per test, called test_..., with plain assert. At most six tests.
- Import only from the code under test and the standard library. No explanation.""",
    "unittest": """You are an expert Python programmer. You write one small file of unittest tests.
Reply with the whole file in one ```python block, and nothing after it.
Rules:
- Test only what the docstrings promise, edge cases included.
- One class that derives from unittest.TestCase, one short method per test, called test_..., with self.assert... At most six.
- Import only from the code under test and the standard library. No explanation.""",
}


def system(language: str, flavour: str = "") -> str:
    """The instruction; ``language`` is c or python, ``flavour`` unittest where Python tests are run by that."""
    return _SYSTEM["unittest" if language == "python" and flavour == "unittest" else language]


def state(task: str, interface: str) -> str:
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
