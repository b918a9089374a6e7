"""Labels written as training files: rows, a sidecar that says where each row comes from, and a manifest."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import secrets
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from agent import __version__
from agent.audit.reader import LogReader
from agent.counts import plural
from agent.labels.export_formats import (
    PREFERENCES,
    Format,
    dataset_info,
    encode_rows,
    is_synthetic,
    json_lines,
    row_of,
    uses,
)
from agent.labels.pairs import Choice, Conflict, OnConflict, Pair, balanced, group_runs, load_pairs, split_groups
from agent.workspace import sweeping

DEDUPE_RULE = "one row a judgment (stage, question, task context and item as shown); the call labelled last stands for it"
SPLIT_RULE = "by groups of runs: same repository and task, or a prompt in common; a prompt is never on both sides"
CONFLICT_RULES = {"skip": "contradicting labels on one prompt are left out", "last": "the last label of a prompt wins"}
MANIFEST = "run.toml"
SIDECAR = "ids.jsonl"
CONFLICTS = "conflicts.jsonl"


class ExportError(Exception):
    """Nothing was written; the text says why and what to do."""


class ExportOptions(msgspec.Struct, frozen=True):
    """What to write. ``test_fraction`` of the pairs is held out by groups of runs; ``on_conflict`` leaves contradicting
    labels out or takes the last; ``per_stage`` makes a folder a stage; ``mirror`` lets DPO use pairs on which the model was
    right, with the opposite answer as the rejected one."""

    format: Format = "trl-sft"
    choice: Choice = Choice()
    on_conflict: OnConflict = "skip"
    balance: bool = False
    test_fraction: float = 0.2
    seed: int = 42
    per_stage: bool = False
    strings: bool = False
    mirror: bool = True


class ExportReport(msgspec.Struct, frozen=True):
    """What was written. ``files`` maps a file to its number of rows, ``left_out`` a reason to a number of pairs;
    ``notes`` are sentences for the person."""

    out: Path
    files: dict[str, int]
    labels: dict[str, int]
    sources: dict[str, int]
    left_out: dict[str, int]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]
    sample: str = ""
    """The first row as it stands in its file."""

    @property
    def rows(self) -> int:
        """Rows in all files together."""
        return sum(self.files.values())


def export(reader: LogReader, out: Path, options: ExportOptions | None = None, *, replace: bool = False) -> ExportReport:
    """Write the labels of a log into the folder ``out``, whole or not at all. The same labels give the same bytes.

    Raises:
        ExportError: no label fits; ``out`` is not a folder; it holds other files, or an export without ``replace``.
        LogError: if the log cannot be read.
    """
    _tidy(out)
    _refuse_used(out, replace)
    report, contents = _made(reader, out, options or ExportOptions())
    _write_folder(out, contents)
    return report


def preview(reader: LogReader, out: Path, options: ExportOptions | None = None) -> ExportReport:
    """What :func:`export` would write, with a sample row; nothing is written.

    Raises:
        ExportError: no label fits.
        LogError: if the log cannot be read.
    """
    return _made(reader, out, options or ExportOptions())[0]


def _made(reader: LogReader, out: Path, options: ExportOptions) -> tuple[ExportReport, dict[str, bytes]]:
    """The report, and the bytes of each file."""
    pairs, conflicts = load_pairs(reader, options.choice, options.on_conflict)
    total = len(pairs)
    runs = {row[0]: (row[1], row[2]) for row in reader.select("select id, repo, task from runs")}
    group_runs(pairs, runs)
    left_out: Counter[str] = Counter()
    if options.on_conflict == "skip":
        left_out["conflicting labels"] = len(conflicts)
    pairs = _usable(pairs, options, left_out)
    held = split_groups(pairs, options.test_fraction, options.seed)
    if options.balance:
        before = len(pairs)
        pairs = balanced(pairs, options.seed)
        left_out["balance"] = before - len(pairs)
    if not pairs:
        raise ExportError(_nothing(total, conflicts, options, left_out["balance"]))
    files, sidecar = _files(pairs, options)
    report = _report(out, pairs, files, left_out, conflicts, options, held)
    contents = {name: encode_rows(rows, options.format) for name, rows in files.items()}
    contents[SIDECAR] = json_lines(sidecar)
    if options.format.startswith("llama-factory"):
        contents["dataset_info.json"] = msgspec.json.format(msgspec.json.encode(dataset_info(list(files), options.format)))
    if conflicts:
        contents[CONFLICTS] = json_lines([msgspec.to_builtins(conflict) for conflict in conflicts])
    contents[MANIFEST] = _manifest(reader, pairs, options, report)
    return report, contents


def _usable(pairs: list[Pair], options: ExportOptions, left_out: Counter[str]) -> list[Pair]:
    kept = [pair for pair in pairs if uses(pair, options.format)]
    left_out["the model's answer could not be read"] += len(pairs) - len(kept)
    if options.format in PREFERENCES and not options.mirror:
        natural = [pair for pair in kept if not is_synthetic(pair, options.format)]
        left_out["the model did not give the wrong answer"] += len(kept) - len(natural)
        kept = natural
    return kept


def _files(pairs: list[Pair], options: ExportOptions) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    suffix = "csv" if options.format == "csv" else "jsonl"
    files: dict[str, list[dict[str, Any]]] = {}
    sidecar = []
    for pair in sorted(pairs, key=lambda pair: (pair.split != "train", pair.stage, pair.call_id)):
        folder = f"{pair.stage}/" if options.per_stage else ""
        name = f"{folder}{pair.split}.{suffix}"
        rows = files.setdefault(name, [])
        rows.append(row_of(pair, options.format, options.strings))
        sidecar.append(_origin(pair, name, len(rows), options.format))
    return files, sidecar


def _origin(pair: Pair, file: str, row: int, format: Format) -> dict[str, Any]:
    return {
        "file": file, "row": row, "call_id": pair.call_id, "run_id": pair.run_id, "group": pair.group, "stage": pair.stage,
        "item": pair.item, "label": int(pair.label), "source": pair.source, "label_id": pair.label_id, "note": pair.note,
        "guideline": pair.guideline, "model": pair.model,
        "model_verdict": None if pair.word is None else int(pair.word), "p_yes": pair.p_yes,
        "judgment": pair.judgment, "duplicates": list(pair.duplicates), "synthetic": is_synthetic(pair, format),
    }  # fmt: skip


def _report(
    out: Path, pairs: list[Pair], files: dict[str, list[dict[str, Any]]], left_out: Counter[str],
    conflicts: list[Conflict], options: ExportOptions, held: int,
) -> ExportReport:  # fmt: skip
    notes = []
    if options.test_fraction and not held:
        notes.append(
            "Nothing is held out for testing: one group of runs (same task or shared prompts) has nearly all labels."
        )
    if conflicts:
        fate = "left out" if options.on_conflict == "skip" else "settled by the last label"
        prompts = plural(len(conflicts), "prompt")
        notes.append(f"Contradicting labels on {prompts} were {fate}; they are listed in {CONFLICTS}.")
    if options.format == "openai-chat" and len(pairs) < 10:
        notes.append("Fine-tuning services ask for at least 10 examples, and 50 to 100 before much changes.")
    if options.format == "trl-kto":
        notes.append(_kto_weights(pairs))
    labels = {word: sum(pair.label is value for pair in pairs) for word, value in (("yes", True), ("no", False))}
    if not all(labels.values()):
        notes.append("All labels are the same, so a model that is trained on them learns to give always that answer.")
    sources = dict(sorted(Counter(str(pair.source) for pair in pairs).items()))
    counts = {name: len(rows) for name, rows in files.items()}
    reasons = {reason: count for reason, count in left_out.items() if count}
    sample = encode_rows(next(iter(files.values()))[:1], options.format).decode("utf-8", "replace").strip()
    return ExportReport(out, counts, labels, sources, reasons, tuple(conflicts), tuple(notes), sample)


def _kto_weights(pairs: list[Pair]) -> str:
    """TRL's advice: (desirable_weight x positives) : (undesirable_weight x negatives) between 1:1 and 4:3."""
    good = sum(pair.label == pair.word for pair in pairs)
    bad = len(pairs) - good
    if not good or not bad:
        return f"{good} desirable and {bad} undesirable rows: KTO wants both."
    small = "desirable_weight" if good < bad else "undesirable_weight"
    ratio = max(good, bad) / min(good, bad)
    return f"{good} desirable and {bad} undesirable rows; {small} = {ratio:.2f} makes them even (TRL advises 1:1 to 4:3)."


