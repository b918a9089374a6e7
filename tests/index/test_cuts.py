"""An index whose process is killed at any moment, or whose file is cut at any place, is whole after the next refresh."""

from __future__ import annotations

import shutil
from pathlib import Path

from agent.index.repository import Index
from tests.fakes.cuts import every_moment
from tests.index.helpers import commit, repository, write
from tests.index.test_repository import TEXTS, everything

FILES = {"a.py": TEXTS[0], "src/x.c": TEXTS[2], "b.py": "from a import f\n\n\ndef g():\n    return f()\n"}


def refreshed(root: Path, database: Path) -> object:
    index = Index.open(root, db_path=database)
    try:
        index.refresh()
        return everything(index)
    finally:
        index.close()


def test_a_refresh_killed_at_any_moment_is_made_good_by_the_next(tmp_path: Path) -> None:
    root, database = repository(tmp_path / "r", FILES), tmp_path / "index" / "index.sqlite"
    before = tmp_path / "before"
    refreshed(root, before / "index.sqlite")
    commit(root, {"a.py": TEXTS[1], "c.py": "import b\nimport a\n"}, "second")
    (root / "src" / "x.c").unlink()
    write(root, {"d.py": "from b import g\n"})
    wanted = refreshed(root, tmp_path / "fresh.sqlite")

    def restore() -> None:
        shutil.rmtree(database.parent, ignore_errors=True)
        shutil.copytree(before, database.parent)

    for _ in every_moment(lambda: refreshed(root, database), restore):
        assert refreshed(root, database) == wanted


def test_a_new_index_killed_at_any_moment_is_made_good_by_the_next(tmp_path: Path) -> None:
    root, database = repository(tmp_path / "r", FILES), tmp_path / "index" / "index.sqlite"
    wanted = refreshed(root, tmp_path / "fresh.sqlite")

    def restore() -> None:
        shutil.rmtree(database.parent, ignore_errors=True)

    for _ in every_moment(lambda: refreshed(root, database), restore):
        assert refreshed(root, database) == wanted


def test_a_file_cut_at_any_place_is_built_anew(tmp_path: Path) -> None:
    root, database = repository(tmp_path / "r", FILES), tmp_path / "index.sqlite"
    wanted = refreshed(root, database)
    whole = database.read_bytes()
    for size in sorted({0, 1, 15, 16, 99, 100, 4095, 4096, 4097, *range(8192, len(whole), 4096 * 7 + 1), len(whole) - 1}):
        for suffix in ("-wal", "-shm"):
            Path(f"{database}{suffix}").unlink(missing_ok=True)
        database.write_bytes(whole[:size])
        assert refreshed(root, database) == wanted, size
