"""A Python file of stubs: each piece is written from the tests, they choose its version, the end tells which hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agent import events as ev
from agent.workspace.git import run_git
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play
from tests.repair.operators_on import only

STUBS = '''class Stack:
    def __init__(self, size):
        pass

    def push(self, item):
        pass


def double(n):
    pass
'''
TESTS = '''from stack import Stack, double


def test_push():
    stack = Stack(1)
    stack.push(3)
    assert stack.items == [3]


def test_full():
    stack = Stack(0)
    try:
        stack.push(1)
    except OverflowError as error:
        assert str(error) == "full"
    else:
        assert False


def test_double():
    assert double(4) == 8
'''
STACK = """class Stack:
    def __init__(self, size):
        self.size = size
        self.items = []

    def push(self, item):
        {check}self.items.append(item)
"""
CHECK = 'if len(self.items) == self.size:\n            raise OverflowError("full")\n        '
TASK = "Implement stack.py as README.md describes, so that the tests in test_stack.py pass."


FILES = {"stack.py": STUBS, "test_stack.py": TESTS, "README.md": "A stack that can be FULL_MARK.\n"}


def repository(place: Path, files: Mapping[str, str] = FILES) -> Path:
    place.mkdir()
    for name, text in files.items():
        (place / name).write_text(text)
    run_git(place, "init", "-q")
    run_git(place, "add", "-A")
    run_git(place, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "start")
    return place


class Writer:
    """Writes the pieces asked for; the stack is right only from its second version on, and ``double`` never."""

    def __init__(self, right: bool = True, wrong: str = "'no' * {}", first_wrong: int = 1) -> None:
        self.right = right
        self.wrong = wrong
        self.first_wrong = first_wrong
        self.prompts: dict[str, list[str]] = {"Stack": [], "double": []}

    def __call__(self, call: RecordedCall) -> Answer:
        name = "Stack" if "Write Stack of" in call.prompt else "double"
        self.prompts[name].append(call.prompt)
        if name == "Stack":
            text = STACK.format(check=CHECK if len(self.prompts[name]) > self.first_wrong else "")
        else:
            body = "n * 2" if self.right else self.wrong.format(len(self.prompts[name]))
            text = f"def double(n):\n    return {body}\n"
        return Answer(f"```python\n{text}\n```")


async def test_a_class_is_written_whole_and_the_tests_choose_among_its_versions(tmp_path: Path) -> None:
    writer = Writer()
    async with ScriptedServer(writer) as server:
        finished, heard, state = await play(repository(tmp_path / "stack"), server, TASK)
    assert (finished.status, finished.stubs_left) == ("complete", 0), finished.reason
    assert [len(asked) for asked in writer.prompts.values()] == [2, 1]
    first, second = writer.prompts["Stack"]
    assert "FULL_MARK" in first and "OverflowError" in first and "assert stack.items == [3]" in first
    assert "self.items.append" not in second, "a version that failed is never shown"
    tried = [(one.symbol, one.points) for one in of(heard, ev.FunctionCandidate)]
    assert tried == [("Stack", 0.5), ("Stack", 1.0), ("double", 1.0)]
    assert [(one.symbol, one.number, one.of, one.why) for one in of(heard, ev.CandidateChosen)] == [
        ("Stack", 2, 2, "right"), ("double", 1, 1, "right"),
    ]  # fmt: skip
    assert {name: function.contract and function.contract.holds for name, function in state.functions.items()} == {
        "Stack": True, "double": True,
    }  # fmt: skip


async def test_the_end_says_which_function_does_not_hold_and_what_was_tried(tmp_path: Path) -> None:
    writer = Writer(right=False)
    sections = {"orchestrator": {"decomposed_repair": False}, "coding": {"samples": 2, "rework_rounds": 1}}
    async with ScriptedServer(writer) as server:
        finished, heard, _ = await play(repository(tmp_path / "stack"), server, TASK, sections=sections)
    assert finished.status == "partial"
    told = {one.symbol: one for one in of(heard, ev.ContractChecked)}
    assert told["Stack"].holds is True
    assert (told["double"].holds, told["double"].failing) == (False, ("test_double",)) and told["double"].candidates >= 3
    assert len(writer.prompts["Stack"]) == 2, "what no failing test uses is not asked for again"


async def test_what_is_nearly_right_is_mended_by_a_small_edit_before_it_is_written_anew(tmp_path: Path) -> None:
    writer = Writer(right=False, wrong="n + 2", first_wrong=0)
    sections = {"coding": {"samples": 1}, "repair": only("arithmetic")}
    async with ScriptedServer(writer) as server:
        finished, heard, _ = await play(repository(tmp_path / "stack"), server, TASK, sections=sections)
    assert finished.status == "complete", finished.reason
    assert len(writer.prompts["double"]) == 1 and of(heard, ev.RepairFinished)


async def test_a_version_whose_result_has_another_form_is_set_right_before_the_next_is_asked_for(tmp_path: Path) -> None:
    """It passes no check, and nothing but the form of its result is wrong."""
    files = {
        "pairs.py": "def pairs(values, total):\n    pass\n",
        "test_pairs.py": "from pairs import pairs\n\n\ndef test_one():\n    assert pairs([1, 2, 4], 6) == [[2, 4]]\n\n\n"
        "def test_several():\n    assert pairs([1, 2, 3, 4], 5) == [[1, 4], [2, 3]]\n",
    }
    body = "[(a, b) for a in values for b in values if a < b and a + b == total]"
    sections = {"repair": only("converted")}
    async with ScriptedServer(f"```python\ndef pairs(values, total):\n    return {body}\n```") as server:
        task = "Implement pairs.py so that the tests in test_pairs.py pass."
        finished, heard, _ = await play(repository(tmp_path / "pairs", files), server, task, sections=sections)
    assert (finished.status, len(server.calls)) == ("complete", 1), finished.reason
    assert [one.points for one in of(heard, ev.FunctionCandidate)] == [1.0]
    assert of(heard, ev.RepairFinished)[0].mended


async def test_what_the_tests_tell_of_a_class_sets_a_reply_right_without_another_call(tmp_path: Path) -> None:
    repo = repository(tmp_path / "stack")
    (repo / "stack.py").write_text("class Stack:\n    def __init__(self, size):\n        pass\n")
    test = "from stack import Stack\n\n\ndef test_items():\n    stack = Stack()\n"
    test += "    assert (stack.items(), stack.size) == ([], 0)\n"
    (repo / "test_stack.py").write_text(test)
    run_git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "other")
    reply = (
        "class Stack:\n    def __init__(self, size):\n        self.items = []\n\n    def items(self):\n"
        "        return self.items\n\n    def size(self):\n        return len(items)\n"
    )
    async with ScriptedServer(f"```python\n{reply}```") as server:
        finished, heard, _ = await play(repo, server, TASK)
    assert (finished.status, len(server.calls)) == ("complete", 1), finished.reason
    assert "size=None" in server.calls[0].prompt
    [note] = [one.text for one in of(heard, ev.Notice) if one.text.startswith("Stack: ")]
    assert "hides the method" in note and "is a property" in note


async def test_a_line_of_what_is_nearly_right_is_filled_when_fresh_versions_are_no_better(tmp_path: Path) -> None:
    writer = Writer(right=False, wrong="abs(len(str(n)))", first_wrong=0)
    repo = repository(tmp_path / "stack")
    (repo / "test_stack.py").write_text(TESTS + "    assert (double(0), double(31)) == (0, 62)\n")
    run_git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "more")

    def answer(call: RecordedCall) -> Answer:
        if call.path == "/infill":
            return Answer("return n + n" if call.body["input_prefix"].endswith("def double(n):\n    ") else "pass")
        return Answer("yes") if "fits" in call.prompt or "yes or no" in call.prompt else writer(call)

    async with ScriptedServer(answer) as server:
        sections = {"coding": {"samples": 1}, "repair": only("comparison")}
        finished, heard, _ = await play(repo, server, TASK, sections=sections)
    assert finished.status == "complete", finished.reason
    assert [one.mended for one in of(heard, ev.RepairFinished)] == [False, True]
    assert of(heard, ev.CandidatePassed)[0].source == "cloze"


async def test_edits_that_mend_a_part_each_are_kept_one_after_the_other(tmp_path: Path) -> None:
    """Two faults in two functions of one file: no single edit makes all checks pass."""
    files = {
        "pair.py": "def low(a, b):\n    pass\n\n\ndef span(values):\n    pass\n\n\ndef high(a, b):\n    pass\n",
        "test_pair.py": "from pair import high, low, span\n\n\n"
        "def test_low():\n    assert (low(1, 2), low(2, 1)) == (1, 1)\n\n\n"
        "def test_high():\n    assert (high(1, 2), high(2, 1)) == (2, 2)\n\n\n"
        "def test_span():\n    assert span([3, 9, 4]) == 6\n\n\ndef test_one():\n    assert span([5]) == 0\n",
    }
    repo = repository(tmp_path / "pair", files)
    versions = {
        "low": "def low(a, b):\n    return a if a > b else b\n",
        "high": "def high(a, b):\n    return a if a < b else b\n",
        "span": "def span(values):\n    return max(values) - min(values)\n",
    }

    def answer(call: RecordedCall) -> Answer:
        name = next(name for name in versions if f"Write {name} of" in call.prompt)
        return Answer(f"```python\n{versions[name]}```")

    sections = {"coding": {"samples": 1}, "repair": only("comparison")}
    async with ScriptedServer(answer) as server:
        task = "Implement pair.py so that the tests in test_pair.py pass."
        finished, heard, _ = await play(repo, server, task, sections=sections)
    assert finished.status == "complete", finished.reason
    mends = [one for one in of(heard, ev.StepFinished) if one.step_id.startswith("r")]
    assert mends and all(one.ok for one in mends) and len(server.calls) == 3


async def test_a_spent_budget_ends_the_versions_and_says_so(tmp_path: Path) -> None:
    writer = Writer(right=False)
    sections = {"coding": {"budget_calls": 1}, "orchestrator": {"decomposed_repair": False}}
    async with ScriptedServer(writer) as server:
        finished, heard, _ = await play(repository(tmp_path / "stack"), server, TASK, sections=sections)
    assert finished.status == "partial" and "budget" in finished.reason
    assert [len(asked) for asked in writer.prompts.values()] == [1, 1], "each piece is written once"
    assert [one.text for one in of(heard, ev.Notice) if one.stage == "budget"]


async def test_a_stronger_model_is_asked_only_after_failures_and_stands_in_its_rows(tmp_path: Path) -> None:
    writer = Writer(right=False)
    sections = {
        "coding": {"samples": 2, "rework_rounds": 1}, "orchestrator": {"decomposed_repair": False},
        "models": {"escalate": "strong", "escalate_after": 2},
    }  # fmt: skip
    async with ScriptedServer(writer) as server:
        _, heard, _ = await play(repository(tmp_path / "stack"), server, TASK, sections=sections)
    asked = [(one.item, one.model) for one in of(heard, ev.CallStarted) if one.stage == "implement" and "double" in one.item]
    assert "strong" not in {model for _, model in asked[:2]} and len(asked) > 2
    assert {model for _, model in asked[2:]} == {"strong"}


@pytest.mark.parametrize("language", ["c", "py"])
async def test_what_is_stated_and_no_test_checks_chooses_the_version(tmp_path: Path, language: str) -> None:
    """A document states what a function comes to; no test calls it, and nothing of the check is left in the change."""
    wrong, right = "n / 2", "n > 0 ? n / 2 : 0"
    if language == "c":
        files = {
            "half.h": "/* Half of n, at least 0: half(8) == 4, half(-6) == 0. */\nint half(int n);\n",
            "half.c": '#include "half.h"\n',
            "Makefile": "test: half.c\n\tgcc -c -o half.o half.c && echo ok\n",
        }
        versions = [f"```c\nint half(int n)\n{{\n    return {body};\n}}\n```" for body in (wrong, right)]
    else:
        doc = '    """Half of n, at least 0.\n\n    >>> half(8)\n    4\n    >>> half(-6)\n    0\n    """\n'
        doc += "    raise NotImplementedError\n"
        files = {"half.py": f"def half(n):\n{doc}", "test_other.py": "def test_nothing():\n    assert True\n"}
        versions = [f"```python\ndef half(n):\n    return {body}\n```" for body in ("n // 2", "max(0, n // 2)")]
    repo = repository(tmp_path / "half", files)
    replies = iter([*versions, versions[-1], versions[-1]])
    sections = {"coding": {"interface_tests": False}}
    async with ScriptedServer(lambda call: Answer(next(replies))) as server:
        finished, heard, _ = await play(repo, server, f"Implement half in half.{language}", sections=sections)
    assert [one.points for one in of(heard, ev.FunctionCandidate)] == [0.5, 1.0], finished.reason
    [diff] = of(heard, ev.DiffReady)
    assert diff.files == (f"half.{language}",) and ("> 0" in diff.diff or "max(0" in diff.diff)
    assert any("half(-6) → 0" in one.text for one in of(heard, ev.Notice) if one.stage == "stated_checks")


async def test_tests_that_also_use_what_fails_do_not_speak_against_the_next_function(tmp_path: Path) -> None:
    """``close`` is right, and every test of it also uses ``push``, which is wrong: it is written once."""
    files = {
        "both.py": "def push(items, one):\n    pass\n\n\ndef close(items):\n    pass\n",
        "test_both.py": "from both import close, push\n\n\ndef test_push():\n    assert push([], 1) == [1]\n\n\n"
        "def test_close():\n    assert close(push([1], 2)) == 2\n",
    }
    repo = repository(tmp_path / "both", files)
    asked: list[str] = []

    def write(call: RecordedCall) -> Answer:
        name = "push" if "Write push of" in call.prompt else "close"
        asked.append(name)
        body = f"'no' * {len(asked)}" if name == "push" else "len(items)"
        return Answer(f"```python\ndef {name}({'items, one' if name == 'push' else 'items'}):\n    return {body}\n```")

    sections = {"orchestrator": {"decomposed_repair": False}, "coding": {"samples": 2, "rework_rounds": 0}}
    async with ScriptedServer(write) as server:
        await play(repo, server, "Implement both.py so that the tests in test_both.py pass.", sections=sections)
    assert asked == ["push", "push", "close"]


SCORE_TESTS = """#include <stdio.h>
#include "score.h"
static int bad;
#define RUN(name) (name() ? printf("PASS %s\\n", #name) : (bad = 1, printf("FAIL %s\\n", #name)))
static int test_modifier(void) { return modifier(12) == 1 && modifier(9) == -1; }
static int test_doubled(void) { return doubled(4) == 8; }
int main(void) { RUN(test_modifier); RUN(test_doubled); return bad; }
"""


async def test_tests_tell_of_the_first_function_while_the_others_are_not_written_yet(tmp_path: Path) -> None:
    """Nobody defines the other function, so without a stub of it no test would link."""
    files = {
        "score.h": "int modifier(int score);\nint doubled(int score);\n",
        "score.c": '#include "score.h"\n',
        "test_score.c": SCORE_TESTS,
        "Makefile": "test:\n\tgcc -Wall -Wextra -Werror -o t test_score.c score.c && ./t\n",
    }
    repo = repository(tmp_path / "score", files)
    modifiers = iter(["(score - 10) / 2", "score / 2 - 5"])
    asked: list[str] = []

    def write(call: RecordedCall) -> Answer:
        name = "modifier" if "Write the function modifier" in call.prompt else "doubled"
        asked.append(name)
        body = next(modifiers) if name == "modifier" else "2 * score"
        return Answer(f"```c\nint {name}(int score)\n{{\n    return {body};\n}}\n```")

    async with ScriptedServer(write) as server:
        finished, heard, _ = await play(repo, server, "Implement score.c as score.h declares.")
    assert finished.status == "complete" and asked == ["modifier", "modifier", "doubled"], finished.reason
    assert [(one.symbol, one.points) for one in of(heard, ev.FunctionCandidate)] == [
        ("modifier", 0.0), ("modifier", 1.0), ("doubled", 1.0)
    ]  # fmt: skip
    [diff] = of(heard, ev.DiffReady)
    assert "cra:stub" not in diff.diff


class MethodByMethod:
    """Writes the class with two faults, and each method right when it is asked for alone."""

    METHODS = {
        "take": "def take(self):\n        return self.items.pop(0)",
        "peek": "def peek(self):\n        return self.items[0] if self.items else None",
    }

    def __init__(self) -> None:
        self.alone: list[str] = []

    def __call__(self, call: RecordedCall) -> Answer:
        for name, text in self.METHODS.items():
            if f"Write Queue.{name} of" in call.prompt:
                self.alone.append(call.prompt)
                return Answer(f"```python\n{text.replace('        ', '    ')}\n```")
        lines = ["class Queue:", "    def __init__(self, items):", "        self.items = list(items)", ""]
        lines += ["    def size(self):", "        return len(self.items)", ""]
        lines += ["    def take(self):", "        last = sorted(self.items)[-1]", "        self.items.remove(last)"]
        lines += ["        return last", "", "    def peek(self):", "        return min(self.items)"]
        return Answer("```python\n" + "\n".join(lines) + "\n```")


QUEUE_TESTS = """from queues import Queue


