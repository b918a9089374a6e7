"""What can be found out about a name that a compiler does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from agent.compiling.headers import Home
from agent.compiling.symptoms import Symptom

Outcome = Literal[
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
class Finding:
    """What was found out about one name of one symptom."""

    outcome: Outcome
    name: str
    symptom: Symptom
    file: str = ""
    line: int = 0
    headers: tuple[str, ...] = ()
    system: bool = True
    flag: str = ""
    detail: str = ""
    hinted: bool = False
