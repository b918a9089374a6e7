"""Where the fault is: Ochiai, names, causes; checks of one main told apart."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.language.base import TEST_LIMIT
from agent.repair.c_testbed import TOGETHER_SECONDS, CommandBed
from agent.repair.c_trace import instrumented, traces_of
from agent.repair.commands import read_command
from agent.repair.functions import functions_of
from agent.repair.localize import Trace, clusters, line_scores, rank_functions
from agent.repair.workers import Workers
from agent.workspace.sandbox import Limits

COUNTERS = """#include "walk.h"

int count(const int *a, int n, int value) {
    int found = 0;
    for (int i = 0; i < n; i++)
        if (a[i] == value) found++;
    return found;
}

int next(const int *a, int n, int value) {
    for (int i = 0; i < n; i++)
        if (a[i] >= value) return a[i];
    return -1;
}

int total(const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    return sum;
}
"""
HEADER = """int count(const int *a, int n, int value);
int next(const int *a, int n, int value);
int total(const int *a, int n);
"""
CHECKS = "".join(f"    CHECK(count(a, 4, {n}) == 0);\n    CHECK(total(a, {n % 4}) >= 0);\n" for n in range(9))
TEST = f"""#include <stdio.h>
#include "../walk.h"
static int bad;
#define CHECK(x) do {{ if (!(x)) {{ bad++; printf("tests/test_walk.c:%d: CHECK(%s) failed\\n", __LINE__, #x); }} }} while (0)
int main(void) {{
    int a[] = {{10, 40, 70, 90}};
{CHECKS}    CHECK(count(a, 4, 70) == 1);
    CHECK(next(a, 4, 40) == 70);
    printf("%d failed\\n", bad);
    return bad != 0;
}}
"""
MAKE = """test: tests/test_walk
	./tests/test_walk
tests/test_walk: walk.o tests/test_walk.c
	$(CC) -o $@ $^
walk.o: walk.c walk.h
"""

needs_cc = pytest.mark.skipif(not shutil.which("cc") or not shutil.which("make"), reason="no C compiler")


def walk(folder: Path) -> Path:
    """A small C project with twenty checks in one main; one of them fails."""
    (folder / "tests").mkdir()
    (folder / "walk.c").write_text(COUNTERS)
    (folder / "walk.h").write_text(HEADER)
    (folder / "tests/test_walk.c").write_text(TEST)
    (folder / "Makefile").write_text(MAKE)
    return folder


async def bed_on(root: Path) -> CommandBed:
    """A command bed with one worker."""
    check = await read_command("make test", root)
    return CommandBed(root, check, Workers(root, Limits(), {}, 1), 120.0)


async def traced(root: Path) -> tuple[CommandBed, Sequence[Trace], str]:
    """A bed that was opened and closed again, what it traced, and its note."""
    bed = await bed_on(root)
    try:
        await bed.open()
        traces, _, note = await bed.traces()
    finally:
        await bed.close()
    return bed, traces, note


@needs_cc
async def test_twenty_checks_in_one_main(tmp_path: Path) -> None:
    root = walk(tmp_path)
    _, traces, note = await traced(root)
    assert note == ""
    assert sum(trace.passed for trace in traces) >= 18 and sum(not trace.passed for trace in traces) == 1
    suspects = rank_functions(functions_of("walk.c", COUNTERS.encode()), line_scores(traces))
    assert suspects[0].function.name == "next"
    assert all(one.score < suspects[0].score for one in suspects[1:])


HALVES = """unsigned halves(unsigned n) {
    unsigned steps = 0;
    while (n != 1) { n /= 2; steps++; }
    return steps;
}
"""
HALVES_TEST = """#include <assert.h>
unsigned halves(unsigned n);
static void test_none(void) { assert(halves(0) == 0); }
static void test_eight(void) { assert(halves(8) == 3); }
int main(void) { test_none(); test_eight(); return 0; }
"""


@needs_cc
async def test_a_test_that_does_not_end_hides_no_trace_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "halves.c").write_text(HALVES)
    (tmp_path / "test_halves.c").write_text(HALVES_TEST)
    (tmp_path / "Makefile").write_text("test: halves.c test_halves.c\n\t$(CC) -o t halves.c test_halves.c\n\t./t\n")
    bed, traces, note = await traced(tmp_path)
    assert note == "" and bed.baseline.failing == ("test_none",)
    each = float(bed._each[TEST_LIMIT]) / 1e6
    assert bed.batch * each <= TOGETHER_SECONDS, "a batch of versions that hang would take the whole budget"
    lines = {trace.passed: {line for path, line in trace.lines if path == "halves.c"} for trace in traces}
    assert lines == {False: {2, 3}, True: {2, 3, 4}}


SHARED_HELPER = b"""static void check(int given, int wanted)
{
    int got = next(given);
    CHECK(got == wanted);
}

