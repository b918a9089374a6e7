"""Commands that a worker runs, and when it gives one up."""

from __future__ import annotations

import json
import sys
from typing import Any

from agent.repair.c_testbed import halt_of
from agent.repair.live_commands import Halt, run_commands
from agent.repair.testbed import Baseline

RED, GREEN, PLAIN = "\x1b[41m", "\x1b[42m", "\x1b[00m"


def test_colours_hide_no_failure() -> None:
    base = Baseline(("test_a", "test_c"), ("test_b",))
    said = halt_of(base, "t.c:3:test_a:FAIL: no\nt.c:4:test_b:PASS\n")
    assert said is not None
    assert not Halt(said).hears(f"t.c:4:test_b:{GREEN}PASS{PLAIN}\n".encode())
    assert Halt(said).hears(f"t.c:4:test_b:{RED}FAIL{PLAIN}: no\n".encode())


def test_a_reply_has_no_colours() -> None:
    told: list[dict[str, Any]] = []
    words = [sys.executable, "-c", f"print('t.c:4:test_b:{GREEN}PASS{PLAIN}')"]
    run_commands([json.dumps({"id": 1, "limit": 20})], told.append, words)
    assert [one["output"] for one in told] == ["t.c:4:test_b:PASS\n"]
