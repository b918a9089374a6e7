"""How this application's own steps say that they failed; their sentences become the error of a step's result."""

from __future__ import annotations

COMPILE = (
    r"\bit does not compile(?:: |\.)|\bno longer be valid Python: |\bno valid Python\b"
    r"|^.* was not (?:written|defined) in \d+ tr(?:y|ies): (?:\S+:\d+(?::\d+)?: )?(?:fatal )?error: "
)
"""``coding.writing.functions``, ``coding.writing.edit_step``, ``coding.pyreplace``."""

TEST = r"^it (?:broke checks that passed before|did not improve the checks)\b|\bit breaks a check that passed\b"
"""``flow.steps``: what the checks say follows."""

PATCH = (
    r"\bsearch text (?:occurs \d+ times|does not occur) in\b|\bsearch part is empty but\b"
    r"|\bedit of \S+ changes nothing\b|\bThere is no file \S+ Leave the search part empty\b"
    r"|\bcannot be edited as text\b|\bhas no symbol \S+\.$|\bwould be a file and a folder at once\b"
    r"|\bnew version of \S+ is the same as the old one\b"
)
"""``coding.replies.search_replace``, ``coding.replace``."""
