"""A scripted model server for tests: real protocols over loopback HTTP, no model."""

from tests.fakes.script import (
    Answer,
    RecordedCall,
    Rules,
    cut,
    failing,
    garbage,
    huge,
    reset,
    slow,
    stream_error,
    times,
    together,
)
from tests.fakes.server import ScriptedServer

__all__ = [
    "Answer",
    "RecordedCall",
    "Rules",
    "ScriptedServer",
    "cut",
    "failing",
    "garbage",
    "huge",
    "reset",
    "slow",
    "stream_error",
    "times",
    "together",
]
