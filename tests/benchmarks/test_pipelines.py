"""Decomposed against monolithic, measured on real child processes with a scripted model."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.flow.plan import open_points
from agent.flow.survey import survey
from agent.launch import open_run
from agent.planning.facts import plan_from_facts
from agent.planning.new_c import plan_new_c
from agent.task.intent import read_intent
from agent.workspace.demo import create_demo, list_demos
from benchmarks.pipeline_rows import PipelineRow, append_row, read_rows, table
from benchmarks.pipeline_run import OPEN, TOGGLES
from benchmarks.pipelines import main, plan_runs
from tests.fakes.server import ScriptedServer
from tests.flow.test_run_other_demos import fixes_budget

ROOT = Path(__file__).parents[2]


def at(server: ScriptedServer) -> list[str]:
    return ["--set", "models.provider=openai", "--set", f"models.base_url={server.base_url}"]


def row(demo: str, mode: str, seed: int = 42, solved: bool = True, seconds: float = 1.0, **rest: object) -> PipelineRow:
    status = "complete" if solved else "failed"
    reason = "" if solved else "Nothing was changed."
    return PipelineRow(demo, mode, seed, status, solved, reason, 10, 4, 1000, 200, seconds, seconds, **rest)  # type: ignore[arg-type]


def test_what_would_run_is_listed_and_what_is_saved_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save = tmp_path / "rows.jsonl"
    append_row(save, row("ring_buffer", "monolithic", 43))
    words = ["--list", "--demos", "ring_buffer", "--repeat", "2", "--save", str(save)]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in said] == [
        ["ring_buffer", mode, "seed", seed] for seed in ("42", "43") for mode in ("decomposed", "monolithic")
    ]
    assert [line.endswith("(saved already)") for line in said] == [False, False, False, True]


def test_a_run_is_measured_kept_and_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save = tmp_path / "kept" / "rows.jsonl"
    with ScriptedServer(fixes_budget).run_in_thread() as server:
        words = ["--demos", "token_budget", "--save", str(save), *at(server)]
        assert main([*words, "--modes", "monolithic"]) == 0
        asked = len(server.calls)
        assert main(words) == 0
        first, second = len(server.calls[:asked]), len(server.calls[asked:])
        assert main(words) == 0
        assert len(server.calls) == asked + second
    rows = read_rows(save)
    assert [(one.demo, one.mode, one.solved, one.status) for one in rows] == [
        ("token_budget", "monolithic", True, "complete"), ("token_budget", "decomposed", True, "complete"),
    ]  # fmt: skip
    assert [one.calls for one in rows] == [first, second] and all(one.cached_calls == 0 for one in rows)
    one = rows[0]
    assert 0 < one.generations < one.calls == sum(one.stages.values()) and one.tokens_in > one.tokens_out > 0
    assert one.passed_before is not None and one.total_before is not None and one.passed_before < one.total_before
    assert one.passed_after == one.total_after and 0 < one.seconds <= one.wall and one.commit and one.model
    capsys.readouterr()
    assert main(["--from", str(save)]) == 0
    said = capsys.readouterr().out
    assert "| token_budget | decomposed | 1 of 1 |" in said and "| token_budget | monolithic | 1 of 1 |" in said


def test_every_toggle_is_on_or_off_and_the_rest_is_the_same() -> None:
    assert "decomposed_planning" in TOGGLES and "decomposed_error_classification" in TOGGLES and len(TOGGLES) >= 5
    runs = plan_runs(["hash_table"], ["decomposed", "monolithic"], 1, 3, "plain", ["coding.samples=2"])
    on, off = (run.words() for run in runs)
    assert [word.replace("true", "false") for word in on] == off != on
    assert on[len(TOGGLES) :] == ["models.seed=45", "coding.samples=2"]


async def test_open_words_leave_the_plan_to_the_model_whatever_the_demo(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server:
        for demo in list_demos():
            repo = create_demo(demo.name, tmp_path / demo.name)
            models = {"provider": "openai", "base_url": server.base_url}
            run = await open_run(OPEN[demo.name], repo, extra={"models": models}, hidden=demo.hidden)
            found = await survey(run.ctx, run.workspace, run.task, demo.hidden)
            await run.aclose()
            assert plan_from_facts(run.task, open_points(found)) is None and not read_intent(run.task).repairs
            assert plan_new_c(run.task, [path for path in found.package.included_files if found.writable(path)]) is None


def test_a_run_over_the_limit_is_stopped_and_not_solved(tmp_path: Path) -> None:
    save = tmp_path / "rows.jsonl"
    with ScriptedServer("yes", latency=60).run_in_thread() as server:
        words = ["--demos", "ring_buffer", "--modes", "decomposed", "--limit", "6", "--save", str(save), *at(server)]
        assert main(words) == 0
    [one] = read_rows(save)
    assert not one.solved and one.status in ("stopped", "failed")
    assert one.reason.startswith("It was stopped after 6 s, at ") and one.wall < 50, "an answer comes after 60 s"


def test_a_run_that_cannot_begin_is_no_row_but_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save = tmp_path / "rows.jsonl"
    words = ["--demos", "token_budget", "--modes", "monolithic", "--save", str(save)]
    assert main([*words, "--set", "models.provider=openai", "--set", "models.base_url=http://127.0.0.1:9"]) == 3
    said = capsys.readouterr()
    assert "The measurement ends here: cra: " in said.err and "There are no rows." in said.out and not save.exists()
    with pytest.raises(SystemExit):
        main([*words, "--set", "models.codin=x"])
    assert "Did you mean 'coding'?" in capsys.readouterr().err


def test_a_broken_off_line_costs_itself_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save = tmp_path / "rows.jsonl"
    append_row(save, row("ring_buffer", "decomposed"))
    save.write_bytes(save.read_bytes() + b'{"demo": "ring_bu')
    append_row(save, row("hash_table", "decomposed"))
    assert [one.demo for one in read_rows(save)] == ["ring_buffer", "hash_table"]
    assert "line 2 is passed over" in capsys.readouterr().err
    assert json.loads(save.read_bytes().splitlines()[-1])["demo"] == "hash_table"


def test_the_table_shows_medians_and_shares() -> None:
    rows = [row("ring_buffer", "decomposed", seed, seconds=seconds, solved=seed != 3, passed_after=seed, total_after=8)
            for seed, seconds in ((1, 10), (2, 90), (3, 20))]  # fmt: skip
    assert table(rows).splitlines()[-1] == (
        "| ring_buffer | decomposed | 2 of 3 | 1 of 8, 2 of 8, 3 of 8 | 10 | 4 | 1000 / 200 | 20 |"
    )


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to see child processes")
def test_a_measurement_broken_off_leaves_its_rows_and_no_process(tmp_path: Path) -> None:
    save = tmp_path / "rows.jsonl"
    append_row(save, row("ring_buffer", "decomposed"))
    with ScriptedServer("yes", latency=60).run_in_thread() as server:
        words = [sys.executable, "-m", "benchmarks.pipelines", "--demos", "ring_buffer", "--save", str(save), *at(server)]
        measurement = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not server.calls and time.monotonic() < until:
            time.sleep(0.05)
        [child] = Path(f"/proc/{measurement.pid}/task/{measurement.pid}/children").read_text().split()
        measurement.terminate()
        said, warned = measurement.communicate(timeout=60)
    assert measurement.returncode == 130 and "Broken off" in warned and not Path(f"/proc/{child}").exists()
    assert "| ring_buffer | decomposed | 1 of 1 |" in said and len(read_rows(save)) == 1
