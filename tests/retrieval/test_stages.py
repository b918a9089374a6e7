"""Scope, similarity, routing, precision, assembly: each with its caps, defaults and notices, over real HTTP."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.schema import Config
from agent.events import ContextAssembled, FileScoped, FilesGrouped, Notice, StagesRouted, SymbolClassified
from agent.gate import Gate, PendingVerdict
from agent.index import Index
from agent.retrieval.candidates import find_candidates
from agent.retrieval.pipeline import retrieve, retrieve_unjudged
from agent.retrieval.scope import UNASKED
from agent.retrieval.task import analyse
from agent.verdict.threshold import Threshold, Thresholds
from tests.fakes.context import run_context
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.retrieval.repos import TASK, commit, worked_example, write
from tests.retrieval.scripts import SAYS_YES, asked, by_stage, item_of, stage_of

Open = Callable[..., Index]


@pytest.fixture
def open_index() -> Iterator[Open]:
    opened: list[Index] = []

    def make(root: Path) -> Index:
        opened.append(Index.open(root))
        opened[-1].refresh()
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(tmp_path: Path, open_index: Open) -> Index:
    return open_index(worked_example(tmp_path / "repo"))


def many_files(root: Path, count: int) -> Path:
    text = '"""Handles budget number {0}."""\n\n\ndef budget_{0}():\n    return {0}\n'
    write(root, {f"m{n:02}.py": text.format(n) for n in range(count)})
    return root


# --- candidates


def test_caps_are_applied_after_sorting_and_said(tmp_path: Path, open_index: Open) -> None:
    files = {f"user{n:02}.py": "import core\n" for n in range(12)}
    write(tmp_path, {"core.py": "def quota():\n    return 1\n", **files})
    write(tmp_path, {"user07.py": 'import core\n\nTEXT = "quota quota quota"\n'})
    index = open_index(tmp_path)
    limits = Config().retrieval.__class__(max_dependencies=3, max_search=0)
    facts = analyse("quota() in core.py is wrong", index)
    found = find_candidates(index, facts, limits)
    tier2 = [file.path for file in found.files if file.tier == 2]
    assert len(tier2) == 3 and tier2[0] == "user07.py"  # most connected first, then by search
    assert found.caps == (
        "Tier 2 was cut at 3 of 12 files, most connected first.",
        "Tier 4 was cut at 0 of 9 files, best match first.",
    )


def test_lower_tier_wins_and_ranks_are_places(index: Index) -> None:
    found = find_candidates(index, analyse(TASK, index), Config().retrieval, ["budget.py"])
    assert len({file.path for file in found.files}) == len(found.files)
    assert [file.rank for file in found.files] == list(range(1, len(found.files) + 1))
    assert found.files[0].path == "budget.py" and found.files[0].tier == 0


def test_tests_are_no_candidates_unless_the_task_is_about_them(tmp_path: Path, open_index: Open) -> None:
    test = "from budget import fits\n\n\ndef test_fits():\n    assert fits()\n"
    write(tmp_path, {"budget.py": "def fits():\n    return 1\n", "tests/test_budget.py": test})
    index = open_index(tmp_path)
    limits = Config().retrieval
    paths = lambda text: [f.path for f in find_candidates(index, analyse(text, index), limits).files]  # noqa: E731
    assert paths("fits() in budget.py is wrong") == ["budget.py"]
    assert "tests/test_budget.py" in paths("Add tests for fits() in budget.py")
    assert "tests/test_budget.py" in paths("tests/test_budget.py fails on fits()")


def test_declared_functions_bring_the_header_and_its_source_as_seeds(tmp_path: Path, open_index: Open) -> None:
    write(tmp_path, {
        "ring.h": "#ifndef RING_H\n#define RING_H\nint ring_push(int v);\nint ring_pop(void);\n#endif\n",
        "ring.c": '#include "ring.h"\n\nint ring_push(int v)\n{\n    (void)v;\n    return 0;\n}\n',
        "main.c": '#include "ring.h"\n\nint main(void)\n{\n    return ring_push(1);\n}\n',
    })  # fmt: skip
    index = open_index(tmp_path)
    facts = analyse("Implement the functions declared in ring.h", index)
    tiers = {f.path: f.tier for f in find_candidates(index, facts, Config().retrieval).files}
    assert facts.kind == "implement" and tiers == {"ring.h": 1, "ring.c": 1, "main.c": 2}
    unnamed = analyse("Implement the declared functions", index)
    tiers = {f.path: f.tier for f in find_candidates(index, unnamed, Config().retrieval).files}
    assert tiers["ring.h"] == 1 and tiers["ring.c"] == 1  # ring_pop is declared and defined nowhere


# --- scope


async def test_seeds_are_not_asked_and_candidates_are_asked_once_each(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        seeds = [file for file in package.files if file.seed]
        assert len(asked(server.calls, "scope")) == len(package.files) - len(seeds) == 3


async def test_a_call_budget_denies_the_ranked_rest_and_says_so(tmp_path: Path, open_index: Open) -> None:
    index = open_index(many_files(tmp_path / "repo", 15))
    async with ScriptedServer(by_stage({})) as server, run_context(tmp_path, server, retrieval={"max_calls": 12}) as ctx:
        package = await retrieve(ctx, index, "The budget is wrong")
        await ctx.log.durable()
        judged = [file for file in package.files if file.judged]
        assert len(judged) == len(asked(server.calls, "scope")) == 4  # a third of the calls
        assert [file.rank for file in judged] == [1, 2, 3, 4]
        denied = [event for event in ctx.of(FileScoped) if event.reason == UNASKED]
        assert denied and any("retrieval.max_calls" in notice.text for notice in ctx.of(Notice))
        assert len([call for call in server.calls if stage_of(call) != "task_analysis"]) <= 12


async def test_a_shy_model_empties_nothing(tmp_path: Path, open_index: Open) -> None:
    index = open_index(many_files(tmp_path / "repo", 8))
    async with ScriptedServer(by_stage({})) as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, "The budget is wrong")
        await ctx.log.durable()
        assert len(package.included_files) == 5 and package.included_files == [f.path for f in package.files[:5]]
        assert len(package.at_level("primary")) == 3 and package.text
        told = [notice.text for notice in ctx.of(Notice) if notice.level == "warning"]
        assert any("best-ranked are kept" in text for text in told)
        assert any("none of 5 symbols relevant" in text for text in told)


async def test_rank_evidence_lifts_the_best_ranked(tmp_path: Path, open_index: Open) -> None:
    index = open_index(many_files(tmp_path / "repo", 6))
    thresholds = Thresholds([Threshold("scope", "qwen2.5-coder-1.5b", 0.4, rank_weight=2.0)])

    def script(call: RecordedCall) -> Answer:
        return Answer("no", p_yes=0.25) if stage_of(call) == "scope" else Answer("x", logprobs=False)

    async with ScriptedServer(script) as server, run_context(tmp_path, server, thresholds=thresholds) as ctx:
        package = await retrieve(ctx, index, "The budget is wrong")
        included = [file.rank for file in package.files if file.included]
        assert included == [1, 2]  # sigmoid(logit(.25) + 2/rank) ≥ .4 up to rank 2
        row = next(iter(ctx.log.db.query("select explanation from calls where stage = 'scope' order by id")))
        assert "rank 1" in row["explanation"]


async def test_scope_is_inherited_within_a_run(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server) as ctx:
        first = await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        asked_before = len(asked(server.calls, "scope"))
        second = await retrieve(ctx, index, "Part one: can_fit in budget.py", plan_files=["budget.py"], previous=first)
        fresh = [file.path for file in second.files if file.judged]
        assert not set(fresh) & {file.path for file in first.files}
        assert len(asked(server.calls, "scope")) == asked_before + len(fresh)
        assert second.allowance is first.allowance and first.allowance is not None and first.allowance.asked >= 22
        assert "context_assembly.py" in second.included_files and "scope_stage.py" not in second.included_files


# --- routing and similarity


async def test_routing_off_asks_nothing(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        assert not asked(server.calls, "stage_routing") and not asked(server.calls, "similarity")


PAIRS = {"similarity": {"budget.py + token_estimation.py", "budget.py + context_assembly.py"}}


async def test_routing_is_one_call_and_similarity_groups_by_union(tmp_path: Path, index: Index) -> None:
    script = by_stage({**SAYS_YES, **PAIRS}, stage_routing='```json\n{"stages": ["similarity"]}\n```')
    async with ScriptedServer(script) as server, run_context(tmp_path, server, retrieval={"routing": True}) as ctx:
        package = await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        await ctx.log.durable()
        assert len([c for c in server.calls if stage_of(c) == "stage_routing"]) == 1
        [routed] = ctx.of(StagesRouted)
        assert routed.selected == ("scope", "precision", "similarity") and routed.how == "model"
        pairs = asked(server.calls, "similarity")
        assert len(pairs) == len(set(pairs)) and set(PAIRS["similarity"]) <= set(pairs)
        assert "budget.py + pipeline.py" in pairs  # changed together
        [grouped] = ctx.of(FilesGrouped)
        together = {frozenset(group) for group in grouped.groups}
        three = frozenset({"budget.py", "token_estimation.py", "context_assembly.py"})
        assert together == {three, frozenset({"pipeline.py"})}
        assert package.groups == grouped.groups


@pytest.mark.parametrize("reply", ["no idea", '{"stages": ["everything"]}', '{"stages": 3}'])
async def test_unreadable_routing_runs_no_optional_stage_but_scope_and_precision(
    tmp_path: Path, index: Index, reply: str
) -> None:
    script = by_stage(SAYS_YES, stage_routing=reply)
    async with ScriptedServer(script) as server, run_context(tmp_path, server, retrieval={"routing": True}) as ctx:
        package = await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        await ctx.log.durable()
        [routed] = ctx.of(StagesRouted)
        assert routed.selected == ("scope", "precision") and routed.how == "default"
        assert len([c for c in server.calls if stage_of(c) == "stage_routing"]) == 2  # one re-ask
        assert package.at_level("primary")


async def test_scope_and_precision_cannot_be_routed_away(tmp_path: Path, index: Index) -> None:
    script = by_stage(SAYS_YES, stage_routing='{"stages": []}')
    async with ScriptedServer(script) as server, run_context(tmp_path, server, retrieval={"routing": True}) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        assert asked(server.calls, "scope") and asked(server.calls, "precision_pass1")


# --- precision


async def test_each_pass_asks_only_what_the_last_let_through(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        one, two, three = (set(asked(server.calls, f"precision_pass{n}")) for n in (1, 2, 3))
        assert two == one & SAYS_YES["precision_pass1"] and three == two - SAYS_YES["precision_pass2"]
        first = next(c.prompt for c in server.calls if stage_of(c) == "precision_pass1" and item_of(c) == "estimate_tokens")
        assert re.search(r"^\[called by .*BudgetTracker\.can_fit", first, re.MULTILINE)
        later = next(c.prompt for c in server.calls if stage_of(c) == "precision_pass3" and item_of(c) == "estimate_tokens")
        assert "called by" not in later and "doc: Estimate token count from character count." in later


async def test_symbols_over_the_cap_are_not_asked_about(tmp_path: Path, index: Index) -> None:
    limit = {"max_symbols": 3}
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server, retrieval=limit) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        assert len(asked(server.calls, "precision_pass1")) == 3
        await ctx.log.durable()
        assert any("Of 8 symbols in scope the 3 best-ranked" in notice.text for notice in ctx.of(Notice))


async def test_each_stage_ends_at_the_gate(tmp_path: Path, index: Index) -> None:
    edges: list[str] = []

    class Listening(Gate):
        async def stage_edge(self, stage: str, decided: bool = True) -> None:
            edges.append(stage)

    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server, gate=Listening()) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
    assert edges == ["task_analysis", "scope", "precision_pass1", "precision_pass2", "precision_pass3", "assembly"]


async def test_an_overruled_verdict_decides_who_is_asked_next(tmp_path: Path, index: Index) -> None:
    class Overruling(Gate):
        async def verdict(self, pending: PendingVerdict) -> Any:
            return "overrule" if pending.item == "context_assembly.py:_refilter_files" else "accept"

    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server, gate=Overruling()) as ctx:
        package = await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        assert len(asked(server.calls, "precision_pass2")) == 8
        levels = {s.name: s.detail_level for s in package.symbols}
        assert levels["_refilter_files"] == "primary"  # overruled again in pass 2
        sources = {r["source"] for r in ctx.log.db.query("select source from labels")}
        assert sources == {"overrule"}


# --- assembly


def big_repo(root: Path) -> Path:
    body = "".join(f"    step_{n} = budget + {n}\n" for n in range(60))
    text = '"""Budget part {0}."""\n\n\ndef budget_{0}(budget):\n' + body + "    return budget\n"
    commit(root, {f"part{n}.py": text.format(n) for n in range(8)}, "All parts")
    return root


async def test_over_budget_one_refilter_call_chooses_files(tmp_path: Path, open_index: Open) -> None:
    index = open_index(big_repo(tmp_path / "repo"))

    def script(call: RecordedCall) -> Answer:
        if stage_of(call) == "refilter":
            return Answer('{"keep": ["part3.py", "part5.py"]}', logprobs=False)
        return Answer("yes") if stage_of(call) != "task_analysis" else Answer("x", logprobs=False)

    settings: dict[str, Any] = {"models": {"context_window": 4096}, "retrieval": {"reserved_tokens": 2000}}
    async with ScriptedServer(script) as server, run_context(tmp_path, server, **settings) as ctx:
        package = await retrieve(ctx, index, "The budget parts are wrong")
        await ctx.log.durable()
        assert len([c for c in server.calls if stage_of(c) == "refilter"]) == 1
        [assembled] = ctx.of(ContextAssembled)
        assert assembled.refiltered and set(assembled.files) <= {"part3.py", "part5.py"} and assembled.files
        assert assembled.tokens <= assembled.budget and package.tokens == assembled.tokens
        assert assembled.dropped and package.dropped == assembled.dropped


@pytest.mark.parametrize("reply", ['{"keep": []}', '{"keep": ["nowhere.py"]}', "keep them all"])
async def test_a_refilter_reply_that_cannot_be_used_falls_back_to_rank(tmp_path: Path, open_index: Open, reply: str) -> None:
    index = open_index(big_repo(tmp_path / "repo"))

    def script(call: RecordedCall) -> Answer:
        if stage_of(call) == "refilter":
            return Answer(reply, logprobs=False)
        return Answer("yes") if stage_of(call) != "task_analysis" else Answer("x", logprobs=False)

    settings: dict[str, Any] = {"models": {"context_window": 4096}, "retrieval": {"reserved_tokens": 2000}}
    async with ScriptedServer(script) as server, run_context(tmp_path, server, **settings) as ctx:
        package = await retrieve(ctx, index, "The budget parts are wrong")
        await ctx.log.durable()
        assert len([c for c in server.calls if stage_of(c) == "refilter"]) == 2
        [assembled] = ctx.of(ContextAssembled)
        assert not assembled.refiltered and assembled.tokens <= assembled.budget
        ranks = {symbol.key: symbol.rank for symbol in package.symbols}
        kept = [key for key in ranks if key not in assembled.dropped]
        assert kept and max(ranks[key] for key in kept) < min(ranks[key] for key in assembled.dropped)


async def test_within_budget_nothing_is_refiltered(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer(by_stage(SAYS_YES)) as server, run_context(tmp_path, server) as ctx:
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        await ctx.log.durable()
        [assembled] = ctx.of(ContextAssembled)
        assert not assembled.refiltered and not assembled.dropped and not asked(server.calls, "refilter")


async def test_one_symbol_larger_than_the_window_is_shown_by_its_head(tmp_path: Path, open_index: Open) -> None:
    body = "".join(f"    budget += {n}\n" for n in range(3000))
    write(tmp_path / "repo", {"huge.py": f"def budget_all(budget):\n{body}    return budget\n"})
    index = open_index(tmp_path / "repo")
    async with ScriptedServer(by_stage({"scope": {"huge.py"}})) as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, "The budget is wrong")
        assert package.text.count("budget += ") > 50 and "the rest does not fit" in package.text
        assert package.tokens <= package.budget


# --- without a model


async def test_without_judgment_no_call_is_made(tmp_path: Path, index: Index) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, TASK, judge=False)
        await ctx.log.durable()
        assert not server.calls and package.calls == 0
        assert package.text and ctx.of(SymbolClassified) == []


def test_the_unjudged_answer_is_ranked_and_json_ready(index: Index) -> None:
    answer = retrieve_unjudged(index, TASK, Config())
    assert answer["files"][0] in ("budget.py", "token_estimation.py") and answer["calls"] == 0
    assert "budget.py:BudgetTracker.can_fit" in answer["symbols"][:3]
    assert set(answer) == {"files", "symbols", "why", "calls", "seconds", "tokens"}
    for kind in ("files", "symbols"):
        assert set(answer["why"][kind]) == set(answer[kind])
        for entry in answer["why"][kind].values():
            shares = [reason["share"] for reason in entry["reasons"]]
            assert (shares == sorted(shares, reverse=True) and abs(sum(shares) - 1) < 0.02) or not shares


async def test_a_repository_without_source_says_so(tmp_path: Path, open_index: Open) -> None:
    write(tmp_path / "repo", {"README.md": "# Budget\n"})
    index = open_index(tmp_path / "repo")
    async with ScriptedServer(by_stage({})) as server, run_context(tmp_path, server) as ctx:
        package = await retrieve(ctx, index, "The budget is wrong")
        await ctx.log.durable()
        assert package.files == [] and package.symbols == [] and package.text == ""
        assert any("No C or Python source file" in notice.text for notice in ctx.of(Notice))
