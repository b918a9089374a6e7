"""The worked example (an off-by-one in a token budget), call for call, over real HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.schema import Config
from agent.events import CascadePass, FileScoped, StageFinished, SymbolClassified, TaskAnalysed
from agent.index import Index
from agent.retrieval.pipeline import predict_calls, retrieve
from agent.workspace.demo import create_demo, load_demo
from tests.fakes.context import Recorded, run_context
from tests.fakes.script import Answer
from tests.fakes.server import ScriptedServer
from tests.retrieval.repos import TASK, worked_example
from tests.retrieval.scripts import SAYS_YES, asked, by_stage, stage_of

CLASSES = {
    "BudgetTracker": "primary",
    "BudgetTracker.can_fit": "primary",
    "BudgetTracker.remaining": "primary",
    "estimate_tokens": "supporting",
    "estimate_tokens_conservative": "supporting",
    "CHARS_PER_TOKEN": "type_context",
    "assemble_context": "type_context",
    "_refilter_files": "excluded",
    "httpx.Client": "type_context",
    "sqlite3.Connection": "type_context",
}


@pytest.fixture
def index(tmp_path: Path) -> Any:
    opened = Index.open(worked_example(tmp_path / "repo"))
    opened.refresh()
    yield opened
    opened.close()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(by_stage(SAYS_YES)) as running:
        yield running


async def run(ctx: Recorded, index: Index) -> Any:
    return await retrieve(ctx, index, TASK, plan_files=["budget.py"])


async def test_the_worked_example_makes_exactly_its_calls(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        package = await run(ctx, index)
        assert sorted(asked(server.calls, "scope")) == ["context_assembly.py", "pipeline.py", "scope_stage.py"]
        per_pass = [len(asked(server.calls, f"precision_pass{n}")) for n in (1, 2, 3)]
        assert per_pass == [8, 7, 4]
        assert package.calls == len(server.calls) == 1 + 3 + 8 + 7 + 4
        assert {s.name: s.detail_level for s in package.symbols} == CLASSES


async def test_tiers_and_reasons_are_those_of_the_example(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        scoped = {event.path: event for event in ctx.of(FileScoped)}
        assert {path: event.tier for path, event in scoped.items()} == {
            "budget.py": 0, "token_estimation.py": 1, "context_assembly.py": 2, "pipeline.py": 3, "scope_stage.py": 4,
        }  # fmt: skip
        assert scoped["budget.py"].included and not scoped["budget.py"].judged
        assert scoped["pipeline.py"].reason == "co-changed with budget.py 4 times"
        assert scoped["context_assembly.py"].reason == "imports budget.py"
        assert [path for path, event in scoped.items() if not event.included] == ["scope_stage.py"]


async def test_the_judged_item_carries_path_tier_language_reason_and_metadata(
    tmp_path: Path, index: Index, server: ScriptedServer
) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        [prompt] = [call.prompt for call in server.calls if "File: context_assembly.py" in call.prompt]
        assert "File: context_assembly.py (tier=2, language=python, reason=imports budget.py)" in prompt
        assert "purpose=Assembles a context from classified files." in prompt
        assert "matching: assemble_context, _refilter_files" in prompt  # the symbols whose words fit best
        assert prompt.startswith(f"Task: {TASK}\nIntent: Bug fix in token budget tracking logic\n\n")


async def test_all_items_of_a_stage_share_a_byte_identical_prefix(
    tmp_path: Path, index: Index, server: ScriptedServer
) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        for stage in ("scope", "precision_pass1", "precision_pass2", "precision_pass3"):
            heads = {call.prompt.split("\n\n")[0] for call in server.calls if stage_of(call) == stage}
            assert len(heads) == 1 and len({call.system for call in server.calls if stage_of(call) == stage}) == 1


async def test_every_decision_is_its_own_row_under_its_own_stage(
    tmp_path: Path, index: Index, server: ScriptedServer
) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        await ctx.log.durable()
        rows = list(ctx.log.db.query("select stage, item, verdict, p_yes, model, raw from calls where binary order by id"))
        counts: dict[str, int] = {}
        for row in rows:
            counts[row["stage"]] = counts.get(row["stage"], 0) + 1
            assert row["verdict"] in (0, 1) and row["p_yes"] is not None and row["model"] and row["raw"]
        assert counts == {"scope": 3, "precision_pass1": 8, "precision_pass2": 7, "precision_pass3": 4}
        assert rows[0]["item"] == "context_assembly.py"
        assert {"budget.py:BudgetTracker.can_fit", "context_assembly.py:_refilter_files"} <= {r["item"] for r in rows}


async def test_the_cascade_is_told_and_shrinks(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        await ctx.log.durable()
        passes = ctx.of(CascadePass)
        assert [(p.pass_no, p.asked, p.yes, p.no) for p in passes] == [(1, 8, 7, 1), (2, 7, 3, 4), (3, 4, 2, 2)]
        assert {e.symbol: e.detail_level for e in ctx.of(SymbolClassified)} == CLASSES
        [analysed] = ctx.of(TaskAnalysed)
        assert analysed.kind == "bug" and analysed.mentioned_files == ("token_estimation.py",)
        assert "budget.py:BudgetTracker.can_fit" in analysed.mentioned_symbols
        done = {event.stage: event.counts for event in ctx.of(StageFinished)}
        assert done["scope"] == {"candidates": 5, "asked": 3, "included": 4}


async def test_library_symbols_are_never_asked_about(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
        everything = [item for n in (1, 2, 3) for item in asked(server.calls, f"precision_pass{n}")]
        assert not {"httpx.Client", "sqlite3.Connection"} & set(everything)


async def test_garbage_is_denied_but_the_package_is_not_empty(tmp_path: Path, index: Index) -> None:
    def script(call: Any) -> Answer:
        return Answer("Budget matters" if stage_of(call) == "task_analysis" else "perhaps", logprobs=False)

    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        package = await run(ctx, index)
        await ctx.log.durable()
        rows = list(ctx.log.db.query("select verdict, defaulted from calls where binary"))
        assert rows and all(row["verdict"] == 0 and row["defaulted"] for row in rows)
        assert package.included_files == ["budget.py", "token_estimation.py"]
        assert package.at_level("primary") and "def can_fit" in package.text


async def test_a_second_run_reuses_the_verdicts_and_says_so(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        await run(ctx, index)
    before = len(server.calls)
    async with run_context(tmp_path, server, run_id="r2") as ctx:
        package = await run(ctx, index)
        assert len(server.calls) == before + 1  # the intent sentence; no yes/no is asked twice
        assert {s.name: s.detail_level for s in package.symbols} == CLASSES
        await ctx.log.durable()
        assert all(r["cached"] for r in ctx.log.db.query("select cached from calls where run_id = 'r2' and binary"))


async def test_the_context_shows_each_class_as_it_should(tmp_path: Path, index: Index, server: ScriptedServer) -> None:
    async with run_context(tmp_path, server) as ctx:
        text = (await run(ctx, index)).text
        assert "return self.used + estimate_tokens(text) < self.limit" in text  # primary: full source
        assert "return len(text) // 3 + 1" in text  # supporting: full source
        assert "def assemble_context(files: list[str], tracker: BudgetTracker, log: Connection) -> str" in text
        assert "Joins the files that fit the budget." in text and "tracker.can_fit(text))" not in text  # signature only
        assert "_refilter_files" not in text and "CHARS_PER_TOKEN = 4" in text
        assert "from token_estimation import estimate_tokens" in text  # what it needs to be read comes along
        assert text.count("def can_fit") == 1  # a method inside a shown class is not shown twice


def test_the_calls_are_predicted_before_a_run(index: Index) -> None:
    predicted = predict_calls(index, TASK, Config())
    assert 23 <= predicted <= 23 + 5  # scope_stage.py is counted in, though it will be denied


async def test_the_demo_repository_gives_the_example_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ScriptedServer
) -> None:
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    index = Index.open(create_demo("token_budget"))
    index.refresh()
    task = f"{load_demo('token_budget').task} (BudgetTracker.can_fit; see token_estimation.py)"
    async with run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, task, plan_files=["budget.py"])
        assert sorted(asked(server.calls, "scope")) == ["context_assembly.py", "pipeline.py", "scope_stage.py"]
        assert [len(asked(server.calls, f"precision_pass{n}")) for n in (1, 2, 3)] == [8, 7, 4]
        assert {s.name: s.detail_level for s in package.symbols} == CLASSES
        assert {f.path: f.tier for f in package.files} == {
            "budget.py": 0, "token_estimation.py": 1, "context_assembly.py": 2, "pipeline.py": 3, "scope_stage.py": 4,
        }  # fmt: skip
    index.close()


async def test_the_demo_task_as_it_stands_asks_about_all_five_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    index = Index.open(create_demo("token_budget"))
    index.refresh()
    yes = {**SAYS_YES, "scope": {"budget.py", "token_estimation.py", "context_assembly.py", "pipeline.py"}}
    async with ScriptedServer(by_stage(yes)) as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, load_demo("token_budget").task)
        assert len(asked(server.calls, "scope")) == 5
        assert {s.name: s.detail_level for s in package.symbols} == CLASSES
    index.close()
