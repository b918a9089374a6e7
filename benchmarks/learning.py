"""Whether labels make the judge better, on tasks that nothing was fitted to. No model is asked.

    python -m benchmarks.learning [--answers FILE] [--share 0.4] [--draws 10]

Repeats the analysis from saved answers of the default model. Two files of them are kept:

* ``data/commit_answers.jsonl``, for development: 16 changes and the worked example, every stage. The thresholds that ship
  with the model were fitted on them and the fitter's priors were chosen on them, so their figures are in-sample.
* ``data/fresh_answers.jsonl``, the default, for confirmation: earlier commits of four repositories, their messages as the
  tasks, and the 12 best-ranked symbols of each in pass 2 ("will this symbol change?"); commits none of whose symbols are
  among them were left out.

What is measured:

* An item matters if the real change touched it. Figures are means over tasks, of three kinds: recall when the best 40 % of
  each task's items by a method's score are kept, so that no method wins by keeping more; the chance that an item that
  matters scores above one of the same task that does not ("in order"; 0.5 is chance); and the verdicts, as the share kept
  and its recall, with their worth as the fitter has it (``agent/learning/fit.py``).
* Two situations. *In force* is the rule that ships with the model; *no rule* is a model that ships none, of which there are
  most: its words decide and P(yes) alone ranks. From each of them so many labels are given to the product's own fitter,
  whose cut keeps nine tenths of what mattered among those labels.
* *Labels of other repositories*: each repository is left out in turn; whole tasks of the others are drawn at random until
  there are so many labels, ten times, and the figures are averaged over the draws.
* *Labels of the same repository*: those of its earlier tasks, the newest first, up to so many; tasks before which there are
  not so many are left out, and every method is measured on the same tasks.
* *All facts*: beside those that a run stores with its call, every kind of evidence that the search had of an item, its
  file's place and score, its length and its edges (the development answers do not have them).
* Intervals are 95 % percentiles of 2,000 bootstrap samples of tasks, of the difference to the situation without labels,
  paired by task. Labels help if it lies above zero.

Two analyses were written down before they were run. The first claimed a gain over the rule in force, for 200 labels of other
repositories by recall and for 100 of the same one by order; the fresh answers were asked after that. It found none, and few
labels did harm. The second followed, on the same answers: a prior that counts as much as the labels it rests on, the
situation without a rule, all facts, and the verdicts. Its claims are, for labels of other repositories: without a rule 100
of them raise the worth of the verdicts and the recall; in force 200 of them raise the recall; with all facts 200 of them
raise it further; and for 50 labels of the same repository, that they raise the worth of the verdicts in each situation.
Of these only the first came true, and of it the half about the verdicts. Since few labels made the verdicts worse in force,
the fitter's cut got the same prior as its weights after that, so that the verdicts in force are no longer blind.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from agent.learning.calibrate import refusal
from agent.learning.fit import RECALL, RECALL_WORTH, Point, estimate, fit_rule
from agent.retrieval.precision import symbol_facts
from agent.retrieval.scope import tier_facts
from agent.verdict.in_force import shipped_thresholds
from agent.verdict.threshold import Threshold
from benchmarks.judged import STAGES, Answer, read_answers

FRESH = Path(__file__).with_name("data") / "fresh_answers.jsonl"
OTHERS, SAME, ALL_FACTS = (20, 50, 100, 200), (20, 50, 100), (100, 200)
"""Numbers of labels: of other repositories, of the same one, and where all facts are given."""

Facts = Callable[[Answer], dict[str, float]]


def stored_facts(answer: Answer) -> dict[str, float]:
    """The facts of an item as a run stores them with its call."""
    facts = answer.facts
    if answer.stage == "scope":
        return tier_facts(int(facts["tier"]))
    kind = next(name.removeprefix("kind_") for name in facts if name.startswith("kind_"))
    return symbol_facts(kind, int(facts["lines"]))


def all_facts(answer: Answer) -> dict[str, float]:
    """Those, and all else that the search knew of the item, each from 0 to about 1."""
    facts = answer.facts
    found = stored_facts(answer) | {name: min(1.0, value) for name, value in facts.items() if name.startswith("by_")}
    found["search"] = min(1.0, facts.get("score", 0.0))
    if answer.stage != "scope":
        found["home"] = 1 / facts["file_rank"]
        found["home_score"] = min(1.0, facts.get("file_score", 0.0))
        found["calls"] = math.log1p(facts.get("calls", 0.0)) / 3
        found["called"] = math.log1p(facts.get("called_by", 0.0)) / 3
        found["documented"] = facts.get("documented", 0.0)
    return found


class Scored(msgspec.Struct, frozen=True):
    """An answer under a method: what it is ranked by, and the verdict if the method gives one."""

    answer: Answer
    score: float
    kept: bool | None = None


class Figures(msgspec.Struct, frozen=True):
    """One task: ``recall`` among its best-scored, ``order``, and the verdicts' ``kept`` share and recall (``found``). None
    where it is not defined."""

    recall: float | None = None
    order: float | None = None
    kept: float | None = None
    found: float | None = None


ByTask = dict[str, Figures]


def under(rule: Threshold, facts: Facts) -> Callable[[Answer], Scored]:
    """Answers under a rule."""

    def judged(answer: Answer) -> Scored:
        score = rule.score(answer.p_yes or 0.0, answer.rank, facts(answer)) or 0.0
        return Scored(answer, score, score >= rule.threshold)

    return judged


def by_rank(answer: Answer) -> Scored:
    """Answers in the search's order."""
    return Scored(answer, -answer.rank)


