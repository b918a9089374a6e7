"""``cra labels`` and ``cra evaluate``, as somebody at a shell meets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agent.audit.history import list_runs
from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.labels.book import LabelBook
from tests.fakes import ScriptedServer
from tests.labels.filled import Filled
from tui.cli import cli


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Path]:
    """A repository with eight labelled calls in two runs."""
    filled = Filled(tmp_path / "repo")
    for run in ("r1", "r2"):
        filled.run(run)
        for number in range(4):
            call = filled.call(run, f"{run}{number}.c", True, 0.6)
            filled.label(call, number % 2 == 0, "overrule" if number else "person")
    filled.log.close()
    yield filled.repo


def cra(*words: Any) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_stats(repo: Path) -> None:
    result = cra("labels", "stats", "--repo", repo)
    assert result.exit_code == 0, result.output
    assert "8 yes/no calls, 8 labelled (2 person, 6 overrule, 0 outcome)" in result.stdout
    header, row = result.stdout.splitlines()[1:]
    assert header.split() == ["stage", "model", "calls", "labelled", "agree", "unreadable", "kappa"]
    assert row.split() == ["scope", "m1", "8", "8", "4/8", "0", "0.00"]
    as_json = json.loads(cra("labels", "stats", "--repo", repo, "--json").stdout)
    assert as_json["stages"][0]["agree"] == 4 and as_json["conflicts"] == 0


def test_export_and_refusals(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs"
    result = cra("labels", "export", "--repo", repo, "--format", "openai-chat", "--out", out, "--test-fraction", "0.5")
    assert result.exit_code == 0, result.output
    assert (out / "train.jsonl").read_text().count("\n") == 4 == (out / "test.jsonl").read_text().count("\n")
    assert str(out / "train.jsonl") in result.stdout and "4 yes, 4 no" in result.stderr
    again = cra("labels", "export", "--repo", repo, "--out", out)
    assert again.exit_code == 2 and "--force" in again.stderr
    assert cra("labels", "export", "--repo", repo, "--out", out, "--force").exit_code == 0
    nothing = cra("labels", "export", "--repo", repo, "--out", tmp_path / "no", "--stage", "similarity")
    assert nothing.exit_code == 2 and "Label some calls first" in nothing.stderr


@pytest.mark.parametrize(
    ("word", "words"), [("scoop", "Did you mean 'scope'?"), ("zzz", "There are: "), ("generate_file", "no yes/no stage")]
)
def test_a_stage_that_does_not_exist_is_named(repo: Path, word: str, words: str) -> None:
    for command in (("calibrate",), ("evaluate",), ("labels", "export", "--out", repo / "out")):
        refused = cra(*command, "--repo", repo, "--stage", word)
        assert refused.exit_code == 2 and words in refused.stderr, command
    assert "scope" in cra("calibrate", "--repo", repo, "--stage", "File").stdout  # as screens name it


def test_the_history_counts_no_label_that_was_taken_back(repo: Path) -> None:
    book = LabelBook(known_log(repo))
    book.add(1, None)
    book.add(2, True)
    book.close()
    reader = LogReader(known_log(repo))
    assert {run.run_id: run.labels for run in list_runs(reader)} == {"r1": 3, "r2": 4}
    reader.close()


def test_where_no_run_ever_was(tmp_path: Path) -> None:
    from agent.audit.log import LogError

    result = cra("labels", "stats", "--repo", tmp_path)
    assert isinstance(result.exception, LogError) and "Run a task there first" in str(result.exception)


def test_evaluate_asks_the_model_that_is_named(repo: Path) -> None:
    with ScriptedServer([("0.c", "yes"), ("2.c", "yes")]).run_in_thread() as server:
        where = ("--provider", "openai", "--base-url", server.base_url)
        result = cra("evaluate", "--repo", repo, "--model", "m2", *where)
        assert result.exit_code == 0, result.output
        assert {call.model for call in server.calls} == {"m2"} and len(server.calls) == 8
        mine, log, agreement = result.stdout.splitlines()[1:]
        assert mine.split()[:4] == ["scope", "m2", "8", "1.00"]
        assert log.split()[:5] == ["scope", "m1", "(log)", "8", "0.50"]
        assert agreement.startswith("scope: m1 and m2 agree, kappa") and "trained on these labels" in result.stderr
        document = json.loads(cra("evaluate", "--repo", repo, "--model", "m2", *where, "--json").stdout)
        assert document["asked"][0]["confusion"]["true_yes"] == 4 and document["status"] == "complete"


def test_evaluate_without_labels_says_what_to_do(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    filled.run("r1")
    filled.call("r1", "a.c")
    filled.log.close()
    result = cra("evaluate", "--repo", tmp_path, "--model", "m", "--provider", "openai", "--base-url", "http://127.0.0.1:9")
    assert result.exit_code == 2 and "carries a label yet" in result.stderr


def test_evaluate_several_models_on_what_an_export_held_out(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs"
    assert cra("labels", "export", "--repo", repo, "--out", out, "--test-fraction", "0.5").exit_code == 0
    with ScriptedServer([("0.c", "yes"), ("2.c", "yes")]).run_in_thread() as server:
        where = ("--provider", "openai", "--base-url", server.base_url, "--export", out, "--json")
        document = json.loads(cra("evaluate", "--repo", repo, "--model", "m2", "--model", "m3", *where).stdout)
    assert [(score["model"], score["confusion"]["true_yes"]) for score in document["asked"]] == [("m2", 2), ("m3", 2)]
    assert len(document["runs"]) == 2 and document["notes"] == [] and document["asked"][0]["kappa"] == 1.0
    agreeing = {(two["one"], two["other"]): two["kappa"] for two in document["agreements"]}
    assert agreeing["m2", "m3"] == 1.0
    wrong = cra("evaluate", "--repo", repo, "--export", tmp_path)
    assert wrong.exit_code == 2 and "no export" in wrong.stderr


def test_evaluate_measures_repositories_together_and_keeps_each_in_its_own_log(repo: Path, tmp_path: Path) -> None:
    other, bare = Filled(tmp_path / "other"), Filled(tmp_path / "bare")
    other.run("o1", repo=str(other.repo))
    for number in range(4):
        other.label(other.call("o1", f"o{number}.c", True, 0.7, task_context="Task: another\n\n"), number < 2)
    bare.run("b1", repo=str(bare.repo))
    for one in (other, bare):
        one.log.close()
    named = [word for place in (repo, other.repo, bare.repo) for word in ("--repo", place)]
    with ScriptedServer([("0.c", "yes"), ("2.c", "yes")]).run_in_thread() as server:
        where = ("--provider", "openai", "--base-url", server.base_url, "--model", "m2", "--model", "m3", "--json")
        result = cra("evaluate", *named, *where)
        assert result.exit_code == 0 and len(server.calls) == 2 * 12, "what has no label is passed over"
    document = json.loads(result.stdout)
    assert [(score["model"], score["confusion"]["true_yes"], score["tasks"]) for score in document["asked"]] == [
        ("m2", 5, 3), ("m3", 5, 3),
    ]  # fmt: skip
    assert sum(two["n"] for two in document["agreements"] if (two["one"], two["other"]) == ("m2", "m3")) == 12
    first, second = LogReader(known_log(repo)), LogReader(known_log(other.repo))
    kept = [set(reader.select("select run_id from calls where model = 'm2'")) for reader in (first, second)]
    first.close()
    second.close()
    assert [len(runs) for runs in kept] == [1, 1] and not kept[0] & kept[1]
    assert len(document["runs"]) == 4


def test_calibrate_pools_repositories_and_writes_only_what_is_offered(tmp_path: Path) -> None:
    repos = []
    for name in ("one", "two"):
        filled = Filled(tmp_path / name)
        repos.append(filled.repo)
        for task in range(4):
            filled.run(f"{name}{task}", repo=str(filled.repo))
            for number in range(5):
                state = f"Task: {name}{task}\n\n"
                call = filled.call(f"{name}{task}", f"f{number}", False, 0.1 + 0.06 * number, task_context=state)
                filled.label(call, number > 2)
        filled.log.close()
    alone = cra("calibrate", "--repo", repos[0])
    assert alone.exit_code == 0 and "come from 4 tasks" in alone.stdout
    both = [word for repo in repos for word in ("--repo", repo)]
    document = json.loads(cra("calibrate", *both, "--json").stdout)
    assert [fit["offered"] for fit in document["fits"]] == [True] and document["fits"][0]["tasks"] == 8
    result = cra("calibrate", *both, "--apply")
    assert "offered: threshold" in result.stdout and result.stdout.count("written:") == 2
    assert (repos[1] / ".clean_room" / "thresholds.toml").is_file()


def test_labels_of_several_repositories_are_gathered_and_read_together(repo: Path, tmp_path: Path) -> None:
    other = Filled(tmp_path / "other")
    other.run("o1", repo=str(other.repo))
    other.label(other.call("o1", "o.c", True, 0.7), True)
    other.log.close()
    both = ("--repo", repo, "--repo", other.repo)
    assert "9 yes/no calls, 9 labelled" in cra("labels", "stats", *both).stdout
    dry = cra("labels", "export", *both, "--format", "openai-chat", "--out", tmp_path / "dry", "--dry-run")
    assert dry.exit_code == 0 and '"messages"' in dry.stderr and "Nothing was written" in dry.stderr
    assert not (tmp_path / "dry").exists()
    gathered = cra("labels", "gather", *both).stdout
    assert "9 new labels; 9 labels of 2 repositories in " in gathered and str(other.repo) in gathered
    assert "0 new labels" in cra("labels", "gather", *both).stdout
    shared = cra("labels", "stats", "--shared", "--repo", repo).stdout
    assert "9 labelled" in shared and "your own store: 9 labels of 2 repositories" in shared
    out = tmp_path / "shared"
    assert cra("labels", "export", "--shared", "--repo", repo, "--out", out, "--test-fraction", "0").exit_code == 0
    assert (out / "train.jsonl").read_text().count("\n") == 9
