"""Labels made in a spreadsheet come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.reader import LogReader
from agent.labels.export import ExportOptions, export
from agent.labels.imported import ImportFailure, import_labels
from agent.labels.items import load_items
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "repo")
    made.run("r1")
    yield made
    made.log.close()


def labels(filled: Filled) -> dict[int, bool | None]:
    reader = LogReader(filled.path)
    try:
        return {item.call_id: item.label for item in load_items(reader)}
    finally:
        reader.close()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_answers_in_any_common_spelling_and_separator(filled: Filled, tmp_path: Path, mark: str) -> None:
    calls = [filled.call("r1", f"f{n}.c") for n in range(5)]
    words = ["YES", "0", "true", "", "perhaps"]
    rows = [f"{call},{word},n{call}" for call, word in zip(calls, words, strict=True)]
    lines = ["ID,Label,note", *rows, "x,yes,", "99,no,"]
    file = tmp_path / "labels.csv"
    file.write_text("\ufeff" + "\n".join(lines).replace(",", mark) + "\n", encoding="utf-8")
    report = import_labels(filled.repo, file)
    assert report.added == 3 and report.conflicts == () and len(report.unusable) == 3
    assert [labels(filled)[call] for call in calls] == [True, False, True, None, None]
    assert import_labels(filled.repo, file).same == 3


def test_conflicts_are_listed_and_written_only_on_demand(filled: Filled, tmp_path: Path) -> None:
    mine, twin, weak = filled.call("r1", "a.c"), filled.call("r1", "a.c"), filled.call("r1", "b.c")
    filled.label(mine, True)
    filled.label(weak, True, "outcome")
    file = tmp_path / "labels.csv"
    file.write_text(f"id,label\n{mine},no\n{twin},yes\n{weak},no\n", encoding="utf-8")
    report = import_labels(filled.repo, file)
    assert report.added == 1 and labels(filled)[weak] is False, "an outcome gives way"
    assert "labelled yes in the log" in report.conflicts[0] and "differently in line 2" in report.conflicts[1]
    assert labels(filled)[mine] is True
    file.write_text(f"id,label\n{mine},no\n", encoding="utf-8")
    assert import_labels(filled.repo, file, replace=True).added == 1 and labels(filled)[mine] is False


def test_what_was_exported_is_read_back(filled: Filled, tmp_path: Path) -> None:
    for n in range(4):
        filled.label(filled.call("r1", f"f{n}.c", question=f'File: "f{n}"\nwith, commas;\nand lines'), n % 2 == 0)
    reader = LogReader(filled.path)
    export(reader, tmp_path / "out", ExportOptions("csv", test_fraction=0))
    reader.close()
    report = import_labels(filled.repo, tmp_path / "out" / "train.csv")
    assert (report.same, report.added, report.conflicts, report.unusable) == (4, 0, (), ())


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "id;answer\n"])
def test_a_file_without_the_columns_is_refused(filled: Filled, tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ImportFailure, match="columns id and label"):
        import_labels(filled.repo, file)
    with pytest.raises(ImportFailure, match="cannot be read"):
        import_labels(filled.repo, tmp_path / "missing.csv")
