"""Exports are read back by the rules of those who consume them."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlite_utils
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.history import delete_run
from agent.audit.reader import LogReader
from agent.labels.export import ExportError, ExportOptions, ExportReport, export, held_out
from agent.labels.export_formats import CSV_COLUMNS, FORMATS, encode_rows, row_of
from agent.labels.pairs import Choice, Pair, balanced, group_runs, load_pairs, split_groups
from tests.labels.filled import SYSTEM, Filled

NASTY = 'int x = buf[i];\r\n\t"quoted, text" =cmd\x00é € 漢 {"a": 1}'


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Twelve labelled calls in four runs of four tasks; the model was wrong on every third."""
    made = Filled(tmp_path / "repo")
    for run in range(4):
        made.run(f"r{run}", model="m1", version="0.1", config='{"models": {"seed": 42, "none": null}}')
        for number in range(3):
            said = number % 2 == 0
            call = made.call(f"r{run}", f"f{run}{number}.c", said, p=0.7, question=f"File {run}.{number}: {NASTY}")
            made.label(call, said if number else not said, ("person", "overrule", "outcome")[number])
    yield made
    made.log.close()


def write(filled: Filled, out: Path, **options: Any) -> ExportReport:
    replace = options.pop("replace", False)
    reader = LogReader(filled.path)
    try:
        options.setdefault("choice", Choice(sources=()))
        return export(reader, out, ExportOptions(**options), replace=replace)
    finally:
        reader.close()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines() if row]


