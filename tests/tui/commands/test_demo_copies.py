"""Copies of demos: one that is untouched is opened again, finished ones can be cleaned away, nothing of a person's goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.config.schema import load as load_config
from agent.events import DiffReady, DiffResolved, Envelope, Event, RunFinished, RunStarted
from agent.flow.change import decide
from agent.flow.demo_copies import demo_copies, open_copy
from agent.labels.book import LabelBook
from agent.state.run_state import RunState
from agent.workspace.clean_room import claim
from agent.workspace.git import run_git
from tests.flow.ended import ended_run
from tui.cli import cli
from tui.launch import undecided_words


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def cra(*words: str, **rest: str) -> Result:
    return CliRunner().invoke(cli, list(words), **rest)  # type: ignore[arg-type]


async def _used(name: str, choice: str) -> Path:
    """A copy in which a run has changed a file and the person has chosen what becomes of it."""
    place = open_copy(name)
    (place / "a.c").write_text("int x;\n")
    run_git(place, "add", "a.c")
    author = {f"GIT_{who}_{what}": "demo@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("EMAIL", "NAME")}
    run_git(place, "commit", "-q", "-m", "a file more", env=author)
    await ended_run(place, f"r-{place.name}")
    if choice:
        done, _ = await decide(place, f"r-{place.name}", choice)  # type: ignore[arg-type]
        assert done
    return place


async def test_only_an_untouched_copy_is_opened_again(data: Path) -> None:
    first = open_copy("token_budget")
    assert first.name == "token_budget-1"
    assert open_copy("token_budget") == first
    (first / "mine.py").write_text("x = 1\n")
    second = open_copy("token_budget")
    assert second.name == "token_budget-2"
    (second / "budget.py").write_text("")
    third = open_copy("token_budget")
    assert third.name == "token_budget-3"
    (third / ".clean_room").mkdir()
    (third / ".clean_room" / "config.toml").write_text("")
    assert open_copy("token_budget").name == "token_budget-4", "one with settings of its own is not untouched"


async def test_a_copy_has_the_settings_of_its_demo_and_is_opened_again_with_them(data: Path) -> None:
    first = open_copy("weather_log")
    config = load_config(first)
    assert config.orchestrator.decomposed_planning and config.orchestrator.decomposed_adjustment
    assert config.retrieval.always_ask and not load_config(open_copy("ring_buffer")).retrieval.always_ask
    assert open_copy("weather_log") == first
    other = open_copy("weather_log", {"orchestrator": {"decomposed_planning": False}, "coding": {"samples": 2}})
    changed = load_config(other)
    assert other == first and not changed.orchestrator.decomposed_planning and changed.orchestrator.decomposed_scaffold
    assert changed.coding.samples == 2 and open_copy("weather_log").name == "weather_log-2"


async def test_cleaning_takes_what_is_finished_and_says_why_the_rest_stays(data: Path) -> None:
    applied, discarded = await _used("ring_buffer", "apply"), await _used("ring_buffer", "discard")
    waits, kept = await _used("ring_buffer", ""), await _used("ring_buffer", "keep")
    labelled, edited = await _used("ring_buffer", "discard"), await _used("ring_buffer", "apply")
    book = LabelBook(labelled / ".clean_room" / "raw.sqlite")
    book.add(1, True)
    book.close()
    (edited / "a.c").write_text("int mine;\n")
    fresh = open_copy("ring_buffer")
    stays = {
        waits: "a change you have not decided on", kept: f"the kept branch cra/r-{kept.name}",
        labelled: "1 label of yours", edited: "changed files",
    }  # fmt: skip
    assert {copy.path: ", ".join(copy.kept_for) for copy in demo_copies() if copy.kept_for} == stays
    said = cra("demo", "--clean", input="n\n")
    assert "Nothing was deleted" in said.stdout and all(reason in said.stdout for reason in stays.values())
    assert all(place.is_dir() for place in (applied, discarded, fresh))
    said = cra("demo", "--clean", "--yes")
    assert "Deleted 3 copies" in said.stdout and said.exit_code == 0
    assert not any(place.exists() for place in (applied, discarded, fresh)) and all(place.is_dir() for place in stays)
    assert sorted(path.name for path in (data / "demos").iterdir()) == sorted(place.name for place in stays)
    listed = cra("demo", "--list").stdout
    assert str(waits) in listed and "cra --repo FOLDER" in listed and "--clean" not in listed
    assert "nothing to delete" in cra("demo", "--clean").stdout


def test_a_copy_whose_log_was_moved_aside_stays(data: Path) -> None:
    place = open_copy("ring_buffer")
    aside = claim(place).folder / "foreign-1"
    aside.mkdir()
    (aside / "owner").write_text("0" * 32)
    assert demo_copies()[0].untouched  # nothing in it that could be taken over
    (aside / "raw.sqlite").write_bytes(b"a log")
    assert [copy.kept_for for copy in demo_copies()] == [("runs or labels of another machine, moved aside",)]
    assert "nothing to delete" in cra("demo", "--clean", "--yes").stdout and (aside / "raw.sqlite").is_file()


def test_a_folder_as_command_names_the_option(tmp_path: Path) -> None:
    said = cra(str(tmp_path))
    assert said.exit_code == 2 and f"cra --repo {tmp_path}" in said.output


@pytest.mark.parametrize(
    ("more", "said"), [((), True), ((DiffResolved("kept"),), False), ((DiffResolved("discarded"),), False)]
)
def test_a_change_left_undecided_is_named_when_the_window_closes(more: tuple[Event, ...], said: bool) -> None:
    state = RunState()
    events = (RunStarted("t", "/srv/my code", "cra/r1"), DiffReady("+x\n", ("a.c",), 1, 0), RunFinished("complete"), *more)
    for seq, event in enumerate(events, 1):
        state.apply(Envelope("r1", seq, float(seq), event))  # type: ignore[arg-type]
    text = undecided_words(state, Path("/srv/my code"))
    line = "A change waits for your decision on branch cra/r1. To decide: cra --repo '/srv/my code', then F9."
    assert text == line * said
    assert undecided_words(RunState(), Path()) == ""
