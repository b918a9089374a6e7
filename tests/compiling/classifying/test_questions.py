"""The three questions: what they see, what an unreadable answer does, facts switched off."""

import logging
from pathlib import Path

import pytest

from agent.c.project import ProjectFiles
from agent.compiling.classifying.classification import CompilerErrorClassification
from agent.compiling.classifying.questions import RunQuestions, classify_compiler_error
from agent.compiling.rows import CompileRow, classify_row, model_calls
from agent.config.schema import merge
from agent.prompts import error_classify_include
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

UNCLEAR = "main.c:3:5: error: frobnication of 'x' is not allowed here\n" + "    3 |     x;\n" * 60
STDERR = "main.c:3:5: error: implicit declaration of function 'strlen'\n    3 |     strlen(s);\n"
ROW = {"id": "r", "stderr": STDERR, "files": {"main.c": "int f(char *s)\n{\n    strlen(s);\n}\n"}}


@pytest.mark.parametrize("reply", ["perhaps", "", "yes and no", "I cannot tell."])
async def test_an_unreadable_answer_denies_and_the_log_says_so(tmp_path: Path, reply: str) -> None:
    async with ScriptedServer(reply) as server, run_context(tmp_path, server) as ctx:
        found = await classify_row(CompileRow(ROW), llm=RunQuestions(ctx), use_facts=False)
        assert (found.category, found.how) == ("logic_error", "model")
        assert [rung.answer for rung in found.path] == ["no", "no", "no"] and model_calls(found) == 3


async def test_with_facts_off_the_model_decides_what_facts_would_have(tmp_path: Path) -> None:
    script = [("Missing header:", "<string.h>"), ("missing include the cause?", "yes")]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        by_facts = await classify_row(CompileRow(ROW), llm=RunQuestions(ctx))
        assert (by_facts.how, len(server.calls)) == ("deterministic", 0)
        asked = await classify_row(CompileRow(ROW), llm=RunQuestions(ctx), use_facts=False)
        assert (asked.category, asked.how, asked.headers) == ("missing_include", "model", ("string.h",))
        assert model_calls(asked) == len(server.calls) == 2


async def test_the_question_for_a_header_sees_800_characters(tmp_path: Path) -> None:
    text = "".join(f"main.c:{n}:5: error: frobnication of 'x{n}' is not allowed here\n" for n in range(1, 60))
    script = [("Missing header:", "none"), ("missing include the cause?", "yes")]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        project = ProjectFiles({"main.c": b"int x;\n" * 80})
        await classify_compiler_error(text, project, "main.c", llm=RunQuestions(ctx), use_facts=False)
        yes_no, which = server.calls[0].prompt, server.calls[1].prompt
    shown = [sum(len(line) + 1 for line in prompt.splitlines() if line.startswith("main.c:")) for prompt in (yes_no, which)]
    assert 400 < shown[0] <= 501 and 650 < shown[1] <= 801


def test_the_include_question_names_incomplete_types() -> None:
    assert "incomplete" in error_classify_include.SYSTEM


@pytest.mark.parametrize("empty", ["", " \n\t"])
def test_an_empty_compiler_text_is_refused(empty: str) -> None:
    with pytest.raises(ValueError, match="compiler's text"):
        CompilerErrorClassification("logic_error", empty)


def test_an_absent_toggle_leaves_a_debug_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="agent.config.schema"):
        merge({"orchestrator": {"decomposed_planning": True}})
    said = [record.getMessage() for record in caplog.records]
    assert any("decomposed_error_classification is not in the configuration, so it is False" in one for one in said)
    assert not any("decomposed_planning is not" in one for one in said)
