"""The name of a run."""

from __future__ import annotations

import secrets
from datetime import datetime


def new_run_id() -> str:
    """A name that sorts by time and does not collide: ``20261127-231839-4f2a``."""
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
