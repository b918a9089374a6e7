"""Temporary folders: one a process, gone when it ends, swept when it was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.scratch import sweep_scratch

_PROGRAM = (
    "import sys, tempfile; from agent.scratch import scratch_folder;"
    "print(tempfile.mkdtemp(prefix='objects-', dir=scratch_folder()), flush=True); sys.stdin.read(1)"
)


def _start(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that has made a temporary folder, and that process's own folder, an hour old."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    own = Path(process.stdout.readline().strip()).parent
    assert own.parent == folder and own.is_dir()
    os.utime(own, (1, 1))
    return process, own


def test_only_what_a_killed_process_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living, its = _start(tmp_path)
    killed, left = _start(tmp_path)
    killed.kill()
    killed.communicate()
    (tmp_path / "cra-process-link").symlink_to(its)
    (tmp_path / "cra-process-other").mkdir()
    os.utime(tmp_path / "cra-process-other", (1, 1))
    sweep_scratch()
    assert not left.exists()
    assert sorted(os.listdir(its))[0] == ".lock" and len(os.listdir(its)) == 2
    assert (tmp_path / "cra-process-other").is_dir()  # without a lock it is not known to be ours
    living.communicate("x")
    assert not its.exists()