def test_size():
    assert Queue([3, 1]).size() == 2


def test_empty():
    assert Queue([]).size() == 0


def test_take():
    queue = Queue([3, 5, 1])
    assert queue.take() == 3
    assert queue.take() == 5


def test_peek():
    assert Queue([4, 2]).peek() == 4


def test_peek_of_nothing():
    assert Queue([]).peek() is None
"""


async def test_methods_that_fail_are_written_anew_and_the_rest_of_the_class_stays(tmp_path: Path) -> None:
    repo = repository(tmp_path / "queues", {
        "queues.py": "class Queue:\n    def __init__(self, items):\n        pass\n",
        "test_queues.py": QUEUE_TESTS, "README.md": "A queue.\n",
    })  # fmt: skip
    writer = MethodByMethod()
    sections = {"coding": {"samples": 1}, "orchestrator": {"decomposed_repair": False}}
    async with ScriptedServer(writer) as server:
        finished, _, _ = await play(repo, server, "Implement queues.py as README.md describes.", sections=sections)
    assert finished.status == "complete", finished.reason
    assert len(writer.alone) == 2
    for prompt in writer.alone:
        assert "return len(self.items)" in prompt and "raise NotImplementedError" in prompt
    assert ["sorted" in prompt for prompt in writer.alone] in ([False, False], [True, False], [False, True])


async def test_an_edit_of_a_version_that_passes_most_tests_is_searched_for_before_others_are_drawn(tmp_path: Path) -> None:
    files = {
        "words.py": "def shout(text):\n    pass\n", "README.md": "Shouts.\n",
        "test_words.py": "from words import shout\n\n\ndef test_a():\n    assert shout('a') == 'A!'\n\n\n"
        "def test_nothing():\n    assert shout('') == '!'\n\n\ndef test_long():\n    assert shout('a' * 5) == 'AAAAA!'\n\n\n"
        "def test_longer():\n    assert shout('a' * 6) == 'AAAAAA!'\n",
    }  # fmt: skip
    asked: list[str] = []

    def write(call: RecordedCall) -> Answer:
        asked.append(call.prompt)
        wrong = "    if len(text) > 5:\n        return text\n"
        return Answer(f"```python\ndef shout(text):\n{wrong}    return text.upper() + '!'\n```")

    async with ScriptedServer(write) as server:
        repo = repository(tmp_path / "words", files)
        sections = {"repair": only("constant")}
        finished, heard, _ = await play(repo, server, "Implement words.py as README.md describes.", sections=sections)
    assert finished.status == "complete", finished.reason
    assert len(asked) == 1 and of(heard, ev.RepairFinished)


PAIR = {
    "board.py": "class Point:\n    def __init__(self, x, y):\n        pass\n\n\nclass Board:\n"
    "    def __init__(self, rows):\n        pass\n\n    def find(self, letter):\n        pass\n",
    "test_board.py": "from board import Board, Point\n\n\ndef test_nothing():\n    assert Board([]).find('a') is None\n\n\n"
    "def test_found():\n    at, wanted = Board(['xy', 'za']).find('a'), Point(1, 1)\n"
    "    assert (at.x, at.y) == (wanted.x, wanted.y)\n\n\n"
    "def test_first():\n    at, wanted = Board(['ax']).find('x'), Point(1, 0)\n"
    "    assert (at.x, at.y) == (wanted.x, wanted.y)\n",
    "README.md": "Finds letters on a board; x counts columns.\n",
}
POINT = "class Point:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n"
BOARD = """class Board:
    def __init__(self, rows):
        self.rows = rows

    def find(self, letter):
        for y, row in enumerate(self.rows):
            for x, one in enumerate(row):
                if one == letter:
                    return Point({})
        return None
