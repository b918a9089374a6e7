"""Whether labels make the judge better, on tasks that nothing was fitted to. No model is asked.

    python -m benchmarks.learning [--answers FILE] [--share 0.4] [--draws 10]

Repeats the analysis from saved answers of the default model. Two files of them are kept:

* ``data/commit_answers.jsonl``, for development: 16 changes and the worked example, every stage. The thresholds that ship
  with the model were fitted on them and the fitter's priors were chosen on them, so their figures are in-sample.
* ``data/fresh_answers.jsonl``, the default, for confirmation: earlier commits of four repositories, their messages as the
  tasks, and the 12 best-ranked symbols of each in pass 2 ("will this symbol change?"); commits none of whose symbols are
  among them were left out. They were asked after the fitter and this analysis were fixed.

The analysis:

* An item matters if the real change touched it. Figures are means over tasks with something to find, of two kinds: recall
  when the best 40 % of each task's items by a method's score are kept, so that no method wins by keeping more; and the
  chance that an item that matters scores above one of the same task that does not ("in order"; 0.5 is chance).
* Methods: rank alone; P(yes) alone; the rule that ships with the model, which is what is in force; and that rule after so
  many labels, by the product's own fitter (``agent/learning/fit.py``) and its prior.
* *Labels of other repositories*: each repository is left out in turn; whole tasks of the others are drawn at random until
  there are so many labels, ten times, and the figures are averaged over the draws.
* *Labels of the same repository*: those of its earlier tasks, the newest first, up to so many; tasks before which there are
  not so many are left out, and every method is measured on the same tasks.
* Intervals are 95 % percentiles of 2,000 bootstrap samples of tasks, of the difference to the rule in force, paired by task.
  Labels help if it lies above zero. The first claim is 200 labels of other repositories, by recall; the second 100 labels of
  the same repository, by order. All else is told beside them, whatever comes out.

Added after the answers were read: the verdicts themselves, as calibration measures them with whole tasks left out; by the
model's words, by the rule in force, by the rule that all labels together give, and by as many best-ranked; and whether
calibration would offer that rule.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from agent.learning.calibrate import refusal
from agent.learning.fit import Point, estimate, fit_rule
from agent.retrieval.precision import symbol_facts
from agent.retrieval.scope import tier_facts
from agent.verdict.in_force import shipped_thresholds
from agent.verdict.threshold import Threshold
from benchmarks.judged import STAGES, Answer, read_answers

FRESH = Path(__file__).with_name("data") / "fresh_answers.jsonl"
OTHERS, SAME = (20, 50, 100, 200), (20, 50, 100)
"""Numbers of labels, of other repositories and of the same one."""

Score = Callable[[Answer], float]
ByTask = dict[str, float]


def numbers(answer: Answer) -> dict[str, float]:
    """The facts of an item as a run stores them with its call."""
    facts = answer.facts
    if answer.stage == "scope":
        return tier_facts(int(facts["tier"]))
    kind = next(name.removeprefix("kind_") for name in facts if name.startswith("kind_"))
    return symbol_facts(kind, int(facts["lines"]))


def point(answer: Answer) -> Point:
    """The answer as the fitter takes it."""
    return Point(answer.change, answer.gold, answer.p_yes or 0.0, answer.rank, numbers(answer), answer.said)


def scored_by(rule: Threshold) -> Score:
    """The score of an answer under a rule."""
    return lambda answer: rule.score(answer.p_yes or 0.0, answer.rank, numbers(answer)) or 0.0


def by_task(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    """Answers by task."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.change, []).append(answer)
    return found


def recalls(answers: Iterable[Answer], score: Score, share: float) -> ByTask:
    """Recall by task among the best ``share`` of its items; tasks in which nothing mattered are left out. Of equal scores
    the better-ranked comes first."""
    found = {}
    for change, inside in by_task(answers).items():
        gold = sum(answer.gold for answer in inside)
        if gold:
            best = sorted(inside, key=lambda a: (-score(a), a.rank))[: math.ceil(share * len(inside))]
            found[change] = sum(a.gold for a in best) / gold
    return found


def orders(answers: Iterable[Answer], score: Score) -> ByTask:
    """By task the chance that an item that matters scores above one that does not, a tie counting half."""
    found = {}
    for change, inside in by_task(answers).items():
        good = [score(answer) for answer in inside if answer.gold]
        bad = [score(answer) for answer in inside if not answer.gold]
        if good and bad:
            found[change] = sum((g > b) + 0.5 * (g == b) for g in good for b in bad) / (len(good) * len(bad))
    return found


