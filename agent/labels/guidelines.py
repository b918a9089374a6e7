"""What yes and no mean in each stage, for the person who labels: a versioned text that they can replace by their own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from agent.stages import stage_of
from agent.workspace.clean_room import private_file


class Guideline(msgspec.Struct, frozen=True):
    """A stage's text. ``version`` is the first ten hex digits of its SHA-256; it is stored with every label."""

    stage: str
    text: str
    version: str
    own: bool = False


def guidelines_folder(repo: Path) -> Path:
    """Where a repository's own texts are kept, one Markdown file a stage."""
    return private_file(repo, "guidelines")


def guideline(repo: Path, stage: str) -> Guideline:
    """The repository's text for a stage, else the product's. A file that cannot be read counts as missing."""
    path = guidelines_folder(repo) / f"{stage}.md"
    try:
        text, own = path.read_text(encoding="utf-8"), True
    except (OSError, UnicodeDecodeError):
        text, own = stage_of(stage).guideline, False
    return Guideline(stage, text, hashlib.sha256(text.encode()).hexdigest()[:10], own)
