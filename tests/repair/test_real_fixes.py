"""Fixes of one line from public histories: each is among what the operators propose."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent.repair.edits import Edit, apply_edits, normal_text
from agent.repair.functions import functions_of
from agent.repair.operators import Site, changes

FIXES = tomllib.loads((Path(__file__).parent / "real_fixes.toml").read_text())["fix"]


def test_there_are_forty_of_them() -> None:
    assert len({fix["origin"] for fix in FIXES}) >= 40


@pytest.mark.parametrize("fix", FIXES, ids=[fix["origin"].replace("/", "-").replace(" ", "-") for fix in FIXES])
def test_a_real_fix_is_proposed(fix: dict[str, str]) -> None:
    path = "m.py" if fix["origin"].endswith(".py") else "m.c"
    source = fix["before"].encode()
    functions = functions_of(path, source)
    site = Site(functions[0], [one.name for one in functions])
    wanted = normal_text(fix["after"].encode())
    texts = (apply_edits(source, tuple(Edit(path, *part) for part in change.parts)) for _, change in changes(site))
    assert any(normal_text(text) == wanted for text in texts)
