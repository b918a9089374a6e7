"""Candidates on real beds: pytest in forks, C in one build; what hangs, crashes or is flaky does no harm."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from agent.repair import c_schema
from agent.repair.c_testbed import CommandBed, halt_of
from agent.repair.commands import read_command, usable_python
from agent.repair.edits import Candidate, Edit, apply_edits
from agent.repair.functions import functions_of
from agent.repair.live_commands import Halt
from agent.repair.localize import line_scores, rank_functions
from agent.repair.search import EditSearch, candidates_of
from agent.repair.testbed import Baseline, CheckBed, NoBed, PythonBed
from agent.repair.workers import Workers
from agent.workspace.sandbox import Limits

CLAMP = (
    "def clamp(x, low, high):\n    if x < low:\n        return low\n    if x < high:\n        return high\n    return x\n"
)
CLAMP_TEST = (
    "import pytest\nfrom clamp import clamp\n\n\n"
    "@pytest.mark.parametrize(('x', 'want'), [(0, 1), (5, 5), (12, 9), (9, 9)])\n"
    "def test_clamp(x, want):\n    assert clamp(x, 1, 9) == want\n"
)
COUNT = "def digits(n):\n    found = 1\n    while n > 9:\n        n = n // 10\n        found -= 1\n    return found\n"
COUNT_TEST = "import unittest\nfrom count import digits\n\n\nclass T(unittest.TestCase):\n" + "".join(
    f"    def test_{n}(self):\n        self.assertEqual(digits({n}), {len(str(n))})\n" for n in (7, 42, 999)
)
MIDDLE = '#include <stdio.h>\nint middle(int a, int b, int c)\n{\n\tif (a < b && b < c)\n\t\treturn b;\n\tif (b < a && a < c)\n\t\treturn a;\n\treturn c;\n}\nint main(void)\n{\n\tint bad = 0;\n\tif (middle(1, 2, 3) != 2) { printf("FAIL one\\n"); bad = 1; } else printf("PASS one\\n");\n\tif (middle(1, 2, 2) != 2) { printf("FAIL two\\n"); bad = 1; } else printf("PASS two\\n");\n\tif (middle(4, 6, 6) != 6) { printf("FAIL three\\n"); bad = 1; } else printf("PASS three\\n");\n\tif (middle(5, 4, 1) != 4) { printf("FAIL four\\n"); bad = 1; } else printf("PASS four\\n");\n\treturn bad;\n}\n'  # noqa: E501

needs_cc = pytest.mark.skipif(not shutil.which("cc") or not shutil.which("make"), reason="no C compiler")


async def python_bed(root: Path, command: str = "pytest -q") -> PythonBed:
    """A bed with two workers on a folder of tests."""
    check = await read_command(command, root)
    return PythonBed(root, check, await usable_python(check, root), Workers(root, Limits(), {}, 2), 120.0)


async def searched(bed: CheckBed, root: Path, path: str, seconds: float = 40.0) -> EditSearch:
    """A whole search in one file."""
    source = (root / path).read_bytes()
    traces, blamed, _ = await bed.traces()
    suspects = rank_functions(functions_of(path, source), line_scores(traces), blamed=blamed)
    search = EditSearch(bed, {path: source}, time.monotonic() + seconds)
    await search.run(candidates_of(suspects))
    return search


def edit(path: str, source: str, old: str, new: str) -> tuple[Candidate, dict[str, str]]:
    """One replacement as a candidate, with the whole new text."""
    at = source.index(old)
    one = Edit(path, at, at + len(old), new)
    return Candidate((one,), "test", path, "f", 1), {path: source.replace(old, new, 1)}


async def test_pytest_in_forks(tmp_path: Path) -> None:
    (tmp_path / "clamp.py").write_text(CLAMP)
    (tmp_path / "test_clamp.py").write_text(CLAMP_TEST)
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        assert len(bed.baseline.failing) == 2 and len(bed.baseline.passing) == 2
        search = await searched(bed, tmp_path, "clamp.py")
        assert any("x > high" in texts for texts in _texts(search, CLAMP))
        good, bad, hangs, crashes, broken = await bed.attempts([
            edit("clamp.py", CLAMP, "x < high", "x > high"),
            edit("clamp.py", CLAMP, "x < low", "x > low"),
            edit("clamp.py", CLAMP, "if x < low", "while True:\n        pass\n    if x < low"),
            edit("clamp.py", CLAMP, "return x", "import os; os.abort()"),
            edit("clamp.py", CLAMP, "return x", "return ("),
        ])  # fmt: skip
        assert good.ok and good.fixed == frozenset(bed.baseline.failing)
        assert not bad.ok and not hangs.ok and not crashes.ok
        assert hangs.cut and hangs.seconds < 30
        assert not broken.built
        again = (await bed.attempts([edit("clamp.py", CLAMP, "x < high", "x > high")]))[0]
        assert again.ok  # what hung and what crashed took nothing with it
    finally:
        await bed.close()
    assert (tmp_path / "clamp.py").read_text() == CLAMP
    assert not list(tmp_path.rglob("__pycache__"))


async def test_what_decides_while_modules_are_loaded_is_loaded_anew(tmp_path: Path) -> None:
    source = "def step():\n    return 1\n\n\nTABLE = [step() * n for n in range(3)]\n\n\ndef at(n):\n    return TABLE[n]\n"
    (tmp_path / "table.py").write_text(source)
    (tmp_path / "test_table.py").write_text("from table import at\n\n\ndef test_at():\n    assert at(2) == 4\n")
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        right, wrong = await bed.attempts([
            edit("table.py", source, "return 1", "return 2"),
            edit("table.py", source, "return TABLE[n]", "return TABLE[n] + 1"),
        ])  # fmt: skip
    finally:
        await bed.close()
    assert right.ok and not wrong.ok


def _texts(search: EditSearch, source: str) -> list[str]:
    found = []
    for one in search.passing:
        text = source
        for part in sorted(one.candidate.edits, key=lambda part: -part.start):
            text = text[: part.start] + part.text + text[part.end :]
        found.append(text)
    return found


@pytest.mark.parametrize("runner", ["unittest -q test_count", "pytest -q test_count.py"])
async def test_test_cases_behind_make(tmp_path: Path, runner: str) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    (tmp_path / "test_count.py").write_text(COUNT_TEST)
    (tmp_path / "Makefile").write_text(f"test:\n\tpython3 -m {runner}\n")
    bed = await python_bed(tmp_path, "make test")
    assert bed.check.kind == runner.partition(" ")[0]
    try:
        await bed.open()
        assert len(bed.baseline.failing) == 2 and len(bed.baseline.passing) == 1
        search = await searched(bed, tmp_path, "count.py")
    finally:
        await bed.close()
    assert any("found += 1" in text for text in _texts(search, COUNT))


async def test_two_edits_where_one_is_not_enough(tmp_path: Path) -> None:
    source = "def low(x):\n    return x + 1\n\n\ndef high(x):\n    return x - 1\n"
    test = "from two import high, low\n\n\ndef test_low():\n    assert low(3) == 2\n\n\n"
    test += "def test_high():\n    assert high(3) == 4\n"
    (tmp_path / "two.py").write_text(source)
    (tmp_path / "test_two.py").write_text(test)
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        search = await searched(bed, tmp_path, "two.py")
        assert not search.passing and search.partial
        await search.run(search.combined())
    finally:
        await bed.close()
    assert search.passing and search.passing[0].candidate.source == "combined"


async def test_a_fault_that_shows_only_once_another_is_mended(tmp_path: Path) -> None:
    (tmp_path / "tag.py").write_text("def tag(n):\n    return [n + 2, n > 10]\n")
    cases = "(3, False), (12, True), (10, True)"
    test = f"@pytest.mark.parametrize(('n', 'big'), [{cases}])\ndef test_tag(n, big):\n    assert tag(n) == [n + 1, big]\n"
    (tmp_path / "test_tag.py").write_text(f"import pytest\nfrom tag import tag\n\n\n{test}")
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        search = await searched(bed, tmp_path, "tag.py")
        await search.run(search.combined())
        assert not search.passing and search.partial
        source = (tmp_path / "tag.py").read_bytes()
        candidates = candidates_of(rank_functions(functions_of("tag.py", source), {}))
        await search.run(search.on_top(candidates, len(bed.baseline.failing)))
    finally:
        await bed.close()
    texts = {apply_edits(source, one.candidate.edits).decode() for one in search.passing}
    assert "def tag(n):\n    return [n + 1, n >= 10]\n" in texts


async def test_what_is_like_an_edit_that_passes_is_tried_next(tmp_path: Path) -> None:
    (tmp_path / "keep.py").write_text("def keep(n):\n    return n\n")
    (tmp_path / "test_keep.py").write_text("from keep import keep\n\n\ndef test_keep():\n    assert keep(1) == 2\n")
    source = (tmp_path / "keep.py").read_bytes()
    at = source.index(b"n\n", source.index(b"return"))

    def one(operator: str, text: str, rank: float) -> Candidate:
        return Candidate((Edit("keep.py", at, at + 1, text),), operator, "keep.py", "keep", 2, rank=rank)

    others = [one("other", f"n + {number}", 0.9) for number in range(3, 9)]
    bed = await python_bed(tmp_path)
    tried: list[float] = []
    try:
        await bed.open()
        search = EditSearch(bed, {"keep.py": source}, time.monotonic() + 40, width=1)
        search.tell = lambda counts, found: tried.append(found.candidate.rank if found else 0.9)
        await search.run([one("same", "n + 1", 1.0), *others, one("same", "2 * n", 0.8), one("same", "n - n", 0.1)])
    finally:
        await bed.close()
    assert tried[:2] == [1.0, 0.8] and len(tried) == 8


async def test_flaky_tests_are_found_out(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("def f():\n    return 1\n")
    (tmp_path / "test_odd.py").write_text(
        "import os, pathlib\n\n\ndef test_it():\n    mark = pathlib.Path(__file__).with_suffix('.mark')\n"
        "    if not mark.exists():\n        mark.touch()\n        assert False\n"
    )
    bed = await python_bed(tmp_path)
    bed.workers.count = 1
    try:
        with pytest.raises(NoBed, match="flaky"):
            await bed.open()
    finally:
        await bed.close()


async def test_nothing_that_fails_is_said(tmp_path: Path) -> None:
    (tmp_path / "test_ok.py").write_text("def test_it():\n    pass\n")
    bed = await python_bed(tmp_path)
    try:
        with pytest.raises(NoBed, match="no test fails in a copy"):
            await bed.open()
    finally:
        await bed.close()


def c_project(folder: Path) -> None:
    """One C program that tests itself."""
    (folder / "middle.c").write_text(MIDDLE)
    (folder / "Makefile").write_text("test: middle\n\t./middle\nmiddle: middle.c\n\t$(CC) -o $@ $<\n")


@needs_cc
async def test_c_mutants_in_one_build(tmp_path: Path) -> None:
    c_project(tmp_path)
    check = await read_command("make test", tmp_path)
    bed = CommandBed(tmp_path, check, Workers(tmp_path, Limits(), {}, 1), 120.0)
    try:
        await bed.open()
        assert bed.baseline.failing == ("four",)
        found = [
            edit("middle.c", MIDDLE, "return c", "return b"),
            edit("middle.c", MIDDLE, "return c", "return nothing"),
            edit("middle.c", MIDDLE, "return c", "for (;;); return c"),
            edit("middle.c", MIDDLE, "return c", "*(volatile int *)0 = 1; return c"),
        ]
        named = [(Candidate(one.edits, "t", one.path, "middle", 8), texts) for one, texts in found]
        good, unbuilt, hangs, crashes = await bed.attempts(named)
    finally:
        await bed.close()
    assert good.ok
    assert not unbuilt.built
    assert hangs.cut and not hangs.ok
    assert not crashes.ok and crashes.built
    assert ("middle.c", "middle") not in bed._single


@needs_cc
async def test_a_search_in_c(tmp_path: Path) -> None:
    c_project(tmp_path)
    check = await read_command("make test", tmp_path)
    bed = CommandBed(tmp_path, check, Workers(tmp_path, Limits(), {}, 1), 120.0)
    try:
        await bed.open()
        search = await searched(bed, tmp_path, "middle.c")
    finally:
        await bed.close()
    assert search.passing
    assert search.counts.unbuilt < search.counts.tried


def test_a_schema_keeps_the_function_as_mutant_zero() -> None:
    function = functions_of("m.c", MIDDLE.encode())[0]
    at = MIDDLE.index("return c")
    text = c_schema.schema(function, [(Edit("m.c", at, at + 8, "return a"),)]).decode()
    assert "case 1: return middle__cra1(a, b, c);" in text
    assert text.count("return c;") == 1
    assert c_schema.refused("m.c:100003:5: error: 'x' undeclared\nm.c:7: error: y", "m.c") == {1, 0}


@pytest.mark.parametrize(
    "code", ["int f(a) int a; { return a; }", "int f(int a, ...) { return a; }", "int f(int) { return 1; }"]
)
def test_functions_whose_arguments_cannot_be_handed_on(code: str) -> None:
    found = functions_of("m.c", code.encode())
    for function in found:
        with pytest.raises(c_schema.Unsuited):
            c_schema.schema(function, [()])


def test_when_a_run_can_be_given_up() -> None:
    base = Baseline(failing=("b", "b2"), passing=("a", "c"))
    output = "PASS a\nFAIL b: want 1\nok c\nnot ok b2\n"
    said = halt_of(base, output)
    assert said is not None

    def hears(text: str) -> bool:
        return Halt(said).hears(text.encode())

    assert not hears("PASS a\nFAIL b\nPASS c\n")
    assert not hears("PASS a\nFAIL c")  # the line is not at its end yet
    assert hears("PASS a\nFAIL c\n")
    assert hears("PASS a\nFAIL b: got 2\nnot ok b2\n")
    assert halt_of(base, output + "FAILED with 2 of a\n") is None
    assert halt_of(Baseline(failing=("the checks",)), "boom\n") is None


@needs_cc
async def test_a_run_that_breaks_a_check_ends_there(tmp_path: Path) -> None:
    script = "./middle; code=$?; sleep 5; exit $code\n"
    c_project(tmp_path)
    (tmp_path / "run.sh").write_text(script)
    (tmp_path / "Makefile").write_text("test: middle\n\tsh run.sh\nmiddle: middle.c\n\t$(CC) -o $@ $<\n")
    (tmp_path / "middle.c").write_text(MIDDLE.replace("int bad = 0;", "int bad = 0; setvbuf(stdout, 0, _IOLBF, 0);"))
    source = (tmp_path / "middle.c").read_text()
    (tmp_path / "run.sh").write_text(script.replace("sleep 5; ", ""))
    check = await read_command("make test", tmp_path)
    bed = CommandBed(tmp_path, check, Workers(tmp_path, Limits(), {}, 1), 120.0)
    try:
        await bed.open()
        (bed.workers.all[0].tree / "run.sh").write_text(script)
        [broken] = await bed.attempts([edit("middle.c", source, "return b", "return a")])
    finally:
        await bed.close()
    assert not broken.ok and not broken.cut and broken.broken


SIZES = "def size(n):\n    if n > 100:\n        return 'large'\n    return 'small'\n"
SIZES_TEST = "from size import size\n\n\n" + "".join(
    f"def test_{number}():\n    assert size({number}) == {want!r}\n\n\n"
    for number, want in ((1, "small"), (2, "small"), (50, "large"), (60, "large"), (70, "middle"))
)


async def test_an_edit_that_mends_some_checks_and_breaks_others_is_put_aside(tmp_path: Path) -> None:
    """A trial ends at the first check that fails, before it comes to those that pass now."""
    (tmp_path / "size.py").write_text(SIZES)
    (tmp_path / "test_size.py").write_text(SIZES_TEST)
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        edits = [edit("size.py", SIZES, "n > 100", new) for new in ("True", "n > 40")]
        search = EditSearch(bed, {"size.py": SIZES.encode()}, time.monotonic() + 40.0)
        await search.run([edits[0][0]])
        assert len(search.parts) == 1
        await search.confirm_partial()
        await search.run([edits[1][0]])
        assert len(search.partial) == 1 and not search.parts, "all checks were not run with the second one yet"
        await search.confirm_partial()
    finally:
        await bed.close()
    assert [one.candidate for one in search.parts] == [edits[1][0]]
    assert [one.candidate for one in search.mixed] == [edits[0][0]] and search.mixed[0].broken == 2


ROWS = "def rows(n):\n    found = []\n    for i in range(n):\n        found.append(i)\n    return found + ['start']\n"
ROWS_TEST = "from rows import rows\n\n\ndef test_it():\n    assert rows(5) == [1, 2, 3, 4, 5, 'end']\n"


async def test_two_faults_in_one_check_are_mended_by_way_of_a_nearer_result(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(ROWS)
    (tmp_path / "test_rows.py").write_text(ROWS_TEST)
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        made = [("i)\n    return", "i + 1)\n    return"), ("'start'", "'end'"), ("found = []", "found = ['a']")]
        edits = [edit("rows.py", ROWS, old, new)[0] for old, new in made]
        search = EditSearch(bed, {"rows.py": ROWS.encode()}, time.monotonic() + 40.0)
        await search.run(edits)
        assert not search.passing and not search.partial
        both = search.on_near(edits)
        await search.run(both)
    finally:
        await bed.close()
    assert all(one.edits[0] in (edits[0].edits[0], edits[1].edits[0]) for one in both)
    assert {one.candidate.edits for one in search.passing} <= {(*a.edits, *b.edits) for a in edits[:2] for b in edits[:2]}
    assert search.passing


async def test_a_worker_that_is_lost_is_started_again_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "clamp.py").write_text(CLAMP)
    (tmp_path / "test_clamp.py").write_text(CLAMP_TEST)
    bed = await python_bed(tmp_path)
    killing = {"clamp.py": f"import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n{CLAMP}"}
    try:
        await bed.open()
        trials = await asyncio.gather(*(bed.attempt(files) for files in (killing, {}, killing, {}, {})))
        texts = [(worker.tree / "clamp.py").read_text() for worker in bed.workers.all]
    finally:
        await bed.close()
    assert [trial.built for trial in trials] == [False, True, False, True, True]
    assert texts == [CLAMP, CLAMP] and bed.workers.free.qsize() == 2