def is_messages(value: Any) -> bool:
    """A conversation as TRL and OpenAI define it: roles and plain text contents, nothing else."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(set(m) == {"role", "content"} and m["role"] in ("system", "user", "assistant") for m in value)
        and all(isinstance(m["content"], str) for m in value)
    )


def test_openai_chat(filled: Filled, tmp_path: Path) -> None:
    report = write(filled, tmp_path / "out", format="openai-chat", test_fraction=0)
    found = rows(tmp_path / "out" / "train.jsonl")
    assert len(found) == 12 == report.rows
    for row in found:
        assert set(row) == {"messages"} and is_messages(row["messages"])
        assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant"]
        assert row["messages"][-1]["content"] in ("yes", "no")
    assert NASTY in found[0]["messages"][1]["content"]


TRL_KEYS = {"trl-sft": {"prompt", "completion"}, "trl-dpo": {"prompt", "chosen", "rejected"},
            "trl-kto": {"prompt", "completion", "label"}}  # fmt: skip


@pytest.mark.parametrize("format", TRL_KEYS)
@pytest.mark.parametrize("strings", [False, True])
def test_trl_formats(filled: Filled, tmp_path: Path, format: str, strings: bool) -> None:
    """TRL: conversational if prompt and completion are message lists, standard if they are strings; never mixed."""
    write(filled, tmp_path / "out", format=format, strings=strings, test_fraction=0)
    found = rows(tmp_path / "out" / "train.jsonl")
    assert len(found) == 12
    for row in found:
        assert set(row) == TRL_KEYS[format]
        texts = {key: value for key, value in row.items() if key != "label"}
        if strings:
            assert all(isinstance(value, str) and value for value in texts.values())
        else:
            assert all(is_messages(value) for value in texts.values())
            assert row["prompt"][-1]["role"] == "user"
            assert all(value[0]["role"] == "assistant" for key, value in texts.items() if key != "prompt")
        if format == "trl-kto":
            assert isinstance(row["label"], bool)
        if format == "trl-dpo":
            assert row["chosen"] != row["rejected"]


def test_kto_rates_what_the_model_said(filled: Filled, tmp_path: Path) -> None:
    unreadable = filled.call("r0", "odd.c", False, raw="perhaps", defaulted=True, source="default")
    filled.label(unreadable, True)
    report = write(filled, tmp_path / "out", format="trl-kto", test_fraction=0)
    origin = rows(tmp_path / "out" / "ids.jsonl")
    for row, where in zip(rows(tmp_path / "out" / "train.jsonl"), origin, strict=True):
        assert row["completion"][0]["content"] == ("yes" if where["model_verdict"] else "no")
        assert row["label"] is (where["model_verdict"] == where["label"])
    assert report.left_out == {"the model's answer could not be read": 1}
    assert any("8 desirable and 4 undesirable" in note and "undesirable_weight = 2.00" in note for note in report.notes)


def test_dpo_marks_mirrored_pairs_and_can_do_without(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "all", format="trl-dpo", test_fraction=0)
    origin = rows(tmp_path / "all" / "ids.jsonl")
    assert sum(not where["synthetic"] for where in origin) == 4
    assert all(where["synthetic"] == (where["label"] == where["model_verdict"]) for where in origin)
    report = write(filled, tmp_path / "natural", format="trl-dpo", mirror=False, test_fraction=0)
    assert report.rows == 4 and report.left_out == {"the model did not give the wrong answer": 8}


def test_systemone(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "out", format="systemone", test_fraction=0)
    for row in rows(tmp_path / "out" / "train.jsonl"):
        (name,) = row["questions"]
        assert set(row) == {"state", "questions", "expected"} and row["state"] == "Task: t\n\n"
        assert row["questions"][name]["type"] == "noul" and row["questions"][name]["instructions"].startswith(SYSTEM)
        assert row["expected"] in ({name: True}, {name: False})


def test_preferences_rate_the_models_word_not_what_a_threshold_made_of_it(filled: Filled, tmp_path: Path) -> None:
    """Raw "no" at P .43 under a threshold of .40 is a verdict yes, but the model said no."""
    said_no = filled.call("r0", "shy.c", True, 0.43, raw="no", threshold=0.40)
    filled.label(said_no, True)
    for format, name in (("trl-kto", "kto"), ("trl-dpo", "dpo")):
        write(filled, tmp_path / name, format=format, test_fraction=0, choice=Choice())
    origin = rows(tmp_path / "kto" / "ids.jsonl")
    place = next(n for n, where in enumerate(origin) if where["call_id"] == said_no)
    row = rows(tmp_path / "kto" / "train.jsonl")[place]
    assert row["completion"][0]["content"] == "no" and row["label"] is False
    natural = {where["call_id"] for where in rows(tmp_path / "dpo" / "ids.jsonl") if not where["synthetic"]}
    assert said_no in natural


@pytest.mark.parametrize("format", ["llama-factory", "llama-factory-dpo"])
def test_llama_factory_reads_alpaca_rows_and_their_entry(filled: Filled, tmp_path: Path, format: str) -> None:
    write(filled, tmp_path / "out", format=format, test_fraction=0)
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    entry = info["cra_train"]
    assert entry["file_name"] == "train.jsonl" and bool(entry.get("ranking")) is format.endswith("dpo")
    for row in rows(tmp_path / "out" / "train.jsonl"):
        assert all(isinstance(row[column], str) for column in entry["columns"].values())
        if format.endswith("dpo"):
            assert {row["chosen"], row["rejected"]} == {"yes", "no"}


def test_outcomes_are_left_out_unless_asked_for(filled: Filled, tmp_path: Path) -> None:
    assert write(filled, tmp_path / "own", choice=Choice()).sources.keys() == {"overrule", "person"}
    assert "outcome" in write(filled, tmp_path / "all").sources


def test_what_was_held_out_can_be_asked_for_again(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "out", test_fraction=0.4)
    test = [where for where in rows(tmp_path / "out" / "ids.jsonl") if where["file"] == "test.jsonl"]
    assert held_out(tmp_path / "out") == {where["judgment"] for where in test} != set()
    write(filled, tmp_path / "none", test_fraction=0)
    with pytest.raises(ExportError, match="holds nothing out"):
        held_out(tmp_path / "none")
    with pytest.raises(ExportError, match="no export"):
        held_out(tmp_path)


def test_csv_by_csv_and_sqlite_utils(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "out", format="csv")
    files = [tmp_path / "out" / f"{side}.csv" for side in ("train", "test")]
    assert not files[0].read_bytes().startswith(b"\xef\xbb\xbf")
    found = []
    for file in files:
        with file.open(newline="", encoding="utf-8") as handle:
            reader = csv.DictReader(handle, strict=True)
            found += list(reader)
            assert tuple(reader.fieldnames or ()) == CSV_COLUMNS
    assert len(found) == 12
    assert all(NASTY in row["text"] and row["label"] in "01" for row in found)
    database = sqlite_utils.Database(memory=True)
    with files[0].open("rb") as handle:
        read, _ = sqlite_utils.utils.rows_from_file(handle, format=sqlite_utils.utils.Format.CSV)
        database.table("pairs").insert_all(read)
    lines = NASTY.replace("\r\n", "\n")  # sqlite-utils reads with universal newlines
    assert all(lines in row["text"] for row in database.table("pairs").rows)
    assert {row["split"] for row in found} == {"train", "test"}


@given(st.lists(st.text(), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_text_survives_csv_and_jsonl(texts: list[str]) -> None:
    pairs = [
        Pair(n, "r", "scope", "i", "m", True, "person", None, None, "s", "", text, str(n), n) for n, text in enumerate(texts)
    ]
    data = encode_rows([row_of(pair, "csv") for pair in pairs], "csv")
    back = list(csv.reader(_lines(data)))
    assert [row[1] for row in back[1:]] == [f"s\n\n{text}".encode("utf-8", "replace").decode() for text in texts]


def _lines(data: bytes) -> Iterator[str]:
    return iter(io.StringIO(data.decode("utf-8"), newline=""))


ODD = '```c\nint x;\n```\n\u2028 \u0085 \x00 \x0b 👩\u200d👩\u200d👧 \ud800 "q" \'it\' """ =1+1,\r\ttab'


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for entry in inner for text in _texts_in(entry)]


