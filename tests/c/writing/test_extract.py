"""The named function out of what small models reply, and into its place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.c.writing.extract import Extracted, extract_function
from agent.c.writing.insertion import place_function
from agent.c.writing.stubs import is_stub

SIGNATURE = "int ring_push(ring_t *r, int value)"
FUNCTION = "int ring_push(ring_t *r, int value)\n{\n    r->items[r->count++] = value;\n    return 1;\n}"
SOURCE = b"""#include "ring.h"

/* A comment that stays. */
int before(void) { return 1; }

/** Push a value. */
int ring_push(ring_t *r, int value)
{
    /* cra:stub */
    (void)r;
    (void)value;
    return 0;
}

int after(void) { return 2; }
"""
KNOWN = ("ring_t", "ring", "ring_pop", "RING_MAX", "before", "after")


def take(reply: str, *, finish: str = "stop", known: tuple[str, ...] = KNOWN):  # type: ignore[no-untyped-def]
    return extract_function(reply, SIGNATURE, known=known, finish=finish)


WHOLE_FILE = """Certainly! Below is the complete file:

```c
#include <stdlib.h>
#include "ring.h"

#define RING_MAX 8
#define STEP 2

struct ring { int *items; size_t count; };

static size_t wrap(size_t n)
{
    return n % STEP;
}

int ring_pop(ring_t *r, int *out)
{
    return 0;
}

int ring_push(ring_t *r, int value)
{
    r->items[wrap(r->count++)] = value;
    return 1;
}

int main(void)
{
    return ring_push(0, 1);
}
```

