"""Check that a prompt fits before it is sent, since a server that cuts it silently answers another question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.models.types import ModelError, ModelTarget

FRAMING_TOKENS = 64
"""What a chat template adds around two messages; Qwen's adds under 20, others with a default system prompt more."""

Counter = Callable[[str], Awaitable[int | None]]


def estimate_tokens(text: str) -> int:
    """An estimate of the tokens of ``text``, on the high side: UTF-8 bytes / 2.5, rounded up.

    Measured with the default model's tokenizer over 40 files each: Python 3.9 bytes a token (worst file 2.8), C headers
    of a Linux system 3.9 (3.1), the demo repositories' C 3.3 (3.1), prose 3.9.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) * 2 // 5)


async def check_budget(
    system: str, prompt: str, target: ModelTarget, count: Counter | None = None, *, stage: str = ""
) -> int:
    """Tokens of the framed prompt; an estimate as long as that fits, else counted by ``count`` (the server's
    tokenizer), else the estimate.

    Raises:
        ModelError: ``context`` when prompt and reply together are larger than ``target.context_window``.
    """
    room = target.context_window - target.max_tokens
    tokens = estimate_tokens(system) + estimate_tokens(prompt) + FRAMING_TOKENS
    if tokens <= room:
        return tokens
    exact = await count(f"{system}\n{prompt}") if count is not None else None
    if exact is not None:
        tokens = exact + FRAMING_TOKENS
    if tokens <= room:
        return tokens
    what = f"The prompt of stage {stage!r}" if stage else "The prompt"
    about = "" if exact is not None else "about "
    raise ModelError(
        "context",
        f"{what} has {about}{tokens:,} tokens and its reply may take {target.max_tokens:,}, "
        f"but the window of {target.model!r} is {target.context_window:,} tokens.",
        f"Raise models.context_window to at least {tokens + target.max_tokens:,} (or set it for this stage in "
        "models.overrides), or lower the stage's max_tokens.",
    )