@pytest.mark.parametrize("format", FORMATS)
def test_one_odd_label_is_written_and_read_back(tmp_path: Path, format: str) -> None:
    """Code fences, joined emoji, half characters, line ends that JSON does not count, in every text there is."""
    made = Filled(tmp_path / "repo")
    made.run("r1", task=ODD, model=None, version=None, config="no json")
    call = made.call("r1", ODD, stage="scope", question=ODD, task_context=ODD, system=ODD, raw="yes", model=ODD)
    made.label(call, True, "person", ODD)
    report = write(made, tmp_path / "out", format=format)
    made.log.close()
    (name,) = report.files
    text = (tmp_path / "out" / name).read_bytes().decode("utf-8")
    kept = ODD.replace("\ud800", "?")
    if format == "csv":
        (row,) = list(csv.DictReader(io.StringIO(text, newline="")))
        assert row["text"] == f"{kept}\n\n{kept}{kept}" and row["model"] == kept
    else:
        assert len(text.splitlines()) == text.count("\n") == 1, "whichever way lines are split"
        assert kept in "".join(_texts_in(json.loads(text)))
    (origin,) = rows(tmp_path / "out" / "ids.jsonl")
    assert (origin["note"], origin["item"]) == (kept, kept)
    with (tmp_path / "out" / "run.toml").open("rb") as file:
        manifest = tomllib.load(file)
    assert manifest["rows"] == 1 and manifest["runs"][0]["task"] == kept
    assert any("labels are the same" in note for note in report.notes)


def test_all_of_one_answer_cannot_be_balanced_and_says_so(tmp_path: Path) -> None:
    made = Filled(tmp_path / "repo")
    made.run("r1")
    for number in range(5):
        made.label(made.call("r1", f"f{number}.c"), True)
    with pytest.raises(ExportError, match="No question has labels of both answers"):
        write(made, tmp_path / "out", balance=True)
    assert not (tmp_path / "out").exists()
    assert write(made, tmp_path / "out").labels == {"yes": 5, "no": 0}
    made.log.close()


async def test_labels_go_with_the_run_that_is_deleted(filled: Filled, tmp_path: Path) -> None:
    await delete_run(filled.repo, "r1")
    report = write(filled, tmp_path / "out", test_fraction=0)
    origin = rows(tmp_path / "out" / "ids.jsonl")
    assert report.rows == 9 and {row["run_id"] for row in origin} == {"r0", "r2", "r3"}


