"""Whether a task tells of something that does not work; asked where its words leave it open."""

from __future__ import annotations

SYSTEM = """You sort requests about a program. You see one request.
Does it describe something that the program does wrong today, so that existing behaviour has to be corrected?
A request for something new, which the program does not offer yet, is a no.
Answer with one word, yes or no."""


def item(task: str) -> str:
    """The request as the model sees it."""
    return f"Request: {' '.join(task.split())[:2000]}"