static void test_small(void)
{
    check(1, 2);
}

static void test_large(void)
{
    check(70, 71);
}
"""
"""The checks of two tests stand in one helper."""


@pytest.mark.parametrize(
    "output",
    [
        "tests/t.c:4:test_small:PASS\ntests/t.c:4:test_large:FAIL: Expected 71 Was 70",
        "tests/t.c:4:test_small:PASS\ntests/t.c:12:test_large:FAIL: it crashes",
    ],
    ids=["fails", "crashes"],
)
@pytest.mark.parametrize("isolated", [False, True])
def test_a_check_of_a_helper_fails_in_the_test_that_fails(output: str, isolated: bool) -> None:
    small, large = [(-2, 9), (1, 5), (-2, 4), (1, 6)], [(-2, 14), (1, 7), (-2, 4)]
    processes = [small, large] if isolated else [small + large]
    outcomes = [("test_small", True), ("test_large", False)]
    traces = traces_of(processes, {1: "walk.c", 2: "tests/t.c"}, outcomes, output, {"tests/t.c": SHARED_HELPER})
    failing = {line for trace in traces if not trace.passed for _, line in trace.lines}
    passing = {line for trace in traces if trace.passed for _, line in trace.lines}
    assert failing == {7} and passing == {5, 6}


MEMBERS = b"""static void test_empty(void)
{
    struct box *box = box_create(0);
    CHECK(box->size == 0);
    CHECK(box->items == NULL);
}

static void test_one(void)
{
    CHECK(box_create(1)->size == 1);
}

