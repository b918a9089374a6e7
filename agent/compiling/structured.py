"""Structured compiler output to diagnostics: gcc's JSON (versions 9 to 14) and SARIF (gcc 13+, clang 15+)."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from agent.compiling.diagnostics import MAX_DIAGNOSTICS, includes_in_note
from agent.values import Diagnostic

_FIXIT_INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"]+)[>"]')
_SEVERITY: dict[str, Literal["error", "warning", "note", "fatal"]] = {
    "error": "error", "warning": "warning", "note": "note", "fatal error": "fatal", "sorry, unimplemented": "error",
    "internal compiler error": "fatal", "pedwarn": "warning", "permerror": "error", "none": "note",
}  # fmt: skip


def parse_gcc_json(text: str) -> tuple[Diagnostic, ...] | None:
    """Diagnostics of ``-fdiagnostics-format=json``; None when there is no such array in ``text``.

    Several arrays may follow one another (one a file), plain lines may stand around them (after a fatal error).
    """
    found: list[Diagnostic] = []
    any_array = False
    for value in _json_values(text, "["):
        if isinstance(value, list) and all(isinstance(v, dict) for v in value):
            any_array = True
            for item in value[:MAX_DIAGNOSTICS]:
                _gcc_item(item, found)
    return tuple(found) if any_array else None


def _gcc_item(item: dict[str, Any], found: list[Diagnostic]) -> None:
    severity = _SEVERITY.get(str(item.get("kind")), "error")
    message = str(item.get("message", ""))
    notes = [str(c.get("message", "")) for c in item.get("children", []) if isinstance(c, dict)]
    includes = [h for text in notes for h in includes_in_note(text)]
    for holder in (item, *(c for c in item.get("children", []) if isinstance(c, dict))):
        for fix in holder.get("fixits", []):
            includes += _FIXIT_INCLUDE.findall(str(fix.get("string", "")))
    if severity == "note":
        if found:
            last = found[-1]
            more = tuple(dict.fromkeys((*last.includes, *includes_in_note(message))))
            found[-1] = _with_note(last, message, more)
        return
    caret: dict[str, Any] = {}
    locations = item.get("locations") or []
    if locations and isinstance(locations[0], dict):
        caret = locations[0].get("caret") or locations[0].get("start") or {}
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


def _with_note(d: Diagnostic, note: str, includes: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        severity=d.severity, message=d.message, file=d.file, line=d.line, column=d.column, option=d.option,
        source_line=d.source_line, notes=(*d.notes, note), includes=includes,
    )  # fmt: skip


def parse_sarif(text: str) -> tuple[Diagnostic, ...] | None:
    """Diagnostics of a SARIF log somewhere in ``text``; None when there is none."""
    for value in _json_values(text, "{"):
        if isinstance(value, dict) and isinstance(value.get("runs"), list):
            found: list[Diagnostic] = []
            for run in value["runs"]:
                for result in (run.get("results") or [])[:MAX_DIAGNOSTICS]:
                    _sarif_result(result, found)
            return tuple(found)
    return None


def _sarif_result(result: dict[str, Any], found: list[Diagnostic]) -> None:
    severity = _SEVERITY.get(str(result.get("level", "warning")), "error")
    message = str((result.get("message") or {}).get("text", ""))
    file, line, column, source = _sarif_place(result.get("locations") or [])
    related = [str((r.get("message") or {}).get("text", "")) for r in result.get("relatedLocations") or []]
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


def _json_values(text: str, opening: str) -> list[Any]:
    """Every JSON value in ``text`` that starts a line with ``opening``; what is no JSON is stepped over."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = 0
    while True:
        at = text.find(opening, at)
        if at < 0:
            return values
        if at and text[at - 1] not in "\n\r]}":
            at += 1
            continue
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        values.append(value)
        at = end
