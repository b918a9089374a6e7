"""Similarity: do these two files belong together in this task?"""

from __future__ import annotations

SYSTEM = """You judge how files relate. You see a task and two files of the repository.
Are the two files related in this task, so that whoever works on one needs the other?
Answer with one word, yes or no."""


def item(path_a: str, about_a: str, path_b: str, about_b: str, evidence: str) -> str:
    """One pair of files: what each holds, and what ties them."""
    return f"File A: {path_a}: {about_a}\nFile B: {path_b}: {about_b}\n[{evidence}]"
