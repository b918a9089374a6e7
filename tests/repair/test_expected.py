"""What failing checks expect, read off their sources."""

from __future__ import annotations

from pathlib import Path

from agent.repair.expected import expected_by

SOURCE = """import pytest

class TestRoom:
    @pytest.mark.parametrize("n", [1, 2])
    def test_full(self, n):
        with pytest.raises(ValueError) as caught:
            room(n)
        assert caught.value.args[0] == "full"
"""


def test_exceptions_and_texts_are_read_off_the_failing_tests(tmp_path: Path) -> None:
    (tmp_path / "test_room.py").write_text(SOURCE)
    failing = [f"test_room.py::TestRoom::test_full[{n}]" for n in (1, 2)] + ["gone.py::test_x", "make test"]
    found = expected_by(tmp_path, failing)
    assert found.exceptions == ("ValueError('full')",) and found.texts == ("full",)
