"""Files described by a model: once per content, in the scope prompt afterwards, never worse for an unreadable reply."""

from pathlib import Path

import pytest

from agent.events import Notice, StageFinished
from agent.index import Index
from agent.retrieval.enrichment import enrich
from agent.retrieval.pipeline import retrieve
from tests.fakes.context import run_context
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.retrieval.repos import TASK, worked_example
from tests.retrieval.scripts import stage_of

REPLY = (
    '{"purpose": "Counts tokens\\n of a window", "domain": "context assembly", "concepts": ["budget tracking", "tokens"]}'
)


def script(call: RecordedCall) -> Answer:
    return Answer("yes") if stage_of(call) in ("scope", "precision_pass1") else Answer(REPLY, logprobs=False)


async def test_each_content_is_described_once_and_shown_to_scope(tmp_path: Path) -> None:
    index = Index.open(worked_example(tmp_path / "repo"))
    index.refresh()
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        assert await enrich(ctx, index) == 5
        assert await enrich(ctx, index) == 0
        assert len(server.calls) == 5 and all("schema" in str(call.body) for call in server.calls)
        await retrieve(ctx, index, TASK, plan_files=["budget.py"])
        [prompt] = [call.prompt for call in server.calls if "File: pipeline.py (tier" in call.prompt]
        assert "[purpose=Counts tokens of a window; domain=context assembly; concepts=budget tracking, tokens]" in prompt
        path = index.root / "pipeline.py"
        path.write_text(path.read_text() + "\n# changed\n")
        index.refresh()
        assert await enrich(ctx, index) == 1
        await ctx.log.durable()
        assert [e.counts["described"] for e in ctx.of(StageFinished) if e.stage == "enrichment"] == [5, 0, 1]
    index.close()


@pytest.mark.parametrize("reply", ["It counts tokens.", '{"purpose": "", "domain": "x", "concepts": []}', "{}"])
async def test_an_unreadable_reply_leaves_the_files_own_words(tmp_path: Path, reply: str) -> None:
    index = Index.open(worked_example(tmp_path / "repo"))
    index.refresh()
    async with ScriptedServer(Answer(reply, logprobs=False)) as server, run_context(tmp_path, server) as ctx:
        assert await enrich(ctx, index, ["budget.py"]) == 0
        await ctx.log.durable()
        assert len(server.calls) == 2 and any("budget.py" in notice.text for notice in ctx.of(Notice))
        entry = index.file("budget.py")
        assert entry is not None and entry.purpose == "Tracks the token budget of a context."
    index.close()
