"""A training pair as a row of each export format, with exactly the keys that the format's trainers read.

Sources of the shapes: the OpenAI fine-tuning guide (``messages``), TRL's dataset formats (prompt and completion; chosen and
rejected; unpaired preference), LLaMA-Factory's ``data/README.md`` (alpaca rows and their entry in ``dataset_info.json``),
and the ``sysone`` trainer (state, questions, expected), which takes the same questions as ``POST /v1/systemone``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from agent.labels.pairs import Pair
from agent.models.systemone import state_and_question

Format = Literal["openai-chat", "trl-sft", "trl-dpo", "trl-kto", "llama-factory", "llama-factory-dpo", "systemone", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
PREFERENCES: tuple[Format, ...] = ("trl-dpo", "llama-factory-dpo")
"""Formats whose rows hold a chosen and a rejected answer."""

WITH_STRINGS = ("trl-sft", "trl-dpo", "trl-kto")
"""Formats that exist with plain strings instead of messages (TRL: the standard format beside the conversational one)."""

CSV_COLUMNS = ("id", "text", "label", "model_verdict", "model", "stage", "pass", "split", "group", "judgment")

Row = dict[str, Any]


def word(answer: bool) -> str:
    """The word that the model should answer."""
    return "yes" if answer else "no"


def uses(pair: Pair, format: Format) -> bool:
    """Whether a pair has what a format needs: KTO rates the model's own answer, so there must be a readable one."""
    return format != "trl-kto" or pair.word is not None


def is_synthetic(pair: Pair, format: Format) -> bool:
    """Whether the rejected side of a preference pair is synthetic: the model did not give that answer."""
    return format in PREFERENCES and pair.word is not (not pair.label)


def row_of(pair: Pair, format: Format, strings: bool = False) -> Row:
    """One row. ``strings`` gives plain text instead of messages, where the format knows both."""
    return _SHAPES[format].row(pair, strings and format in WITH_STRINGS)


def _messages(pair: Pair) -> list[dict[str, str]]:
    system = [{"role": "system", "content": pair.system}] if pair.system else []
    return [*system, {"role": "user", "content": pair.prompt}]


def _prompt(pair: Pair, strings: bool) -> Any:
    return _text(pair) + "\n" if strings else _messages(pair)


def _text(pair: Pair) -> str:
    return f"{pair.system}\n\n{pair.prompt}" if pair.system else pair.prompt


def _says(answer: bool, strings: bool) -> Any:
    return word(answer) if strings else [{"role": "assistant", "content": word(answer)}]


def _openai(pair: Pair, strings: bool) -> Row:
    return {"messages": [*_messages(pair), {"role": "assistant", "content": word(pair.label)}]}


def _sft(pair: Pair, strings: bool) -> Row:
    return {"prompt": _prompt(pair, strings), "completion": _says(pair.label, strings)}


def _dpo(pair: Pair, strings: bool) -> Row:
    return {
        "prompt": _prompt(pair, strings),
        "chosen": _says(pair.label, strings),
        "rejected": _says(not pair.label, strings),
    }


def _kto(pair: Pair, strings: bool) -> Row:
    said = bool(pair.word)
    return {"prompt": _prompt(pair, strings), "completion": _says(said, strings), "label": said == pair.label}


def _alpaca(pair: Pair, strings: bool) -> Row:
    return {"system": pair.system, "instruction": pair.prompt, "input": "", "output": word(pair.label)}


def _alpaca_dpo(pair: Pair, strings: bool) -> Row:
    return {
        "system": pair.system, "instruction": pair.prompt, "input": "", "chosen": word(pair.label),
        "rejected": word(not pair.label),
    }  # fmt: skip


def _systemone(pair: Pair, strings: bool) -> Row:
    # One question a row, named by its stage.
    state, question = state_and_question(pair.system, pair.task_context, pair.question)
    return {"state": state, "questions": {pair.stage: question}, "expected": {pair.stage: pair.label}}


def _csv(pair: Pair, strings: bool) -> Row:
    number = pair.stage.removeprefix("precision_pass")
    said = "" if pair.word is None else int(pair.word)
    values = (
        pair.call_id, _text(pair), int(pair.label), said, pair.model, pair.stage,
        int(number) if number.isdigit() else "", pair.split, pair.group, pair.judgment,
    )  # fmt: skip
    return dict(zip(CSV_COLUMNS, values, strict=True))


class _Shape(NamedTuple):
    """How a format writes a row, and what it is for, in a line."""

    row: Callable[[Pair, bool], Row]
    about: str


_SHAPES: dict[Format, _Shape] = {
    "openai-chat": _Shape(_openai, "messages with the answer last: fine-tuning services"),
    "trl-sft": _Shape(_sft, "prompt and completion: supervised fine-tuning with TRL"),
    "trl-dpo": _Shape(_dpo, "prompt, chosen, rejected: preferences with TRL"),
    "trl-kto": _Shape(_kto, "prompt, the model's answer, right or wrong: TRL"),
    "llama-factory": _Shape(_alpaca, "instruction and output: fine-tuning with LLaMA-Factory"),
    "llama-factory-dpo": _Shape(_alpaca_dpo, "chosen and rejected: LLaMA-Factory"),
    "systemone": _Shape(_systemone, "state, questions, expected: decision models (sysone)"),
    "csv": _Shape(_csv, "one row a call: spreadsheets and classifiers"),
}


def about(format: Format) -> str:
    """What a format is for, in one line."""
    return _SHAPES[format].about


def encode_rows(rows: Sequence[Row], format: Format) -> bytes:
    """The rows as the bytes of a file: JSON Lines, or CSV (RFC 4180 quoting, LF, UTF-8 without BOM)."""
    if format != "csv":
        return json_lines(rows)
    out = io.StringIO(newline="")
    # Every text is quoted: a bare CR in code would otherwise end the record for readers.
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([_as_cell(row[name]) for name in CSV_COLUMNS] for row in rows)
    return out.getvalue().encode("utf-8", "replace")


def _as_cell(value: Any) -> Any:
    """A text that a spreadsheet would read as a formula gets a leading apostrophe, which marks it as text (OWASP, "CSV
    Injection"). Numbers stay as they are."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


_SEPARATORS = {char.encode(): rf"\u{ord(char):04x}".encode() for char in "\x85\u2028\u2029"}
"""Characters that end a line for Python's ``splitlines`` and for JavaScript, but not in JSON Lines; they are escaped."""


def json_lines(rows: Sequence[Row]) -> bytes:
    """One JSON object a line, whichever way the reader splits lines."""
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    for char, escape in _SEPARATORS.items():
        data = data.replace(char, escape)
    return data


def dataset_info(files: Sequence[str], format: Format) -> dict[str, Any]:
    """LLaMA-Factory's entry for each file of an export, for ``dataset_info.json`` (``dataset: cra_train``)."""
    columns = {"prompt": "instruction", "query": "input", "system": "system"}
    if format == "llama-factory-dpo":
        shape = {"formatting": "alpaca", "ranking": True, "columns": {**columns, "chosen": "chosen", "rejected": "rejected"}}
    else:
        shape = {"formatting": "alpaca", "columns": {**columns, "response": "output"}}
    names = {name: "cra_" + name.rsplit(".", 1)[0].replace("/", "_") for name in files}
    return {names[name]: {"file_name": name, **shape} for name in files}
