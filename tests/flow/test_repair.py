"""A test that ends at its first assertion: what led there is shown, and coming further counts as progress."""

from pathlib import Path

from agent import events as ev
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder
from tests.flow.test_run import of, play

HEADER = """#ifndef TEXT_H
#define TEXT_H
/* A text of up to 31 characters. */
struct text { char data[32]; int len; };
/* Makes it empty. */
void text_init(struct text *t);
/* Appends one character. */
void text_put(struct text *t, char c);
/* Appends the digits of n, with a minus sign when it is negative. */
void text_number(struct text *t, int n);
/* Doubles the text. */
void text_twice(struct text *t);
#endif
"""
SOLUTION = b"""#include "text.h"

void text_init(struct text *t)
{
    t->len = 0;
    t->data[0] = 0;
}

void text_put(struct text *t, char c)
{
    t->data[t->len++] = c;
    t->data[t->len] = 0;
}

void text_number(struct text *t, int n)
{
    if (n < 0)
        text_put(t, '-');
    if (n / 10)
        text_number(t, n < 0 ? -(n / 10) : n / 10);
    text_put(t, '0' + (n < 0 ? -(n % 10) : n % 10));
}

void text_twice(struct text *t)
{
    int n = t->len;
    for (int i = 0; i < n; i++)
        text_put(t, t->data[i]);
}
"""
TEST = """#include <assert.h>
#include <string.h>
#include "text.h"
int main(void)
{
    struct text t;
    text_init(&t);
    text_put(&t, 'a');
    assert(strcmp(t.data, "a") == 0);
    text_init(&t);
    text_number(&t, -12);
    const char *want = "-12";
    assert(strcmp(t.data, want) == 0);
    text_twice(&t);
    assert(t.len == 6);
    return 0;
}
"""
MAKEFILE = "test: ; $(CC) -g test_text.c text.c -o t && ./t\n"
NO_SIGN = "void text_number(struct text *t, int n)\n{\n    if (n < 0)\n        n = -n;\n    if (n / 10)\n        text_number(t, n / 10);\n    text_put(t, '0' + n % 10);\n}"
NOTHING = "void text_twice(struct text *t)\n{\n    t->len += 0;\n}"


def project(root: Path) -> Path:
    root.mkdir()
    for name, text in {
        "text.h": HEADER, "text.c": '#include "text.h"\n', "test_text.c": TEST, "Makefile": MAKEFILE
    }.items():  # fmt: skip
        (root / name).write_text(text)
    return root


class Silent(Coder):
    """Blames nothing: what is written anew follows from the failure's own words alone."""

    def __call__(self, call: RecordedCall) -> Answer:
        return Answer("no") if "cause" in call.system.lower() else super().__call__(call)


async def test_functions_that_the_failing_line_does_not_name_are_found_by_the_lines_above(tmp_path: Path) -> None:
    coder = Silent(SOLUTION, first={"text_number": NO_SIGN, "text_twice": NOTHING})
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(project(tmp_path / "r"), server, "Implement the functions declared in text.h.")
    assert (finished.status, finished.tests_after and finished.tests_after.ok) == ("complete", True), finished.reason
    assert coder.asked.count("text_number") == 2 and coder.asked.count("text_twice") == 2
    assert coder.asked.count("text_init") == coder.asked.count("text_put") == 1
    shown = [signal.message for event in of(heard, ev.FailureSignals) for signal in event.signals]
    assert any("text_number(&t, -12);\n" in message for message in shown)
