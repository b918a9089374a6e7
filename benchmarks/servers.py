"""Real servers, as the product meets them: what each can do, what is missing, and one task with each.

    python -m benchmarks.servers [NAME ...] [--envs DIR] [--demo token_budget] [--no-task] [--limit 600]

Names: llama.cpp (the library of the embedded server, as a server of its own), litellm (its proxy before two of those),
llama-cpp-python (its server). Each gets a virtual environment of its own in ``--envs`` when it is first wanted; a package
without a wheel is compiled there, which takes minutes. The model is the default one: ``cra models pull`` before.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import msgspec

from agent.config.schema import Config
from agent.models import reply_fields
from agent.models.cores import physical_cores
from agent.models.openai import OpenAIProvider
from agent.models.store import require_model
from agent.models.types import CompletionRequest, ModelError, ModelTarget
from benchmarks.pipeline_run import CannotRun, Planned, commit_of_checkout, measure
from benchmarks.proxy import free_port, litellm_proxy, wait_until_up

MODEL, KEY_ENV, WINDOW = "coder", "CRA_BENCHMARK_KEY", 8192
WEIGHTS = Config().models.coding
SHARED = "The task: let the last file into the context window. " * 40
"""What two questions begin with, long enough for a cache to be worth it."""

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


class Abilities(msgspec.Struct):
    """What a server was seen to do. ``seen_as`` is the kind that the product takes it for."""

    seen_as: str = ""
    probabilities: bool = False
    yes_no_held: bool = False
    schema_held: bool = False
    fills: bool = False
    adapters: bool = False
    counts_tokens: bool = False
    cached_tokens: int = 0


MISSING: dict[str, str] = {
    "probabilities": "verdicts rest on the word alone, thresholds and ranks do not apply",
    "yes_no_held": "an answer that is neither yes nor no counts as the stage's default, and the log says so",
    "schema_held": "a structured reply is read out of the text, and asked for again where it cannot be",
    "fills": "functions are asked for by chat, never filled in",
    "adapters": "an adapter in the configuration is asked for as a model of that name",
    "counts_tokens": "prompts are measured by their bytes, on the high side",
    "cached_tokens": "nothing tells whether the shared part is read once; the questions still begin with it",
}
"""What the product does without an ability."""


def main() -> None:
    """Print a table of abilities, what is missing, and the task's end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SERVERS)} (default: all)")
    parser.add_argument("--envs", type=Path, default=Path(sys.prefix) / "servers", help="where servers are installed")
    parser.add_argument("--demo", default="token_budget", help="the task that each is given")
    parser.add_argument("--no-task", action="store_true", help="only look at what they can do")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the task")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SERVERS]
    if unknown:
        parser.error(f"there is no server {unknown[0]!r} here; known: {', '.join(SERVERS)}")
    for name in options.names or SERVERS:
        print(f"\n{name}\n{'=' * len(name)}", flush=True)
        key = f"sk-{secrets.token_hex(16)}"
        try:
            with SERVERS[name](options.envs, key) as base_url:
                os.environ[KEY_ENV] = key
                show(asyncio.run(look(base_url, KEY_ENV)))
                if not options.no_task:
                    os.environ[KEY_ENV] = key  # reading a key removes it from the environment
                    print(one_task(options.demo, base_url, options.limit), flush=True)
        except (RuntimeError, ModelError, CannotRun, subprocess.CalledProcessError) as error:
            print(f"could not be run: {error}", flush=True)


async def look(base_url: str, api_key_env: str = "") -> Abilities:
    """Ask a server for everything that the product would like of it."""
    target = ModelTarget("openai", MODEL, base_url, WINDOW, max_tokens=16, api_key_env=api_key_env)
    provider = OpenAIProvider(base_url)
    able = Abilities()
    try:
        able.seen_as = await provider.kind(target)
        for question in ("Is red a colour?", "Is blue a colour?"):
            answer = await provider.complete(
                CompletionRequest("Answer yes or no.", SHARED + question, "scope", target, yes_no=True)
            )
        able.probabilities, able.cached_tokens = answer.p_yes is not None, answer.cached_tokens
        held = await provider.complete(CompletionRequest("", "Say hello.", "scope", target, yes_no=True))
        able.yes_no_held = held.text.strip().lower() in ("yes", "no")
        reply = await provider.complete(CompletionRequest("", "Say hello.", "plan", target, schema=SCHEMA))
        with contextlib.suppress(ValueError):
            able.schema_held = json.loads(reply.text).get("colour") in ("red", "blue")
        with contextlib.suppress(ModelError):
            gap = CompletionRequest("", "int add(int a, int b) {\n    return ", "implement", target, suffix=";\n}\n")
            able.fills = bool((await provider.complete(gap)).text)
        with contextlib.suppress(ModelError):
            able.counts_tokens = await provider.count_tokens("one two three", target) is not None
        status, rows = await provider.client.get("/lora-adapters", api_key_env)
        able.adapters = status == 200 and isinstance(rows, list)
        if able.seen_as in ("vllm", "sglang"):
            _, served = await provider.client.get("/v1/models", api_key_env)
            able.adapters = len(reply_fields.tables(reply_fields.table(served).get("data"))) > 1
    finally:
        await provider.aclose()
    return able


