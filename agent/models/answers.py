"""Reading a model's text: yes or no, and the JSON in it. Tolerant in form, strict in meaning."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from agent.thinking import strip_thinking

_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
_LONGEST_ANSWER = 4096
"""Characters; what goes on for longer is prose in which the words yes and no mean nothing."""
_WORD = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*")
_ANSWER_KEYS = ("verdict", "answer", "result", "decision", "response", "relevant", "value")
_LEADING = re.compile(r"^[\W_]*(yes|no)(?![^\W_])")
_LABELLED = re.compile(
    r"(?:answer|verdict|decision|result|response|output|conclusion)[\W_]*(?:is|would be)?[\W_]*(yes|no)(?![^\W_])"
)
_NEGATION = re.compile(r"\b(?:not|never|cannot|neither|nor|if|unless|whether)\b|n['’]t\b")
_GOES_ON = re.compile(r"^[\s*_`\"'’”»)\]]*(?:$|[.,;:!(—–\n-]|(?:because|since|as|it|this|that|the|given)\b)")


def parse_yes_no(text: str) -> bool | None:
    """What the model said: True, False, or None when it said neither, both, or took it back.

    ``Yes.``, ``**no**``, ``"yes"``, ``Answer: no``, ``{"verdict": "yes"}`` and ``Yes, because …`` are answers;
    ``not yes``, ``yes or no``, ``YESTERDAY`` and an empty text are none.
    """
    text = unwrap_fence(strip_thinking(unicodedata.normalize("NFKC", text)))
    if text.lstrip()[:1] in ("{", "["):
        return _from_json(text)
    if len(text) > _LONGEST_ANSWER:
        return None
    text = text.lower()
    said = {"yes", "no"}.intersection(_WORD.findall(text))
    if len(said) != 1:
        return None
    word = said.pop()
    return word == "yes" if _stands_as_answer(text, word) else None


def _stands_as_answer(text: str, word: str) -> bool:
    """Whether ``word`` is the answer and not a word of the prose: it leads, follows a label, or is the last line."""
    for match in (_LEADING.search(text), _LABELLED.search(text)):
        if match and match[1] == word and _GOES_ON.match(text[match.end() :]):
            return not _NEGATION.search(text[: match.start(1)])
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and _WORD.findall(lines[-1]) == [word]


def _from_json(text: str) -> bool | None:
    found = extract_json(text)
    if found is None:
        return None
    try:
        return _truth(json.loads(found))
    except ValueError:
        return None


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return parse_yes_no(value) if value.lstrip()[:1] not in ("{", "[") else None
    if isinstance(value, list) and len(value) == 1:
        return _truth(value[0])
    if isinstance(value, dict):
        lowered = {str(k).lower(): v for k, v in value.items()}
        named = [_truth(lowered[key]) for key in _ANSWER_KEYS if key in lowered]
        if not named and len(lowered) == 1:
            named = [_truth(v) for v in lowered.values()]
        return named[0] if named and all(n == named[0] for n in named) else None
    return None


def unwrap_fence(text: str) -> str:
    """The inside of a reply that is one Markdown fence from start to end; any other text as it is."""
    text = text.strip()
    opening = _FENCE.match(text)
    if opening is None or not text.endswith(opening[1]) or opening.end() > len(text) - len(opening[1]):
        return text
    return text[opening.end() : -len(opening[1])].strip()


def extract_json(text: str) -> str | None:
    """The first whole JSON object or array in ``text``: fences and prose around it are tolerated.

    Returns:
        the JSON's own characters, or None when there is none that a JSON parser accepts.
    """
    text = unwrap_fence(strip_thinking(text))
    decoder = json.JSONDecoder()
    place = _next_bracket(text, 0)
    failed = 0
    # A reply full of brackets that are not JSON (C code) must not cost quadratic time.
    while place >= 0 and failed < 200:
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            failed += 1
            place = _next_bracket(text, place + 1)
            continue
        return text[place:end]
    return None


def _next_bracket(text: str, start: int) -> int:
    found = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(found, default=-1)
