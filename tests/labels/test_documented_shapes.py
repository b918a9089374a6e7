"""The shapes that trainers document, as types: every row of an export is one of them, with no field more or less. The
trainers' own readers are tried by ``make consumers``.

Sources: TRL, https://huggingface.co/docs/trl/dataset_formats; LLaMA-Factory,
https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md; axolotl, https://docs.axolotl.ai/docs/dataset-formats/ and
https://docs.axolotl.ai/docs/rlhf.html; Unsloth, https://unsloth.ai/docs/basics/datasets-guide.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from agent.audit.reader import LogReader
from agent.labels.export import ExportOptions, export
from tests.labels.filled import Filled


class Message(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["system", "user", "assistant"]
    content: str


class Messages(msgspec.Struct, forbid_unknown_fields=True):
    """OpenAI's and axolotl's ``chat_template``, Unsloth's conversations with role and content."""

    messages: list[Message]


class PromptCompletion(msgspec.Struct, forbid_unknown_fields=True):
    """TRL's prompt-completion in conversational form, for SFT."""

    prompt: list[Message]
    completion: list[Message]


class PlainCompletion(msgspec.Struct, forbid_unknown_fields=True):
    """The same in standard form."""

    prompt: str
    completion: str


class Preference(msgspec.Struct, forbid_unknown_fields=True):
    """TRL's preference with explicit prompt, conversational."""

    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]


class PlainPreference(msgspec.Struct, forbid_unknown_fields=True):
    """The same in standard form; axolotl's ``user_defined.default`` for DPO reads these fields."""

    prompt: str
    chosen: str
    rejected: str


class Unpaired(msgspec.Struct, forbid_unknown_fields=True):
    """TRL's unpaired preference, for KTO."""

    prompt: list[Message]
    completion: list[Message]
    label: bool


class PlainUnpaired(msgspec.Struct, forbid_unknown_fields=True):
    prompt: str
    completion: str
    label: bool


class Alpaca(msgspec.Struct, forbid_unknown_fields=True):
    """LLaMA-Factory's alpaca rows; Unsloth and axolotl (``alpaca_w_system.load_open_orca`` by other names) read the same."""

    system: str
    instruction: str
    input: str
    output: Literal["yes", "no"]


class AlpacaPreference(msgspec.Struct, forbid_unknown_fields=True):
    system: str
    instruction: str
    input: str
    chosen: Literal["yes", "no"]
    rejected: Literal["yes", "no"]


class Column(msgspec.Struct, forbid_unknown_fields=True):
    """The columns of ``dataset_info.json`` that LLaMA-Factory documents for alpaca."""

    prompt: str
    query: str
    system: str
    response: str | msgspec.UnsetType = msgspec.UNSET
    chosen: str | msgspec.UnsetType = msgspec.UNSET
    rejected: str | msgspec.UnsetType = msgspec.UNSET


class Description(msgspec.Struct, forbid_unknown_fields=True):
    file_name: str
    formatting: Literal["alpaca", "sharegpt"]
    columns: Column
    ranking: bool = False


SHAPES: list[tuple[str, bool, Any]] = [
    ("openai-chat", False, Messages), ("trl-sft", False, PromptCompletion), ("trl-sft", True, PlainCompletion),
    ("trl-dpo", False, Preference), ("trl-dpo", True, PlainPreference), ("trl-kto", False, Unpaired),
    ("trl-kto", True, PlainUnpaired), ("llama-factory", False, Alpaca), ("llama-factory-dpo", False, AlpacaPreference),
]  # fmt: skip


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "repo")
    for run in range(3):
        made.run(f"r{run}")
        for number in range(3):
            made.label(made.call(f"r{run}", f"f{run}{number}.c", number > 0, 0.6), number == 1)
    yield made
    made.log.close()


@pytest.mark.parametrize(("format", "strings", "shape"), SHAPES, ids=[f"{name}-{plain}" for name, plain, _ in SHAPES])
def test_every_row_has_the_documented_shape(filled: Filled, tmp_path: Path, format: Any, strings: bool, shape: Any) -> None:
    reader = LogReader(filled.path)
    report = export(reader, tmp_path / "out", ExportOptions(format, strings=strings, test_fraction=0.4))
    reader.close()
    rows = [
        msgspec.json.decode(line, type=shape)
        for name in report.files
        for line in (tmp_path / "out" / name).read_bytes().splitlines()
    ]
    assert len(rows) == 9
    for row in rows:
        turns = getattr(row, "messages", None) or [*getattr(row, "prompt", []), *getattr(row, "completion", [])]
        roles = [turn.role for turn in turns if isinstance(turn, Message)]
        assert not roles or (roles[:2] == ["system", "user"] and roles[2:] in ([], ["assistant"]))
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"something": "else"}', type=shape)
    if format.startswith("llama"):
        info = (tmp_path / "out" / "dataset_info.json").read_bytes()
        entries = msgspec.json.decode(info, type=dict[str, Description])
        assert {entry.file_name for entry in entries.values()} == set(report.files)