"""


async def completed(root: Path, module: str, writer: Callable[[RecordedCall], Answer]) -> list[ev.Event]:
    """What is heard of a run that writes a module, without edits, and ends complete."""
    async with ScriptedServer(writer) as server:
        task = f"Implement {module}.py as README.md describes, so that the tests in test_{module}.py pass."
        finished, heard, _ = await play(root, server, task, sections={"repair": only()})
    assert finished.status == "complete", finished.reason
    return heard


async def test_the_last_piece_is_judged_by_tests_that_use_what_no_test_tells_of_alone(tmp_path: Path) -> None:
    boards = iter(("0, 0", "x, y"))

    def writer(call: RecordedCall) -> Answer:
        return Answer(f"```python\n{POINT if 'Write Point of' in call.prompt else BOARD.format(next(boards))}```")

    heard = await completed(repository(tmp_path / "r", PAIR), "board", writer)
    tried = [(one.symbol, round(one.points, 2)) for one in of(heard, ev.FunctionCandidate) if one.symbol == "Board"]
    assert tried == [("Board", 0.33), ("Board", 1.0)]


TABLE = {
    "squares.py": "def square(n):\n    pass\n",
    "test_squares.py": "from squares import square\n\n\n"
    + "".join(f"def test_{n}():\n    assert square({n}) == {n * n}\n\n\n" for n in (2, 5, 9)),
    "README.md": "The square of a number.\n",
}


async def test_a_version_that_repeats_the_answers_of_the_tests_gives_way_to_one_that_works_them_out(tmp_path: Path) -> None:
    copied = "def square(n):\n" + "".join(f"    if n == {n}:\n        return {n * n}\n" for n in (2, 5, 9))
    versions = iter((copied, "def square(n):\n    return n * n\n"))

    def writer(call: RecordedCall) -> Answer:
        return Answer(f"```python\n{next(versions)}```")

    heard = await completed(repository(tmp_path / "r", TABLE), "squares", writer)
    assert [round(one.points, 2) for one in of(heard, ev.FunctionCandidate)] == [0.59, 1.0]
    assert "n * n" in of(heard, ev.DiffReady)[0].diff
    assert any("only repeats answers of the tests (2 → 4" in one.text for one in of(heard, ev.Notice))
