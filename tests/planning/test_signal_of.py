"""Failures of our own steps keep the kind that they had where they happened; no sentence is read back."""

from __future__ import annotations

import pytest

from agent.planning.schema import StepResult
from agent.planning.signals import MESSAGE_CAP, extract_failure_signals, signal_of, signals_from_output


@pytest.mark.parametrize("kind", ["compile_error", "test_failure", "patch_failure", "runtime_error", "unknown"])
@pytest.mark.parametrize("text", ["Any sentence will do.", "", "ring.c:3:1: error: expected ';'", "x\n" * 2000])
def test_the_kind_is_kept_whatever_the_sentence(kind: str, text: str) -> None:
    signal = signal_of(kind, text)  # type: ignore[arg-type]
    assert signal.category == kind
    assert 0 < len(signal.message) <= MESSAGE_CAP
    assert extract_failure_signals([StepResult("s1", False, text, signals=(signal,))]) == [signal]


def test_a_long_text_is_cut_around_its_decisive_line() -> None:
    text = "note\n" * 400 + "ring.c:3:1: error: expected ';'\n" + "note\n" * 400
    assert "expected ';'" in signal_of("compile_error", text).message


def test_our_own_sentences_say_nothing_about_a_tools_output() -> None:
    [signal] = signals_from_output("ring_push was not written in 3 tries: it does not compile", "", 1)
    assert signal.category == "unknown"
