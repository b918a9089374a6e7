"""Which exit codes tell of a signal."""

from __future__ import annotations

import subprocess

import pytest

from agent.exit_codes import signal_of


@pytest.mark.parametrize(
    ("code", "number"), [(0, None), (1, None), (127, None), (128, None), (139, 11), (192, 64), (193, None), (-9, 9)]
)
def test_a_signal_is_read_from_an_exit_code(code: int, number: int | None) -> None:
    assert signal_of(code) == number


def test_a_shell_and_subprocess_tell_the_same_signal() -> None:
    alone = subprocess.run(["sh", "-c", "kill -SEGV $$"]).returncode
    within = subprocess.run(["sh", "-c", "sh -c 'kill -SEGV $$'; exit $?"]).returncode
    assert signal_of(alone) == signal_of(within) == 11
