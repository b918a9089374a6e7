"""What tests say of single functions: which concern one alone, and whom failing ones speak against."""

from __future__ import annotations

import pytest

from agent.flow.test_contract import TestContract
from agent.workspace.testoutput import failures_said

PYTHON = b"""from codec import decode, encode

def round_trip(text):
    return decode(encode(text))

def test_encode():
    assert encode("a") == "b"

def test_decode():
    assert decode("b") == "a"

def test_both():
    assert round_trip("a") == "a"
"""
C = b"""static void fill(buffer *b) { put(b, 1); }
static void test_put(void) { assert(put(made(1), 2)); }
static void test_get(void) { buffer *b = made(1); fill(b); assert(get(b) == 1); }
int main(void) { test_put(); test_get(); }
"""


class Found:
    """The part of a survey that a contract reads."""

    def __init__(self, **sources: bytes) -> None:
        self._sources = {name.replace("__", "."): data for name, data in sources.items()}

    def sources(self) -> dict[str, bytes]:
        return self._sources


def contract(**sources: bytes) -> TestContract:
    return TestContract(Found(**sources))  # type: ignore[arg-type]


def test_tests_concern_what_they_use_also_through_helpers_of_their_file() -> None:
    python = contract(test_codec__py=PYTHON)
    assert python.concerning("encode") == {"test_encode", "test_both"}
    assert python.concerning("encode", ["decode"]) == {"test_encode"}
    c = contract(test_buffer__c=C)
    assert c.concerning("put") == {"test_put", "test_get"} and c.concerning("put", ["get"]) == {"test_put"}


@pytest.mark.parametrize(
    ("failing", "blamed"),
    [(["test_encode", "test_both"], "encode"), (["test_decode", "test_both"], "decode")],
)
def test_failing_tests_speak_against_what_they_use_and_passing_ones_for_it(failing: list[str], blamed: str) -> None:
    python = contract(test_codec__py=PYTHON)
    told = {name: python.suspicion(name, failing) or 0.0 for name in ("encode", "decode")}
    assert max(told, key=told.__getitem__) == blamed and told[blamed] >= 1.0


def test_nothing_is_said_where_no_failing_test_is_known() -> None:
    python = contract(test_codec__py=PYTHON)
    assert python.suspicion("encode", ["test_elsewhere"]) is None
    assert python.suspicion("other", ["test_encode"]) == 0.0


def test_a_helper_that_uses_everything_hides_nobody_whom_the_tests_name() -> None:
    source = b"""static void fill(buffer *b, bool over) { if (over) overwrite(b, 1); else put(b, 1); }
static void test_put_one(void) { buffer *b = made(1); fill(b, false); }
static void test_overwrite_replaces_the_oldest(void) { buffer *b = made(1); fill(b, true); }
"""
    c = contract(test_buffer__c=source)
    failing = ["test_overwrite_replaces_the_oldest"]
    assert (c.suspicion("overwrite", failing) or 0) > (c.suspicion("put", failing) or 0) > 0


def test_a_function_whose_tests_pass_is_not_blamed_for_a_name_that_others_have_in_theirs() -> None:
    source = b"""static void test_score_modifier(void) { assert(modifier(3) == -4); }
static void test_random(void) { assert(score() > 2); }
"""
    c = contract(test_character__c=source)
    assert c.suspicion("score", ["test_score_modifier"]) == 0.0
    assert (c.suspicion("modifier", ["test_score_modifier"]) or 0) >= 1.0


def test_a_function_is_told_what_it_missed_in_the_tests_that_fail() -> None:
    source = b"""static void test_even(void) { TEST_ASSERT_TRUE(is_even(4)); }
static void test_odd(void) { TEST_ASSERT_FALSE(is_even(3)); TEST_ASSERT_EQUAL_INT(1, half(3)); }
"""
    c = contract(test_even__c=source)
    assert c.missed("is_even", {"test_odd": "Expected FALSE Was TRUE"}) == "is_even(3) → false, but: Expected FALSE Was TRUE"
    assert c.missed("half", {"test_odd": "", "test_elsewhere": ""}) == "half(3) → 1"
    assert c.missed("half", {"test_even": "it crashes"}) == ""


def test_a_test_without_an_example_is_told_by_its_name() -> None:
    lines = "".join(f"    add(&list, {number});\n" for number in range(3))
    source = f"static void test_they_are_sorted(void)\n{{\n{lines}    compare(&expected, &list);\n}}\n".encode()
    said = {"test_they_are_sorted": "Expected 1 Was 3"}
    assert contract(test_list__c=source).missed("add", said) == "they are sorted: Expected 1 Was 3"
    assert contract(test_list__c=source).missed("other", said) == ""


PYTEST_OUTPUT = """=== FAILURES ===
________ TestCodec.test_encode[a] ________

    def test_encode(self):
        text = "a"
>       self.assertEqual(encode(text), "b")
E       AssertionError: 'c' != 'b'
E       - c
E       + b

test_codec.py:6: AssertionError
=== short test summary info ===
FAILED test_codec.py::TestCodec::test_encode[a] - AssertionError: 'c' != 'b'
"""


def test_a_function_in_python_is_told_with_what_pytest_says() -> None:
    source = b'def test_encode(self):\n    text = "a"\n    self.assertEqual(encode(text), "b")\n'
    said = failures_said(PYTEST_OUTPUT)
    assert said == {"test_encode": "AssertionError: 'c' != 'b'"}
    assert contract(test_codec__py=source).missed("encode", said) == "encode('a') → 'b', but: AssertionError: 'c' != 'b'"