def test_sides_share_no_prompt_and_groups_stay_whole(filled: Filled, tmp_path: Path) -> None:
    filled.run("again", task="task of r1")  # the same task once more: one group with r1
    for number in range(3):
        call = filled.call("again", f"g{number}", True, question=f"again {number}")
        filled.label(call, True)
    shared = filled.call("r3", "f20.c", True, question=f"File 2.0: {NASTY}", model="m2")  # a prompt of r2, so one group too
    filled.label(shared, False)
    write(filled, tmp_path / "out", test_fraction=0.4)
    origin = rows(tmp_path / "out" / "ids.jsonl")
    sides = {where["group"]: set() for where in origin}
    for where in origin:
        sides[where["group"]].add(where["file"])
    assert all(len(files) == 1 for files in sides.values()) and len(sides) == 3
    by_side = [{json.dumps(row["prompt"]) for row in rows(tmp_path / "out" / f"{side}.jsonl")} for side in ("train", "test")]
    assert by_side[0] and by_side[1] and not by_side[0] & by_side[1]


def test_one_group_holds_nothing_out_and_says_so(tmp_path: Path) -> None:
    filled = Filled(tmp_path / "repo")
    filled.run("r1")
    for number in range(6):
        filled.label(filled.call("r1", f"f{number}", True), number % 2 == 0)
    report = write(filled, tmp_path / "out")
    assert report.files == {"train.jsonl": 6}
    assert any("Nothing is held out" in note for note in report.notes)
    filled.log.close()


def test_conflicts_are_listed_and_left_out_unless_the_last_is_taken(filled: Filled, tmp_path: Path) -> None:
    twin = filled.call("r0", "f00.c", True, question=f"File 0.0: {NASTY}", model="m2")
    filled.label(twin, True)
    report = write(filled, tmp_path / "skip", test_fraction=0)
    (conflict,) = report.conflicts
    assert [label for _, label, _ in conflict.labels] == [False, True]
    assert report.rows == 11 and report.left_out == {"conflicting labels": 1}
    assert rows(tmp_path / "skip" / "conflicts.jsonl")[0]["item"] == "f00.c"
    report = write(filled, tmp_path / "last", on_conflict="last", test_fraction=0)
    assert report.rows == 12
    (where,) = [w for w in rows(tmp_path / "last" / "ids.jsonl") if w["call_id"] == twin]
    assert where["label"] == 1 and where["duplicates"]
    assert "last label" in tomllib.loads((tmp_path / "last" / "run.toml").read_text())["rules"]["conflicts"]


def test_same_prompt_once(filled: Filled, tmp_path: Path) -> None:
    twin = filled.call("r1", "f01.c", False, question=f"File 0.1: {NASTY}")
    filled.label(twin, False)
    report = write(filled, tmp_path / "out", test_fraction=0)
    assert report.rows == 12
    assert tomllib.loads((tmp_path / "out" / "run.toml").read_text())["counts"]["duplicates"] == 1


def test_balance(filled: Filled, tmp_path: Path) -> None:
    for number in range(5):
        filled.label(filled.call("r0", f"more{number}", True), True)
    report = write(filled, tmp_path / "out", balance=True, test_fraction=0)
    assert report.labels["yes"] == report.labels["no"] > 0
    assert report.left_out["balance"] > 0


def test_sources_stay_apart_and_can_be_chosen(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "all", test_fraction=0)
    sources = [where["source"] for where in rows(tmp_path / "all" / "ids.jsonl")]
    assert {source: sources.count(source) for source in sources} == {"person": 4, "overrule": 4, "outcome": 4}
    report = write(filled, tmp_path / "mine", choice=Choice(sources=("person",)), test_fraction=0)
    assert report.rows == 4 and report.sources == {"person": 4}


