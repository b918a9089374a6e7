"""Editing a configuration file: comments survive, the diff says what changes, nothing is lost or half-written."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config.edit import UNSET, ConfigDraft
from agent.config.errors import ConfigError
from agent.config.schema import Config, Override, merge, parse, sections
from agent.config.template import template
from agent.config.toml_text import put, take

MINE = """# my own words
[models]  # who answers
provider = 'ollama'   # the box under the desk
coding = "qwen3:8b"

# judging
[models.overrides]
# the cheap one
scope = {model = "qwen3:0.6b", max_tokens = 16} # fast
precision = "qwen3:1.7b"

[orchestrator]
decomposed_planning = true
"""


def draft(tmp_path: Path, text: str | None = MINE) -> ConfigDraft:
    path = tmp_path / "config.toml"
    if text is not None:
        path.write_bytes(text.encode())
    return ConfigDraft(path)


def comments(text: str) -> list[str]:
    return [line[line.index("#") :].rstrip() for line in text.splitlines() if "#" in line]


def test_a_replaced_value_keeps_the_comment_behind_it(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "provider", "openai")
    assert '\nprovider = "openai"   # the box under the desk\n' in mine.text()
    changed = [line for line in mine.diff().splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["-provider = 'ollama'   # the box under the desk", '+provider = "openai"   # the box under the desk']
    mine.save()
    assert (tmp_path / "config.toml").read_text() == MINE.replace("'ollama'", '"openai"')


def test_a_new_value_goes_below_the_values_of_its_section(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "seed", 7)
    assert 'coding = "qwen3:8b"\nseed = 7\n\n# judging\n[models.overrides]' in mine.text()


def test_a_new_value_goes_below_its_commented_default_in_the_template(tmp_path: Path) -> None:
    mine = draft(tmp_path, template())
    mine.set("coding", "samples", 2)
    mine.set_override("scope", Override(model="qwen3:0.6b", provider="ollama"))
    text = mine.text()
    assert "# samples = 4\nsamples = 2\n" in text
    assert comments(text) == comments(template())
    assert merge(parse(text, "x")).coding.samples == 2
    mine.unset("coding", "samples")
    mine.remove_override("scope")
    assert mine.changes == {} and mine.text() == template() and mine.diff() == ""


def test_a_section_that_is_missing_is_added_at_the_end(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("testing", "test_command", "make check")
    assert mine.text() == MINE + '\n[testing]\ntest_command = "make check"\n'


def test_a_file_that_is_not_there_yet_is_made_with_its_folder(tmp_path: Path) -> None:
    mine = ConfigDraft(tmp_path / "new" / "config.toml")
    mine.set("orchestrator", "decomposed_scaffold", True)
    mine.save()
    assert mine.path.read_text() == "[orchestrator]\ndecomposed_scaffold = true\n"
    assert not mine.changes and mine.is_set("orchestrator", "decomposed_scaffold")
    assert os.listdir(mine.path.parent) == ["config.toml"]


def test_overrides_are_added_edited_and_removed_with_their_comments_kept(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set_override("scope", Override(model="qwen3:4b", max_tokens=16))
    mine.set_override("classify", Override(model="nimble", provider="systemone", base_url="http://localhost:11434"))
    mine.set_override("implement", Override(model="big"))
    mine.remove_override("precision")
    text = mine.text()
    assert 'scope = {model = "qwen3:4b", max_tokens = 16} # fast' in text
    assert 'implement = "big"' in text and "precision" not in text
    assert comments(text) == comments(MINE)
    assert list(mine.overrides()) == ["scope", "classify", "implement"]
    assert mine.overrides()["classify"].provider == "systemone"
    mine.save()
    assert list(ConfigDraft(mine.path).overrides()) == ["scope", "classify", "implement"]


def test_an_override_written_as_a_section_of_its_own(tmp_path: Path) -> None:
    text = '[models]\nseed = 1\n\n[models.overrides.scope]\n# small\nmodel = "a" # why\nmax_tokens = 16\n'
    mine = draft(tmp_path, text)
    mine.set_override("scope", Override(model="b", max_tokens=16))
    mine.set_override("precision", Override(model="c"))
    mine.set("models", "concurrency", 4)
    assert comments(mine.text()) == ["# small", "# why"]
    assert {name: entry.model for name, entry in mine.overrides().items()} == {"scope": "b", "precision": "c"}
    assert merge(mine.values()).models.concurrency == 4
    mine.remove_override("scope")
    assert list(ConfigDraft(_saved(mine)).overrides()) == ["precision"]


def _saved(mine: ConfigDraft) -> Path:
    mine.save()
    return mine.path


@pytest.mark.parametrize(
    "text",
    [
        'models = {provider = "ollama"}\n',
        'models.provider = "ollama"\n',
        '[models.overrides]\nscope = "x"\n',
        '[compile]\nextra_flags = [\n  "-std=c11", # language\n  "-O1",\n]\n[models]\n',
        '[testing]\ntest_command = """\n[models]\n# seed = 3\n"""\n',
        '[models]\r\ncoding = "x"\r\n\r\n# next\r\n[ui]\r\ntheme = "nord"\r\n',
        "[models]",
        "# nothing but words",
    ],
)
def test_other_ways_to_write_a_file_are_left_alone(tmp_path: Path, text: str) -> None:
    mine = draft(tmp_path, text)
    before = merge(mine.values())
    mine.set("models", "seed", 99)
    mine.set("ui", "grace_seconds", 1.5)
    after = merge(mine.values())
    changed = msgspec.structs.replace
    models, ui = changed(before.models, seed=99), changed(before.ui, grace_seconds=1.5)
    assert after == changed(before, models=models, ui=ui)
    assert comments(mine.text()) == comments(text)
    if "\r\n" in text:
        assert mine.text().count("\n") == mine.text().count("\r\n")
    mine.save()
    mine.unset("models", "seed")
    mine.unset("ui", "grace_seconds")
    assert merge(mine.values()) == before
    assert comments(mine.text()) == comments(text)