def by_words(answer: Answer) -> Scored:
    """Answers ranked by P(yes) and decided by their words."""
    return Scored(answer, answer.p_yes or 0.0, answer.said)


def by_p(answer: Answer) -> Scored:
    """Answers ranked by P(yes)."""
    return Scored(answer, answer.p_yes or 0.0)


def by_task(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    """Answers by task."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.change, []).append(answer)
    return found


def measured(answers: Iterable[Answer], method: Callable[[Answer], Scored], share: float) -> ByTask:
    """Each task under a method."""
    return {name: figures([method(answer) for answer in inside], share) for name, inside in by_task(answers).items()}


def figures(task: Sequence[Scored], share: float) -> Figures:
    """One task. Of equal scores the better-ranked comes first; a tie counts half in the order."""
    good = [one.score for one in task if one.answer.gold]
    bad = [one.score for one in task if not one.answer.gold]
    decided = all(one.kept is not None for one in task)
    kept = sum(bool(one.kept) for one in task) / len(task) if decided else None
    if not good:
        return Figures(kept=kept)
    best = sorted(task, key=lambda one: (-one.score, one.answer.rank))[: math.ceil(share * len(task))]
    recall = sum(one.answer.gold for one in best) / len(good)
    order = sum((g > b) + 0.5 * (g == b) for g in good for b in bad) / (len(good) * len(bad)) if bad else None
    found = sum(bool(one.kept) for one in task if one.answer.gold) / len(good) if decided else None
    return Figures(recall, order, kept, found)


def averaged(draws: Sequence[ByTask]) -> ByTask:
    """The means of several measurements of the same tasks."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    names = Figures.__struct_fields__
    return {
        task: Figures(*(mean([getattr(draw[task], name) for draw in draws]) for name in names)) for task in draws[0]
    }  # fmt: skip


def with_others(
    answers: Sequence[Answer], labels: int, start: Threshold, share: float, draws: int, facts: Facts = stored_facts
) -> ByTask:
    """Tasks under rules fitted to ``labels`` labels of other repositories."""
    found: ByTask = {}
    for repo in dict.fromkeys(answer.repo for answer in answers):
        inside = [answer for answer in answers if answer.repo == repo]
        outside = [answer for answer in answers if answer.repo != repo]
        drawn = [_drawn(outside, labels, random.Random(f"{repo}{labels}{draw}")) for draw in range(draws)]
        found |= averaged([measured(inside, _fitted(some, start, facts), share) for some in drawn])
    return found


def with_earlier(answers: Sequence[Answer], labels: int, start: Threshold, share: float) -> ByTask:
    """Tasks under rules fitted to the newest ``labels`` labels of the repository's earlier tasks; only tasks before which
    there are so many."""
    found: ByTask = {}
    for inside in by_task(answers).values():
        repo, at = inside[0].repo, inside[0].at
        earlier = sorted((a for a in answers if a.repo == repo and a.at < at), key=lambda a: (-a.at, a.change, a.rank))
        if len(earlier) >= labels:
            found |= measured(inside, _fitted(earlier[:labels], start, stored_facts), share)
    return found


def _drawn(answers: Sequence[Answer], labels: int, dice: random.Random) -> list[Answer]:
    tasks = by_task(answers)
    names = list(tasks)
    dice.shuffle(names)
    return [answer for name in names for answer in dice.sample(tasks[name], len(tasks[name]))][:labels]


def _fitted(chosen: Sequence[Answer], start: Threshold, facts: Facts) -> Callable[[Answer], Scored]:
    points = [point(answer, facts) for answer in chosen]
    rule = fit_rule(points, "recall", start) if len({one.label for one in points}) == 2 else start
    return under(rule, facts)


def point(answer: Answer, facts: Facts = stored_facts) -> Point:
    """The answer as the fitter takes it, decided by its words."""
    return Point(answer.change, answer.gold, answer.p_yes or 0.0, answer.rank, facts(answer), answer.said)


def worth(some: Iterable[Figures]) -> float:
    """What verdicts are worth: minus the mean share kept, minus what recall lacks (``agent/learning/fit.py``)."""
    tasks = list(some)
    kept, found = _mean(tasks, "kept"), _mean(tasks, "found")
    return -kept - RECALL_WORTH * max(0.0, RECALL - found)


def _mean(tasks: Iterable[Figures], name: str) -> float:
    values: list[float] = [value for task in tasks if (value := getattr(task, name)) is not None]
    return sum(values) / len(values)


def interval(mine: ByTask, base: ByTask, figure: Callable[[Sequence[Figures]], float]) -> tuple[float, float, float]:
    """(difference of a figure, lower, upper), paired by task."""
    pairs = [(mine[task], base[task]) for task in sorted(mine)]
    dice = random.Random(1)

    def less(some: Sequence[tuple[Figures, Figures]]) -> float:
        return figure([one for one, _ in some]) - figure([other for _, other in some])

    drawn = sorted(less(dice.choices(pairs, k=len(pairs))) for _ in range(2000))
    return less(pairs), drawn[50], drawn[1949]


def main() -> None:
    """Print the learning curve of every stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, default=FRESH)
    parser.add_argument("--share", type=float, default=0.4, help="share of each task's items that is kept")
    parser.add_argument("--draws", type=int, default=10, help="random draws for each number of labels")
    options = parser.parse_args()
    saved = [answer for answer in read_answers(options.answers) if answer.p_yes is not None]
    for stage in STAGES:
        report([answer for answer in saved if answer.stage == stage], options.share, options.draws)


def report(saved: Sequence[Answer], share: float, draws: int) -> None:
    """One stage."""
    answers = [answer for answer in saved if not answer.examples]
    if not answers:
        return
    model, stage = answers[0].model, answers[0].stage
    bare = Threshold(stage, model, 0.5)
    shipped = {rule.stage: rule for rule in shipped_thresholds({model})}.get(stage, bare)
    gold, tasks = sum(a.gold for a in answers), by_task(answers).values()
    full, repos = sum(any(a.gold for a in inside) for inside in tasks), len({a.repo for a in answers})
    print(f"\n{stage}: {len(answers)} answers, {gold} mattered, {full} tasks with something to find, ", end="")
    print(f"{repos} repositories; the best {share:.0%} of each task kept")
    print(f"  {'':<32}{'recall':>7}{'':21}{'in order':>9}{'':21}{'keep':>6}{'recall':>7}{'worth':>7}")
    now, words = measured(answers, under(shipped, stored_facts), share), measured(answers, by_words, share)
    line("in force (ships with the model)", now, now)
    line("  rank alone", measured(answers, by_rank, share), now)
    for name, found in _learned(answers, shipped, share, draws):
        line(f"  {name}", found, now)
    for labels in (n for n in ALL_FACTS if n <= len(answers) and all("score" in answer.facts for answer in answers)):
        line(f"  {labels} of others, all facts", with_others(answers, labels, shipped, share, draws, all_facts), now)
    line("no rule: words, P(yes) alone", words, words)
    shown = [answer for answer in saved if answer.examples]
    if shown:
        line(f"  {shown[0].examples} examples, P(yes) alone", measured(shown, by_p, share), words)
    for name, found in _learned(answers, bare, share, draws):
        line(f"  {name}", found, words)
    _calibration(answers, shipped, bare)


def _learned(answers: Sequence[Answer], start: Threshold, share: float, draws: int) -> Iterator[tuple[str, ByTask]]:
    for labels in (n for n in OTHERS if n <= len(answers)):
        yield f"{labels} labels of others", with_others(answers, labels, start, share, draws)
    for labels in SAME if all(answer.at for answer in answers) else ():
        found = with_earlier(answers, labels, start, share)
        if found:
            yield f"{labels} of the same, {len(found)} tasks", found


def line(name: str, found: ByTask, base: ByTask) -> None:
    """One method beside what it is compared with."""
    text = f"  {name:<32}"
    for field, room in (("recall", 7), ("order", 9)):
        text += f"{_mean(found.values(), field):>{room}.2f}"
        text += _difference(found, base, partial(_mean, name=field))
    if all(task.kept is not None for task in found.values()):
        text += f"{_mean(found.values(), 'kept'):>6.0%}{_mean(found.values(), 'found'):>7.2f}{worth(found.values()):>7.2f}"
        text += _difference(found, base, worth)
    print(text.rstrip())


def _difference(found: ByTask, base: ByTask, figure: Callable[[Sequence[Figures]], float]) -> str:
    if found is base:
        return " " * 21
    less, low, high = interval(found, base, figure)
    return f" {f'{less:+.2f} ({low:+.2f}, {high:+.2f})':<20}"


def _calibration(answers: Sequence[Answer], shipped: Threshold, bare: Threshold) -> None:
    """What calibration makes of all the labels, with whole tasks left out, and whether it offers its rule."""
    decided = under(shipped, stored_facts)
    for name, start, points in (
        ("in force", shipped, [msgspec.structs.replace(point(a), now=bool(decided(a).kept)) for a in answers]),
        ("no rule", bare, [point(a) for a in answers]),
    ):
        _, _, said = estimate(points, "recall", start)
        what = f"keep {said.then.kept:.0%}, recall {said.then.recall or 0.0:.2f}"
        print(f"  calibration with all labels, {name}: {what}; offered: {refusal(said, 'recall') or 'yes'}")


if __name__ == "__main__":
    main()
