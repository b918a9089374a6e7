"""From a raw answer to a verdict: a person's override, then a threshold, then the parsed text, then the default."""

from __future__ import annotations

from agent.audit.rows import CallVerdict
from agent.judgment.asking import Asked
from agent.models.answers import parse_yes_no
from agent.verdict.threshold import Threshold, combined_score


def decide(asked: Asked, threshold: Threshold | None, rank: int | None, default_action: str) -> CallVerdict:
    """The verdict of one answered call and the sentence that explains it (design section 6)."""
    if asked.label is not None:
        text = f"a person's earlier label on the same question: {_word(asked.label)}"
        return CallVerdict(asked.label, source="override", overridden=True, explanation=text)
    parsed = parse_yes_no(asked.text)
    p_yes = asked.completion.p_yes
    if p_yes is not None and threshold is not None:
        score = combined_score(p_yes, rank, threshold.rank_weight)
        verdict = score >= threshold.threshold
        text = _compare(p_yes, score, rank if threshold.rank_weight else None, threshold.threshold)
        return CallVerdict(verdict, score, threshold.threshold, "threshold", explanation=text)
    if parsed is not None:
        text = f"the answer says {_word(parsed)}" + (f"; P(yes) {p_yes:.2f}" if p_yes is not None else "")
        return CallVerdict(parsed, p_yes, None, "parsed", explanation=text)
    shown = asked.text.strip()[:60] or "(empty)"
    text = f"no answer could be read from {shown!r}, so the default applies: {default_action}"
    return CallVerdict(False, p_yes, None, "default", True, explanation=text)


def flipped(verdict: CallVerdict) -> CallVerdict:
    """The verdict overruled by a person."""
    right = not verdict.verdict
    text = f"{verdict.explanation}; overruled by a person: {_word(right)}"
    return CallVerdict(
        right, verdict.score, verdict.threshold, "override", verdict.defaulted, overridden=True, explanation=text
    )


def _compare(p_yes: float, score: float, rank: int | None, threshold: float) -> str:
    sign, word = ("≥", "yes") if score >= threshold else ("<", "no")
    ranked = f", rank {rank} → {score:.2f}" if rank is not None else ""
    return f"P(yes) {p_yes:.2f}{ranked} {sign} {threshold:.2f}: {word}"


def _word(value: bool) -> str:
    return "yes" if value else "no"
