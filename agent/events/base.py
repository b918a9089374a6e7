"""What all events have in common."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type", omit_defaults=True):
    """Base of all events; ``type`` in JSON is the class name."""
