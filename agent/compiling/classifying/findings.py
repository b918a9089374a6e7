"""What can be found out about a name that a compiler does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from agent.c.headers import HeaderTable, Home
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.reading.symptoms import Symptom

NameOutcome = Literal[
    "include",
    "hidden",
    "active",
    "order",
    "source_only",
    "opaque",
    "misspelt",
    "undefined",
    "value",
    "tag_missing",
    "vanished",
    "unknown",
]


class SystemNames(Protocol):
    """What the installed headers declare (``system_headers.SystemHeaders``)."""

    def homes(self, name: str) -> tuple[Home, ...]:
        """Headers found to declare ``name``, best first."""
        ...

    def exists(self, header: str) -> bool:
        """Whether the compiler finds ``header`` on its search path."""
        ...


@dataclass(frozen=True, slots=True)
class NameFinding:
    """What was found out about one name of one symptom."""

    outcome: NameOutcome
    name: str
    symptom: Symptom
    file: str = ""
    line: int = 0
    headers: tuple[str, ...] = ()
    system: bool = True
    flag: str = ""
    detail: str = ""
    hinted: bool = False


@dataclass(slots=True)
class FailedCompile:
    """What is known where names are looked for: ``target`` is the file that was compiled, ``disproven`` are headers that a
    recompile showed not to help."""

    project: ProjectFiles
    target: str
    facts: BuildFacts
    table: HeaderTable
    system: SystemNames | None
    disproven: frozenset[str]


class Sought(NamedTuple):
    """A name of a symptom (a tag as ``struct x``), and the project file and line at which a declaration would help."""

    symptom: Symptom
    name: str
    file: str
    line: int

    @property
    def tag(self) -> bool:
        """Whether it is a tag's name."""
        return self.name.startswith("struct ")

    @property
    def plain(self) -> str:
        """The name without ``struct``."""
        return self.name.removeprefix("struct ")

    def found(self, outcome: NameOutcome, detail: str = "", headers: tuple[str, ...] = (), **more: Any) -> NameFinding:
        """What came out."""
        return NameFinding(outcome, self.name, self.symptom, self.file, self.line, headers, detail=detail, **more)
