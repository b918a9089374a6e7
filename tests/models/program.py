"""Stands for one more ``cra`` program: asks the embedded model what it reads and prints what it hears, in JSON lines.

usage: python -m tests.models.program; a line is {"model": …, "window": …, "prompt": …} or {"close": true}
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agent.models import embedded_process, waiting
from agent.models.embedded import EmbeddedProvider
from agent.models.types import CompletionRequest, ModelError, ModelTarget

waiting.PATIENCE_SECONDS = 0.3
embedded_process.SERVER_MODULE = "tests.models.child"
embedded_process.EmbeddedProcess.require_library = staticmethod(lambda: None)  # type: ignore[method-assign]


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def main() -> None:
    provider = EmbeddedProvider(
        lambda name: Path(f"/models/{name}.gguf"), status=lambda status, text: _say(status=status, text=text)
    )
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        if asked.get("close"):
            await provider.aclose()
            _say(closed=True)
            continue
        target = ModelTarget(
            "embedded", asked["model"], context_window=asked["window"], max_tokens=64, first_byte_timeout=60
        )
        try:
            got = await provider.complete(CompletionRequest("s", asked["prompt"], "scope", target))
            _say(answer=got.text)
        except ModelError as error:
            _say(error=str(error))


if __name__ == "__main__":
    asyncio.run(main())
