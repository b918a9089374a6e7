"""What a prompt shows of the file in which a C function is to be written, cut to the room that the model has."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agent.c.surroundings import headers_for, names_in_scope, reachable_headers, top_of_file, written_functions
from agent.coding.open_items import OpenFunction
from agent.prompts import function_implement as words


class FilePrompt(msgspec.Struct, frozen=True):
    """``task_context`` is what all functions of the file share, byte for byte; ``written`` the definitions that stand there;
    ``known`` every name that is taken."""

    task_context: str
    written: tuple[str, ...]
    known: frozenset[str]


def surroundings(wanted: OpenFunction, files: Mapping[str, bytes], task: str, room: int) -> FilePrompt:
    """The surroundings of ``wanted`` within ``room`` characters beside ``task``: at most six tenths of it for headers, a
    fifth for functions."""
    path = wanted.path
    headers = headers_for(path, files, first=wanted.header, limit=min(12_000, room * 6 // 10))
    known = names_in_scope(path, reachable_headers(path, files), files) - {wanted.name}
    return FilePrompt(
        words.task_context(task, headers, path, top_of_file(files[path])),
        tuple(written_functions(files[path], wanted.name, limit=min(3000, room // 5))),
        frozenset(known),
    )