def show(able: Abilities) -> None:
    """The abilities, one a line, and what is done without the missing ones."""
    print(f"taken for a server of kind {able.seen_as}")
    for name, without in MISSING.items():
        value = getattr(able, name)
        print(f"  {name.replace('_', ' '):16}{'yes' if value else f'no: {without}'}", flush=True)


def one_task(demo: str, base_url: str, limit: float) -> str:
    """How a run of the demo with this server ended, in one line."""
    settings = {"provider": "openai", "base_url": base_url, "coding": MODEL, "reasoning": MODEL, "api_key_env": KEY_ENV}
    words = tuple(f"models.{name}={value}" for name, value in settings.items())
    with tempfile.TemporaryDirectory(prefix="cra-servers-") as folder:
        row = measure(Planned(demo, "decomposed", 42, "plain", words), limit, Path(folder), commit_of_checkout())
    why = f" ({row.reason})" if row.reason else ""
    return f"{demo}: {row.status}{why}, {row.calls} calls, {row.tokens_out} tokens written, {row.seconds:.0f} s"


@contextlib.contextmanager
def llama_cpp(envs: Path, key: str, threads: int = 0) -> Iterator[str]:
    """llama.cpp's server, out of the package that the embedded server uses."""
    command = [sys.executable, "-m", "agent.models.embedded_server", "--model", str(require_model(WEIGHTS))]
    command += ["--ctx", str(WINDOW), "--threads", str(threads or physical_cores())]
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(f"{key}\n".encode())
            child.stdin.flush()
            ready = child.stdout.readline()
            if not ready:
                raise RuntimeError("llama.cpp's server ended before it was ready")
            yield f"http://127.0.0.1:{json.loads(ready)['port']}"
        finally:
            child.stdin.close()
            child.kill()
            child.wait()
            child.stdout.close()


@contextlib.contextmanager
def litellm(envs: Path, key: str) -> Iterator[str]:
    """LiteLLM's proxy before two servers that share the cores."""
    program = installed(envs, "litellm", ["litellm[proxy]"], "litellm")
    with ExitStack() as stack:
        half = max(1, physical_cores() // 2)
        inner = secrets.token_hex(16)
        urls = [stack.enter_context(llama_cpp(envs, inner, half)) for _ in range(2)]
        yield stack.enter_context(litellm_proxy(str(program), urls, MODEL, key, inner))


@contextlib.contextmanager
def llama_cpp_python(envs: Path, key: str) -> Iterator[str]:
    """The server of llama-cpp-python."""
    installed(envs, "llama-cpp-python", ["llama-cpp-python[server]"], "uvicorn")
    python, port = envs / "llama-cpp-python" / "bin" / "python", free_port()
    command = [str(python), "-m", "llama_cpp.server", "--model", str(require_model(WEIGHTS)), "--model_alias", MODEL]
    command += ["--n_ctx", str(WINDOW), "--host", "127.0.0.1", "--port", str(port), "--api_key", key]
    command += ["--logits_all", "true", "--n_threads", str(physical_cores())]  # without it there are no log-probabilities
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            wait_until_up(f"http://127.0.0.1:{port}/docs", child, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            child.kill()
            child.wait()


def installed(envs: Path, name: str, packages: Sequence[str], program: str) -> Path:
    """The program in the server's own environment, which is made where it is missing.

    Raises:
        RuntimeError: if the packages cannot be installed here.
    """
    folder = envs / name
    path = folder / "bin" / program
    if not path.exists():
        print(f"installing {', '.join(packages)} in {folder}", flush=True)
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        done = subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *packages], capture_output=True, text=True)
        if done.returncode or not path.exists():
            raise RuntimeError(f"{', '.join(packages)} cannot be installed here: {done.stderr[-600:]}")
        print(f"installed in {time.monotonic() - began:.0f} s", flush=True)
    return path


SERVERS: dict[str, Callable[[Path, str], AbstractContextManager[str]]] = {
    "llama.cpp": llama_cpp,
    "litellm": litellm,
    "llama-cpp-python": llama_cpp_python,
}


if __name__ == "__main__":
    main()
