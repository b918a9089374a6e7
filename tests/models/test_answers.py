"""The answer parser: tolerant in form, strict in meaning."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.answers import extract_json, parse_yes_no, unwrap_fence
from agent.thinking import strip_thinking

YES = [
    "yes", "Yes", "YES", " yes\n", "Yes.", "yes!", "**yes**", "*Yes*", "_yes_", "`yes`", '"yes"', "'Yes'", "“yes”",
    "Answer: yes", "**Answer:** yes", "answer - YES", "Verdict: **yes**", "The answer is yes.", "My final answer is: yes",
    "Yes, because it defines the struct.", "Yes because the header is included", "yes - the file changes",
    "Yes\n\nThe file defines ring_push.", "# Yes", "> yes", "- yes", "(yes)", "«yes»",
    '{"verdict": "yes"}', '{"answer": true}', '{"Answer": "Yes."}', '{"relevant": true, "reason": "it has no tests"}',
    '```json\n{"verdict": "yes"}\n```', "```\nyes\n```", '["yes"]', '{"x": "yes"}', '[{"verdict": "yes"}]',
    "<think>Maybe no? There is no doubt.</think>yes", "Is it? No... yes, it is.\n</think>\n\nyes", "<think></think>\n\nYes.",
    "It defines the budget tracker that the task names.\n\nYes", "ｙｅｓ", "yes, a no-op by design",
]  # fmt: skip
NO = [
    "no", "No", "NO.", "**no**", "`No`", '"no"', "Answer: no", "The answer is: no", "No, it only prints a banner.",
    "no because it is unrelated", '{"verdict": "no"}', '{"answer": false}', "```\nNo\n```", "<think>yes yes</think>no",
    "No — unrelated", "Verdict = no", '{"verdict": "no", "why": "not asked"}', "This is about logging.\nno",
]  # fmt: skip
UNCLEAR = [
    "", " ", "\n", "maybe", "YESTERDAY", "yesterday", "nobody", "know", "nope-ish", "not yes", "Not no", "yes and no",
    "yes or no", "Yes/No", "yes, no", "no, yes", "Answer yes or no: yes", "I am not sure", "No doubt it is relevant",
    "no reason to exclude it", "There is no such file", "yesno", "yes_no", "It's not a yes", "The answer is not yes",
    "true", "1", "{", "{}", "[]", '{"verdict": "maybe"}', '{"verdict": "yes", "answer": "no"}', '{"verdict": null}',
    '["yes", "no"]', "<think>yes", "<think>the answer is yes", "yes?", "I can't say the answer is yes",
    "It isn't clear whether the answer is yes", '{"a": "yes", "b": "yes"}', "def yes(): pass", "```c\nint x;\n```",
    '{"answer": {"verdict": []}}',
]  # fmt: skip


@pytest.mark.parametrize("text", YES)
def test_a_yes_in_any_form(text: str) -> None:
    assert parse_yes_no(text) is True


@pytest.mark.parametrize("text", NO)
def test_a_no_in_any_form(text: str) -> None:
    assert parse_yes_no(text) is False


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_is_no_answer_stays_none(text: str) -> None:
    assert parse_yes_no(text) is None


WRAPPERS = ["{}", "**{}**", '"{}"', "{}.", " {}\n", "Answer: {}", "<think>hm, yes or no</think>{}", "```\n{}\n```",
            '{{"verdict": "{}"}}', "The answer is {}."]  # fmt: skip


@given(st.booleans(), st.sampled_from(WRAPPERS), st.sampled_from([str.lower, str.upper, str.title]))
def test_form_never_changes_the_meaning(answer: bool, wrapper: str, case: object) -> None:
    word = case("yes" if answer else "no")  # type: ignore[operator]
    assert parse_yes_no(wrapper.format(word)) is answer


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert parse_yes_no(text) in (True, False, None)
    extract_json(text)
    strip_thinking(text)


@given(st.text(alphabet="yesno \n.,*\"'{}[]:", max_size=60))
@settings(max_examples=200)
def test_both_words_are_never_an_answer(text: str) -> None:
    assert parse_yes_no(f"yes {text} no") is None
    assert parse_yes_no(f"no {text} yes") is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON, st.sampled_from(["{}", "```json\n{}\n```", "Here it is:\n{}\nDone.", "<think>{{</think>{}"]))
def test_json_survives_fences_and_prose(value: object, wrapper: str) -> None:
    value = {"value": value}
    found = extract_json(wrapper.format(json.dumps(value)))
    assert found is not None
    assert json.loads(found) == value


def test_the_first_whole_value_is_taken() -> None:
    assert extract_json('int a[3]; then {"a": [1, 2]} and {"b": 2}') == "[3]"
    assert extract_json('{"a": "}"} tail }') == '{"a": "}"}'
    assert extract_json('{"a": 1') is None
    assert extract_json("no json here") is None


def test_many_brackets_cost_little() -> None:
    assert extract_json("{" * 100_000) is None


def test_inner_fences_stay() -> None:
    text = "Text\n```c\nint x;\n```\nmore"
    assert unwrap_fence(text) == text
    assert unwrap_fence("```c\nint x;\n```") == "int x;"


def test_thinking_is_dropped_also_without_its_opening_tag() -> None:
    assert strip_thinking("<think>a</think>b") == "b"
    assert strip_thinking("a</think>b") == "b"
    assert strip_thinking("<think>budget spent") == ""
    assert strip_thinking("<THINK>a</THINK>\nb<think>c</think>") == "b"