def with_others(answers: Sequence[Answer], labels: int, share: float, draws: int, start: Threshold) -> tuple[ByTask, ByTask]:
    """(recall, order) by task under rules fitted to ``labels`` labels of other repositories, means over the draws."""
    recall: ByTask = {}
    order: ByTask = {}
    for repo in dict.fromkeys(answer.repo for answer in answers):
        inside = [answer for answer in answers if answer.repo == repo]
        outside = [answer for answer in answers if answer.repo != repo]
        for draw in range(draws):
            score = scored_by(_rule(_drawn(outside, labels, random.Random(f"{repo}{labels}{draw}")), start))
            for total, values in ((recall, recalls(inside, score, share)), (order, orders(inside, score))):
                for change, value in values.items():
                    total[change] = total.get(change, 0.0) + value / draws
    return recall, order


def with_earlier(answers: Sequence[Answer], labels: int, share: float, start: Threshold) -> tuple[ByTask, ByTask]:
    """(recall, order) by task under rules fitted to the newest ``labels`` labels of the repository's earlier tasks; only
    tasks before which there are so many."""
    recall: ByTask = {}
    order: ByTask = {}
    for inside in by_task(answers).values():
        repo, at = inside[0].repo, inside[0].at
        earlier = sorted((a for a in answers if a.repo == repo and a.at < at), key=lambda a: (-a.at, a.change, a.rank))
        if len(earlier) >= labels:
            score = scored_by(_rule(earlier[:labels], start))
            recall |= recalls(inside, score, share)
            order |= orders(inside, score)
    return recall, order


def _drawn(answers: Sequence[Answer], labels: int, dice: random.Random) -> list[Answer]:
    tasks = by_task(answers)
    names = list(tasks)
    dice.shuffle(names)
    return [answer for name in names for answer in dice.sample(tasks[name], len(tasks[name]))][:labels]


def _rule(chosen: Sequence[Answer], start: Threshold) -> Threshold:
    points = [point(answer) for answer in chosen]
    return fit_rule(points, "recall", start) if len({one.label for one in points}) == 2 else start


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """(mean, lower, upper) over tasks."""
    dice = random.Random(1)
    means = sorted(sum(dice.choices(values, k=len(values))) / len(values) for _ in range(2000))
    return sum(values) / len(values), means[50], means[1949]


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
    start = {rule.stage: rule for rule in shipped_thresholds({model})}.get(stage, Threshold(stage, model, 0.5))
    now = recalls(answers, scored_by(start), share), orders(answers, scored_by(start))
    gold, repos = sum(a.gold for a in answers), len({a.repo for a in answers})
    print(f"\n{stage}: {len(answers)} answers, {gold} mattered, {len(now[0])} tasks with something to find, ", end="")
    print(f"{repos} repositories; the best {share:.0%} of each task kept")
    print(f"  {'':<30}{'recall':>7}   {'less what is in force':<24}{'in order':>9}   less what is in force")
    _line("in force (ships with the model)", now, now)
    for name, score in (("rank alone", lambda a: -a.rank), ("P(yes) alone", lambda a: a.p_yes or 0.0)):
        _line(name, (recalls(answers, score, share), orders(answers, score)), now)
    shown = [answer for answer in saved if answer.examples]
    if shown:
        told = recalls(shown, lambda a: a.p_yes or 0.0, share), orders(shown, lambda a: a.p_yes or 0.0)
        _line(f"{shown[0].examples} examples: P(yes) alone", told, now)
    for labels in (n for n in OTHERS if n <= len(answers)):
        _line(f"{labels} labels, other repositories", with_others(answers, labels, share, draws, start), now)
    for labels in SAME if all(answer.at for answer in answers) else ():
        found = with_earlier(answers, labels, share, start)
        if found[0]:
            _line(f"{labels} labels, same repository", found, now)
    _verdicts(answers, start)


def _verdicts(answers: Sequence[Answer], start: Threshold) -> None:
    """What the verdicts are worth, and what calibration makes of the labels."""
    score = scored_by(start)
    points = [msgspec.structs.replace(point(a), now=score(a) >= start.threshold) for a in answers]
    _, worth = estimate(points, "recall", start)
    _, words = estimate([point(answer) for answer in answers], "recall", start)
    print("  verdicts, on tasks left out:")
    ranked = ("as many best-ranked", worth.rank)
    for name, measure in (("the words", words.now), ("in force", worth.now), ("all labels", worth.then), ranked):
        if measure is not None:
            print(f"    {name:<28}keep {measure.kept:.0%}, recall {measure.recall or 0.0:.2f}")
    print(f"    offered: {refusal(worth, 'recall') or 'yes'}")


def _line(name: str, found: tuple[ByTask, ByTask], now: tuple[ByTask, ByTask]) -> None:
    text = f"  {name:<30}"
    for mine, other, room in ((found[0], now[0], 7), (found[1], now[1], 9)):
        mean = sum(mine.values()) / len(mine)
        less, low, high = interval([value - other[task] for task, value in sorted(mine.items())])
        said = f"{less:+.2f} ({low:+.2f} to {high:+.2f})" if mine is not other else ""
        text += f"{mean:>{room}.2f}   {said:<24}"
    same = len(found[0]) == len(now[0])
    print((text if same else f"{text}{len(found[0])} tasks").rstrip())


if __name__ == "__main__":
    main()
