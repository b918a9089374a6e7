"""The search: candidates in the order of their promise, each tried once, until enough of them pass or the time is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from agent.repair.edit_words import AND
from agent.repair.edits import Candidate, Edit, apply_edits, normal_text
from agent.repair.functions import functions_of, parses
from agent.repair.localize import Suspect
from agent.repair.operators import Site, Told, changes
from agent.repair.operators.values import begun, read_unset
from agent.repair.synthesis import FORCING, Forced
from agent.repair.testbed import CheckBed, Trial

SETTLE_SECONDS = 3.0
SETTLE_TRIES = 150
LONGEST_SETTLE = 12.0
ENOUGH = 12
_NEAR = 0.45
"""After a first candidate that passes the search goes on, since the first is not always the best: for so many seconds and so
many tries (a busy machine tries less in a second), until so many pass, or until what is left has less than this share of the
first one's rank."""

MOST_PARTIAL = 14
MOST_TRADED = 4
"""Edits that break a check that are run to the end, to see whether they mend more."""

MOST_BASES = 2
"""Partial edits on top of which all others are tried."""

_LEAST_NEARER = 0.01
_NEIGHBOUR = 0.6
UNSET = "initial-value"
_COMPLETE = 1.02
"""What an edit that leaves no variable without a value counts beside the same one that does."""


class Counts(msgspec.Struct):
    """How the search stands. ``partial`` are candidates that make a failing check pass and not all."""

    tried: int = 0
    unbuilt: int = 0
    cut: int = 0
    partial: int = 0
    passing: int = 0
    left: int = 0


class Tried(msgspec.Struct, frozen=True):
    """A candidate and what became of it."""

    candidate: Candidate
    trial: Trial


def candidates_of(
    suspects: Sequence[Suspect],
    off: Iterable[str] = (),
    others: Mapping[str, Sequence[str]] | None = None,
    told: Told | None = None,
) -> list[Candidate]:
    """All edits that the operators propose for the suspects, the most promising first, each text once. ``others`` are the
    names of each file's functions."""
    found: list[Candidate] = []
    for suspect in suspects:
        function = suspect.function
        site = Site(function, (others or {}).get(function.path, ()), told)
        for operator, change in changes(site, off):
            score = score_of_line(suspect, change.line)
            edits = tuple(Edit(function.path, *part) for part in change.parts)
            one = Candidate(edits, operator.name, function.path, function.name, change.line)
            rank = score * operator.weight * change.weight / (1 + one.size / 400)
            found.append(msgspec.structs.replace(one, rank=round(rank, 5)))
    found.sort(key=lambda one: (-one.rank, one.size))
    return found


def score_of_line(suspect: Suspect, line: int) -> float:
    """The line's own score; for a line that no trace names (the middle of a statement, a declaration) that of the nearest
    one above, a little less; for code that was not executed, little."""
    if line in suspect.lines:
        return suspect.lines[line]
    for above in range(line - 1, max(suspect.function.first - 1, line - 4), -1):
        if above in suspect.lines:
            return suspect.lines[above] * _NEIGHBOUR
    return suspect.score * (0.3 if suspect.lines else 0.6)


