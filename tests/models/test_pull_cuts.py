"""A pull that is killed at any moment: the next one ends with the whole file, and nothing half is taken for it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from agent.directories import data_directory
from agent.models import pull, store
from tests.fakes.cuts import every_moment
from tests.models.test_pull import CONTENT, entry, index, wheels

__all__ = ["entry", "index", "wheels"]


def test_a_pull_killed_at_any_moment_goes_on_and_ends_whole(entry: store.ModelEntry, wheels: Path) -> None:
    home = data_directory()
    for _ in every_moment(lambda: asyncio.run(pull.pull("toy")), lambda: shutil.rmtree(home, ignore_errors=True), 30):
        found = store.find_model("toy")
        assert found is None or found.read_bytes() == CONTENT
        assert asyncio.run(pull.pull("toy")).read_bytes() == CONTENT
        assert not (store.models_dir() / ".partial" / "toy").exists()
        assert store.verify("toy", force=True)
