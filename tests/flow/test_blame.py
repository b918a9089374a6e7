"""Which function is written anew when the line that fails calls another one."""

from pathlib import Path

from agent import events as ev
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder
from tests.flow.test_run import of, play

HEADER = """#ifndef TALLY_H
#define TALLY_H
struct tally { int keys[8], values[8], used; };
/* Makes it empty. */
void tally_clear(struct tally *t);
/* Stores a value under a key, in place of an earlier one. */
void tally_put(struct tally *t, int key, int value);
/* The number of keys. */
int tally_count(const struct tally *t);
#endif
"""
SOLUTION = b"""#include "tally.h"

void tally_clear(struct tally *t)
{
    t->used = 0;
}

void tally_put(struct tally *t, int key, int value)
{
    int at = 0;
    while (at < t->used && t->keys[at] != key)
        at++;
    if (at == t->used)
        t->used++;
    t->keys[at] = key;
    t->values[at] = value;
}

int tally_count(const struct tally *t)
{
    if (t == 0)
        return 0;
    return t->used;
}
"""
APPENDS = """void tally_put(struct tally *t, int key, int value)
{
    t->keys[t->used] = key;
    t->values[t->used] = value;
    t->used++;
}"""
ACCEPTANCE = """#include <stdio.h>
#include "../tally.h"
#define CHECK(x) do { if (!(x)) { printf("%s:%d: not true: %s\\n", __FILE__, __LINE__, #x); return 1; } } while (0)
static int test_clear(void)
{
    struct tally t;
    tally_clear(&t);
    CHECK(tally_count(&t) == 0);
    return 0;
}
static int test_put_replaces(void)
{
    struct tally t;
    tally_clear(&t);
    tally_put(&t, 3, 1);
    tally_put(&t, 3, 2);
    CHECK(tally_count(&t) == 1);
    return 0;
}
static int test_count_of_two(void)
{
    struct tally t;
    tally_clear(&t);
    tally_put(&t, 3, 1);
    tally_put(&t, 4, 1);
    CHECK(tally_count(&t) == 2);
    return 0;
}
int main(void)
{
    int bad = 0;
    bad += test_clear() ? printf("FAIL test_clear\\n") > 0 : !printf("PASS test_clear\\n");
    bad += test_put_replaces() ? printf("FAIL test_put_replaces\\n") > 0 : !printf("PASS test_put_replaces\\n");
    bad += test_count_of_two() ? printf("FAIL test_count_of_two\\n") > 0 : !printf("PASS test_count_of_two\\n");
    return bad;
}
"""
MAKEFILE = "test: ; $(CC) acceptance/acceptance.c tally.c -o t && ./t\n"


def project(root: Path) -> Path:
    (root / "acceptance").mkdir(parents=True)
    for name, text in {
        "tally.h": HEADER, "tally.c": '#include "tally.h"\n', "acceptance/acceptance.c": ACCEPTANCE, "Makefile": MAKEFILE
    }.items():  # fmt: skip
        (root / name).write_text(text)
    return root


async def test_what_the_failing_check_is_called_counts_more_than_the_getter_in_its_line(tmp_path: Path) -> None:
    coder = Coder(SOLUTION, first={"tally_put": APPENDS})
    settings = {"orchestrator": {"decomposed_repair": False, "decomposed_adjustment": False}}
    task = "Implement the functions declared in tally.h."
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(project(tmp_path / "r"), server, task, sections=settings)
    assert finished.status == "complete", finished.reason
    assert coder.asked.count("tally_count") == 1, "what only reads a member is not written anew"
    told = [one.text for one in of(heard, ev.Notice)]
    assert "tally_put is written anew first: tally_count only reads what other functions set." in told, told
    shown = [signal.message for event in of(heard, ev.FailureSignals) for signal in event.signals]
    assert shown and not any("PASS" in message for message in shown)


ALSO_WRONG = APPENDS.replace("t->used++;", "t->used += 1;")


async def test_another_function_has_its_turn_when_one_was_written_anew_in_vain(tmp_path: Path) -> None:
    coder = Coder(SOLUTION, first={"tally_put": APPENDS})
    coder.functions["tally_put"] = ALSO_WRONG
    root = project(tmp_path / "r")
    settings = {
        "orchestrator": {"decomposed_repair": False, "decomposed_adjustment": False},
        "coding": {"rework_rounds": 2, "samples": 1},
    }
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(root, server, "Implement the functions declared in tally.h.", sections=settings)
    assert finished.status == "partial", finished.reason
    again = [event.symbol for event in of(heard, ev.FunctionStarted)][3:]
    assert set(again) == {"tally_put", "tally_count"} and again[0] == "tally_put"
