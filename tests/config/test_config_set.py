"""Settings from the command line, as somebody types them."""

import pytest

from agent.config.assignments import settings_from
from agent.config.errors import ConfigError
from agent.config.schema import merge


def test_values_are_what_their_fields_are() -> None:
    words = [
        "orchestrator.decomposed_planning=true", "coding.samples=2", "models.temperature=0.5", "models.coding=qwen3:1.7b",
        'models.reasoning="quoted = name"', "compile.extra_flags=['-std=c11', '-O1']", "testing.test_command=make test X=1",
    ]  # fmt: skip
    config = merge(settings_from(words))
    assert config.orchestrator.decomposed_planning is True and config.coding.samples == 2
    assert (config.models.temperature, config.models.coding) == (0.5, "qwen3:1.7b")
    assert config.models.reasoning == "quoted = name" and config.compile.extra_flags == ["-std=c11", "-O1"]
    assert config.testing.test_command == "make test X=1"


def test_a_text_that_looks_like_a_number_is_a_text_where_one_is_wanted() -> None:
    assert merge(settings_from(["models.coding=7", "models.base_url="])).models.coding == "7"
    assert settings_from(["testing.test_command=make\nrm = 1"]) == {"testing": {"test_command": "make\nrm = 1"}}


def test_a_stages_own_model_and_a_key_are_reached_by_longer_keys_and_the_later_word_wins() -> None:
    words = ["models.overrides.scope.model=small", "models.overrides.scope.max_tokens=16", 'ui.keys."run.step"=f8']
    config = merge(settings_from([*words, "models.overrides.precision=other", "models.overrides.precision=third"]))
    scope = config.models.overrides["scope"]
    assert not isinstance(scope, str) and (scope.model, scope.max_tokens) == ("small", 16)
    assert config.models.overrides["precision"] == "third" and config.ui.keys == {"run.step": "f8"}


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("coding.samples", "SECTION.KEY=VALUE"),
        ("samples=2", "SECTION.KEY=VALUE"),
        ("a b.c=1", "SECTION.KEY before the ="),
        ("coding.samples.=2", "SECTION.KEY before the ="),
        ("coding.a=1\n[x]\nb.c=2", "coding.a: there is no such key"),
        ("codin.samples=2", "Did you mean 'coding'?"),
        ("coding.sample=2", "Did you mean 'samples'?"),
        ("coding.samples=9", "at most 8"),
        ("coding.samples=two", "a whole number of at least 1 and at most 8, found 'two'"),
        ("orchestrator.decomposed_planning=yes", "true or false, found 'yes'"),
        ("models.overrides.scope.modell=x", "there is no such key"),
    ],
)
def test_what_cannot_be_set_is_a_sentence(word: str, says: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        settings_from([word])
    assert str(wrong.value).startswith("--set: ") and says in str(wrong.value)
