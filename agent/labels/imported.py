"""Import labels that were made in a spreadsheet, in Argilla, or in any tool that fills in the exported CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec

from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.labels.book import LabelBook
from agent.labels.export_formats import word
from agent.labels.items import Item, load_items

_YES = frozenset({"yes", "y", "1", "1.0", "true", "t"})
_COLUMNS = ("id", "label", "note", "judgment")
_NO = frozenset({"no", "n", "0", "0.0", "false", "f"})


class ImportFailure(Exception):
    """The file cannot be read as labels; the text says why and what to do. Nothing was written."""


class ImportedLabel(msgspec.Struct, frozen=True):
    """One label of the file; ``line`` counts from 1, the header line included."""

    line: int
    call_id: int
    label: bool
    note: str = ""
    judgment: str = ""


class ImportReport(msgspec.Struct, frozen=True):
    """What an import did. ``conflicts`` and ``unusable`` are sentences, one a row; neither kind of row was written."""

    added: int
    same: int
    conflicts: tuple[str, ...]
    unusable: tuple[str, ...]


def import_labels(repo: Path, file: Path, *, replace: bool = False) -> ImportReport:
    """Add the labels of a CSV file to a repository's log, as a person's.

    The file has the columns ``id`` (the call, as exported) and ``label`` (yes or no, 1 or 0, true or false; rows without
    one are skipped); ``note`` is kept. The column ``judgment``, if there, decides which call is meant, since call numbers
    differ between logs. A row that differs from the person's label in the log is a conflict, and is written only
    with ``replace``.

    Raises:
        ImportFailure: the file cannot be read, or lacks a column.
        LogError: the log cannot be read or written.
    """
    rows, unusable = _read(file)
    path = known_log(repo)
    reader = LogReader(path)
    try:
        items = load_items(reader)
    finally:
        reader.close()
    calls = {item.call_id: item for item in items}
    alike = {item.judgment: item for item in items}
    conflicts, wanted, same = [], [], 0
    said: dict[str, ImportedLabel] = {}
    for row in rows:
        item = calls.get(row.call_id)
        if row.judgment and (item is None or item.judgment != row.judgment):
            item = alike.get(row.judgment)
        if item is None:
            unusable.append(f"line {row.line}: the log has no such yes/no call ({row.judgment or row.call_id})")
            continue
        other = said.setdefault(item.judgment, row)
        if other.label is not row.label:
            conflicts.append(f"line {row.line}: {_about(item)} is labelled differently in line {other.line}")
        elif _own_label(item) is row.label:
            same += 1
        elif _own_label(item) is not None and not replace:
            conflicts.append(f"line {row.line}: {_about(item)} is labelled {word(not row.label)} in the log")
        else:
            wanted.append(msgspec.structs.replace(row, call_id=item.call_id))
    _write(path, wanted, f"imported from {file.name}")
    return ImportReport(len(wanted), same, tuple(conflicts), tuple(unusable))


def _own_label(item: Item) -> bool | None:
    """A person's label; a label from an outcome does not count, since any label replaces it."""
    return None if item.source == "outcome" else item.label


def _write(path: Path, rows: list[ImportedLabel], note: str) -> None:
    book = LabelBook(path)
    try:
        for row in rows:
            book.add(row.call_id, row.label, "person", row.note or note)
    finally:
        book.close()


def _read(file: Path) -> tuple[list[ImportedLabel], list[str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ImportFailure(f"{file} cannot be read ({error.strerror}). Give the path of the CSV file.") from error
    except UnicodeDecodeError as error:
        raise ImportFailure(f"{file} cannot be read as text ({error}). Save it as CSV in UTF-8.") from error
    rows: list[ImportedLabel] = []
    unusable: list[str] = []
    try:
        found = csv.DictReader(text.splitlines(keepends=True), dialect=_dialect(text))
        names = {(name or "").strip().lower(): name for name in found.fieldnames or ()}
        if "id" not in names or "label" not in names:
            what = "Export with --format csv and fill in its column label."
            raise ImportFailure(f"{file} has no columns id and label. {what}")
        for line, entry in enumerate(found, 2):
            _take(line, {name: (entry.get(names.get(name, "")) or "").strip() for name in _COLUMNS}, rows, unusable)
    except csv.Error as error:
        raise ImportFailure(f"{file} is not CSV ({error}). Save it as CSV in UTF-8.") from error
    return rows, unusable


def _dialect(text: str) -> type[csv.Dialect] | str:
    """Comma, semicolon or tab, by the header line: spreadsheets use the separator of their locale."""
    head = text.splitlines()[0] if text else ""
    if "," in head or not any(mark in head for mark in ";\t"):
        return "excel"
    return "excel-tab" if "\t" in head else _Semicolon


class _Semicolon(csv.excel):
    delimiter = ";"


def _take(line: int, cells: dict[str, str], rows: list[ImportedLabel], unusable: list[str]) -> None:
    answer, number = cells["label"].lower(), cells["id"].removesuffix(".0")
    if not answer:
        return
    if not number.isdecimal():
        unusable.append(f"line {line}: {cells['id']!r} is not the number of a call")
    elif answer not in _YES | _NO:
        unusable.append(f"line {line}: {cells['label']!r} is neither yes nor no")
    else:
        rows.append(ImportedLabel(line, int(number), answer in _YES, cells["note"], cells["judgment"]))


def _about(item: Item) -> str:
    return f"call {item.call_id} ({item.stage}, {item.item})"
