"""The search for an edit: where the fault may be, what was tried, what passes, what was chosen."""

from __future__ import annotations

from agent.events.base import Event
from agent.values import Value


class SuspectFunction(Value, frozen=True):
    """A function that may hold the fault. ``score`` comes from the evidence (Ochiai and what is added to it)."""

    function: str
    path: str
    line: int = 0
    score: float = 0.0
    why: str = ""


class RepairStarted(Event, frozen=True):
    """``clusters`` are failing checks grouped by what they execute; ``flaky`` failed once and passed once."""

    failing: tuple[str, ...] = ()
    passing: int = 0
    budget_s: float = 0.0
    clusters: tuple[tuple[str, ...], ...] = ()
    flaky: tuple[str, ...] = ()


class SuspectsRanked(Event, frozen=True):
    """The functions that may hold the fault, ranked by evidence alone."""

    suspects: tuple[SuspectFunction, ...] = ()


class SuspectJudged(Event, frozen=True):
    """A model's answer whether a function holds the fault."""

    function: str
    path: str
    suspected: bool
    p_yes: float | None = None


class CandidatesTried(Event, frozen=True):
    """The counts so far. ``source`` is what proposes candidates: operators, pairs of edits, the model that fills gaps.
    ``left`` are candidates of this source not tried yet, ``seconds_left`` what is left of the budget."""

    source: str = "operators"
    tried: int = 0
    unbuilt: int = 0
    cut: int = 0
    partial: int = 0
    passing: int = 0
    left: int = 0
    seconds_left: float = 0.0


class CandidatePassed(Event, frozen=True):
    """All checks pass with it. ``number`` counts from 1 in the order of discovery; ``rank`` is its promise."""

    number: int
    operator: str
    source: str
    path: str
    function: str
    line: int
    diff: str
    rank: float = 0.0


class CandidatesCompared(Event, frozen=True):
    """What the edits that pass do with other inputs: ``groups`` are numbers of edits that do the same on all ``inputs``."""

    groups: tuple[tuple[int, ...], ...] = ()
    inputs: int = 0


class CandidateJudged(Event, frozen=True):
    """A model's answer whether an edit that passes is the right change; ``number`` is the edit's."""

    number: int
    fits: bool
    p_yes: float | None = None


class RepairChosen(Event, frozen=True):
    """``guess``: nothing but the checks speaks for it. ``differing`` tells an input on which another candidate that passes
    behaves differently. ``picked``: a person took it in place of another."""

    number: int
    why: str
    guess: bool = False
    differing: str = ""
    picked: bool = False


class RepairFinished(Event, frozen=True):
    """The search is over. ``tried`` counts candidates, ``reason`` says why nothing was found."""

    mended: bool
    tried: int = 0
    seconds: float = 0.0
    reason: str = ""