def test_a_removed_value_leaves_the_comment_behind_it(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.unset("models", "provider")
    assert comments(mine.text()) == comments(MINE)
    assert "provider" not in mine.values()["models"]


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("models", "concurrency", 0, "at least 1"),
        ("models", "concurency", 4, "'concurrency'"),
        ("model", "seed", 4, "'models'"),
        ("orchestrator", "decomposed_planning", "yes", "true or false"),
        ("models", "provider", "olama", "'ollama'"),
    ],
)
def test_a_wrong_value_is_refused_and_changes_nothing(
    tmp_path: Path, section: str, key: str, value: Any, words: str
) -> None:
    mine = draft(tmp_path)
    with pytest.raises(ConfigError, match=words):
        mine.set(section, key, value)
    assert mine.text() == MINE


def test_a_change_taken_back_is_no_change(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "coding", "other")
    mine.set("models", "coding", "qwen3:8b")
    mine.set("models", "seed", 3)
    mine.unset("models", "seed")
    assert not mine.changes


def test_a_file_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "seed", 7)
    mine.path.write_text(MINE + "# added by hand\n")
    with pytest.raises(ConfigError, match="meanwhile"):
        mine.save()
    assert mine.path.read_text() == MINE + "# added by hand\n"
    mine.reload()
    mine.save()
    assert "# added by hand" in mine.path.read_text() and "seed = 7" in mine.path.read_text()


@pytest.mark.parametrize(
    "broken",
    [b"[models\n", b'[models]\nseed = "x"\n', b"[models]\nnope = 1\n", b"\xff", b"[nope]\n", b"models = 3\n",
     b"[[models]]\nseed=1\n", b"[models]\nseed = 1\nseed = 2\n"],
)  # fmt: skip
def test_a_file_broken_meanwhile_is_not_overwritten_however_often_one_tries(tmp_path: Path, broken: bytes) -> None:
    mine = draft(tmp_path)
    mine.set("models", "seed", 7)
    path = tmp_path / "config.toml"
    path.write_bytes(broken)
    for _ in range(3):
        assert mine.is_behind and mine.diff(), "what one has changed is still there"
        with pytest.raises(ConfigError, match="changed by someone else"):
            mine.save()
        with pytest.raises(ConfigError):
            mine.reload()
    assert path.read_bytes() == broken
    path.write_text(MINE + "# mended\n")
    mine.reload()
    mine.save()
    assert "seed = 7" in path.read_text() and "# mended" in path.read_text() and not mine.is_behind


def test_links_and_modes_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(MINE)
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    mine = ConfigDraft(link)
    mine.set("models", "seed", 7)
    mine.save()
    assert link.is_symlink() and "seed = 7" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "seed", 7)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="cannot be written"):
            mine.save()
    finally:
        tmp_path.chmod(0o700)
    assert mine.path.read_text() == MINE


@pytest.mark.parametrize("data", [b"[models]\ncoding = '\xff'\n", b"[models\n", b"[modles]\n"])
def test_a_file_that_is_wrong_as_it_is_says_so_and_stays(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(data)
    with pytest.raises(ConfigError):
        ConfigDraft(tmp_path / "config.toml")
    assert (tmp_path / "config.toml").read_bytes() == data


_PLACES = [(name, field.name) for name, section in sections().items() for field in msgspec.structs.fields(section)]
_VALUES: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(), int: st.integers(512, 600), float: st.sampled_from([0.0, 0.25, 1.0]),
    str: st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12),
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_run_of_changes_does_what_it_says_and_keeps_every_comment(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([MINE, template(), ""]))
    current, before = text, tomllib.loads(text)
    for section, key in data.draw(st.lists(st.sampled_from(_PLACES), min_size=1, max_size=6)):
        kind = type(getattr(getattr(Config(), section), key))
        if kind not in _VALUES:
            continue
        if data.draw(st.booleans()):
            value = data.draw(_VALUES[kind])
            current = put(current, (section, key), value) or ""
            before.setdefault(section, {})[key] = value
        else:
            current = take(current, (section, key)) or ""
            before.get(section, {}).pop(key, None)
    filled = {name: table for name, table in tomllib.loads(current).items() if table}
    assert filled == {name: table for name, table in before.items() if table}
    assert all(comment in current for comment in comments(text))


def test_unset_is_told_apart_from_empty(tmp_path: Path) -> None:
    mine = draft(tmp_path)
    mine.set("models", "base_url", "")
    assert mine.value("models", "base_url") == "" and mine.value("models", "seed") is UNSET
