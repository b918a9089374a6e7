"""Structured compiler output to diagnostics: gcc's JSON (versions 9 to 14) and SARIF (gcc 13+, clang 15+), in logs too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from agent.compiling.reading.diagnostics import MAX_DIAGNOSTICS, includes_in_note, parse_text
from agent.values import Diagnostic

_FIXIT_INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"]+)[>"]')
_OPENING = re.compile(r"(?<![^\s\]}])[\[{](?=\s*[\]{\"])")
_RESULTS = re.compile(r'"results"\s*:\s*\[')
_SEVERITY: dict[str, Literal["error", "warning", "note", "fatal"]] = {
    "error": "error", "warning": "warning", "note": "note", "fatal error": "fatal", "sorry, unimplemented": "error",
    "internal compiler error": "fatal", "pedwarn": "warning", "permerror": "error", "none": "note",
}  # fmt: skip


def read_output(text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics in any output: plain text, gcc's JSON, SARIF, or a log that holds several of them, cut off or not."""
    if '{"' not in text and "{\n" not in text:
        return parse_text(text)
    found: list[Diagnostic] = []
    plain, last = [], 0
    for value, start, end in _json_spans(text):
        taken = _take(value, found)
        if taken or (kept := _kept_text(value)):
            plain += [text[last:start], "" if taken else kept]
            last = end
    if not found and '"results":' in text:
        found = _of_a_cut_sarif(text)
    return (*found, *(d for d in parse_text("".join((*plain, text[last:]))) if not d.message.startswith(_NO_MATTER)))


def _kept_text(value: Any) -> str:
    """The text that a JSON record of something else keeps: Docker's log lines, what Ansible or a test runner caught."""
    if not isinstance(value, dict):
        return ""
    lines = [one for kept in value.values() for one in (kept if isinstance(kept, list) else [kept])]
    return "\n".join(one.rstrip("\n") for one in lines if isinstance(one, str) and (" " in one or "\n" in one))


_NO_MATTER = "diagnostic formatting in SARIF mode"
"""What clang says of its own format."""


def parse_gcc_json(text: str) -> tuple[Diagnostic, ...] | None:
    """Diagnostics of ``-fdiagnostics-format=json``; None when there is no such array in ``text``.

    Several arrays may follow one another (one a file), plain lines may stand around them (after a fatal error).
    """
    found: list[Diagnostic] = []
    taken = [_take(v, found) for v, _, _ in _json_spans(text, "[") if isinstance(v, list)]
    return tuple(found) if any(taken) else None


def _take(value: Any, found: list[Diagnostic]) -> bool:
    """Add what a decoded JSON value reports to ``found``; False when it is not a compiler's report."""
    before = len(found)
    try:
        return _editor_report(value, found) or _gcc_report(value, found) or _sarif_report(value, found)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # another tool's JSON, shaped a little alike
        del found[before:]
        return False


def _editor_report(value: Any, found: list[Diagnostic]) -> bool:
    """The list of problems that Visual Studio Code copies: its severities are 8, 4, 2 and 1, from error to hint."""
    if not isinstance(value, list) or not all(isinstance(v, dict) and "resource" in v and "message" in v for v in value):
        return False
    for item in value[:MAX_DIAGNOSTICS]:
        word = "error" if item.get("severity", 8) == 8 else "warning" if item.get("severity") == 4 else "note"
        found += parse_text(f"{item['resource']}:{item['startLineNumber']}:{item['startColumn']}: {word}: {item['message']}")
    return bool(value)


def _gcc_report(value: Any, found: list[Diagnostic]) -> bool:
    if not isinstance(value, list) or not all(isinstance(v, dict) and ("kind" in v or "message" in v) for v in value):
        return False
    for item in value[:MAX_DIAGNOSTICS]:
        _gcc_item(item, found)
    return True


def _sarif_report(value: Any, found: list[Diagnostic]) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("runs"), list):
        return False
    for run in value["runs"]:
        for result in (run.get("results") or [])[:MAX_DIAGNOSTICS]:
            _sarif_result(result, found)
    return True


def _of_a_cut_sarif(text: str) -> list[Diagnostic]:
    """The results that a SARIF log held before it was cut off."""
    found: list[Diagnostic] = []
    for match in _RESULTS.finditer(text):
        items, _ = _items_before_a_cut(json.JSONDecoder(), text, match.end() - 1)
        _take({"runs": [{"results": items}]}, found)
    return found


