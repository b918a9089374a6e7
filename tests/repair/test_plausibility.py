"""Edits that pass are told apart by what they do with inputs near those of the checks."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from agent.repair.c_testbed import CommandBed
from agent.repair.commands import read_command
from agent.repair.edits import Candidate, Edit
from agent.repair.inputs import Input, near_arguments, near_texts
from agent.repair.live_calls import answers, literal
from agent.repair.plausibility import (
    alike,
    changed_results,
    difference,
    examples,
    foreign_results,
    fused,
    odd_results,
    plausible_first,
    preference,
    telling,
    unordered_results,
)
from agent.repair.testbed import Probe
from agent.repair.workers import Workers
from agent.workspace.sandbox import Limits
from tests.repair.test_search import needs_cc, python_bed

LARGEST = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
LARGEST_TEST = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
SUM = (
    "#include <stdio.h>\n\nint main(void)\n{\n\tint a, b;\n\tscanf(\"%d %d\", &a, &b);\n\tprintf(\"%d\\n\", a - b);\n"
    "\treturn 0;\n}\n"
)  # fmt: skip
SCRIPT = """bad=0
for input in cases/*.in; do
  name=$(basename "$input" .in)
  if [ "$(./sum <"$input")" = "$(cat cases/$name.out)" ]; then echo "PASS $name"; else echo "FAIL $name"; bad=1; fi
done
exit $bad
"""


def edited(path: str, source: str, old: str, new: str, function: str) -> tuple[Candidate, dict[str, str]]:
    """One replacement as a candidate, with the whole new text."""
    at = source.index(old)
    edit = Edit(path, at, at + len(old), new)
    return Candidate((edit,), "test", path, function, 1), {path: source.replace(old, new, 1)}


def test_what_agrees_with_the_contract_comes_before_what_passes_by_chance() -> None:
    chance = Candidate((Edit("a.c", 0, 2, ">="),), "comparison", "a.c", "f", 1, rank=0.7)
    told = Candidate((Edit("a.c", 0, 2, "a || b"),), "told-case", "a.c", "f", 1, rank=0.45)
    shifted = Candidate((Edit("a.c", 0, 2, "a + 255"),), "told-operand", "a.c", "f", 1, rank=0.45)
    assert sorted((chance, told, shifted), key=preference) == [told, chance, shifted]


def test_neighbours_of_arguments_are_of_the_same_types() -> None:
    calls = ["(3, [1, 2], 'ab')", "(0, [], '')"]
    found = near_arguments(calls)
    assert found[:2] == [Input(calls[0], 0), Input(calls[1], 1)]
    assert len(found) > 30 and found == near_arguments(calls) and {one.origin for one in found} == {0, 1}
    for one in found:
        number, items, word = ast.literal_eval(one.text)
        assert isinstance(number, int) and isinstance(items, list) and isinstance(word, str)
    assert near_arguments([]) == [] and near_arguments(["()"]) == [Input("()", 0)]


def test_neighbours_keep_what_all_inputs_have_in_common() -> None:
    found = near_arguments(["([1, 4, 9], 4)", "([2, 3], 7)", "([5], 0)"])
    assert len(found) > 20
    for one in found:
        items, wanted = ast.literal_eval(one.text)
        assert items == sorted(items) and items and min(items) >= 0 and wanted >= 0
    texts = near_texts(["90 80 70\n85\n", "60 50 40\n45\n", "99 50 1\n0\n"])
    assert len(texts) > 20
    for one in texts:
        limits, score = (list(map(float, line.split())) for line in one.text.splitlines())
        assert limits == sorted(limits, reverse=True) and len(limits) == 3 and len(score) == 1 and min(limits + score) >= 0
    few = [ast.literal_eval(one.text)[0] for one in near_arguments(["([1, 2],)", "([1, 2, 3],)"])]
    assert any(items != sorted(items) for items in few)  # two inputs tell too little


def test_neighbours_of_a_text_keep_its_shape() -> None:
    found = near_texts(["4 17\nabc\n"])
    assert len(found) > 20
    assert all(one.text.count("\n") == 2 for one in found)
    assert any(one.text.startswith("17 4\n") for one in found)


def test_what_is_written_down_of_values() -> None:
    values = (1, "a", [1, (2,)], {"k": {3, 1}}, ())
    assert [literal(one) for one in values] == ["1", "'a'", "[1, (2,)]", "{'k': {1, 3}}", "()"]
    assert [literal(one) for one in (object(), [open], float("nan"), float("inf"), {1: sys})] == [""] * 5


def test_what_a_function_does_with_an_input() -> None:
    def odd(items: list[int], way: int) -> object:
        if way == 0:
            items.append(9)
            return len(items)
        if way == 1:
            while True:
                pass
        if way == 2:
            return (one for one in items)
        raise KeyError(way)

    said = list(answers(odd, ["([1], 0)", "([1], 1)", "([1, 2], 2)", "([1], 3)"]))  # type: ignore[arg-type]
    assert said == ["gives 2, leaves ([1, 9], 0)", "does not end", "gives [1, 2]", "raises KeyError"]


def test_groups_and_the_plainest_difference() -> None:
    probes = [
        Probe("f(1)", ("gives 0", "gives 1", "gives 1", "gives 1")),
        Probe("f(0)", ("gives 0", "raises E", "raises E", "gives 2")),
        Probe("f(-10)", ("gives 0", "gives 3", "gives 3", "gives 4")),
    ]
    assert alike([4, 2, 7], probes) == [[4, 2], [7]]
    assert alike([4, 2], []) == [[4], [2]]
    assert [one.input for one in telling(probes, 1, 3)] == ["f(-10)", "f(0)"]
    assert difference(probes, [4, 2, 7], 7, 4) == "f(-10): edit 7 gives 4, edit 4 gives 3"
    assert difference(probes, [4, 2, 7], 2, 4) == ""
    assert examples(probes, [4, 2, 7], 7) == ["f(0) gives 2", "f(-10) gives 4"]


def test_what_prints_no_result_or_another_type_comes_last() -> None:
    printed = [
        Probe("input '1 2'", ("prints 'max of 1 2 is 1'", "prints 'max of 1 2 is 2'", "prints 'max of 1 2 is 2'"), True),
        Probe("input '0 5'", ("prints 'max of 0 5 is 0'", "prints 'max of 0 5 is 5'", "prints 'max of 0 5 is 5'"), True),
        Probe("input '3 3'", ("prints ''", "prints 'max of 3 3'", "prints 'max of 3 3 is 3'")),
        Probe("input '4 4'", ("prints ''", "prints 'max of 4 4'", "prints 'max of 4 4 is 4'")),
    ]
    assert [odd_results(printed, place) for place in (1, 2)] == [2, 0]
    assert plausible_first([[1], [2]], [1, 2], printed) == [[2], [1]]
    given = [
        Probe("f(1)", ("gives None", "gives 1", "gives 1", "gives 1"), True),
        Probe("f(2)", ("gives None", "gives None", "gives 2", "raises KeyError")),
        Probe("f(3)", ("gives None", "gives None", "gives 3", "gives [3]")),
    ]
    assert [odd_results(given, place) for place in (1, 2, 3)] == [2, 0, 2]
    assert plausible_first([[1], [2], [3]], [1, 2, 3], given) == [[2], [1], [3]]
    assert plausible_first([[1], [2]], [1, 2], []) == [[1], [2]]


def test_what_was_computed_before_counts_where_only_crashes_are_known_to_be_wrong() -> None:
    hangs = Probe("f([1], 2)", ("does not end", "gives -1", "gives -1"), True)
    kept = [Probe(f"f([1, {n}], {n})", (f"gives {n}", f"gives {n}", "gives -1")) for n in range(2, 6)]
    unknown = [Probe("f([1], 9)", ("raises KeyError", "gives -1", "gives 0")), Probe("f([], 9)", ("gives 1", "", ""))]
    probes = [hangs, Probe("f([1], 1)", ("gives 1", "gives 1", "gives 1"), True, 1), *kept, *unknown]
    assert [changed_results(probes, place) for place in (1, 2)] == [0, 4]
    assert plausible_first([[2], [1]], [1, 2], probes) == [[1], [2]]
    wrong = [Probe("f([3], 3)", ("gives 4", "gives 3", "gives 3"), True), *probes]
    assert [changed_results(wrong, place) for place in (1, 2)] == [0, 0]
    printed = "prints 'x' and exits with 139", "prints 'x'", "prints 'x'"
    ended = "prints 'a' and exits with 1", "prints 'a' and exits with 1", "prints 'b'"
    assert [changed_results([Probe("1", printed, True), Probe("2", ended)], place) for place in (1, 2)] == [0, 1]


def test_the_order_of_values_counts_where_checks_show_that_it_does_not_matter() -> None:
    def low(values: str, *results: int, seen: bool = False) -> Probe:
        return Probe(f"input '{values}'", tuple(f"prints '{one} is lowest'" for one in results), seen)

    seen = [low("1 2 3", 1, 1, 1, seen=True), low("3 2 1", 3, 1, 1, seen=True), low("2 1 3", 1, 1, 1, seen=True)]
    near = [low("4 2 3", 2, 2, 2), low("2 4 3", 2, 2, 3), low("3 4 2", 2, 2, 2), low("9 5 7", 7, 5, 7)]
    assert [unordered_results([*seen, *near], place) for place in (1, 2)] == [0, 1]
    assert [unordered_results([*seen[:2], *near], place) for place in (1, 2)] == [0, 0]  # once may be chance
    differing = low("1 3 2", 1, 2, 2, seen=True)
    assert [unordered_results([*seen, differing, *near], place) for place in (1, 2)] == [0, 0]


def test_a_number_that_comes_from_nowhere_counts_where_results_are_numbers_of_their_inputs() -> None:
    right = [("input '4 7 5'", "prints '5'"), ("input '9 1 2'", "prints '2'"), ("input '3 3 8'", "prints '3'")]
    seen = [Probe(text, ("prints '0'", result, result), True) for text, result in right]
    new = [Probe(f"input '{n} 50 90'", (f"prints '{n}'", f"prints '{n}'", "prints '3'")) for n in range(10, 15)]
    assert (foreign_results([*seen, *new], 1), foreign_results([*seen, *new], 2)) == (0, 5)
    assert plausible_first([[2], [1]], [1, 2], [*seen, *new]) == [[1], [2]]
    total = Probe("input '1 1 1'", ("prints '0'", "prints '3'", "prints '3'"), True)
    assert foreign_results([*seen, total, *new], 2) == 0 == foreign_results([*seen[:2], *new], 2)


def test_an_edit_that_takes_code_away_is_trusted_less() -> None:
    def one(start: int, end: int, text: str, operator: str = "comparison", rank: float = 0.4) -> Candidate:
        return Candidate((Edit("a.c", start, end, text),), operator, "a.c", "f", 1, rank=rank)

    assert preference(one(0, 30, "else ")) > preference(one(0, 2, "<=", rank=0.3))
    assert preference(one(0, 5, "", "statement-removed")) > preference(one(0, 2, "<=", rank=0.3))
    assert preference(one(0, 5, "a + 1")) < preference(one(0, 2, "<=", rank=0.3))
    assert fused(one(0, 2, "<=", rank=0.4), 0.5) < fused(one(0, 2, "<=", rank=0.3), 0.9)
    assert fused(one(0, 2, "<=", rank=0.4), None) == fused(one(0, 2, "<=", rank=0.4), 0.5)


async def test_python_edits_are_compared(tmp_path: Path) -> None:
    (tmp_path / "largest.py").write_text(LARGEST)
    (tmp_path / "test_largest.py").write_text(LARGEST_TEST)
    bed = await python_bed(tmp_path)
    changes = [("a < b", "a > b"), ("a < b", "b < a"), ("a < b", "a < 0"), ("return a", "return b")]
    try:
        await bed.open()
        probes = await bed.probe([edited("largest.py", LARGEST, *change, "largest") for change in changes])
    finally:
        await bed.close()
    assert probes[0] == Probe("largest(1, 2)", ("gives 1", *["gives 2"] * 4), True)
    assert alike([1, 2, 3, 4], probes)[:1] == [[1, 2]]
    assert difference(probes, [1, 2, 3, 4], 1, 4).startswith("largest(")


@needs_cc
async def test_edits_of_a_program_are_compared(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    for name, given, want in (("one", "2 0", "2"), ("two", "2 2", "4")):
        (tmp_path / "cases" / f"{name}.in").write_text(given)
        (tmp_path / "cases" / f"{name}.out").write_text(want)
    (tmp_path / "sum.c").write_text(SUM)
    (tmp_path / "run.sh").write_text(SCRIPT)
    (tmp_path / "Makefile").write_text("test: sum\n\tsh run.sh\nsum: sum.c\n\t$(CC) -o $@ $<\n")
    bed = CommandBed(tmp_path, await read_command("make test", tmp_path), Workers(tmp_path, Limits(), {}, 1), 120.0)
    edits = [edited("sum.c", SUM, "a - b", new, "main") for new in ("a + b", "b + a", "b ? a * b : a")]
    try:
        await bed.open()
        probes = await bed.probe(edits)
        elsewhere = await bed.probe([edits[0], edited("sum.c", SUM, "a - b", "a + b", "other")])
    finally:
        await bed.close()
    assert Probe("input '2 2'", ("prints '0'", *["prints '4'"] * 3), True, 1) in probes
    assert alike([1, 2, 3], probes) == [[1, 2], [3]]
    assert elsewhere[0].results[2] == ""


@needs_cc
async def test_a_program_without_input_is_not_compared(tmp_path: Path) -> None:
    source = "int main(void) { return 1; }\n"
    (tmp_path / "a.c").write_text(source)
    (tmp_path / "Makefile").write_text("test: a\n\t./a\na: a.c\n\t$(CC) -o $@ $<\n")
    bed = CommandBed(tmp_path, await read_command("make test", tmp_path), Workers(tmp_path, Limits(), {}, 1), 120.0)
    try:
        await bed.open()
        assert await bed.probe([edited("a.c", source, "1", "0", "main")]) == []
    finally:
        await bed.close()


async def test_what_is_not_plain_is_not_compared(tmp_path: Path) -> None:
    source = "def top(node):\n    return node.low\n"
    test = "from types import SimpleNamespace\nfrom tree import top\n\n\ndef test_top():\n"
    test += "    assert top(SimpleNamespace(low=1, high=2)) == 2\n"
    (tmp_path / "tree.py").write_text(source)
    (tmp_path / "test_tree.py").write_text(test)
    bed = await python_bed(tmp_path)
    try:
        await bed.open()
        assert await bed.probe([edited("tree.py", source, "low", "high", "top")]) == []
    finally:
        await bed.close()


@pytest.mark.parametrize("calls", [["(1, 2)"], ["('x',)"], ["({'a': [1]}, None)"]])
def test_neighbours_differ_from_what_was_seen(calls: list[str]) -> None:
    assert {one.text for one in near_arguments(calls)} - set(calls)
