"""Labels of several repositories together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.labels.items import Item, load_items


def pooled_items(repos: Iterable[Path]) -> list[Item]:
    """The yes/no calls of several repositories' logs, one after the other. Tasks carry their repository's path, so that
    they stay apart; call ids are those of each log.

    Raises:
        LogError: one of the repositories has no log that can be read.
    """
    found: list[Item] = []
    for repo in repos:
        reader = LogReader(known_log(repo))
        try:
            found += load_items(reader)
        finally:
            reader.close()
    return found
