"""A LiteLLM proxy before several servers of one model, started for a measurement and ended after it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

PATIENCE = 120.0
"""Seconds in which the proxy has to answer for the first time; it takes 10 to 40 to import itself."""


@contextlib.contextmanager
def litellm_proxy(program: str, base_urls: Sequence[str], model: str, key: str, server_key: str = "none") -> Iterator[str]:
    """The base URL of a proxy that spreads calls for ``model`` over the servers. It demands ``key``, those ``server_key``.

    Raises:
        RuntimeError: if it did not come up in ``PATIENCE`` seconds; with the end of what it said.
    """
    entries = [
        {"model_name": model, "litellm_params": {"model": f"openai/{model}", "api_base": f"{url}/v1", "api_key": server_key}}
        for url in base_urls
    ]
    configuration = {
        "model_list": entries,
        "general_settings": {"master_key": key},
        "router_settings": {"routing_strategy": "least-busy"},
        "litellm_settings": {"drop_params": False, "num_retries": 0},
    }
    with tempfile.TemporaryDirectory(prefix="cra-litellm-") as folder:
        path, log = Path(folder) / "config.yaml", Path(folder) / "log"
        path.write_text(json.dumps(configuration))  # JSON is YAML
        port = free_port()
        command = [program, "--config", str(path), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
        quiet = os.environ | {"LITELLM_LOG": "ERROR", "LITELLM_TELEMETRY": "False", "NO_PROXY": "*", "HOME": folder}
        with log.open("wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=folder, env=quiet)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_up(f"{url}/health/liveliness", child, log)
            yield url
        finally:
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(10)
            child.kill()
            child.wait()


def free_port() -> int:
    """A port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(url: str, child: subprocess.Popen[bytes], log: Path, patience: float = PATIENCE) -> None:
    """Waits until ``url`` answers with 200.

    Raises:
        RuntimeError: if the child ends before, or does not answer in ``patience`` seconds.
    """
    until = time.monotonic() + patience
    while time.monotonic() < until and child.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, timeout=5).status_code == 200:
                return
        time.sleep(0.3)
    said = log.read_bytes()[-2000:].decode("utf-8", "replace")
    raise RuntimeError(f"{child.args!r} did not answer at {url}. It said: {said}")
