"""One run on a repository in the toy language, by an engine that knows it; what came of it goes to stdout as JSON.

Started by ``tests/language/test_third_language.py`` with that engine first on the path. Argument: the repository.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from agent.index import Index
from agent.languages import language_of, reader_of
from agent.launch import open_run
from agent.retrieval.documents import candidates_of
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer

WRITTEN = "```toy\ndouble() {\n  echo $(($1 * 2))\n}\n```"


def answers(call: RecordedCall) -> Answer:
    """Yes to every judgment, the function to every request for text."""
    return Answer("yes" if call.body.get("max_tokens", 0) <= 16 else WRITTEN)


async def play(repo: Path) -> dict[str, object]:
    index = Index.open(repo)
    index.refresh()
    entry = next(entry for entry in index.files() if entry.path == "calc.toy")
    seen = {
        "language": language_of("calc.toy"), "symbols": [symbol.name for symbol in index.symbols("calc.toy")],
        "callers": [site.name for site in index.callers(index.find_symbols("double")[0])],
        "candidates": [document.symbol.name for document in candidates_of(index, entry)],
        "found": list(index.rankings("double a number")["names"]),
        "reader": type(reader_of("calc.toy")).__name__,
    }  # fmt: skip
    index.close()
    async with ScriptedServer(answers) as server:
        extra = {
            "models": {"provider": "openai", "base_url": server.base_url},
            "testing": {"test_command": "sh check.sh"},
        }
        run = await open_run("Implement double in calc.toy", repo, extra=extra)
        finished = await run.execute()
        text = (run.workspace.root / "calc.toy").read_text(encoding="utf-8")
        await run.aclose()
    return {**seen, "status": finished.status, "reason": finished.reason, "text": text}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(play(Path(sys.argv[1])))))
