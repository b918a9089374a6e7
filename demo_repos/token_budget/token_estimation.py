"""Estimates how many tokens a text has, without a tokenizer."""

CHARS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate token count from character count, rounded up."""
    return (len(text) + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN


def estimate_tokens_conservative(text: str) -> int:
    """Estimate token count with a reserve of one token in ten, for code full of punctuation."""
    tokens = estimate_tokens(text)
    return tokens + tokens // 10
