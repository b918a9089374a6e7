"""P(yes) out of a server's token log-probabilities."""

from __future__ import annotations

import math
from typing import Any

from agent.models.reply_fields import tables

_STRIP = " \t\r\n\"'`*_.,:;!()[]{}▁Ġ“”‘’"


def word_of(token: str) -> str:
    """``yes`` or ``no`` when the token is that word in any spelling (case, leading space, quotes), else empty."""
    word = token.strip(_STRIP).lower()
    return word if word in ("yes", "no") else ""


def p_yes(tokens: Any) -> float | None:
    """P(yes) / (P(yes) + P(no)), each summed over the spellings among the alternatives of the answering token.

    The answering token is the first whose own text is yes or no; quotes, braces and keys of a constrained reply come
    before it. Measured with llama-server: ``top_logprobs`` are those before the grammar, so the unconstrained spread
    over all spellings is there even when the grammar lets one spelling through.

    Args:
        tokens: ``[{"token", "logprob", "top_logprobs": [{"token", "logprob"}, …]}, …]`` as OpenAI-style servers and
            Ollama send it.

    Returns:
        None when no token answers, or the server sent no alternatives.
    """
    for entry in tables(tokens):
        alternatives = tables(entry.get("top_logprobs"))
        if not word_of(str(entry.get("token", ""))) or not alternatives:
            continue
        mass = {"yes": 0.0, "no": 0.0}
        for alternative in alternatives:
            word = word_of(str(alternative.get("token", "")))
            logprob = alternative.get("logprob")
            if word and isinstance(logprob, int | float):
                mass[word] += math.exp(min(0.0, logprob))
        total = mass["yes"] + mass["no"]
        return mass["yes"] / total if total > 0 else None
    return None
