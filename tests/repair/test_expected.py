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


def test_c_tests_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "test_room.c").write_text(
        'static void check(const char *text) { puts(text); }\n'
        'static void test_empty(void) { check(""); }\nstatic void test_full(void) { check("a \\"b\\""); }\n'
    )
    assert expected_by(tmp_path, ["test_full", "test_empty"]).texts == ("", 'a \\"b\\"')
    assert expected_by(tmp_path, ["test_full"]).texts == ('a \\"b\\"',)
