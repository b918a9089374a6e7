"""A repository with a README and no source file yet."""

import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from agent.launch import PreflightError, open_run
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play, settings

README = """# stack

* `struct stack *stack_new(void)` returns an empty stack, or NULL when there is no memory.
* `void stack_free(struct stack *s)` frees it.
"""
OFF = {"coding": {"interface_tests": False}}


def repository(root: Path) -> Path:
    root.mkdir()
    (root / "README.md").write_text(README)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def answers(call: RecordedCall) -> Answer:
    if call.body.get("max_tokens", 0) <= 32:
        return Answer("yes")
    if "data structure" in call.system:
        return Answer("```c\nstruct stack { int size; };\n```")
    if "Write the function stack_new" in call.prompt:
        return Answer("```c\nstruct stack *stack_new(void)\n{\n    return calloc(1, sizeof(struct stack));\n}\n```")
    if "Write the function stack_free" in call.prompt:
        return Answer("```c\nvoid stack_free(struct stack *s)\n{\n    free(s);\n}\n```")
    if "shout" in call.prompt:
        code = 'def shout(text):\n    """Upper-case."""\n    return text.upper()\n'
        new = f"FILE: shout.py\n<<<<<<< SEARCH\n=======\n{code}>>>>>>> REPLACE"
        targets = '{"parts": [{"do": "Write shout", "targets": ["shout.py"]}]}'
        return Answer(targets if "targets" in str(call.body.get("response_format", "")) else new)
    return Answer("Write a stack.")


async def test_c_is_laid_and_written_from_the_readme(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    task = "Write the stack that README.md describes, in src/stack.h and src/stack.c."
    async with ScriptedServer(answers) as server:
        finished, heard, _ = await play(root, server, task, sections=OFF, apply_when_complete=True)
    assert finished.status == "complete", finished.reason
    assert of(heard, ev.PlanMade)[0].how == "facts"
    source = (root / "src/stack.c").read_text()
    assert "#include <stdlib.h>" in source and "calloc(1" in source
    header = (root / "src/stack.h").read_text()
    comment = "/* Returns an empty stack, or NULL when there is no memory. */"
    assert f"struct stack;\n\n{comment}\nstruct stack *stack_new(void);" in header


async def test_python_is_written_into_the_file_that_the_task_names(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    async with ScriptedServer(answers) as server:
        finished, _, _ = await play(
            root, server, "Create shout.py with a function shout(text).", sections=OFF, apply_when_complete=True
        )
    assert finished.status == "complete", finished.reason
    assert "return text.upper()" in (root / "shout.py").read_text()


async def test_a_task_that_names_no_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    async with ScriptedServer(answers) as server:
        with pytest.raises(PreflightError, match="no C or Python source file") as refused:
            await open_run("Write a stack.", root, extra=settings(server))
    assert "the files to write in the task" in refused.value.hint
