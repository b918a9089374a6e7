"""A file of settings whose writer is killed at any moment: it holds what it held, or what was to be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config.edit import ConfigDraft
from agent.config.schema import repo_config_path
from agent.flow.demo_copies import write_settings
from agent.verdict.threshold import Threshold, save_thresholds, thresholds_path
from agent.workspace.clean_room import claim
from tests.fakes.cuts import every_moment


def _draft(repo: Path) -> None:
    draft = ConfigDraft(repo_config_path(repo))
    draft.set("coding", "samples", 3)
    draft.save()


WRITERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "settings": (repo_config_path, _draft),
    "set": (repo_config_path, lambda repo: write_settings(repo, {"coding": {"samples": 3}})),
    "thresholds": (thresholds_path, lambda repo: save_thresholds(thresholds_path(repo), [Threshold("scope", "m", 0.4)])),
}


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_the_old_file_or_the_new_one(tmp_path: Path, name: str, there: bool) -> None:
    where, write = WRITERS[name]
    claim(tmp_path)  # what a clone brought along would be moved aside
    path = where(tmp_path)
    old = b"# mine\n[coding]\nsamples = 2\n" if there else None

    def restore() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_bytes(old)

    restore()
    write(tmp_path)
    new = path.read_bytes()
    for _ in every_moment(lambda: write(tmp_path), restore):
        assert (path.read_bytes() if path.exists() else None) in (old, new)
    restore()
    write(tmp_path)
    assert path.read_bytes() == new
