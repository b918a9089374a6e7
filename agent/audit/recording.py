"""The answers of a log as a recording that the provider ``replay`` answers from (``models.replay``)."""

from __future__ import annotations

from pathlib import Path

from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.models.replay import Recorded
from agent.models.types import Completion


def recording(path: str) -> Recorded | None:
    """The answered calls of a log (``raw.sqlite``, or the repository that it belongs to) in the order they were asked; None
    without a path.

    Raises:
        LogError: there is no such log.
    """
    if not path:
        return None
    file = Path(path).expanduser()
    reader = LogReader(known_log(file) if file.is_dir() else file)
    try:
        rows = reader.select(
            "select stage, item, system, prompt, raw, p_yes, model from call_texts"
            " where raw is not null and coalesce(error, '') = '' order by run_id, seq"
        )
    finally:
        reader.close()
    return Recorded([
        (stage, item, system, prompt, Completion(raw, p_yes, model or "", "replay"))
        for stage, item, system, prompt, raw, p_yes, model in rows
    ])  # fmt: skip
