"""Examples of a Python function, read off the tests that call it."""

from __future__ import annotations

import pytest

from agent.python.examples import examples_of


@pytest.mark.parametrize(
    ("body", "example"),
    [
        ("self.assertEqual(f(1), 2)", "f(1) → 2"),
        ("self.assertEqual([2], f(1))", "f(1) → [2]"),
        ("assert f('a') == 'b'", "f('a') → 'b'"),
        ("assert not f(0)", "f(0) → false"),
        ("self.assertIs(f(5), True)", "f(5) → True"),
        ("x = [1, 2]; assert f(x) == 3", "f([1, 2]) → 3"),
        ("with self.assertRaises(ValueError):\n        f(-1)", "f(-1) raises ValueError"),
        ("with pytest.raises(TypeError):\n        f(None)", "f(None) raises TypeError"),
        ("self.assertIsNone(store.f('k'))", "store.f('k') → None"),
    ],
)
def test_an_assertion_is_an_example(body: str, example: str) -> None:
    assert examples_of(f"def test_it(self):\n    {body}\n".encode(), ["f"])["f"] == (example,)


def test_literal_examples_come_first() -> None:
    told = examples_of(b"def test_it(self):\n    assert f(made()) == 1\n    assert f(2) == 3\n", ["f"])
    assert told["f"] == ("f(2) → 3", "f(made()) → 1")


@pytest.mark.parametrize("source", [b"", b"def (", b"\0", b"def test_it():\n    assert g(1) == 2\n"])
def test_nothing_is_said_where_nothing_is_tested(source: bytes) -> None:
    assert examples_of(source, ["f"]) == {}


def test_the_message_of_an_exception_is_told() -> None:
    source = b"""class T(unittest.TestCase):
    def test_it(self):
        with self.assertRaises(ValueError) as caught:
            f(0)
        self.assertEqual(type(caught.exception), ValueError)
        self.assertEqual(caught.exception.args[0], "only positive numbers")
"""
    assert examples_of(source, ["f"])["f"] == ("f(0) raises ValueError('only positive numbers')",)


def test_of_a_class_short_tests_are_told_with_what_is_new_in_front() -> None:
    source = b"""class T(unittest.TestCase):
    def test_reads(self):
        box = Box(1)
        self.assertEqual(box.read(), 1)

    def test_reads_again(self):
        box = Box(2)
        self.assertEqual(box.read(), 2)

    def test_clears(self):
        box = Box(1)
        box.clear()
        self.assertIs(box.empty, True)
"""
    told = examples_of(source, ["Box"])["Box"]
    assert told[0] == "box = Box(1)\nassert box.read() == 1"
    assert told[1] == "box = Box(1)\nbox.clear()\nassert box.empty is True" and len(told) == 3
