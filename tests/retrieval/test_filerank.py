"""What is known of files before a model is asked."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from agent.index import Index
from agent.retrieval import filerank
from agent.retrieval.task import analyse
from tests.retrieval.repos import write

TASK = "Overrides get lost when a value is loaded"


def calls_found(root: Path, tests: int) -> dict[str, float]:
    """What the caller of the function that a task is about gains, in a project with so many tests of that function."""
    check = "import store\n\n\ndef test_{0}():\n    assert store.load_value({0})\n"
    checks = {f"tests/test_{n}.py": check.format(n) for n in range(tests)}
    source = '"""Overrides."""\n\n\ndef load_value(key):\n    """Loads a value; overrides get lost."""\n    return key\n'
    user = "import store\n\n\nclass Definition:\n    def __call__(self):\n        return store.load_value(1)\n"
    write(root, {"store.py": source, "definition.py": user, **checks})
    with closing(Index.open(root)) as index:
        index.refresh()
        return filerank.evidence_of(index, analyse(TASK, index)).scores["calls"]


def test_callers_in_tests_take_nothing_from_the_others(tmp_path: Path) -> None:
    alone, tested = calls_found(tmp_path / "alone", 0), calls_found(tmp_path / "tested", 12)
    assert alone == tested and alone["definition.py"] > 0
