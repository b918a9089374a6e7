"""Which headers to include for a set of missing names."""

from __future__ import annotations

from collections.abc import Sequence

from agent.c.headers import header_table
from agent.c.project import ProjectFiles
from agent.compiling.classifying.classification import NeededInclude
from agent.compiling.classifying.findings import NameFinding


def choose_headers(
    findings: Sequence[NameFinding], project: ProjectFiles, include_dirs: Sequence[str] = ()
) -> list[NeededInclude]:
    """The fewest good headers that bring all names: the project's own first with what they include, then names with one
    home, then homes that are needed anyway."""
    if len(findings) == 1:
        only = findings[0]
        return [_needed(only.headers[0], [only], project, include_dirs)]
    by_file: dict[str, list[NameFinding]] = {}
    for finding in findings:
        by_file.setdefault(finding.file, []).append(finding)
    chosen: list[NeededInclude] = []
    for group in by_file.values():
        picks: dict[str, list[NameFinding]] = {}
        for finding in sorted(group, key=lambda f: (f.system, len(f.headers))):
            header = next((h for h in finding.headers if h in picks), None) or _brought(finding, picks, project)
            picks.setdefault(header or _most_shared(finding, group), []).append(finding)
        _merge_brought(picks)
        order = sorted(picks.items(), key=lambda item: min(group.index(f) for f in item[1]))
        chosen += [_needed(header, served, project, include_dirs) for header, served in order]
    return chosen


def _needed(header: str, served: Sequence[NameFinding], project: ProjectFiles, include_dirs: Sequence[str]) -> NeededInclude:
    """The include of ``header`` for what it serves, spelled as the file that needs it would."""
    first = served[0]
    return NeededInclude(
        header if first.system else project.spelled_from(first.file, header, include_dirs),
        first.system,
        first.file,
        min(f.line for f in served),
        tuple(dict.fromkeys(f.name for f in served)),
        tuple(
            h if first.system else project.spelled_from(first.file, h, include_dirs) for h in first.headers if h != header
        ),
        any(f.hinted for f in served),
        not first.system and project.names_in_brackets(first.file, header),
    )


def _brought(finding: NameFinding, picks: dict[str, list[NameFinding]], project: ProjectFiles) -> str | None:
    """A chosen project header that includes a home of a system name itself."""
    if not finding.system:
        return None
    for header, served in picks.items():
        if not served[0].system and any(h in project.active_headers(header) for h in finding.headers):
            return header
    return None


def _merge_brought(picks: dict[str, list[NameFinding]]) -> None:
    """Let a chosen system header serve what another chosen one is for, where it brings that along (inttypes.h, stdint.h)."""
    for header in list(picks):
        for brought in header_table().brings(header) & picks.keys():
            if picks[brought][0].system and picks[header][0].system:
                picks[header] += picks.pop(brought)


def _most_shared(finding: NameFinding, group: Sequence[NameFinding]) -> str:
    """The header of ``finding`` that is the best home of most other names; its own best home on a tie."""
    firsts = [f.headers[0] for f in group if f is not finding]
    return max(finding.headers, key=lambda h: (firsts.count(h), h == finding.headers[0], -finding.headers.index(h)))
