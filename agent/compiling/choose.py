"""Which headers to include for a set of missing names."""

from __future__ import annotations

from collections.abc import Sequence

from agent.compiling.findings import Finding
from agent.compiling.project import ProjectFiles
from agent.compiling.verdict import NeededInclude


def choose_headers(
    findings: Sequence[Finding], project: ProjectFiles, include_dirs: Sequence[str] = ()
) -> list[NeededInclude]:
    """The fewest good headers that bring all names: names with one home first, then homes that are needed anyway."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.file, []).append(finding)
    chosen: list[NeededInclude] = []
    for file, group in by_file.items():
        picks: dict[str, list[Finding]] = {}
        for finding in sorted(group, key=lambda f: len(f.headers)):
            header = next((h for h in finding.headers if h in picks), None) or _most_shared(finding, group)
            picks.setdefault(header, []).append(finding)
        order = sorted(picks.items(), key=lambda item: min(group.index(f) for f in item[1]))
        for header, served in order:
            first = served[0]
            alternatives = tuple(h for h in first.headers if h != header)
            name = header if first.system else project.spelled_from(file, header, include_dirs)
            chosen.append(
                NeededInclude(
                    name,
                    first.system,
                    file,
                    min(f.line for f in served),
                    tuple(dict.fromkeys(f.name for f in served)),
                    alternatives,
                    any(f.hinted for f in served),
                )
            )
    return chosen


def _most_shared(finding: Finding, group: Sequence[Finding]) -> str:
    """The header of ``finding`` that is the best home of most other names; its own best home on a tie."""
    firsts = [f.headers[0] for f in group if f is not finding]
    return max(finding.headers, key=lambda h: (firsts.count(h), h == finding.headers[0], -finding.headers.index(h)))
