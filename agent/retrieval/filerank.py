"""Files ranked without a model: the index's fused search, read together with each file's best-matching symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.retrieval.ranking import best_first, fuse

if TYPE_CHECKING:
    from agent.index import Index
    from agent.retrieval.types import TaskFacts

DEPTH = 60
"""Search hits looked at."""


def rank_files(index: Index, facts: TaskFacts) -> list[str]:
    """Paths, best first."""
    hits = index.search_files(facts.text, DEPTH)
    return best_first(fuse([(1.0, [hit.path for hit in hits])]))
