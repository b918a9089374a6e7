"""A version that was not kept may be one small edit away from being right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from tests.fakes.script import RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play

CHECKS = "".join(
    f'    bad += grains({square}) != {value};\n'
    f'    puts(grains({square}) == {value} ? "PASS square_{square}" : "FAIL square_{square}");\n'
    for square, value in ((1, 1), (2, 2), (3, 4), (6, 32))
)
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


@pytest.fixture
def board(tmp_path: Path) -> Path:
    folder = tmp_path / "board"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    command = "git init -q && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm start"
    subprocess.run(command, shell=True, cwd=folder, check=True)
    return folder


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
        finished, heard, _ = await play(board, server, "Implement the functions declared in board.h")
    assert finished.status == "complete", finished.reason
    assert [stage.counts["better"] for stage in of(heard, ev.StageFinished) if stage.stage == "versions"] == [1]
    source = subprocess.run(["git", "show", f"{finished.branch}:board.c"], cwd=board, capture_output=True, text=True).stdout
    assert "return 1L << square - 1;" in source
