"""Which of the edits that pass is written: facts first, then a question for each that is left, then the person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agent.context import RunContext
from agent.events import CallFinished, CandidateJudged, CandidatesCompared, RepairChosen
from agent.judgment.binary import run_binary_judgment
from agent.prompts import fitting
from agent.repair.edit_words import edit_words
from agent.repair.edits import Candidate, texts_of, unified
from agent.repair.functions import functions_of
from agent.repair.passing import PassingEdit, edit_of, label_pick
from agent.repair.plausibility import alike, difference, examples, fused, implausible, plausible_first, preference
from agent.repair.search import Tried
from agent.repair.testbed import CheckBed, Probe

FITTING = "fitting"
MOST_COMPARED = 12
"""Edits that pass and are compared on other inputs."""


class Choice:
    """The choice among ``passing``, edits by number. ``sources`` are the files without them; ``context`` says what all
    questions share, given the name of the function that is changed."""

    def __init__(
        self, ctx: RunContext, passing: Mapping[int, Tried], sources: Mapping[str, bytes], *,
        context: Callable[[str], str], with_model: bool,
    ) -> None:  # fmt: skip
        self.ctx = ctx
        self.passing = passing
        self.sources = sources
        self.context = context
        self.with_model = with_model
        self._kinds: dict[int, int] = {}
        self._call_ids: dict[int, int] = {}

    async def made(self, bed: CheckBed) -> tuple[PassingEdit, dict[int, PassingEdit]]:
        """The edit to write, and all of them by number.

        Raises:
            ModelError: the model cannot answer. Stopped: the person stopped the run.
        """
        number = await self._chosen(bed)
        edits = {one: self._edit(one) for one in self.passing}
        return edits[await self._confirmed(edits, number)], edits

    def _edit(self, number: int) -> PassingEdit:
        kind, call_id = self._kinds.get(number, number), self._call_ids.get(number)
        return edit_of(number, self.passing[number].candidate, self.sources, kind, call_id)

    async def _chosen(self, bed: CheckBed) -> int:
        """The number of the edit to write. Ordered by evidence, one of each behaviour; then a question for each of the best,
        unless the rest does odd things or all behave alike: then facts have decided. Among those that fit the best by
        evidence and P(yes) is taken; where none does, the best by evidence."""
        order = sorted(self.passing, key=lambda number: preference(self.passing[number].candidate))
        order, probes = order[:MOST_COMPARED], await self._compare(bed, order[:MOST_COMPARED])
        groups = plausible_first(alike(order, probes), order, probes)
        self._kinds = {number: group[0] for group in groups for number in group}
        if probes:
            self.ctx.emit(CandidatesCompared(tuple(map(tuple, groups)), len(probes)))
        kinds = [group[0] for group in groups]
        odd = implausible(groups, order, probes)
        plausible = [number for number in kinds if number not in odd]
        best = plausible[: self.ctx.config.repair.max_judged]

        def take(number: int, why: str, guess: bool) -> int:
            other = next((one for one in kinds if one != number), None)
            differing = "" if other is None else difference(probes, order, number, other)
            if guess and len(kinds) > 1:
                text = f"{len(kinds)} edits that differ make the checks pass; which of them is right is a guess."
                self.ctx.notice("warning", f"{text} {differing}".strip(), "repair")
            self.ctx.emit(RepairChosen(number, why, guess, differing))
            return number

        if len(plausible) == 1:
            return take(kinds[0], _only(len(order), len(odd), len(probes)), False)
        if not self.with_model or not best:
            return take(kinds[0], "It is the best by the evidence; no model was asked.", True)
        fits = await self._said_to_fit(best, order, probes)
        if fits:
            most = max(fits, key=lambda number: fits[number])
            return take(most, "It is the best by evidence and answer among those that were said to fit.", False)
        return take(best[0], "No edit was said to fit; this is the best by the evidence, a guess.", True)

    async def _said_to_fit(self, best: Sequence[int], order: Sequence[int], probes: Sequence[Probe]) -> dict[int, float]:
        """A question for each of ``best``: those that are said to fit, with evidence and P(yes) in one number."""
        fits: dict[int, float] = {}

        def heard(number: int, event: CallFinished) -> None:
            self._call_ids[number] = event.call_id
            fits.pop(number, None)
            if event.verdict:
                fits[number] = fused(self.passing[number].candidate, 1.0 if event.overruled else event.p_yes)
            self.ctx.emit(CandidateJudged(number, bool(event.verdict), event.p_yes))

        await run_binary_judgment(
            best,
            system_prompt=fitting.SYSTEM,
            task_context=self.context(self.passing[best[0]].candidate.function),
            llm=self.ctx.llm(FITTING),
            format_item=lambda number: fitting.item(*self._shown_edit(number), examples(probes, order, number)),
            item_key=lambda number: number,
            label_item=lambda number: _title(number, self.passing[number].candidate),
            stage_name=FITTING,
            rank=lambda number: best.index(number) + 1,
            on_verdict=heard,
            default_action="left to the evidence",
        )
        return fits

    async def _compare(self, bed: CheckBed, order: Sequence[int]) -> list[Probe]:
        """What the edits that pass do with other inputs."""
        if len(order) < 2:
            return []
        candidates = []
        for number in order:
            texts = texts_of(self.passing[number].candidate, self.sources)
            as_text = {path: text.decode("utf-8", "surrogateescape") for path, text in texts.items()}
            candidates.append((self.passing[number].candidate, as_text))
        return await bed.probe(candidates)

    def _shown_edit(self, number: int) -> tuple[str, str]:
        candidate = self.passing[number].candidate
        after = texts_of(candidate, self.sources)[candidate.path]
        function = next((one for one in functions_of(candidate.path, after) if one.name == candidate.function), None)
        return unified(candidate, self.sources), function.text[:3000] if function is not None else ""

    async def _confirmed(self, edits: Mapping[int, PassingEdit], number: int) -> int:
        """The edit to write once a person who steps has seen all that pass; another one that is taken is a label."""
        if len(edits) == 1:
            return number
        picked = await self.ctx.gate.choice(FITTING, _title(number, self.passing[number].candidate), number)
        if picked == number or picked not in edits:
            return number
        label_pick(self.ctx.log, edits[number], edits[picked])
        self.ctx.emit(RepairChosen(picked, f"You took it instead of edit {number}.", picked=True))
        return picked


def _only(edits: int, odd: int, inputs: int) -> str:
    if edits == 1:
        return "It is the only edit that passes, so there is nothing to ask."
    if odd:
        return f"What all others do with some of {inputs} inputs speaks against them, so there is nothing to ask."
    return f"All {edits} edits that pass do the same with {inputs} inputs, so there is nothing to ask."


def _title(number: int, candidate: Candidate) -> str:
    return f"{number} {edit_words(candidate.operator)}, {Path(candidate.path).name}:{candidate.line}"
