"""From an answer to a verdict: a person's label, then a threshold, then the parsed text, then the default.

This is the only place that decides. A run, calibration, evaluation and the screens call it with the same evidence.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agent.models.answers import parse_yes_no
from agent.values import VerdictSource
from agent.verdict.threshold import Threshold


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """What a verdict rests on. ``rank`` counts from 1 in the search's order; ``facts`` are numbers that the search knows of
    the item; ``question`` is the version of the question; ``label`` is a person's answer to the same judgment."""

    text: str
    p_yes: float | None = None
    rank: int | None = None
    facts: Mapping[str, float] = {}
    question: str = ""
    label: bool | None = None


class Verdict(msgspec.Struct, frozen=True):
    """A decided yes or no. ``score`` was compared with ``threshold``; ``explanation`` is the sentence of the card."""

    verdict: bool | None
    score: float | None = None
    threshold: float | None = None
    source: VerdictSource | None = None
    defaulted: bool = False
    overruled: bool = False
    explanation: str = ""


def decide(evidence: Evidence, rule: Threshold | None, default_action: str = "no") -> Verdict:
    """The verdict, and how it came about. ``default_action`` says in words what an unreadable answer means."""
    model = _of_the_model(evidence, rule, default_action)
    if evidence.label is None:
        return model
    text = f"a person's earlier label on the same question: {word(evidence.label)} ({model.explanation})"
    return msgspec.structs.replace(
        model, verdict=evidence.label, source="overrule", defaulted=False, overruled=True, explanation=text
    )


def _of_the_model(evidence: Evidence, rule: Threshold | None, default_action: str) -> Verdict:
    p_yes, note = evidence.p_yes, ""
    if p_yes is not None and rule is not None:
        score, note = applied(rule, evidence)
        if score is not None:
            text = _compared(p_yes, score, rule, evidence.rank)
            return Verdict(score >= rule.threshold, score, rule.threshold, "threshold", explanation=text)
    parsed = parse_yes_no(evidence.text)
    if parsed is not None:
        text = f"the answer says {word(parsed)}" + (f"; P(yes) {p_yes:.2f}" if p_yes is not None else "")
        return Verdict(parsed, p_yes, None, "parsed", explanation=text + note)
    shown = evidence.text.strip()[:60] or "(empty)"
    text = f"no answer could be read from {shown!r}, so the default applies: {default_action}"
    return Verdict(False, p_yes, None, "default", True, explanation=text + note)


def applied(rule: Threshold, evidence: Evidence) -> tuple[float | None, str]:
    """The score of an answer under a rule, or None and why the rule does not decide it."""
    if evidence.p_yes is None:
        return None, ""
    if rule.question and evidence.question and rule.question != evidence.question:
        return None, "; a threshold fitted to another wording of the question is not used"
    score = rule.score(evidence.p_yes, evidence.rank, evidence.facts)
    return score, "" if score is not None else "; a threshold that needs the search's rank is not used, there is none"


def overrule(verdict: Verdict) -> Verdict:
    """The opposite verdict, because a person says so."""
    right = not verdict.verdict
    return msgspec.structs.replace(
        verdict, verdict=right, source="overrule", overruled=True,
        explanation=f"{verdict.explanation}; overruled by a person: {word(right)}",
    )  # fmt: skip


def word(value: bool) -> str:
    """yes or no."""
    return "yes" if value else "no"


def _compared(p_yes: float, score: float, rule: Threshold, rank: int | None) -> str:
    sign, said = ("≥", "yes") if score >= rule.threshold else ("<", "no")
    ranked = f", rank {rank}" if rule.rank_weight else ""
    facts = ", facts" if rule.facts else ""
    combined = f"{ranked}{facts} → {score:.2f}" if not rule.plain else ""
    fitted = f" (fitted to {rule.n} labels)" if rule.origin == "labels" else ""
    return f"P(yes) {p_yes:.2f}{combined} {sign} {rule.threshold:.2f}: {said}{fitted}"
