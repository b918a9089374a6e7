"""What the relabelling card shows of the source that a call was about."""

from __future__ import annotations

from pathlib import Path

import pytest

from screens.learning.item_source import excerpt, item_source, numbered

C = """#include "grid.h"

int grid_width(const grid *g);

int grid_width(const grid *g)
{
    return g->columns;
}

int grid_area(const grid *g)
{
    return grid_width(g) * g->rows;
}
"""
PYTHON = """class Grid:
    def width(self):
        return self.columns


def width():
    return 80
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "grid.c").write_text(C)
    (root / "grid.py").write_text(PYTHON)
    (tmp_path / "secret.c").write_text("int secret;\n")
    (root / "out.c").symlink_to(tmp_path / "secret.c")
    return root


@pytest.mark.parametrize(
    ("item", "first", "last"),
    [
        ("src/grid.c:grid_width", "int grid_width(const grid *g)", "}"),
        ("grid.py:Grid.width", "    def width(self):", "        return self.columns"),
        ("grid.py:width", "def width():", "    return 80"),
        ("step 2: write grid.py:Grid", "class Grid:", "        return self.columns"),
    ],
)
def test_a_symbol_is_shown_where_it_is_defined(repo: Path, item: str, first: str, last: str) -> None:
    found = item_source(repo, item)
    assert found is not None
    shown = [row.plain.split(" ", 1)[1] for row in excerpt(found, f"Symbol: {item}")]
    assert (shown[0], shown[-1]) == (first, last)
    assert [row.plain for row in numbered(found)][found.line - 1].endswith(first)


def test_what_the_model_saw_is_not_shown_twice_and_a_long_symbol_not_whole(repo: Path) -> None:
    found = item_source(repo, "src/grid.c:grid_area")
    assert found is not None and excerpt(found, f"Is this the place?\n{C}") == []
    shown = [row.plain for row in excerpt(found, "", most=2)]
    assert shown[:2] == ["10 int grid_area(const grid *g)", "11 {"] and shown[2] == "… 2 more lines: v shows them"


def test_a_whole_file_has_no_excerpt_and_nothing_outside_is_read(repo: Path) -> None:
    whole = item_source(repo, "src/grid.c")
    assert whole is not None and excerpt(whole, "") == [] and len(numbered(whole)) == C.count("\n") + 1
    assert item_source(repo, "src/grid.c:nowhere") == whole
    for item in ("out.c:secret", "../secret.c:secret", "gone.c:f", "x" * 5000, "a\0b", ""):
        assert item_source(repo, item) is None


def test_a_changed_file_is_read_anew(repo: Path) -> None:
    before = item_source(repo, "grid.py:width")
    (repo / "grid.py").write_text(f"# moved down\n{PYTHON}")
    after = item_source(repo, "grid.py:width")
    assert before is not None and after is not None and after.line == before.line + 1
