"""Examples of a function, read off the tests that call it."""

from __future__ import annotations

import pytest

from agent.c.examples import LONGEST, MOST, examples_of


@pytest.mark.parametrize(
    ("body", "example"),
    [
        ('TEST_ASSERT_TRUE(f("[]"));', 'f("[]") → true'),
        ("TEST_ASSERT_FALSE(f(3));", "f(3) → false"),
        ("TEST_ASSERT_EQUAL_INT(-4, f(3));", "f(3) → -4"),
        ('const char *in = "a"; TEST_ASSERT_EQUAL_STRING("b", f(in));', 'f("a") → "b"'),
        ("int got = f(2); CHECK_EQUAL(5, got);", "f(2) → 5"),
        ("assert(f(1, 2) == 3);", "f(1, 2) → 3"),
        ("TEST_ASSERT_NULL(f(0));", "f(0) → NULL"),
        ("TEST_ASSERT_DOUBLE_WITHIN(0.1, 2.5, f(7));", "f(7) → 2.5"),
        ("int out = 0; TEST_ASSERT_TRUE(f(&out));", "f(&out) → true"),
        ('assert(f("  a //b ", " ", \' \') == 0); // c', 'f("  a //b ", " ", \' \') → 0'),
        ('char *got; got = f("a"); EXPECT_STR_EQ("b", got);', 'f("a") → "b"'),
        ('const char *got = f(1); assert(strcmp(got, "one") == 0);', 'f(1) → "one"'),
        ("CHECK_EQUAL(2, f(1, &left)); CHECK_EQUAL(7, left);", "f(1, &left) → 2, left == 7"),
        ("pair got = f(1); CHECK_EQUAL(3, got.low); CHECK_EQUAL(4, got.high);", "f(1).low → 3, .high → 4"),
        ("int got = f(1); CHECK_EQUAL(3, got); got = g(2); CHECK_EQUAL(4, got);", "f(1) → 3"),
        ('TEST_ASSERT_EQUAL_STRING("ab",\n  f("x" /* no */\n    " y"));', 'f("x y") → "ab"'),
    ],
)
def test_an_assertion_is_an_example(body: str, example: str) -> None:
    assert examples_of(f"void test_it(void) {{ {body} }}".encode(), ["f"])["f"][0] == example


def test_what_a_helper_of_the_tests_asserts_is_told_with_what_it_is_handed() -> None:
    source = b"""static void expect(const char *word, int times, const char *want) {
        const char *got = f(word, times);
        TEST_ASSERT_EQUAL_STRING(want, got);
    }
    static void test_one(void) { expect("ab", 2, "abab"); }
    static void test_two(void) { const char *none = ""; expect(none, 9, none); }
    """
    told = examples_of(source, ["f"])["f"]
    assert told[:2] == ('f("ab", 2) → "abab"', 'f("", 9) → ""')


def test_a_helper_of_the_tests_tells_nothing_by_itself() -> None:
    source = b"""static void check(const char *text, const char *want)
    {
        char *got = sorted(text);
        TEST_ASSERT_EQUAL_STRING(want, got);
        free(got);
    }
    static void test_two(void) { check("ba", "ab"); }"""
    assert examples_of(source, ["sorted"]) == {"sorted": ('sorted("ba") → "ab"',)}


def test_what_a_checking_helper_is_asked_about_a_result_is_an_example() -> None:
    source = b"""static void check_pairs(int count, pair want[], pair *got) { for (; count--;) same(want++, got++); }
    static void put_all(pair *pairs) { pairs[0].a = 1; }
    static void test_two(void) {
        int count = 1; pair want[] = { { 1, 2 } };
        pairs *got = f(2); put_all(got->all); check_pairs(count, want, got->all); release(got);
    }
    static void test_row(void) { const row want = { .cells = { RED, BLUE } }; row got = f(3);
        TEST_ASSERT_EQUAL_INT_ARRAY(want.cells, got.cells, 2); }
    """
    told = examples_of(source, ["f"])["f"]
    assert told == ("got = f(2); check_pairs(1, { { 1, 2 } }, got->all)", "f(3).cells → { RED, BLUE }")