class EditSearch:
    """Tries candidates on a bed. ``tell`` hears every trial; ``deadline`` is in the clock's seconds."""

    def __init__(
        self,
        bed: CheckBed,
        sources: Mapping[str, bytes],
        deadline: float,
        tell: Callable[[Counts, Tried | None], None] = lambda *_: None,
        width: int = 2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bed = bed
        self.sources = dict(sources)
        self.deadline = deadline
        self.tell = tell
        self.width = max(1, width)
        self.clock = clock
        self.counts = Counts()
        self.passing: list[Tried] = []
        self.partial: list[Tried] = []
        self.forced: list[Forced] = []
        self.mixed: list[Forced] = []
        self.gains: list[Tried] = []
        self._traded: list[Tried] = []
        self._seen: set[tuple[str, bytes]] = set()
        self._confirmed: set[Candidate] = set()
        self._first_at = 0.0
        self._first_tried = 0
        self._kinds: set[tuple[str, str, int]] = set()
        self._near: list[Tried] = []

    @property
    def over(self) -> bool:
        """Whether the time is used up, or enough candidates pass."""
        now = self.clock()
        if now >= self.deadline or len(self.passing) >= ENOUGH:
            return True
        more = self.counts.tried - self._first_tried
        return self.since_first >= LONGEST_SETTLE or (self.is_settled and more >= SETTLE_TRIES)

    @property
    def since_first(self) -> float:
        """Seconds since the first candidate that passes; 0 as long as there is none."""
        return self.clock() - self._first_at if self._first_at else 0.0

    @property
    def is_settled(self) -> bool:
        """Whether a candidate passes and others have had their seconds since."""
        return bool(self._first_at) and self.since_first >= SETTLE_SECONDS

    async def run(self, candidates: Iterable[Candidate]) -> None:
        """Try them in their order, several at once. Those of the same kind and line as one that passes come next: which of
        them is right is not told by their order."""
        waiting = list(candidates)
        at = 0

        def batch() -> list[tuple[Candidate, dict[str, str]]]:
            """The next candidate, and more of its function while they are at hand."""
            nonlocal at
            taken: list[tuple[Candidate, dict[str, str]]] = []
            looked = at
            while looked < len(waiting) and len(taken) < self.bed.batch:
                one = waiting[looked]
                if self.passing and one.rank < _NEAR * self.passing[0].candidate.rank:
                    at = len(waiting)
                    return taken
                if taken and (one.path, one.function) != (taken[0][0].path, taken[0][0].function):
                    break
                looked += 1
                texts = self.texts(one)
                if texts is not None:
                    taken.append((one, texts))
            at = looked
            self.counts.left = len(waiting) - at
            return taken

        async def lane() -> None:
            while not self.over and at < len(waiting):
                taken = batch()
                if taken:
                    trials = await self.bed.attempts(taken)
                    for (candidate, _), trial in zip(taken, trials, strict=True):
                        self._note(candidate, trial)
                        if trial.ok:
                            waiting[at:] = self._alike_first(candidate, waiting[at:])

        await asyncio.gather(*(lane() for _ in range(self.width)))

    def _alike_first(self, found: Candidate, waiting: Sequence[Candidate]) -> list[Candidate]:
        """They are tried besides the others that are tried once one passes, not in their place."""
        if _kind(found) in self._kinds:
            return list(waiting)
        self._kinds.add(_kind(found))
        least = _NEAR * self.passing[0].candidate.rank
        alike = [one for one in waiting if one.rank >= least and _kind(one) == _kind(found)]
        self._first_tried += len(alike)
        return [*alike, *(one for one in waiting if one not in alike)]

    def texts(self, candidate: Candidate) -> dict[str, str] | None:
        """Path to new text; None for one that was tried already, does not parse or changes nothing."""
        texts: dict[str, str] = {}
        for path in dict.fromkeys(edit.path for edit in candidate.edits):
            source = self.sources[path]
            try:
                new = apply_edits(source, tuple(edit for edit in candidate.edits if edit.path == path))
            except ValueError:
                return None
            key = path, normal_text(new)
            if key in self._seen or key[1] == normal_text(source) or not parses(path, new):
                return None
            self._seen.add(key)
            texts[path] = new.decode("utf-8", "surrogateescape")
        return texts

    def _note(self, candidate: Candidate, trial: Trial) -> None:
        counts = self.counts
        counts.tried += 1
        counts.unbuilt += not trial.built
        counts.cut += trial.cut
        found = Tried(candidate, trial)
        if trial.fixed and candidate.operator in FORCING:
            self.forced.append(Forced(candidate, trial.fixed, trial.broken))
        elif trial.fixed and trial.broken:
            self.mixed.append(Forced(candidate, trial.fixed, trial.broken))
            self._traded.append(found)
        if trial.ok:
            counts.passing += 1
            self.passing.append(found)
            if not self._first_at:
                self._first_at, self._first_tried = self.clock(), counts.tried
        elif trial.fixed and not trial.broken:
            counts.partial += 1
            self.partial.append(found)
        elif trial.nearer >= _LEAST_NEARER:
            self._near.append(found)
        self.tell(counts, found if trial.ok or trial.fixed else None)

    async def completed(self) -> None:
        """Try those that pass once more with 0 in every variable that they read while it has no value: that they pass
        without is chance."""
        for one in [found.candidate for found in self.passing]:
            both = self._with_values(one)
            texts = self.texts(both) if both is not None else None
            if both is not None and texts is not None:
                [trial] = await self.bed.attempts([(both, texts)])
                self._note(both, trial)

    def _with_values(self, one: Candidate) -> Candidate | None:
        new = apply_edits(self.sources[one.path], tuple(edit for edit in one.edits if edit.path == one.path))
        before, after = (
            next((Site(own) for own in functions_of(one.path, text) if own.name == one.function), None)
            for text in (self.sources[one.path], new)
        )
        names = read_unset(after) if after is not None else set()
        changes = begun(before, names) if before is not None else []
        edits = [Edit(one.path, *part) for change in changes for part in change.parts]
        if not edits:
            return None
        return msgspec.structs.replace(one, edits=(*one.edits, *edits), operator=f"{one.operator}{AND}{UNSET}",
                                       rank=one.rank * _COMPLETE)  # fmt: skip

    async def confirm_partial(self) -> None:
        """Run all checks with the best partial edits, and put aside those that break a check: a trial ends at the first
        check that fails, so that it does not tell."""
        for one in self.best_partial[:MOST_PARTIAL]:
            if one.candidate in self._confirmed or self.clock() >= self.deadline:
                continue
            trial = await self.bed.whole(self._applied(one.candidate))
            self._confirmed.add(one.candidate)
            place = self.partial.index(one)
            if trial.broken or trial.cut or not trial.fixed:
                del self.partial[place]
                self.mixed.append(Forced(one.candidate, one.trial.fixed, max(1, trial.broken)))
            else:
                self.partial[place] = Tried(one.candidate, trial)

    async def confirm_traded(self) -> None:
        """Run all checks with the best edits that mend some and break others, and note those that mend more than they break
        as ``gains``: where two functions are wrong, checks may pass as one makes up for the other."""
        best = sorted(self._traded, key=lambda one: (one.trial.broken - len(one.trial.fixed), -one.candidate.rank))
        for one in best[:MOST_TRADED]:
            if self.clock() < self.deadline:
                trial = await self.bed.whole(self._applied(one.candidate))
                if not trial.cut and len(trial.fixed) > trial.broken:
                    self.gains.append(Tried(one.candidate, trial))

    @property
    def parts(self) -> list[Tried]:
        """The edits that mend more than they break, the best first: those with which all checks were run, or, where there
        was no time for any, those that mend a part as far as their trials went."""
        known = [one for one in self.best_partial if one.candidate in self._confirmed or not self._confirmed]
        return sorted([*known, *self.gains], key=lambda one: one.trial.broken - len(one.trial.fixed))

    def _applied(self, candidate: Candidate) -> dict[str, str]:
        """Path to the text with a candidate's edits, which were applied before."""
        by_path = {path: [one for one in candidate.edits if one.path == path] for path in {e.path for e in candidate.edits}}
        new = {path: apply_edits(self.sources[path], tuple(edits)) for path, edits in by_path.items()}
        return {path: data.decode("utf-8", "surrogateescape") for path, data in new.items()}

    @property
    def best_partial(self) -> list[Tried]:
        """The edits that mend a part, those first that mend most."""
        return sorted(self.partial, key=lambda one: (-len(one.trial.fixed), -one.candidate.rank))

    def combined(self) -> list[Candidate]:
        """Two partial edits at once, those first that mend different checks; before them as many as mend more checks each,
        since several functions may be wrong."""
        best = self.best_partial[:MOST_PARTIAL]
        found = []
        for place, one in enumerate(best):
            for other in best[place + 1 :]:
                together = len(one.trial.fixed | other.trial.fixed)
                first, second = one.candidate, other.candidate
                rank = together + (first.rank + second.rank) / 10
                name = f"{first.operator}{AND}{second.operator}"
                edits = _joined(first, second, self.sources[first.path])
                if edits is not None:
                    found.append(Candidate(edits, name, first.path, first.function, first.line, "combined", rank))
        return [*self._all_at_once(best), *sorted(found, key=lambda one: -one.rank)]

    @staticmethod
    def _all_at_once(best: Sequence[Tried]) -> list[Candidate]:
        """Three partial edits and more as one candidate; [] where there are not so many that add to one another."""
        taken: list[Tried] = []
        mended: set[str] = set()
        for one in best:
            apart = all(_apart(one.candidate, other.candidate) for other in taken)
            if apart and not one.trial.fixed <= mended:
                taken.append(one)
                mended |= one.trial.fixed
        if len(taken) < 3:
            return []
        first, names = taken[0].candidate, AND.join(one.candidate.operator for one in taken)
        edits = [edit for one in taken for edit in one.candidate.edits]
        return [Candidate(tuple(edits), names, first.path, first.function, first.line, "combined", float(len(mended)))]

    def on_top(self, candidates: Iterable[Candidate], failing: int = 0) -> list[Candidate]:
        """Every candidate together with one of the best partial edits, where that mends at least half of the ``failing``
        checks: what is left may be a fault of its own, which no edit mends visibly as long as the first one is there."""
        bases = [one.candidate for one in self.best_partial if 2 * len(one.trial.fixed) >= failing][:MOST_BASES]
        return self._on(bases, candidates)

    def on_near(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Every candidate together with one of those that bring what failing checks get nearer to what they expect."""
        best = sorted(self._near, key=lambda one: (-round(one.trial.nearer, 3), -one.candidate.rank))
        return self._on([one.candidate for one in best[:MOST_BASES]], candidates)

    def _on(self, bases: Sequence[Candidate], candidates: Iterable[Candidate]) -> list[Candidate]:
        pairs = ((base, one) for one in candidates for base in bases)
        return [both for base, one in pairs if (both := _together(base, one, self.sources[base.path])) is not None]




def _kind(one: Candidate) -> tuple[str, str, int]:
    return one.operator, one.path, one.line


def _apart(first: Candidate, second: Candidate) -> bool:
    """Whether no edit of one overlaps one of the other."""
    return all(
        one.path != two.path or one.end <= two.start or two.end <= one.start for one in first.edits for two in second.edits
    )


def _together(first: Candidate, second: Candidate, source: bytes) -> Candidate | None:
    """Two edits of a file with the text ``source`` as one candidate of the second one's rank; None where they are in
    different files, or overlap and neither keeps the text that the other changes."""
    edits = _joined(first, second, source) if first.path == second.path else None
    if edits is None:
        return None
    name = f"{first.operator}{AND}{second.operator}"
    return Candidate(edits, name, first.path, first.function, first.line, "combined", second.rank)


def _joined(first: Candidate, second: Candidate, source: bytes) -> tuple[Edit, ...] | None:
    if _apart(first, second):
        return (*first.edits, *second.edits)
    return _nested(first.edits, second.edits, source) or _nested(second.edits, first.edits, source)


def _nested(outer: tuple[Edit, ...], inner: tuple[Edit, ...], source: bytes) -> tuple[Edit, ...] | None:
    """One edit that keeps what it replaces, ``c`` in ``c && d``, with others made inside of that; None for any other."""
    if len(outer) != 1:
        return None
    [edit] = outer
    old = source[edit.start : edit.end]
    if any(one.start < edit.start or one.end > edit.end for one in inner) or not old:
        return None
    inside = tuple(Edit(one.path, one.start - edit.start, one.end - edit.start, one.text) for one in inner)
    kept, new = (text.decode("utf-8", "surrogateescape") for text in (old, apply_edits(old, inside)))
    return (msgspec.structs.replace(edit, text=edit.text.replace(kept, new)),) if edit.text.count(kept) == 1 else None
