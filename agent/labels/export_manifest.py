"""``run.toml`` beside an export: enough to know what the rows are and to make them again."""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import tomli_w

from agent import __version__
from agent.audit.reader import LogReader
from agent.labels.pairs import Pair

if TYPE_CHECKING:
    from agent.labels.export import ExportOptions, ExportReport

DEDUPE_RULE = "one row a judgment (stage, question, task state and item as shown); the call labelled last stands for it"
SPLIT_RULE = "by groups of runs: same repository and task, or a prompt in common; a prompt is never on both sides"
CONFLICT_RULES = {"skip": "contradicting labels on one prompt are left out", "last": "the last label of a prompt wins"}


def manifest(reader: LogReader, pairs: list[Pair], options: ExportOptions, report: ExportReport) -> bytes:
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
