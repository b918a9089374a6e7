"""The person's own store: labels of several repositories in one log."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pytest

from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.config.schema import merge
from agent.labels.export import ExportOptions, export, held_out
from agent.labels.imported import import_labels
from agent.labels.items import load_items
from agent.labels.store import gather, gather_if_pooled, labelled_log, store_facts, store_path
from tests.labels.filled import Filled


@pytest.fixture
def two(tmp_path: Path) -> tuple[Filled, Filled]:
    """Two repositories with three calls each; two of each are labelled, the second was asked of another model too."""
    made = []
    for name in ("one", "two"):
        filled = Filled(tmp_path / name)
        filled.run(f"{name}-run", repo=str(filled.repo))
        calls = [filled.call(f"{name}-run", f"{name}{n}.c", n == 0, 0.3 + n / 10, rank=n + 1) for n in range(3)]
        filled.call(f"{name}-run", f"{name}1.c", True, 0.9, model="m2")
        filled.label(calls[0], True)
        filled.label(calls[1], False, "overrule")
        made.append(filled)
    return made[0], made[1]


def rows(path: Path) -> list[tuple[str, str, bool | None, float | None, int | None]]:
    reader = LogReader(path)
    try:
        return [(item.item, item.model, item.label, item.p_yes, item.rank) for item in load_items(reader)]
    finally:
        reader.close()


def test_labelled_calls_are_copied_once_with_all_that_is_known_of_them(two: tuple[Filled, Filled], tmp_path: Path) -> None:
    store = tmp_path / "own" / "raw.sqlite"
    assert gather([filled.path for filled in two], store) == 4
    assert gather([filled.path for filled in two], store) == 0, "nothing twice"
    found = rows(store)
    assert ("one0.c", "m1", True, 0.3, 1) in found and ("two1.c", "m2", False, 0.9, None) in found
    assert not any(name.endswith("2.c") for name, *_ in found), "what nobody labelled stays where it is"
    facts = store_facts(store)
    assert facts.labelled == 4 and facts.repositories == (str(two[0].repo), str(two[1].repo))
    assert stat.S_IMODE(store.stat().st_mode) == 0o600 and stat.S_IMODE(store.parent.stat().st_mode) == 0o700
    reader = LogReader(store)
    assert reader.select("select count(*) from calls where cache_key is not null") == [(0,)]
    assert reader.call_texts(1) is not None and reader.call_texts(1).system  # type: ignore[union-attr]
    reader.close()


def test_what_is_taken_back_or_changed_later_follows(two: tuple[Filled, Filled], tmp_path: Path) -> None:
    one, store = two[0], tmp_path / "raw.sqlite"
    gather([one.path], store)
    first, second = (item.call_id for item in load_items(_reader(one.path))[:2])
    one.label(first, None)
    one.label(second, True)
    assert gather([one.path], store) == 2
    assert [(name, label) for name, model, label, *_ in rows(store) if model == "m1"] == [("one0.c", None), ("one1.c", True)]


def _reader(path: Path) -> LogReader:
    return LogReader(path)


def test_a_missing_log_is_said_and_changes_nothing(two: tuple[Filled, Filled], tmp_path: Path) -> None:
    store = tmp_path / "raw.sqlite"
    with pytest.raises(LogError, match="no audit log"):
        gather([two[0].path, tmp_path / "none.sqlite"], store)
    assert store_facts(tmp_path / "other.sqlite").labelled == 0


def test_it_is_kept_only_by_those_who_want_it(two: tuple[Filled, Filled]) -> None:
    off, on = merge({}), merge({"judgment": {"pool": True}})
    assert gather_if_pooled(two[0].path, off) == 0 and not store_path().exists()
    assert gather_if_pooled(two[0].path, on) == 2 and store_facts(store_path()).labelled == 2


def test_several_repositories_export_as_one_and_their_labels_come_back(two: tuple[Filled, Filled], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with labelled_log([filled.repo for filled in two]) as reader:
        report = export(reader, out, ExportOptions("csv", test_fraction=0.5))
    assert report.rows == 4 and len(held_out(out)) == 2
    with (out / "train.csv").open(newline="") as file:
        judgments = [row["judgment"] for row in csv.DictReader(file)]
    turned = tmp_path / "turned.csv"
    turned.write_text("id,label,judgment\n" + "".join(f"1,no,{judgment}\n" for judgment in judgments))
    said = [import_labels(filled.repo, turned, replace=True) for filled in two]
    assert sum(one.added + one.same for one in said) == len(judgments) == 2
    assert sum(len(one.unusable) for one in said) == 2, "what is another repository's is not written here"
