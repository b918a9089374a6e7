"""The interface that tests define by their use of it."""

from __future__ import annotations

import re

import pytest

from agent.c.usage import undeclared_usage

HEADER = b"typedef enum { RED, GREEN } colour_t;\nint known(int);\n"


def used(test: str) -> list[str]:
    return [one.prototype for one in undeclared_usage([test.encode()], [HEADER]).functions]


@pytest.mark.parametrize(
    ("body", "prototype"),
    [
        ("TEST_ASSERT_EQUAL_UINT8(3, score(1.0f));", "uint8_t score(float number);"),
        ('TEST_ASSERT_TRUE(is_paired("[]"));', "bool is_paired(const char *text);"),
        ('TEST_ASSERT_EQUAL_STRING("ab", join("a", \'b\'));', "const char *join(const char *text, char letter);"),
        ("uint16_t got = twice(4); use(got);", "uint16_t twice(int number);"),
        ("int left[] = {1}; CHECK(sum(left, sizeof(left) / sizeof *left) == 1);", "int sum(const int *left, size_t size);"),
        ("assert(mix(RED));", "bool mix(colour_t);"),
        ("struct node n; clear(&n);", "void clear(struct node *n);"),
        ('TEST_ASSERT_EQUAL_size_t(2, length_of("ab"));', "size_t length_of(const char *text);"),
        ("double x = 2.5; TEST_ASSERT_EQUAL_DOUBLE(1.0, root(x));", "double root(double x);"),
    ],
)
def test_types_come_from_arguments_and_from_what_takes_the_result(body: str, prototype: str) -> None:
    assert prototype in used(f"void test_it(void) {{ {body} }}")


def test_what_is_declared_defined_or_the_systems_is_not_wanted() -> None:
    text = 'static int own(void) { return 1; } void t(void) { own(); known(1); printf("x"); strlen("x"); }'
    assert used(text) == []


def test_a_name_of_a_header_that_is_not_included_is_the_projects_own() -> None:
    assert used("void t(void) { TEST_ASSERT_EQUAL_INT(0, read(1)); }") == ["int read(int number);"]
    assert used("#include <unistd.h>\nvoid t(void) { TEST_ASSERT_EQUAL_INT(0, read(1)); }") == []


def test_a_struct_is_made_of_the_members_that_are_used() -> None:
    text = """void t(void) {
        point_t p = { .x = 1, .y = 2.5 };
        TEST_ASSERT_EQUAL_INT(1, norm(p));
    }"""
    usage = undeclared_usage([text.encode()], [HEADER])
    assert usage.sure
    assert usage.types[0].definition == "typedef struct {\n    int x;\n    double y;\n} point_t;"


def test_members_that_no_test_names_are_named_by_position() -> None:
    usage = undeclared_usage([b"void t(void) { point_t p = { 1.0F, 2.0F }; TEST_ASSERT_EQUAL_INT(1, norm(p)); }"], [HEADER])
    assert usage.sure and usage.types[0].definition == "typedef struct {\n    float x;\n    float y;\n} point_t;"


def test_what_the_uses_leave_open_is_not_sure() -> None:
    for body in ("TEST_ASSERT_EQUAL_INT(1, norm(made.p));", "TEST_ASSERT_EQUAL(FINE, check(1));"):
        usage = undeclared_usage([f"void t(void) {{ {body} }}".encode()], [HEADER])
        assert usage.functions and not usage.sure


def test_constants_that_only_a_member_is_compared_with_are_an_enum_of_its_own() -> None:
    text = """void t(void) {
        weight_t w = weigh((kind_t[]){ HEAVY, LIGHT });
        TEST_ASSERT_EQUAL_UINT16(33, w.value);
        TEST_ASSERT_EQUAL(GRAMS, w.unit);
        w = weigh((kind_t[]){ LIGHT, HEAVY });
        TEST_ASSERT_EQUAL_INT(KILOS, w.unit);
    }"""
    usage = undeclared_usage([text.encode()], [HEADER])
    assert [one.definition for one in usage.types] == [
        "typedef enum { GRAMS, KILOS } unit_t;",
        "typedef struct {\n    uint16_t value;\n    unit_t unit;\n} weight_t;",
        "typedef enum { HEAVY, LIGHT } kind_t;",
    ]
    assert not usage.sure and usage.listed_by("- light\n- heavy\n").sure
    assert [one.prototype for one in usage.functions] == ["weight_t weigh(const kind_t *kinds);"]
    assert usage.types[1].described == "weight_t (a struct with uint16_t value, unit_t unit)" and not usage.plain_structs


def test_an_opaque_type_is_only_used_behind_a_pointer() -> None:
    text = b"void t(void) { queue_t *q = queue_new(3); queue_free(q); }"
    usage = undeclared_usage([text], [HEADER])
    assert [one.definition for one in usage.types] == ["typedef struct queue_t queue_t;"]
    assert [one.prototype for one in usage.functions] == ["queue_t *queue_new(int number);", "void queue_free(queue_t *q);"]


def test_what_is_handed_to_a_helper_of_the_tests_has_the_type_of_its_parameter() -> None:
    text = b"""static void check_all(size_t count, spot_t want[], spot_t got[]) {
        for (; count--; want++) TEST_ASSERT_TRUE(want->row == got->row);
    }
    void t(void) { spot_t want[] = { { 2 } }; spots_t *got = find(3); check_all(1, want, got->spots); }"""
    usage = undeclared_usage([text], [HEADER])
    assert usage.sure
    assert [one.definition for one in usage.types] == [
        "typedef struct {\n    int row;\n} spot_t;", "typedef struct {\n    spot_t *spots;\n} spots_t;",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "prototype"),
    [
        ("int a[2][3]; f(2, 3, a); int b[4][1]; f(4, 1, b); f(0, 0, NULL);",
         "void f(int rows, int columns, int @[rows][columns]);"),
        ("int a[2][3]; f(a); int b[4][3]; f(b);", "void f(int (*@)[3]);"),
        ("int a[2][3]; f(a, 2); int b[4][3]; f(b, 4);", "void f(int (*@)[3], int number);"),
    ],
)  # fmt: skip
def test_an_array_of_rows_is_handed_over_as_one(calls: str, prototype: str) -> None:
    found = used(f"void t(void) {{ {calls} }}")
    assert [re.sub(r"\b(?:a|b|grid)(?=[\[)])", "@", one) for one in found] == [prototype]
