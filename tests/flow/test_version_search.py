"""A version that was not kept, or that breaks a check as it mends others, may be a small edit away from being right."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent import events as ev
from tests.fakes.script import RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play
from tests.repair.operators_on import only

FEW = {"repair": only("off-by-one", "arithmetic")}
EXPECTED = ((1, 1), (2, 2), (3, 4), (6, 32))


def checks_of(expected: Sequence[tuple[int, int]]) -> str:
    return "".join(
        f'    bad += grains({square}) != {value};\n'
        f'    puts(grains({square}) == {value} ? "PASS square_{square}" : "FAIL square_{square}");\n'
        for square, value in expected
    )


CHECKS = checks_of(EXPECTED)
MAIN = f'#include <stdio.h>\n#include "board.h"\nint main(void)\n{{\n    int bad = 0;\n{CHECKS}    return bad != 0;\n}}\n'
FILES = {
    "board.h": "#ifndef BOARD_H\n#define BOARD_H\n/* The grains on one square of a board, counted from 1. */\n"
    "long grains(int square);\n#endif\n",
    "board.c": '#include "board.h"\n',
    "test_board.c": MAIN,
    "Makefile": "test: test_board\n\t./test_board\ntest_board: test_board.c board.c board.h\n"
    "\t$(CC) -o $@ test_board.c board.c\n.PHONY: test\n",
}
PARABOLA = "long v = square;\n    return v * v - 5;"
SHIFTED = "return 1L << square;"


def made(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    command = "git init -q && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm start"
    subprocess.run(command, shell=True, cwd=folder, check=True)
    return folder


@pytest.fixture
def board(tmp_path: Path) -> Path:
    return made(tmp_path / "board", FILES)


class OneOfTwo:
    """The first version passes one check and is wrong; every later one passes none and is one edit away."""

    asked = 0

    def __call__(self, call: RecordedCall) -> str:
        if "Write the function grains " not in call.prompt:
            return "no"
        self.asked += 1
        body = PARABOLA if self.asked == 1 else SHIFTED
        return f"```c\nlong grains(int square)\n{{\n    {body}\n}}\n```"


async def test_a_version_that_passes_fewer_checks_is_mended_by_an_edit(board: Path) -> None:
    coder = OneOfTwo()
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(board, server, "Implement the functions declared in board.h", sections=FEW)
    assert finished.status == "complete", finished.reason
    assert [stage.counts["better"] for stage in of(heard, ev.StageFinished) if stage.stage == "versions"] == [1]
    source = subprocess.run(["git", "show", f"{finished.branch}:board.c"], cwd=board, capture_output=True, text=True).stdout
    assert "return 1L << square - 1;" in source


async def test_an_edit_that_passes_one_check_of_seven_is_no_gain(tmp_path: Path) -> None:
    checks = checks_of(((1, 99), (2, 7), (3, 13), (4, 29), (5, 31), (6, 57), (7, 61)))
    folder = made(tmp_path / "board", {**FILES, "test_board.c": MAIN.replace(CHECKS, checks)})
    reply = "```c\nlong grains(int square)\n{\n    return 100 * square;\n}\n```"
    settings = {**FEW, "coding": {"rework_rounds": 1}}
    async with ScriptedServer(lambda call: reply if "Write the function grains " in call.prompt else "no") as server:
        finished, heard, _ = await play(folder, server, "Implement the functions declared in board.h", sections=settings)
    assert finished.status != "complete"
    assert {stage.counts["better"] for stage in of(heard, ev.StageFinished) if stage.stage == "versions"} == {0}


TOTAL = "long sum = 0;\n    for (int i = 0; i < 4; i++)\n        sum += grains(i);\n    return sum;"


class MakesUpForIt:
    """Counts squares from 0 in both functions, so that the sum is right as long as both are wrong."""

    def __call__(self, call: RecordedCall) -> str:
        for head, body in (("grains(int square)", SHIFTED), ("total(void)", TOTAL)):
            if f"Write the function {head.partition('(')[0]} " in call.prompt:
                return f"```c\nlong {head}\n{{\n    {body}\n}}\n```"
        return "no"


async def test_an_edit_that_mends_more_checks_than_it_breaks_is_kept(tmp_path: Path) -> None:
    declared = "/* All grains on the first four squares. */\nlong total(void);\n#endif\n"
    checked = '    bad += total() != 15;\n    puts(total() == 15 ? "PASS all" : "FAIL all");\n    return'
    header, main = FILES["board.h"].replace("#endif\n", declared), MAIN.replace("    return", checked)
    folder = made(tmp_path / "board", {**FILES, "board.h": header, "test_board.c": main})
    async with ScriptedServer(MakesUpForIt()) as server:
        finished, _, _ = await play(folder, server, "Implement the functions declared in board.h", sections=FEW)
    assert finished.status == "complete", finished.reason


DOC = '"""The grains on one square of a board, counted from 1."""'
TESTS = (f"def test_square_{square}():\n    assert grains({square}) == {value}\n" for square, value in EXPECTED)
PYTHON = {
    "board.py": f"def grains(square):\n    {DOC}\n    raise NotImplementedError\n",
    "test_board.py": "\n\n".join(("from board import grains\n", *TESTS)),
}


class OneOfTwoInPython:
    """The first version passes one check and is wrong; every later one passes none and is one edit away."""

    asked = 0

    def __call__(self, call: RecordedCall) -> str:
        if "grains" not in call.prompt:
            return "no"
        self.asked += 1
        body = "square * square - 5" if self.asked == 1 else "1 << square"
        return f"```python\ndef grains(square):\n    return {body}\n```"


async def test_a_version_in_python_is_mended_by_an_edit(tmp_path: Path) -> None:
    folder = made(tmp_path / "board", PYTHON)
    async with ScriptedServer(OneOfTwoInPython()) as server:
        finished, heard, _ = await play(folder, server, "Implement grains in board.py", sections=FEW)
    assert finished.status == "complete", finished.reason
    assert [stage.counts["better"] for stage in of(heard, ev.StageFinished) if stage.stage == "versions"] == [1]
    shown = subprocess.run(["git", "show", f"{finished.branch}:board.py"], cwd=folder, capture_output=True, text=True)
    assert "1 << square - 1" in shown.stdout
