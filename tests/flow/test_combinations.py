"""Functions that only work together are chosen together, by the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from tests.fakes.script import RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play

FILES = {
    "codec.h": "#ifndef CODEC_H\n#define CODEC_H\n/* Shifts a value up. */\nint up(int v);\n/* Undoes up(). */\n"
    "int down(int v);\n#endif\n",
    "codec.c": '#include "codec.h"\n',
    "test_codec.c": '#include <stdio.h>\n#include "codec.h"\nint main(void)\n{\n'
    '    int ok = up(5) == 7 && down(up(5)) == 5;\n    printf(ok ? "PASS both\\n" : "FAIL both\\n");\n    return !ok;\n}\n',
    "Makefile": "test: test_codec\n\t./test_codec\ntest_codec: test_codec.c codec.c codec.h\n"
    "\t$(CC) -o $@ test_codec.c codec.c\n.PHONY: test\n",
}


@pytest.fixture
def codec(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "codec").mkdir(exist_ok=True)
        (tmp_path / "codec" / name).write_text(text)
    command = "git init -q && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm start"
    subprocess.run(command, shell=True, cwd=tmp_path / "codec", check=True)
    return tmp_path / "codec"


class Twice:
    """Each function has two versions; only the second ones work together."""

    def __init__(self) -> None:
        self.asked = {"up": 0, "down": 0}

    def __call__(self, call: RecordedCall) -> str:
        for name, first, second in (("up", "v + 1", "v + 2"), ("down", "v - 3", "v - 2")):
            if f"Write the function {name} " in call.prompt:
                self.asked[name] += 1
                return f"```c\nint {name}(int v)\n{{\n    return {first if self.asked[name] == 1 else second};\n}}\n```"
        return "no"


async def test_versions_that_fail_apart_are_found_to_work_together(codec: Path) -> None:
    async with ScriptedServer(Twice()) as server:
        sections = {"orchestrator": {"decomposed_repair": False}}  # an edit of one version would do
        finished, heard, _ = await play(codec, server, "Implement the functions declared in codec.h", sections=sections)
    assert finished.status == "complete", finished.reason
    assert [stage.counts["better"] for stage in of(heard, ev.StageFinished) if stage.stage == "combinations"] == [1]
    diff = subprocess.run(["git", "show", f"{finished.branch}:codec.c"], cwd=codec, capture_output=True, text=True).stdout
    assert "v + 2" in diff and "v - 2" in diff