def _gcc_item(item: dict[str, Any], found: list[Diagnostic]) -> None:
    severity = _SEVERITY.get(str(item.get("kind")), "error")
    message = str(item.get("message", ""))
    notes = [_located(str(c.get("message", "")), _caret(c)) for c in item.get("children", []) if isinstance(c, dict)]
    includes = [h for text in notes for h in includes_in_note(text)]
    for holder in (item, *(c for c in item.get("children", []) if isinstance(c, dict))):
        for fix in holder.get("fixits", []):
            includes += _FIXIT_INCLUDE.findall(str(fix.get("string", "")))
    if severity == "note":
        if found:
            last = found[-1]
            more = tuple(dict.fromkeys((*last.includes, *includes_in_note(message))))
            found[-1] = _with_note(last, _located(message, _caret(item)), more)
        return
    caret = _caret(item)
    option = str(item.get("option", "")).removeprefix("-W").removeprefix("error=")
    found.append(
        Diagnostic(
            severity=severity,
            message=message,
            file=str(caret.get("file", "")),
            line=int(caret.get("line", 0)),
            column=int(caret.get("byte-column") or caret.get("column") or 0),
            option=option,
            notes=tuple(notes),
            includes=tuple(dict.fromkeys(includes)),
        )
    )


def _caret(item: dict[str, Any]) -> dict[str, Any]:
    """Where a message of gcc's JSON points at."""
    locations = item.get("locations") or []
    if locations and isinstance(locations[0], dict):
        return locations[0].get("caret") or locations[0].get("start") or {}
    return {}


def _located(note: str, caret: dict[str, Any]) -> str:
    """A note with its place in front, as the plain text formats are read."""
    return f"{caret['file']}:{caret['line']}: {note}" if caret.get("file") and caret.get("line") else note


def _with_note(d: Diagnostic, note: str, includes: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        severity=d.severity, message=d.message, file=d.file, line=d.line, column=d.column, option=d.option,
        source_line=d.source_line, notes=(*d.notes, note), includes=includes,
    )  # fmt: skip


def parse_sarif(text: str) -> tuple[Diagnostic, ...] | None:
    """Diagnostics of a SARIF log somewhere in ``text``; None when there is none."""
    found: list[Diagnostic] = []
    if any(_take(v, found) for v, _, _ in _json_spans(text, "{") if isinstance(v, dict)):
        return tuple(found)
    return None


def _related(location: dict[str, Any]) -> str:
    """A note of SARIF with its place in front."""
    file, line, _, _ = _sarif_place([location])
    return _located(str((location.get("message") or {}).get("text", "")), {"file": file, "line": line})


def _sarif_result(result: dict[str, Any], found: list[Diagnostic]) -> None:
    severity = _SEVERITY.get(str(result.get("level", "warning")), "error")
    message = str((result.get("message") or {}).get("text", ""))
    file, line, column, source = _sarif_place(result.get("locations") or [])
    related = [_related(r) for r in result.get("relatedLocations") or [] if isinstance(r, dict)]
    includes = [h for text in related for h in includes_in_note(text)]
    if severity == "note":
        if found:
            last = found[-1]
            more = tuple(dict.fromkeys((*last.includes, *includes_in_note(message))))
            found[-1] = _with_note(last, message, more)
        return
    rule = str(result.get("ruleId", ""))
    found.append(
        Diagnostic(
            severity=severity,
            message=re.sub(r" \[-W[^\]]*\]$", "", message),
            file=file,
            line=line,
            column=column,
            option=rule.removeprefix("-W").removeprefix("error=") if rule.startswith("-W") else "",
            source_line=source,
            notes=tuple(related),
            includes=tuple(dict.fromkeys(includes)),
        )
    )


def _sarif_place(locations: list[Any]) -> tuple[str, int, int, str]:
    if not locations:
        return "", 0, 0, ""
    place = locations[0].get("physicalLocation") or {}
    region = place.get("region") or {}
    uri = str((place.get("artifactLocation") or {}).get("uri", "")).removeprefix("file://")
    snippet = ((place.get("contextRegion") or {}).get("snippet") or {}).get("text", "")
    return uri, int(region.get("startLine", 0)), int(region.get("startColumn", 0)), str(snippet).rstrip("\n")


def _json_spans(text: str, opening: str = "[{") -> Iterator[tuple[Any, int, int]]:
    """Every JSON array or object (``opening`` says which) in ``text`` that begins a line or stands behind a blank, with its
    place. What is not JSON is stepped over; of an array that is cut off, the items before it are given."""
    decoder = json.JSONDecoder()
    at = 0
    while match := _OPENING.search(text, at):
        at = match.start()
        if match[0] not in opening:
            at += 1
            continue
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = _items_before_a_cut(decoder, text, at)
            if not value:
                at += 1
                continue
        yield value, at, end
        at = end


def _items_before_a_cut(decoder: json.JSONDecoder, text: str, at: int) -> tuple[list[Any], int]:
    """The whole items of an array of objects at ``at`` that does not end, and the text's end; none for other text."""
    items: list[Any] = []
    place = at + 1
    while text.startswith("{", place):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        items.append(value)
        while text[place : place + 1] in (",", " ", "\n"):
            place += 1
    return items, len(text)
