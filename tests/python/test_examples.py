"""Examples of a Python function, read off the tests that call it."""

from __future__ import annotations

import pytest

from agent.python.examples import examples_of, examples_of_one_test
from agent.python.plain_tests import exceptions_of


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
    assert told[1] == "box = Box(1)\nbox.clear()\nassert box.empty" and len(told) == 3


def test_of_a_class_a_test_that_makes_its_objects_otherwise_comes_early() -> None:
    source = b"".join(
        b"def test_%d(self):\n    self.assertEqual(Box(%b).read(), %d)\n" % (number, made, number)
        for number, made in enumerate([b"1"] * 13 + [b"1, lid=True"])
    )
    assert "Box(1, lid=True)" in examples_of(source, ["Box"])["Box"][1]


def test_of_a_class_an_exception_stands_behind_the_call_that_raises_it() -> None:
    source = b"""class T(unittest.TestCase):
    def test_it(self):
        box = Box(1)
        with self.assertRaises(BufferError) as caught:
            box.read()
        self.assertEqual(type(caught.exception), BufferError)
        self.assertEqual(caught.exception.args[0], "empty")
"""
    assert examples_of(source, ["Box"])["Box"] == ("box = Box(1)\nbox.read()  # raises BufferError('empty')",)


def test_each_kind_of_example_comes_before_the_second_of_any() -> None:
    calls = [f"assert f('{letter}') == {place + 1}" for place, letter in enumerate("abcdefghijkl")]
    calls += ["assert f('') == 0", "with raises(ValueError, match='x'):\n        f('1')"]
    told = examples_of(("def test_it():\n    " + "\n    ".join(calls) + "\n").encode(), ["f"])["f"]
    assert told[:4] == ("f(str) → int", "f('a') → 1", "f('') → 0", "f('1') raises ValueError('x')") and len(told) == 12


def test_long_examples_come_after_short_ones() -> None:
    words = [f"word {number}" for number in range(20)]
    source = f"def test_it():\n    assert f(1) == {words}\n    assert f(2) == ['a']\n"
    assert examples_of(source.encode(), ["f"])["f"] == ("f(int) → list[str]", "f(2) → ['a']", f"f(1) → {words}")


def test_a_result_is_checked_under_another_name_or_by_a_helper() -> None:
    source = b"""class T(unittest.TestCase):
    def test_named(self):
        x = 1
        got = f(x)
        self.assertEqual(got, 2)

    def test_helped(self):
        x = [3]
        got = f(x)
        self.check(x, got)

    def check(self, given, got):
        self.assertIsNotNone(got, "a result")
        self.close(given, got)

    def close(self, given, got):
        self.assertIn(got, given)
"""
    assert examples_of(source, ["f"])["f"] == (
        "def check(given, got):\n    assert got is not None\n    close(given, got)",
        "def close(given, got):\n    assert got in given",
        "f(1) → 2",
        "check([3], f([3]))",
    )


@pytest.mark.parametrize(
    ("calls", "signature"),
    [
        (["f('a', 1) == [1]", "f('b', 2) == []"], "f(str, int) → list[int]"),
        (["f({'a': 1.5}) == (1, 'a')", "f({}) == (2, 'b')"], "f(dict[str, float]) → tuple[int, str]"),
        (["f([1]) == 1", "f([]) is None"], "f(list[int]) → int | None"),
    ],
)
def test_the_types_of_arguments_and_result_come_first(calls: list[str], signature: str) -> None:
    source = "def test_it():\n" + "".join(f"    assert {one}\n" for one in calls)
    assert examples_of(source.encode(), ["f"])["f"][0] == signature


@pytest.mark.parametrize("calls", [["f(1) == 2"], ["f(1) == 2", "f(1, 2) == 3"], ["f(1) == 2", "f('a') == 3", "f([]) == 4"]])
def test_types_that_are_not_clear_are_not_told(calls: list[str]) -> None:
    source = "def test_it():\n" + "".join(f"    assert {one}\n" for one in calls)
    assert all("int" not in one for one in examples_of(source.encode(), ["f"])["f"])


def test_the_exceptions_that_named_tests_expect_are_told_with_their_messages() -> None:
    source = b"""class T(unittest.TestCase):
    def test_a(self):
        with self.assertRaises(ValueError) as caught:
            f(0)
        self.assertEqual(caught.exception.args[0], "too small")

    def test_b(self):
        with self.assertRaisesRegex(KeyError, "b"):
            f(1)

    def test_c(self):
        with self.assertRaises(OSError):
            f(2)
"""
    assert exceptions_of(source, ["test_a", "test_b", "test_c"]) == ("ValueError('too small')", "KeyError('b')")
    assert exceptions_of(source, ["test_c"]) == () == exceptions_of(b"def (", ["test_a"])


def test_an_exception_is_of_the_class_that_is_said_of_it_and_not_of_the_one_that_is_caught() -> None:
    source = b"""class T(unittest.TestCase):
    def test_a(self):
        with self.assertRaises(LookupError) as caught:
            f(0)
        self.assertEqual(type(caught.exception), Missing)
        self.assertEqual(caught.exception.args[0], "not there")
"""
    assert exceptions_of(source, ["test_a"]) == ("Missing('not there')",)


def test_what_one_test_says_is_told_in_a_line() -> None:
    source = b"""def test_a():
    x = 1
    assert f(x) == 2
    assert f(3) == 4

def test_b():
    box = Box(1)
    assert box.take() == 1
"""
    assert examples_of_one_test(source, "f", "test_a") == ("f(1) \u2192 2", "f(3) \u2192 4")
    assert examples_of_one_test(source, "Box", "test_b") == ("box = Box(1); assert box.take() == 1",)
    assert examples_of_one_test(source, "f", "test_b") == () == examples_of_one_test(b"def (", "f", "test_a")
