"""A test that passes with a stub says nothing of the function that takes its place."""

from __future__ import annotations

import pytest

from agent.coding.open_items import OpenFunction
from agent.flow.checks import without_tests
from agent.values import CheckResult
from agent.workspace.checks import worse


def result(passing: list[str], failing: list[str]) -> CheckResult:
    return CheckResult("make test", 2, False, len(passing), len(failing), tuple(failing), tuple(passing))


def test_a_pass_with_a_stub_is_nothing_to_lose() -> None:
    with_stub = result(["test_sum", "test_odd"], ["test_even"])
    written = result(["test_sum", "test_even"], ["test_odd"])
    assert worse(with_stub, written)
    assert not worse(without_tests(with_stub, {"test_odd", "test_even"}), written)
    assert worse(without_tests(with_stub, {"test_odd"}), result(["test_even"], ["test_odd", "test_sum"]))


@pytest.mark.parametrize(
    ("signature", "path", "so"),
    [
        ("void free_points(points *p)", "a.c", True),
        ("static void points_destroy(points *p)", "a.c", True),
        ("void *free_slot(pool *p)", "a.c", False),
        ("bool delete_row(table *t, int row)", "a.c", False),
        ("void carefree(points *p)", "a.c", False),
        ("def free(p)", "a.py", False),
    ],
)
def test_tests_pass_with_the_stub_of_what_gives_memory_back(signature: str, path: str, so: bool) -> None:
    name = signature.split("(")[0].split()[-1].lstrip("*")
    assert OpenFunction(name, path, "", signature, "", "stub", "c").only_frees == so
