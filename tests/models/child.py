"""Stands in for the child process of the embedded model: same contract, a scripted server instead of the library."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time

from agent.models.embedded_watch import under_watch
from tests.fakes import Answer, RecordedCall, ScriptedServer


def _script(call: RecordedCall) -> Answer:
    if "die" in call.prompt:
        print("assertion failed in layer 7", file=sys.stderr, flush=True)
        os._exit(3)
    if "who" in call.prompt:
        return Answer(f"{os.getpid()} {' '.join(sys.argv[1:])}")
    if "linger" in call.prompt:
        return Answer("yes", p_yes=0.8, latency=1.5)
    return Answer("yes", p_yes=0.8, latency=0.05)


def _argument(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def _end_with(watcher: int) -> None:
    os.waitpid(watcher, 0)
    os._exit(0)


async def main() -> None:
    key = sys.stdin.readline().strip()
    model = _argument("--model")
    if "broken" in model:
        print("tensor 'blk.3' data is not within the file bounds", file=sys.stderr, flush=True)
        sys.exit(1)
    if "heavy" in model:
        print("ggml_backend_cpu: failed to allocate buffer of size 99999", file=sys.stderr, flush=True)
        sys.exit(1)
    if "slow" in model:
        time.sleep(60)  # as the library does, without letting any other thread run
    threading.Thread(target=_end_with, args=(watcher,), daemon=True).start()
    async with ScriptedServer(_script, api_key=key) as server:
        port = int(server.base_url.rpartition(":")[2])
        print(json.dumps({"port": port, "pid": os.getpid()}), flush=True)
        await asyncio.Event().wait()


watcher = under_watch(_argument("--record"), _argument("--lease"))
asyncio.run(main())
