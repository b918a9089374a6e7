"""The identity of a judgment, which does not depend on the model that answers or on how it is decoded.

A judgment is a stage, the wording of its question (the system prompt), the task context (what all items of a batch
share) and the item as shown. Model, decoding options and examples are not part of it: a label stays with the judgment when
they change.
"""

from __future__ import annotations

import hashlib


def digest(text: str) -> str:
    """SHA-256 of a text in hex; lone surrogates are hashed as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def question_version(system: str) -> str:
    """The version of a stage's question: the first ten hex digits of the SHA-256 of its system prompt."""
    return digest(system)[:10]


def judgment_of(stage: str, system: str, task_context: str, item: str) -> str:
    """The identity of a judgment from its texts, 32 hex digits."""
    return judgment_of_digests(stage, digest(system), digest(task_context), item)


def judgment_of_digests(stage: str, system_sha: str, context_sha: str, item: str) -> str:
    """The same from the digests of system prompt and task context, as the log stores them."""
    return digest("\x00".join((stage, system_sha, context_sha, item)))[:32]