def test_tests_named_by_a_function_that_only_helpers_call_are_told_with_the_helper() -> None:
    source = b"""static void put_all(int n, int list[], bool by_force) {
        for (int i = 0; i < n; i++) if (by_force) force(list[i]); else put(list[i]);
    }
    static void test_put(void) { put_all(1, (int[]){ 7 }, false); CHECK(count() == 1); }
    static void test_force_takes_the_oldest_place(void) { put_all(2, (int[]){ 7, 8 }, true); CHECK(count() == 1); }"""
    helper, test = examples_of(source, ["force"])["force"]
    assert helper.startswith("for (int i = 0") and test.startswith("test_force_takes_the_oldest_place:\nput_all(2,")


@pytest.mark.parametrize("size", ["LENGTH(in)", "sizeof(in) / sizeof(in[0])", "sizeof in / sizeof *in"])
def test_the_length_of_an_array_is_told_as_a_number(size: str) -> None:
    direct = f"void test_it(void) {{ int in[] = {{ 3, 5 }}; TEST_ASSERT_EQUAL(8, sum(in, {size})); }}"
    through = f"void test_it(void) {{ int in[] = {{ 3, 5 }}; size_t n = {size}; TEST_ASSERT_EQUAL(8, sum(in, n)); }}"
    for source in (direct, through):
        assert examples_of(source.encode(), ["sum"]) == {"sum": ("sum({ 3, 5 }, 2) → 8",)}


def test_a_variable_that_changes_keeps_its_name() -> None:
    told = examples_of(b"void t(void) { int n = 1; n = 2; TEST_ASSERT_TRUE(f(n)); }", ["f"])
    assert told["f"][0] == "f(n) → true"


def test_a_short_test_stands_for_itself_where_no_assertion_holds_the_call() -> None:
    told = examples_of(b"void t(void) {\n    char out[8];\n    f(1, out);\n    check(out);\n}\n", ["f"])
    assert told == {"f": ("char out[8];\nf(1, out);\ncheck(out);",)}


def test_examples_are_bounded_and_literal_ones_come_first() -> None:
    calls = "".join(f"TEST_ASSERT_EQUAL_INT({n}, f({n}));" for n in range(40))
    told = examples_of(f'void t(int x) {{ TEST_ASSERT_TRUE(f(x)); {calls} CHECK(f("{"a" * LONGEST}")); }}'.encode(), ["f"])
    assert len(told["f"]) == MOST and told["f"][0] == "f(0) → 0"


def test_nothing_is_said_of_a_function_that_no_test_calls() -> None:
    assert examples_of(b"void t(void) { g(1); }", ["f"]) == {} == examples_of(b"%%%", ["f"])


def test_a_whole_test_is_shown_only_where_no_assertion_holds_by_itself() -> None:
    """What a test checks of the state afterwards reads as a wish: a model then wrote to what it was to leave alone."""
    source = b"void t(void) { int d[2] = {0, 9}; CHECK(f(d, 2) == 1); CHECK(rb.count == 4 && rb.head == 2); }"
    assert all("rb.head" not in example for example in examples_of(source, ["f"])["f"])


def test_an_error_code_and_the_name_of_the_test_tell_what_a_result_stands_for() -> None:
    source = b"""static void test_a_full_buffer_takes_nothing(void) {
        buffer *b = made(1);
        int status = put(b, 2);
        TEST_ASSERT_EQUAL_INT16(EXIT_FAILURE, status);
        TEST_ASSERT_EQUAL_INT16(ENOBUFS, errno);
    }"""
    told = examples_of(source, ["put"])["put"]
    assert told == ("put(b, 2) → EXIT_FAILURE, errno == ENOBUFS (a full buffer takes nothing)",)


def test_a_short_list_shows_each_outcome() -> None:
    yes = "".join(f"TEST_ASSERT_TRUE(f({n}));" for n in range(20))
    told = examples_of(f"void t(void) {{ {yes} TEST_ASSERT_FALSE(f(99)); }}".encode(), ["f"])["f"]
    assert len(told) == MOST and told[:3] == ("f(0) → true", "f(99) → false", "f(1) → true")
