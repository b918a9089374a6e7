"""What a person looks at: one file a screen, one file a pane. Everything shown is read from a folded RunState."""

from __future__ import annotations

from pathlib import Path

STYLES = Path(__file__).resolve().parent.parent / "styles"
"""Where the style sheets lie, in the checkout and in an installed copy alike."""
