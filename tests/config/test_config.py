"""The configuration: defaults run, the template equals them, and a fault names file, key, expectation and neighbour."""

from pathlib import Path

import pytest

from agent.config.errors import ConfigError
from agent.config.schema import Config, Override, load, merge, parse, repo_config_path
from agent.config.template import template


def test_template_holds_exactly_the_defaults() -> None:
    assert merge(parse(template(), "config.toml")) == Config()


def test_template_writes_the_decomposition_toggles_out() -> None:
    lines = template().splitlines()
    for name in ("planning", "scaffold", "adjustment", "error_classification", "part_grouping"):
        assert f"decomposed_{name} = false" in lines


@pytest.mark.parametrize("commented", ["max_calls", "samples", "max_attempts", "test_command", "memory_mib"])
def test_every_commented_default_is_valid_once_uncommented(commented: str) -> None:
    text = "\n".join(line[2:] if line.startswith(f"# {commented} = ") else line for line in template().splitlines())
    assert merge(parse(text, "config.toml")) == Config()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model]\n", ["model", "no such section", "'models'"]),
        ('[models]\ncodin = "x"', ["models.codin", "no such key", "'coding'"]),
        ("[models]\nconcurrency = 0", ["models.concurrency", "whole number", "at least 1", "0"]),
        ('[orchestrator]\ndecomposed_planning = "yes"', ["decomposed_planning", "true or false", "'yes'"]),
        ('[models]\nprovider = "olama"', ["models.provider", "'ollama'", "'olama'"]),
        ('[models.overrides]\nscope = {modle = "x"}', ["models.overrides.scope.modle", "'model'"]),
        ("[models]\nbase_url = 3", ["models.base_url", "a text in quotes", "3"]),
        ("models = 3", ["models", "section"]),
        ("x = [", ["not valid TOML"]),
    ],
)
def test_a_fault_names_the_file_the_key_and_what_was_expected(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "my/config.toml")
    for word in ["my/config.toml", *words]:
        assert word in str(caught.value)


def test_repository_beats_person_and_overrides_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRA_CONFIG_DIR", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "config.toml").write_text(
        '[models]\ncoding = "mine"\nseed = 7\n'
        '[models.overrides]\nscope = "small"\nprecision = {model = "p", max_tokens = 16}\n'
    )
    (tmp_path / "repo" / ".clean_room").mkdir(parents=True)
    (tmp_path / "repo" / ".clean_room" / "config.toml").write_text(
        '[models]\ncoding = "theirs"\n[models.overrides]\nscope = "other"\n'
    )
    config = load(tmp_path / "repo", {"testing": {"test_command": "make check"}})
    assert (config.models.coding, config.models.seed) == ("theirs", 7)
    assert config.models.overrides == {"scope": "other", "precision": Override(model="p", max_tokens=16)}
    assert config.testing.test_command == "make check"


def test_unreadable_bytes_are_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRA_CONFIG_DIR", str(tmp_path))
    (tmp_path / "config.toml").write_bytes(b"[models]\ncoding = '\xff'\n")
    with pytest.raises(ConfigError, match=r"config\.toml: this file cannot be read"):
        load()


@pytest.mark.parametrize("key", ["models.base_url", "models.overrides.scope.base_url"])
@pytest.mark.parametrize("value", ["localhost:8080", "127.0.0.1", "http://", "ftp://host", "http:// host"])
def test_an_address_without_its_scheme_is_refused_with_what_to_write(key: str, value: str) -> None:
    head, _, name = key.rpartition(".")
    with pytest.raises(ConfigError) as caught:
        parse(f'[{head}]\n{name} = "{value}"\n', "there/config.toml")
    assert str(caught.value).startswith(f"there/config.toml: {key}: expected a text in quotes that begins with http://")
    assert value in str(caught.value)
    assert parse(f'[{head}]\n{name} = "https://host:1/v1"\n', "f") and parse(f'[{head}]\n{name} = ""\n', "f")


def test_an_override_for_no_stage_names_its_file() -> None:
    with pytest.raises(ConfigError, match=r"^f: models\.overrides\.scop: there is no such stage.*Did you mean 'scope'"):
        parse('[models.overrides]\nscop = "m"\n', "f")


@pytest.mark.parametrize("kind", ["folder", "link to nothing"])
def test_a_configuration_that_is_no_file_is_not_passed_over(tmp_path: Path, kind: str) -> None:
    path = repo_config_path(tmp_path)
    path.parent.mkdir()
    path.mkdir() if kind == "folder" else path.symlink_to("nowhere")
    with pytest.raises(ConfigError, match=r"this must be a file|a symbolic link is not read here"):
        load(tmp_path)
