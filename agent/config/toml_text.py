"""Putting a value into a TOML text and taking one out, with everything else left as it is.

A value that is there already is replaced by tomlkit, which keeps the comment behind it. A new one gets a line of its own:
after the commented default of the template where there is one, else after the last value of its section. Each
result is parsed and compared with the wanted values; one that changes anything else is not used.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

KeyPath = tuple[str, ...]
"""Section, key and, for an override, the stage: ``("models", "overrides", "scope")``."""

_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")


def put(text: str, place: KeyPath, value: Any) -> str | None:
    """``text`` with ``value`` at ``place``; None when no way leaves the rest alone."""
    wanted = tomllib.loads(text)
    there = _at(wanted, place) is not None
    _set(wanted, place, value)
    ways: list[Callable[[], str]] = [lambda: _assign(text, place, value)]
    if not there:
        ways[:0] = [lambda: _insert(text, place, value), lambda: _append(text, place, value)]
    return _first(ways, wanted)


def take(text: str, place: KeyPath) -> str | None:
    """``text`` without ``place``; None when no way leaves the rest alone."""
    wanted = tomllib.loads(text)
    parent = _at(wanted, place[:-1])
    if not isinstance(parent, dict) or place[-1] not in parent:
        return text
    del parent[place[-1]]
    return _first([lambda: _drop_line(text, place), lambda: _delete(text, place)], wanted)


def _first(ways: list[Callable[[], str]], wanted: dict[str, Any]) -> str | None:
    for way in ways:
        try:
            result = way()
            if _same(tomllib.loads(result), wanted):
                return result
        except (TOMLKitError, tomllib.TOMLDecodeError, LookupError, ValueError, TypeError, AttributeError):
            continue
    return None


def _same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Equal, but for tables that became empty."""
    return bool(_filled(found) == _filled(wanted))


def _filled(table: dict[str, Any]) -> dict[str, Any]:
    inner = {key: _filled(value) if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _at(tree: Any, place: KeyPath) -> Any:
    for part in place:
        if not isinstance(tree, dict) or part not in tree:
            return None
        tree = tree[part]
    return tree


def _set(tree: dict[str, Any], place: KeyPath, value: Any) -> None:
    for part in place[:-1]:
        tree = tree.setdefault(part, {})
    tree[place[-1]] = value


# -- by lines


def _rendered(key: str, value: Any) -> str:
    return f"{tomlkit.key(key).as_string()} = {_item(value).as_string()}"


def _item(value: Any) -> Any:
    if not isinstance(value, dict):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _sections(lines: list[str]) -> Iterator[tuple[KeyPath, int, int]]:
    """(name, first line after the header, line after the last) of each section that has a header."""
    heads = [(number, match[1]) for number, row in enumerate(lines) if (match := _HEADER.match(row.rstrip("\r\n")))]
    for (number, name), (end, _) in zip(heads, [*heads[1:], (len(lines), "")], strict=True):
        yield tuple(part.strip().strip("\"'") for part in name.split(".")), number + 1, end


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a newline ends a line in TOML."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _range(lines: list[str], section: KeyPath) -> tuple[int, int]:
    """First line after the section's header and line after its last. Raises LookupError when it has no header."""
    for name, first, end in _sections(lines):
        if name == section:
            return first, end
    raise LookupError(section)


def _insert(text: str, place: KeyPath, value: Any) -> str:
    """A line of its own in the section's part of the file. Raises LookupError when the section has no header."""
    lines = _lines(text)
    first, end = _range(lines, place[:-1])
    commented = re.compile(rf"^\s*#\s*{re.escape(place[-1])}\s*=")
    shown = [number for number in range(first, end) if commented.match(lines[number])]
    filled = [number for number in range(first, end) if lines[number].strip() and not lines[number].lstrip().startswith("#")]
    after = shown[-1] + 1 if shown else filled[-1] + 1 if filled else first
    newline = _newline(text)
    if after and not lines[after - 1].endswith("\n"):
        lines[after - 1] += newline
    lines.insert(after, _rendered(place[-1], value) + newline)
    return "".join(lines)


def _append(text: str, place: KeyPath, value: Any) -> str:
    """A section of its own at the end; a subsection right behind the values of its section."""
    newline = _newline(text)
    lines = _lines(text)
    header = "[" + ".".join(tomlkit.key(part).as_string() for part in place[:-1]) + "]"
    ends = [(first, end) for name, first, end in _sections(lines) if len(place) > 2 and name == place[:-2]]
    first, end = ends[0] if ends else (0, len(lines))
    filled = [number for number in range(first, end) if lines[number].strip() and not lines[number].lstrip().startswith("#")]
    after = len(lines) if not ends else filled[-1] + 1 if filled else first
    if after and not lines[after - 1].endswith("\n"):
        lines[after - 1] += newline
    gap = [newline] if after and lines[after - 1].strip() else []
    lines[after:after] = [*gap, header + newline, _rendered(place[-1], value) + newline]
    return "".join(lines)


def _drop_line(text: str, place: KeyPath) -> str:
    """Without the one line that sets the value, if it says no more than that."""
    lines = _lines(text)
    setting = re.compile(rf"^\s*[\"']?{re.escape(place[-1])}[\"']?\s*=")
    for number in range(*_range(lines, place[:-1])):
        if setting.match(lines[number]):
            alone = tomlkit.parse(lines[number])
            if list(alone) == [place[-1]] and not _comment(alone[place[-1]]):
                return "".join([*lines[:number], *lines[number + 1 :]])
    raise LookupError(place)


def _comment(item: Any) -> str:
    return str(getattr(getattr(item, "trivia", None), "comment", ""))


# -- by tomlkit


def _assign(text: str, place: KeyPath, value: Any) -> str:
    document = tomlkit.parse(text)
    parent: Any = document
    for part in place[:-1]:
        if part not in parent:
            parent[part] = tomlkit.table()
        parent = parent[part]
    old = parent.get(place[-1])
    if isinstance(value, dict) and isinstance(old, dict):
        for key in [key for key in old if key not in value]:
            del old[key]
        for key, part in value.items():
            if old.get(key) != part:
                old[key] = part
    else:
        parent[place[-1]] = _item(value)
    return tomlkit.dumps(document)


def _delete(text: str, place: KeyPath) -> str:
    """Without the value; a comment behind it stays as a line of its own."""
    document = tomlkit.parse(text)
    parent: Any = document
    for part in place[:-1]:
        parent = parent[part]
    comment = "" if isinstance(parent, InlineTable) else _comment(parent[place[-1]])
    del parent[place[-1]]
    result = tomlkit.dumps(document)
    return result if not comment or comment in result else _comment_kept(text, result, comment)


def _comment_kept(text: str, result: str, comment: str) -> str:
    """``result`` with the comment on a line of its own where ``text`` and ``result`` part."""
    old, new = _lines(text), _lines(result)
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(new))
    return "".join([*new[:same], comment + _newline(text), *new[same:]])
