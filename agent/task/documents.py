"""The documents that a task names, read along with it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DOCUMENT = re.compile(r"(?<![\w./-])[\w./-]*\w\.(?:md|txt|rst)\b", re.I)

_UNSHOWN = re.compile(
    r"^[ ]{0,3}\[[^\]\n]+\]:[ \t]+\S+[^\n]*\n?|<!--.*?-->|!\[[^\[\]]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])", re.M | re.S
)
"""What rendered Markdown does not show: link reference definitions (CommonMark), comments, images."""

LONGEST_DOCUMENT = 6000
"""Characters taken of a document that a task names."""


def with_documents(task: str, files: Mapping[str, bytes]) -> str:
    """``task`` and the text of the documents it names (``as README.md specifies``), as far as the project has them."""
    parts = [task.strip()]
    for name in dict.fromkeys(_DOCUMENT.findall(task)):
        try:
            text = files[name.removeprefix("./")].decode("utf-8", "replace")
        except (KeyError, ValueError, OSError):
            continue
        text = _UNSHOWN.sub("", text).strip() if name.lower().endswith(".md") else text.strip()
        if text:
            parts.append(f"{name} says:\n{text[:LONGEST_DOCUMENT]}")
    return "\n\n".join(parts)