This implementation handles all the cases. You can compile it with `gcc ring.c`.
"""

REPLIES = {
    "fence": f"```c\n{FUNCTION}\n```",
    "no fence": FUNCTION,
    "prose around": f"Sure, here is it:\n\n{FUNCTION}\n\nIt appends {{value}} to the ring.",
    "fence and prose": f"Here's the function (ring_push):\n```C\n{FUNCTION}\n```\nThis function does x; it's fine.",
    "opening fence lost": f"{FUNCTION}\n```\nThat's it!",
    "thinking": f"<think>maybe `int ring_push(void) {{}}`</think>\n```c\n{FUNCTION}\n```",
    "header again": f"```c\n#ifndef R_H\ntypedef struct ring ring_t;\n{SIGNATURE};\n#endif\n```\n```c\n{FUNCTION}\n```",
    "with a main": f"```c\n{FUNCTION}\n\nint main(void)\n{{\n    ring_push(0, 3);\n}}\n```",
    "example of use": f"```c\n{FUNCTION}\n```\nUse it so:\n```c\nint main(void) {{ return ring_push(r, 1); }}\n```",
    "stub first": f"```c\n{SIGNATURE} {{ /* TODO */ return 0; }}\n```\nbecomes\n```c\n{FUNCTION}\n```",
    "shell block": f"```c\n{FUNCTION}\n```\n```bash\ngcc -c ring.c\n```",
    "doc repeated": f"```c\n/** Push a value. */\n{FUNCTION}\n```",
    "crlf": f"```c\r\n{FUNCTION}\r\n```".replace("\n{\n", "\r\n{\r\n"),
    "static": f"```c\nstatic {FUNCTION}\n```",
    "tilde": f"~~~\n{FUNCTION}\n~~~",
}  # fmt: skip


@pytest.mark.parametrize("kind", REPLIES)
def test_the_function_is_found(kind: str) -> None:
    got = take(REPLIES[kind])
    assert got.ok, got.problems
    assert got.function_text == FUNCTION and got.helpers == ()


def test_a_whole_file_gives_the_function_and_only_the_helpers_it_lacks() -> None:
    got = take(WHOLE_FILE)
    assert got.ok and "wrap(r->count++)" in got.function_text
    assert got.helpers == ("#define STEP 2", "static size_t wrap(size_t n)\n{\n    return n % STEP;\n}")
    assert got.includes == ("stdlib.h", "ring.h")


def test_a_helper_is_made_private() -> None:
    got = take(f"int wrap(int n) {{ return n; }}\n{FUNCTION.replace('= value', '= wrap(value)')}")
    assert got.helpers == ("static int wrap(int n) { return n; }",)


def test_a_type_and_a_global_that_nobody_has_come_along() -> None:
    body = "struct slot s = {value};\n    total += s.v;\n    return total;"
    got = take(f"```c\nstruct slot {{ int v; }};\nstatic int total;\nint unused;\n{SIGNATURE}\n{{\n    {body}\n}}\n```")
    assert got.helpers == ("struct slot { int v; };", "static int total;")


@pytest.mark.parametrize(
    "reply",
    [
        "```c\n{\n    r->count++;\n    return value;\n}\n```",
        "```c\n    r->count++;\n    return value;\n```",
        "r->count++;\nreturn value;",
    ],
)
def test_a_body_alone_gets_its_head(reply: str) -> None:
    got = take(reply)
    assert got.ok and got.repairs
    assert got.function_text == f"{SIGNATURE}\n{{\n    r->count++;\n    return value;\n}}"


def test_another_name_with_the_same_signature_is_renamed_recursion_included() -> None:
    got = take("```c\nint push(ring_t *ring, int v)\n{\n    return v ? push(ring, v - 1) : ring->push;\n}\n```")
    assert got.ok
    assert got.function_text == (
        "int ring_push(ring_t *ring, int v)\n{\n    return v ? ring_push(ring, v - 1) : ring->push;\n}"
    )


def test_a_wrong_head_is_set_right_and_parameter_names_are_the_writers() -> None:
    got = take("```c\nbool ring_push(struct ring *self, long v)\n{\n    return self->count > v;\n}\n```")
    assert got.ok and got.repairs
    assert got.function_text.startswith("int ring_push(ring_t *self, int v)\n{\n    return self->count")


def test_a_wrong_number_of_parameters_is_a_problem_that_shows_both() -> None:
    got = take("```c\nint ring_push(int value)\n{\n    return value;\n}\n```")
    assert not got.ok and SIGNATURE in got.problems[0] and "int ring_push(int value)" in got.problems[0]


@pytest.mark.parametrize(
    "reply",
    [FUNCTION[:-20], f"```c\n{FUNCTION[:-2]}", f"```c\n{FUNCTION[:40]}", "```c\nint ring_push(ring_t *r,"],
)
def test_a_cut_reply_is_a_problem_that_says_so(reply: str) -> None:
    got = take(reply, finish="length")
    assert not got.ok and "cut off" in got.problems[0]


@pytest.mark.parametrize(
    "reply", ["", "I am sorry, I cannot do that.", "```\n```", "<think>hm", "```c\nint x;\n```", "{{{{", "}"]
)
def test_no_function_is_a_problem_for_the_next_prompt(reply: str) -> None:
    got = take(reply)
    assert not got.ok and got.function_text == ""
    assert "ring_push" in got.problems[0] or "no code" in got.problems[0]


def test_another_function_is_named() -> None:
    assert "defines ring_pop, not ring_push" in take("```c\nint ring_pop(ring_t *r) { return r->n; }\n```").problems[0]


def test_a_stub_for_a_reply_is_a_problem() -> None:
    got = take("```c\nint ring_push(ring_t *r, int value)\n{\n    // TODO: implement\n    return 0;\n}\n```")
    assert not got.ok and "still a stub" in got.problems[0]


def test_the_return_type_on_a_line_of_its_own_amid_prose() -> None:
    got = take("Here you go\nint\nring_push(ring_t *r, int value) {\n  return r->n + value;\n}\nHope it's ok")
    assert got.ok and got.function_text.endswith("{\n  return r->n + value;\n}")


def test_braces_in_strings_and_comments_do_not_count() -> None:
    body = "{\n    puts(\"}\");  /* } */ // }\n    return value == '}';\n}"
    assert take(f"{SIGNATURE}\n{body}").function_text == f"{SIGNATURE}\n{body}"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("{}()`;\n *#int\"'/\\")), max_size=80), st.integers(0, len(WHOLE_FILE)))
def test_no_reply_raises(noise: str, cut: int) -> None:
    take(noise)
    take(WHOLE_FILE[:cut] + noise)
    take(noise + FUNCTION)


def test_the_function_is_placed_and_the_rest_stays_byte_for_byte() -> None:
    placed = place_function(SOURCE, "ring_push", take(REPLIES["fence"]))
    start, end = SOURCE.index(b"int ring_push"), SOURCE.index(b"\n\nint after")
    assert placed == SOURCE[:start] + FUNCTION.encode() + SOURCE[end:]
    assert not is_stub(placed, "ring_push")


def test_helpers_go_before_the_comment_of_the_function_and_types_before_all_functions() -> None:
    placed = place_function(SOURCE, "ring_push", take(WHOLE_FILE)).decode()
    order = ["#define STEP 2", "A comment that stays", "int before", "static size_t wrap", "/** Push", "int ring_push("]
    positions = [placed.index(text) for text in order]
    assert positions == sorted(positions)
    assert "#include <stdlib.h>" not in placed


def test_a_helper_that_stands_further_down_is_declared_above() -> None:
    below = b"\nstatic size_t last(size_t n)\n{\n    return n - 1;\n}\n"
    calling = FUNCTION.replace("{\n", "{\n    r->count = last(r->count);\n", 1)
    placed = place_function(SOURCE + below, "ring_push", take(f"```c\n{calling}\n```"))
    assert placed.count(b"static size_t last(size_t n);") == 1
    assert placed.index(b"static size_t last(size_t n);") < placed.index(b"int ring_push(")
    assert place_function(placed, "ring_push", take(f"```c\n{calling}\n```")) == placed


def test_crlf_and_no_final_newline_are_kept() -> None:
    source = SOURCE.rstrip(b"\n").replace(b"\n", b"\r\n")
    placed = place_function(source, "ring_push", take(WHOLE_FILE))
    assert placed.count(b"\n") == placed.count(b"\r\n") and placed.endswith(b"return 2; }")


def test_an_undefined_function_is_added_at_the_end() -> None:
    placed = place_function(b'#include "ring.h"\n', "ring_push", take(REPLIES["fence"]))
    assert placed == b'#include "ring.h"\n\n' + FUNCTION.encode() + b"\n"
    assert place_function(b"", "ring_push", take(REPLIES["fence"])) == FUNCTION.encode() + b"\n"


def test_types_do_not_land_inside_a_condition() -> None:
    source = b"#ifdef X\nint x(void) { return 1; }\n#endif\n\n" + SOURCE
    placed = place_function(source, "ring_push", take(WHOLE_FILE)).decode()
    assert placed.startswith("#define STEP 2\n\n#ifdef X")


@pytest.mark.parametrize(
    "body",
    [
        "ring_push(" * 1000,
        FUNCTION[:-1] + "{" * 2000 + "}" * 2001,
        "#if A\n" * 500 + FUNCTION + "\n#endif" * 500,
        "ring_push(r) { " * 600,
        "ring_push()" * 1000,
    ],
    ids=["calls", "blocks", "conditions", "heads", "flat"],
)
def test_a_reply_that_nests_without_end_is_refused_at_once(body: str) -> None:
    started = time.process_time()
    found = take(f"```c\n{body}\n```")
    assert time.process_time() - started < 0.5
    assert not found.ok and found.problems


@pytest.mark.parametrize(
    "reply",
    [
        f"```c\n{FUNCTION}\n```\n" * 200,
        f"```c\n{FUNCTION[:-1]}{'if (value) value++; else ' * 300} return 0; }}\n```",
        f"```c\n{FUNCTION[:-1]}return {'!' * 2000}value; }}\n```",
    ],
    ids=["versions", "branches", "signs"],
)
def test_a_long_reply_is_read_in_time_linear_in_its_length(reply: str) -> None:
    started = time.process_time()
    assert take(reply).ok
    assert time.process_time() - started < 1.5


def test_as_deep_as_people_write_is_read() -> None:
    deep = "if (value) { " * 60 + "value++;" + " }" * 60
    assert take(f"```c\nint ring_push(ring_t *r, int value)\n{{ {deep} return r->items[{'(' * 60}0{')' * 60}]; }}\n```").ok


def test_helpers_of_a_version_before_go_with_it() -> None:
    source = b"static int mine(void)\n{\n    return 3;\n}\n\nint f(int n)\n{\n    return 0;\n}\n"
    deep, helper = "int deep(int n)\n{\n    return n;\n}", "int helper(int n)\n{\n    return deep(n) + mine();\n}"
    first = Extracted("int f(int n)\n{\n    return helper(n);\n}", (f"static {deep}", f"static {helper}"))
    placed = place_function(source, "f", first)
    again = place_function(placed, "f", first, first.helpers)
    assert again.count(b"static int helper") == again.count(b"static int deep") == 1
    alone = place_function(again, "f", Extracted("int f(int n)\n{\n    return n;\n}"), first.helpers)
    assert b"helper" not in alone and b"deep" not in alone and b"static int mine" in alone, "mine was there before"