int main(void)
{
    RUN_TEST(test_empty);
    RUN_TEST(test_one);
}
"""
"""A check of a member calls nothing: what is wrong was executed before it."""


def test_a_check_that_calls_nothing_blames_what_its_test_executed_before() -> None:
    records = [(-2, 15), (1, 3), (1, 4), (-2, 4), (-2, 5), (-2, 10), (1, 3), (1, 6)]
    outcomes = [("test_empty", False), ("test_one", True)]
    output = "t.c:5:test_empty:FAIL: Expected NULL\nt.c:10:test_one:PASS"
    traces = traces_of([records], {1: "box.c", 2: "t.c"}, outcomes, output, {"t.c": MEMBERS})
    lines = {trace.name: {line for _, line in trace.lines} for trace in traces if not trace.passed}
    assert lines == {"t.c:5": {3, 4}}


def test_what_a_test_executed_before_its_failing_check_is_less_suspicious() -> None:
    """The function that left behind what a getter then tells is found, behind the getter."""
    source = b"static void test_put(void)\n{\n    put(1);\n    CHECK(done());\n    CHECK(count() == 1);\n}\n"
    records = [(-2, 3), (1, 2), (-2, 4), (1, 5), (-2, 5), (1, 9)]
    [_, failed] = traces_of([records], {1: "box.c", 2: "t.c"}, [("test_put", False)], "t.c:5:test_put:FAIL", {"t.c": source})
    assert (failed.passed, failed.lines) == (False, {("box.c", 9)}) and ("box.c", 2) in failed.earlier
    scores = line_scores([failed])
    assert scores["box.c", 9] == 1.0 and scores["box.c", 2] == 0.5


def test_a_test_that_tells_no_place_fails_at_its_last_check_however_often_it_came_there() -> None:
    source = b"static void test_all(void)\n{\n    for (;;)\n        CHECK(put(1));\n    CHECK(resize());\n}\n"
    records = [*[(-2, 4), (1, 2)] * 3, (-2, 5), (1, 9)]

    def traces(output: str) -> list[Trace]:
        return traces_of([records], {1: "box.c", 2: "t.c"}, [("test_all", False)], output, {"t.c": source})

    for output in ("FAIL test_all", "test_all: killed by signal 11"):
        [failed] = traces(output)
        assert (failed.passed, failed.lines, failed.earlier) == (False, {("box.c", 9)}, {("box.c", 2)})
    told = traces("t.c:5: not true\nFAIL test_all")
    assert [(one.name, one.passed) for one in told] == [("t.c:4", True), ("t.c:5", False)]


NAMED = """#include <stdio.h>
#include "../walk.h"
#define CHECK(x) do { if (!(x)) { printf("acceptance/walk.c:%d: not true: %s\\n", __LINE__, #x); return 1; } } while (0)
static const int a[] = {10, 40};
static int test_total(void) { CHECK(total(a, 2) == 50); return 0; }
static int test_next(void) {
    CHECK(next(a, 2, 10) == 40);
    return 0;
}
int main(void) {
    printf("%s test_total\\n", test_total() ? "FAIL" : "PASS");
    int bad = test_next();
    printf("%s test_next\\n", bad ? "FAIL" : "PASS");
    return bad;
}
"""


@needs_cc
async def test_tests_are_known_by_the_names_of_the_checks_wherever_they_lie(tmp_path: Path) -> None:
    root = walk(tmp_path)
    (root / "acceptance").mkdir()
    (root / "acceptance/walk.c").write_text(NAMED)
    (root / "Makefile").write_text(MAKE.replace("tests/test_walk", "acceptance/walk"))
    _, traces, note = await traced(root)
    lines = {trace.passed: {line for _, line in trace.lines} for trace in traces}
    assert note == "" and lines.keys() == {False, True}
    assert lines[False].isdisjoint(lines[True]), "next and total are told apart"


def test_ochiai_of_a_line_that_only_failing_checks_run() -> None:
    traces = [Trace("a", False, frozenset({("m.py", 1), ("m.py", 2)})), Trace("b", True, frozenset({("m.py", 1)}))]
    scores = line_scores(traces)
    assert scores["m.py", 2] == 1.0
    assert scores["m.py", 1] == pytest.approx(0.7071, abs=1e-4)


def test_two_causes_are_told_apart() -> None:
    def trace(name: str, passed: bool, *lines: int) -> Trace:
        return Trace(name, passed, frozenset(("m.py", line) for line in lines))

    traces = [trace("p1", True, 1, 2), trace("p2", True, 1, 3), trace("f1", False, 1, 10, 11), trace("f2", False, 1, 10, 12),
              trace("f3", False, 1, 20, 21)]  # fmt: skip
    assert clusters(traces) == [("f1", "f2"), ("f3",)]


def test_without_traces_names_and_places_decide() -> None:
    source = b"def first(a):\n    return a\n\n\ndef second(a):\n    return a\n"
    functions = functions_of("m.py", source)
    ranked = rank_functions(functions, {}, task="second gives the wrong result")
    assert [one.function.name for one in ranked] == ["second", "first"]
    ranked = rank_functions(functions, {}, blamed={("m.py", 2)})
    assert ranked[0].function.name == "first"


@needs_cc
async def test_an_instrumented_build_that_fails_is_said(tmp_path: Path) -> None:
    root = walk(tmp_path)
    (root / "Makefile").write_text(MAKE.replace("$(CC) -o $@ $^", "grep -q cra_note walk.c && exit 1 || $(CC) -o $@ $^"))
    _, traces, note = await traced(root)
    assert traces == []
    assert note.endswith("functions are ranked by names and by what the checks say.")


STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wmissing-declarations", "-Wstrict-prototypes", "-Wshadow",
          "-Wconversion"]  # fmt: skip
BRANCHES = b"""struct s { int a; };
int f(struct s *p);
int f(struct s *p)
{
  int i;
  switch (p->a) {
  case 1:
  case 2: { int q = 3; return q; }
  default: break;
  }
  for (i = 0; i < 3; i++)
    if (i) p->a += i; else return 2;
  do p->a--; while (p->a > 0);
  return 1;
}
"""

NAMES_OF_THE_SYSTEM = b"""struct file { int left; };
int open(struct file *f);
short write(struct file *f, short value);
int getpid(struct file *f);
int open(struct file *f) { f->left = 3; return 0; }
short write(struct file *f, short value) { f->left--; return value; }
int getpid(struct file *f) { return f->left; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "source",
    [BRANCHES, b"#include <stddef.h>\nextern int kept;\n", NAMES_OF_THE_SYSTEM],
    ids=["branches", "no statement", "names of the system"],
)
def test_an_instrumented_file_has_no_warning_of_its_own(tmp_path: Path, compiler: str, source: bytes) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (tmp_path / "f.c").write_bytes(instrumented("f.c", source, 1, of_tests=False))
    for standard in ("c89", "c99"):
        words = [compiler, f"-std={standard}", *STRICT, "-c", "f.c", "-o", "f.o"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