def test_the_same_labels_give_the_same_bytes(filled: Filled, tmp_path: Path) -> None:
    for format in FORMATS:
        for name in ("one", "two"):
            write(filled, tmp_path / format / name, format=format)
        one, two = ({p.name: p.read_bytes() for p in (tmp_path / format / name).iterdir()} for name in ("one", "two"))
        assert one == two and "run.toml" in one


def test_manifest(filled: Filled, tmp_path: Path) -> None:
    write(filled, tmp_path / "out", choice=Choice(stages=("scope",), sources=()))
    manifest = tomllib.loads((tmp_path / "out" / "run.toml").read_text())
    assert manifest["format"] == "trl-sft" and manifest["rows"] == 12
    assert manifest["counts"]["source"] == {"outcome": 4, "overrule": 4, "person": 4}
    assert manifest["counts"]["model"] == {"m1": 12}
    assert manifest["filters"]["stages"] == ["scope"]
    assert sum(manifest["counts"]["split"].values()) == 12
    assert [run["id"] for run in manifest["runs"]] == ["r0", "r1", "r2", "r3"]
    (config,) = manifest["configs"].values()
    assert config == {"models": {"seed": 42}}
    assert len(manifest["stages"]["scope"]["system_sha"][0]) == 10


def test_a_folder_per_stage(filled: Filled, tmp_path: Path) -> None:
    filled.label(filled.call("r0", "a:b", True, stage="precision_pass2"), True)
    report = write(filled, tmp_path / "out", format="csv", per_stage=True, test_fraction=0)
    assert report.files == {"precision_pass2/train.csv": 1, "scope/train.csv": 12}
    with (tmp_path / "out" / "precision_pass2" / "train.csv").open(newline="") as handle:
        assert next(iter(csv.DictReader(handle)))["pass"] == "2"


def test_nothing_to_write_is_a_sentence_and_no_folder(tmp_path: Path) -> None:
    filled = Filled(tmp_path / "repo")
    filled.run("r1")
    filled.call("r1", "a.c")
    with pytest.raises(ExportError, match="Label some calls first"):
        write(filled, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    filled.log.close()


def test_nothing_of_the_persons_is_overwritten(filled: Filled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(ExportError, match="holds other files"):
        write(filled, out, replace=True)
    assert (out / "thesis.txt").read_text() == "years of work"
    write(filled, tmp_path / "fresh")
    with pytest.raises(ExportError, match="--force"):
        write(filled, tmp_path / "fresh")
    write(filled, tmp_path / "fresh", format="csv", replace=True)
    assert not (tmp_path / "fresh" / "train.jsonl").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fresh", "out", "repo"], "no left-overs beside"


_PAIRS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 12), st.booleans(), st.sampled_from(["scope", "similarity"])), max_size=40
)


@given(_PAIRS, st.floats(0, 0.5), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_split_and_balance_hold_for_any_labels(raw: list[tuple[int, int, bool, str]], fraction: float, seed: int) -> None:
    pairs = [
        Pair(n, f"r{run}", stage, "i", "m", label, "person", None, None, "s", "", "q", f"p{prompt}", n)
        for n, (run, prompt, label, stage) in enumerate(raw)
    ]
    group_runs(pairs, {})
    held = split_groups(pairs, fraction, seed)
    assert held == sum(pair.split == "test" for pair in pairs) <= len(pairs) / 2 + 1
    for key in ("run_id", "judgment"):
        sides: dict[str, set[str]] = {}
        for pair in pairs:
            sides.setdefault(getattr(pair, key), set()).add(pair.split)
        assert all(len(splits) == 1 for splits in sides.values())
    kept = balanced(pairs, seed)
    for split in ("train", "test"):
        for stage in ("scope", "similarity"):
            some = [pair.label for pair in kept if (pair.split, pair.stage) == (split, stage)]
            assert some.count(True) == some.count(False)


def test_pairs_take_the_full_text(filled: Filled) -> None:
    reader = LogReader(filled.path)
    pairs, _ = load_pairs(reader)
    reader.close()
    assert pairs[0].prompt.startswith("Task: t\n\nFile ") and pairs[0].system == SYSTEM
