"""Special methods of Python in the text of a failure."""

import pytest

from agent.planning.adjustment.evidence import symbol_evidence
from agent.planning.adjustment.special_methods import use_pattern


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("__matmul__", "self.assertEqual((Matrix([[1]]) @ Matrix([[5]])).rows, [[5]])"),
        ("__add__", "assert (a + b).rows == [1]"),
        ("__iadd__", "total += Money(3)"),
        ("__radd__", "sum = 1 + Money(3)"),
        ("__eq__", "assert Money(1) == Money(1)"),
        ("__getitem__", "assert table['key'] == 1"),
        ("__len__", "assert len(queue) == 0"),
        ("__contains__", "assert 3 in queue"),
        ("__iter__", "for item in queue:"),
        ("__enter__", "with Lock() as lock:"),
        ("__repr__", "assert repr(Money(1)) == 'Money(1)'"),
        ("__neg__", "assert -vector == other"),
    ],
)
def test_a_use_is_recognised(method: str, code: str) -> None:
    use = use_pattern(method)
    assert use is not None and use.search(code)
    assert symbol_evidence(code, method, [method]) >= 2


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("__add__", "assert run(*args) == 'a+b'"),
        ("__matmul__", "    @property"),
        ("__lt__", "xs: list[int] = [1]"),
        ("__len__", "length(queue)"),
        ("__getitem__", "assert x == [1, 2]"),
        ("__sub__", "FAILED tests/t.py::test_x - IndexError: no"),
    ],
)
def test_what_only_looks_like_it_is_not(method: str, code: str) -> None:
    use = use_pattern(method)
    assert use is not None and not use.search(code)


def test_other_names_have_no_operator() -> None:
    assert use_pattern("transpose") is None and use_pattern("__call__") is None
