"""Each export, read by the real code of those who take it (``make consumers``). What is not installed is skipped.

The packages' own top modules want PyTorch; the readers of data do not, so they are imported without them.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.audit.reader import LogReader
from agent.labels.export import ExportOptions, export
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "repo")
    for run in range(4):
        made.run(f"r{run}")
        for number in range(4):
            shared = f'Task: "{run}", and\nmore\n\n'
            call = made.call(f"r{run}", f"f{run}{number}.c", number % 2 == 0, 0.6, task_context=shared)
            made.label(call, number < 2)
    yield made
    made.log.close()


def written(filled: Filled, out: Path, format: Any, **options: Any) -> Path:
    reader = LogReader(filled.path)
    try:
        export(reader, out, ExportOptions(format, test_fraction=0, **options))
    finally:
        reader.close()
    return out / ("train.csv" if format == "csv" else "train.jsonl")


def bare(package: str, module: str) -> Any:
    """A module of a package whose ``__init__`` is passed over."""
    sys.modules.pop(package, None)
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip(f"{package} is not installed")
    made = types.ModuleType(package)
    made.__path__ = list(spec.submodule_search_locations)
    sys.modules[package] = made
    try:
        return importlib.import_module(f"{package}.{module}")
    except ImportError as error:
        pytest.skip(f"{package}.{module} wants more than is installed: {error}")


FORMATS = ("openai-chat", "trl-sft", "trl-dpo", "trl-kto", "llama-factory", "llama-factory-dpo", "systemone", "csv")


@pytest.mark.parametrize("format", FORMATS)
def test_datasets_loads_every_format(filled: Filled, tmp_path: Path, format: str) -> None:
    datasets = pytest.importorskip("datasets")
    path = written(filled, tmp_path / "out", format)
    kind = "csv" if format == "csv" else "json"
    found = datasets.load_dataset(kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(found) == 16


@pytest.mark.parametrize("format", ["trl-sft", "trl-dpo", "trl-kto"])
@pytest.mark.parametrize("strings", [False, True])
def test_trl_takes_it_for_what_it_is(filled: Filled, tmp_path: Path, format: str, strings: bool) -> None:
    data_utils = pytest.importorskip("trl.data_utils")
    for line in written(filled, tmp_path / "out", format, strings=strings).read_text().splitlines():
        row = json.loads(line)
        assert data_utils.is_conversational(row) is not strings
        if format == "trl-dpo":
            assert data_utils.maybe_extract_prompt(dict(row))["prompt"] == row["prompt"]


def test_sysone_takes_state_questions_and_expected(filled: Filled, tmp_path: Path) -> None:
    data = bare("sysone", "data")
    examples, left_out = data.examples_from(written(filled, tmp_path / "out", "systemone"))
    assert len(examples) == 16 and not left_out
    assert sum(example.target == [0.0, 1.0] for example in examples) == 8, "no and yes, in this order"


@pytest.mark.parametrize("format", ["llama-factory", "llama-factory-dpo"])
def test_llama_factory_converts_the_rows(filled: Filled, tmp_path: Path, format: str) -> None:
    converter = bare("llamafactory", "data.converter")
    rows = [json.loads(line) for line in written(filled, tmp_path / "out", format).read_text().splitlines()]
    entry = json.loads((tmp_path / "out" / "dataset_info.json").read_text())["cra_train"]
    blank = dict.fromkeys(("history", "kto_tag", "tools", "images", "videos", "audios", "chosen", "rejected", "response"))
    attributes = types.SimpleNamespace(**{**blank, "ranking": entry.get("ranking", False), **entry["columns"]})
    convert = converter.AlpacaDatasetConverter(attributes, types.SimpleNamespace(media_dir=""))
    for row in rows:
        got = convert(row)
        assert len(got["_response"]) == (2 if format.endswith("dpo") else 1) and got["_system"] == row["system"]
        assert got["_prompt"][-1]["content"] == row["instruction"]


def test_mlx_lm_takes_messages_and_completions(filled: Filled, tmp_path: Path) -> None:
    module = bare("mlx_lm", "tuner.datasets")
    rows = [json.loads(line) for line in written(filled, tmp_path / "out", "openai-chat").read_text().splitlines()]
    config = types.SimpleNamespace(mask_prompt=False)
    assert type(module.create_dataset(rows, None, config)).__name__ == "ChatDataset"
    rows = [json.loads(line) for line in written(filled, tmp_path / "s", "trl-sft", strings=True).read_text().splitlines()]
    assert type(module.create_dataset(rows, None, config)).__name__ == "CompletionsDataset"


@pytest.mark.parametrize(("kind", "format"), [("dpo", "trl-dpo"), ("kto", "trl-kto")])
def test_axolotl_takes_plain_preferences(filled: Filled, tmp_path: Path, kind: str, format: str) -> None:
    strategy = bare("axolotl", f"prompt_strategies.{kind}.user_defined")
    take = strategy.default({"datasets": [{"type": {"field_prompt": "prompt"}}]})
    for line in written(filled, tmp_path / "out", format, strings=True).read_text().splitlines():
        row = json.loads(line)
        assert take(dict(row)) == row
