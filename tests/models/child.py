"""Stands in for the child process of the embedded model: same contract, a scripted server instead of the library."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading

from tests.fakes import Answer, RecordedCall, ScriptedServer


def _script(call: RecordedCall) -> Answer:
    if "die" in call.prompt:
        print("assertion failed in layer 7", file=sys.stderr, flush=True)
        os._exit(3)
    if "who" in call.prompt:
        return Answer(f"{os.getpid()} {' '.join(sys.argv[1:])}")
    return Answer("yes", p_yes=0.8, latency=0.05)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


async def main() -> None:
    key = sys.stdin.readline().strip()
    model = sys.argv[sys.argv.index("--model") + 1]
    if "broken" in model:
        print("tensor 'blk.3' data is not within the file bounds", file=sys.stderr, flush=True)
        sys.exit(1)
    if "heavy" in model:
        print("ggml_backend_cpu: failed to allocate buffer of size 99999", file=sys.stderr, flush=True)
        sys.exit(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    async with ScriptedServer(_script, api_key=key) as server:
        port = int(server.base_url.rpartition(":")[2])
        print(json.dumps({"port": port, "pid": os.getpid()}), flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
