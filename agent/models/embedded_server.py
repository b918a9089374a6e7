"""The child process that serves a GGUF model on loopback: ``python -m agent.models.embedded_server --model PATH``.

The first line of its standard input is the API key that it demands. One JSON line on standard output says that it is
ready (``{"port": …}``). With ``--record`` and ``--lease`` it is shared between programs and ends when the last of them has
let go of the lease (see ``embedded_watch``); without, it ends when its standard input does. All that the native library
prints goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from typing import Any

from agent.models.embedded_watch import under_watch

NGRAM_DRAFT_TOKENS = 8
"""Tokens guessed at once under n-gram speculation. Guessing the library's 48 costs more than it wins on a CPU: a miss
took re-emitted C code from 15.5 to 10.5 tokens a second (7 of 144 guessed tokens were right)."""

CACHE_MIB = 1024
"""Memory for the prefixes of earlier prompts, so that stages which alternate do not evict each other. A 1.5B model takes
28 KiB a token; the library's own limit of 8 GiB is more than many machines have."""


def main() -> None:
    """Serve until no program uses the server any more."""
    args = _arguments()
    watcher = under_watch(args.record, args.lease) if args.record else 0
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    key = sys.stdin.readline().strip()
    if not key:
        return  # the program that started this has ended
    if not watcher:
        threading.Thread(target=_end_with_input, daemon=True).start()
    import xllamacpp

    server = xllamacpp.Server(_parameters(xllamacpp, args, key))
    port = int(str(server.listening_address).rstrip("/").rpartition(":")[2])
    print(json.dumps({"port": port, "pid": os.getpid()}), file=out, flush=True)
    if watcher:
        os.waitpid(watcher, 0)
        os._exit(0)
    threading.Event().wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="agent.models.embedded_server")
    parser.add_argument("--model", required=True, help="path of a GGUF file")
    parser.add_argument("--ctx", type=int, default=8192, help="window in tokens")
    parser.add_argument("--threads", type=int, default=1, help="threads; best: physical cores")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--record", default="", help="file whose lock says that this server lives")
    parser.add_argument("--lease", default="", help="file that every user of this server keeps locked")
    parser.add_argument("--lora", action="append", default=[], help="a LoRA adapter that calls may ask for (repeatable)")
    parser.add_argument("--speculative", action="store_true", help="n-gram speculation")
    return parser.parse_args()


def _parameters(xllamacpp: Any, args: argparse.Namespace, key: str) -> Any:
    """One slot, so that every call finds the prefix of the one before in the cache."""
    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.hostnames = ["127.0.0.1"]
    params.port = args.port
    params.n_ctx = args.ctx
    params.n_parallel = 1
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.cache_prompt = True
    params.cache_ram_mib = CACHE_MIB
    params.ui = False
    params.cors_origins = ""
    if key:
        params.api_keys = [key]
    if args.lora:
        params.cache_ram_mib = 0  # it does not tell prefixes of one adapter from those of another
        params.lora_init_without_apply = True  # each call says which it wants
        params.lora_adapters = [_adapter(xllamacpp, path) for path in args.lora]
    if args.speculative:
        params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        params.speculative.ngram_simple.size_m = NGRAM_DRAFT_TOKENS
    return params


def _adapter(xllamacpp: Any, path: str) -> Any:
    adapter = xllamacpp.CommonAdapterLoraInfo()
    adapter.path, adapter.scale = path, 0.0  # a call without an adapter gets the scale that stands here
    return adapter


def _end_with_input() -> None:
    while sys.stdin.read(4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
