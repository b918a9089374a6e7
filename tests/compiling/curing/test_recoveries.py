"""Whole recoveries on small real folders (recoveries.jsonl): real compilers, real build systems, the project's own check."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recoveries import recover

ROWS = [json.loads(line) for line in Path(__file__).with_name("recoveries.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']}-{row['kind']}" for row in ROWS])
def test_what_builds_the_project_is_content_afterwards(row: dict[str, Any], tmp_path: Path) -> None:
    if (tool := row.get("needs")) and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    outcome = recover(row, tmp_path)
    assert outcome.right, outcome.why