def _nothing(total: int, conflicts: list[Conflict], options: ExportOptions, unbalanced: int) -> str:
    if unbalanced:
        return (
            f"No question has labels of both answers ({unbalanced} prompts in all), so balancing leaves "
            "nothing. Label some with the other answer, or export without balancing."
        )
    if total:
        return f"None of the {total} labelled prompts fits the format {options.format}. Choose another format."
    if conflicts:
        return (
            f"All {len(conflicts)} labelled prompts carry contradicting labels. Label them again, or use the last label "
            "of each (--on-conflict last)."
        )
    return "No label fits this choice. Label some calls first: press r on any call in the application."


def _refuse_used(out: Path, replace: bool) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ExportError(f"{out} is not a folder. Name a folder for the export; it is made when it is missing.")
    if not out.exists() or not any(out.iterdir()):
        return
    if not (out / MANIFEST).is_file() or not (out / SIDECAR).is_file():
        raise ExportError(f"{out} holds other files, so nothing was written. Name an empty or a new folder.")
    if not replace:
        raise ExportError(f"{out} holds an earlier export, so nothing was written. Use --force to replace it.")


def _tidy(out: Path) -> None:
    """After an export that was killed: give the folder that it had moved aside its name back, and remove unfinished
    files."""
    out = out.absolute()
    aside = sorted(out.parent.glob(f".{glob.escape(out.name)}.*.old"), key=lambda path: path.stat().st_mtime)
    if aside and not os.path.lexists(out):
        with contextlib.suppress(OSError):
            aside[-1].rename(out)
    sweeping.sweep(out.parent, (f".{glob.escape(out.name)}.*.tmp", f".{glob.escape(out.name)}.*.old"))


