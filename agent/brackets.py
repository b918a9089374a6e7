"""Where a bracket in a text closes; brackets inside of quotes do not count."""

from __future__ import annotations


def to_closing_bracket(text: str, start: int, most: int = 1 << 16) -> str:
    """From the opening bracket at ``start`` to the one that closes it; "" when none does within ``most`` characters."""
    depth, quote, escaped = 0, "", False
    for place in range(start, min(len(text), start + most)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = sign == "\\" and not escaped
        elif sign in "'\"":
            quote, escaped = sign, False
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return text[start : place + 1]
    return ""
