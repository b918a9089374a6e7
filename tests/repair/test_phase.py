"""The phase in a whole run: a scripted model server, real git and pytest; what is shown is a fold over what happened."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from agent import events as ev
from agent.audit.history import events_of
from agent.audit.log import log_path
from agent.audit.reader import LogReader
from agent.launch import open_run
from agent.state.run_state import RunState
from tests.fakes import Answer, RecordedCall, ScriptedServer

SLUG = 'def slug(text):\n    """Letters and digits only, in lower case."""\n    kept = [c for c in text if c.isalpha()]\n    return "".join(kept).lower()\n'  # noqa: E501
SLUG_TEST = "from slug import slug\n\n\ndef test_digits():\n    assert slug('A 1') == 'a1'\n\n\ndef test_plain():\n    assert slug('Ab') == 'ab'\n"  # noqa: E501
TAX = "def tax(price):\n    part = price * 19\n    return price + part\n"
TAX_TEST = "from tax import tax\n\n\ndef test_tax():\n    assert tax(100) == 119\n    assert tax(200) == 238\n"
TASK = "Fix the bug: the tests fail."


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A git repository with these files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


async def play(repo: Path, server: ScriptedServer, **sections: Any) -> tuple[ev.RunFinished, list[ev.Envelope]]:
    """One run to its end; ``with_model`` and configuration sections as keywords."""
    with_model = sections.pop("with_model", True)
    models = {"provider": "openai", "base_url": server.base_url}
    run = await open_run(TASK, repo, extra={"models": models, **sections}, with_model=with_model)
    heard: list[ev.Envelope] = []
    run.ctx.listeners.append(heard.append)
    try:
        return await run.execute(), heard
    finally:
        await run.aclose()


def of(heard: list[ev.Envelope], kind: type[ev.Event]) -> list[Any]:
    """The events of one kind."""
    return [one.event for one in heard if isinstance(one.event, kind)]


async def test_a_run_without_a_model(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False)
    assert finished.status == "complete", finished.reason
    assert finished.calls == 0 and server.calls == []
    assert "isalnum" in of(heard, ev.DiffReady)[0].diff
    assert of(heard, ev.RepairFinished)[0].mended
    state = RunState()
    for envelope in heard:
        state.apply(envelope)
    assert state.repair is not None and state.repair.mended and state.repair.chosen
    reader = LogReader(log_path(repo))
    again = RunState()
    for envelope in events_of(reader, finished_run(heard)):
        again.apply(envelope)
    reader.close()
    assert again.repair == state.repair


def finished_run(heard: list[ev.Envelope]) -> str:
    """The id of the run."""
    return heard[0].run_id


async def test_the_edit_that_is_said_to_fit_is_taken(tmp_path: Path) -> None:
    source = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
    test = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
    repo = repository(tmp_path, {"largest.py": source, "test_largest.py": test})

    def answer(call: RecordedCall) -> Answer:
        return Answer("yes" if "+    if a > b:" in call.prompt else "no")

    async with ScriptedServer(answer) as server:
        finished, heard = await play(repo, server)
    assert finished.status == "complete", finished.reason
    assert "+    if a > b:" in of(heard, ev.DiffReady)[0].diff
    judged = of(heard, ev.CandidateJudged)
    assert 1 <= len(judged) <= 8 and sum(one.fits for one in judged) == 1
    assert not of(heard, ev.RepairChosen)[0].guess


async def test_no_yes_is_a_guess_and_is_said(tmp_path: Path) -> None:
    source = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
    test = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
    repo = repository(tmp_path, {"largest.py": source, "test_largest.py": test})
    async with ScriptedServer("no") as server:
        _, heard = await play(repo, server)
    assert of(heard, ev.RepairChosen)[0].guess
    assert any("is a guess" in one.text for one in of(heard, ev.Notice))


async def test_the_model_fills_a_line_where_no_operator_helps(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"tax.py": TAX, "test_tax.py": TAX_TEST})

    def answer(call: RecordedCall) -> Answer:
        if call.path == "/infill":
            before = call.body["input_prefix"]
            return Answer("part = price * 19 // 100" if before.endswith("def tax(price):\n    ") else "pass")
        return Answer("yes")

    async with ScriptedServer(answer) as server:
        finished, heard = await play(repo, server, repair={"budget_s": 60})
    assert finished.status == "complete", finished.reason
    [passed] = of(heard, ev.CandidatePassed)[:1]
    assert passed.source == "cloze"
    assert "# tax.py" in next(call for call in server.calls if call.path == "/infill").body["input_prefix"]


async def test_the_way_of_before(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        _, heard = await play(repo, server, orchestrator={"decomposed_repair": False})
    assert of(heard, ev.RepairStarted) == []


async def test_a_search_that_finds_nothing_says_how_far_it_came(tmp_path: Path) -> None:
    test = "from tax import tax\n\n\ndef test_tax():\n    assert tax(100) == 'a hundred and nineteen'\n"
    repo = repository(tmp_path, {"tax.py": TAX, "test_tax.py": test})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False, repair={"budget_s": 4})
    assert finished.status == "failed"
    assert "edits in tax were tried" in of(heard, ev.RepairFinished)[0].reason
    assert of(heard, ev.DiffReady)[0].diff == ""