def _write_folder(out: Path, contents: dict[str, bytes]) -> None:
    """Write everything into a folder beside ``out``, which then replaces it."""
    out = out.absolute()
    building = out.parent / f".{out.name}.{secrets.token_hex(4)}.tmp"
    old = building.with_suffix(".old")
    try:
        for name, data in contents.items():
            path = building / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        if out.exists():
            out.rename(old)
        try:
            building.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise
    except OSError as error:
        raise ExportError(f"The export could not be written to {out}: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(building)
    shutil.rmtree(old, ignore_errors=True)


def held_out(out: Path) -> frozenset[str]:
    """The judgments of an export's test rows, for a model that was trained on the others.

    Raises:
        ExportError: the folder holds no export, or one without test rows.
    """
    try:
        lines = (out / SIDECAR).read_bytes().splitlines()
        rows = [msgspec.json.decode(line) for line in lines if line.strip()]
        judgments = frozenset(row["judgment"] for row in rows if Path(row["file"]).name.startswith("test."))
    except (OSError, KeyError, TypeError, msgspec.DecodeError) as error:
        raise ExportError(f"{out} holds no export of labels that can be read ({error}). Name the folder of one.") from error
    if not judgments:
        raise ExportError(f"The export in {out} holds nothing out for testing. Export with --test-fraction above 0.")
    return judgments


def _manifest(reader: LogReader, pairs: list[Pair], options: ExportOptions, report: ExportReport) -> bytes:
    """The manifest as TOML. It holds no time of writing, so that the same labels give the same bytes."""
    document: dict[str, Any] = {
        "format": options.format,
        "version": __version__,
        "rows": report.rows,
        "labels_up_to": max(pair.label_id for pair in pairs),
        "files": report.files,
        "counts": _counts(pairs, report),
        "rules": {
            "dedupe": DEDUPE_RULE, "conflicts": CONFLICT_RULES[options.on_conflict], "split": SPLIT_RULE,
            "seed": options.seed, "test_fraction": options.test_fraction, "balance": options.balance,
            "strings": options.strings, "mirror": options.mirror, "per_stage": options.per_stage,
        },
        "filters": {name: sorted(value) for name, value in msgspec.structs.asdict(options.choice).items()},
        "notes": list(report.notes),
        "stages": _stages(pairs),
    }  # fmt: skip
    runs, configs = _runs(reader, sorted({pair.run_id for pair in pairs}))
    document["runs"] = runs
    document["configs"] = configs
    return tomli_w.dumps(document).encode("utf-8")


def _counts(pairs: list[Pair], report: ExportReport) -> dict[str, Any]:
    return {
        "label": report.labels,
        "source": report.sources,
        "split": dict(sorted(Counter(pair.split for pair in pairs).items())),
        "stage": dict(sorted(Counter(pair.stage for pair in pairs).items())),
        "model": dict(sorted(Counter(pair.model for pair in pairs).items())),
        "left_out": report.left_out,
        "conflicts": len(report.conflicts),
        "duplicates": sum(len(pair.duplicates) for pair in pairs),
    }


def _stages(pairs: list[Pair]) -> dict[str, Any]:
    """Per stage: yes and no, the prompt templates (digest of each system prompt) and the guidelines labelled under."""
    stages: dict[str, Any] = {}
    for name in sorted({pair.stage for pair in pairs}):
        some = [pair for pair in pairs if pair.stage == name]
        stages[name] = {
            "yes": sum(pair.label for pair in some),
            "no": sum(not pair.label for pair in some),
            "system_sha": sorted({hashlib.sha256(pair.system.encode()).hexdigest()[:10] for pair in some}),
            "guidelines": sorted({pair.guideline for pair in some if pair.guideline}),
        }
    return stages


def _runs(reader: LogReader, run_ids: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The runs the rows come from, and each different configuration once, by its digest."""
    runs, configs = [], {}
    for run_id in run_ids:
        for row in reader.select("select task, started_at, model, version, config from runs where id = ?", run_id):
            config = row[4] or "{}"
            sha = hashlib.sha256(config.encode()).hexdigest()[:10]
            with contextlib.suppress(msgspec.DecodeError):
                configs[sha] = _without_none(msgspec.json.decode(config))
            runs.append(
                {"id": run_id, "task": row[0], "started_at": row[1], "model": row[2] or "", "version": row[3] or "",
                 "config": sha}
            )  # fmt: skip
    return runs, dict(sorted(configs.items()))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(entry) for key, entry in value.items() if entry is not None}
    return [_without_none(entry) for entry in value if entry is not None] if isinstance(value, list) else value
