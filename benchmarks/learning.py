"""Whether labels make the judge better: recall of what mattered, over the number of labels, on repositories not seen.

    python -m benchmarks.learning [--answers FILE] [--share 0.4] [--draws 10]

Repeats the analysis from saved answers of the default model (``benchmarks/data/commit_answers.jsonl``); no model is asked.

The analysis, fixed before the answers were looked at:

* The answers are one judging pass over the visible commits and the worked example: the 16 best-ranked files that are no
  seeds, and the 14 best-ranked symbols in pass 1 and pass 2. An item matters if the real change touched it.
* Labels come from the other repositories only (each repository is left out in turn). For each number of labels, whole
  tasks are drawn at random until there are so many, ten times; recalls are averaged over the draws.
* The rule is the product's own (``agent/learning/fit.py``), without the thresholds that ship with the model as its start,
  since those were fitted on these commits.
* The figure is recall at the same share kept: in each task the best 40 % of the items by each method's score are kept, so
  that no method wins by keeping more. Beside it: rank alone, P(yes) alone (no labels), the shipped rule (fitted on these
  very commits, so in-sample), and P(yes) with four labelled examples of other repositories in the prompt.
* Intervals are 95 % percentiles of 2,000 bootstrap samples of tasks; the difference to rank alone is paired by task.
* A method beats another if the interval of the difference lies above zero. Everything is reported, whatever comes out.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from agent.learning.fit import Point, fit_rule
from agent.retrieval.precision import symbol_facts
from agent.retrieval.scope import tier_facts
from agent.verdict.in_force import shipped_thresholds
from agent.verdict.threshold import Threshold

DATA = Path(__file__).with_name("data") / "commit_answers.jsonl"
LABELS = (20, 50, 100, 200)
STAGES = ("scope", "precision_pass1", "precision_pass2")


class Saved(msgspec.Struct, frozen=True):
    """One answer. ``facts`` are those of the candidate; ``examples`` how many were in the prompt."""

    stage: str
    change: str
    repo: str
    language: str
    item: str
    rank: int
    gold: bool
    said: bool
    p_yes: float
    model: str
    facts: dict[str, float | str] = {}
    examples: int = 0

    @property
    def numbers(self) -> dict[str, float]:
        """The facts as a run stores them with its call."""
        facts = self.facts
        if self.stage == "scope":
            return tier_facts(int(facts["tier"]))
        return symbol_facts(str(facts["kind"]), int(facts["lines"]))

    @property
    def point(self) -> Point:
        """The answer as the fitter takes it."""
        return Point(self.change, self.gold, self.p_yes, self.rank, self.numbers, self.said)


Score = Callable[[Saved], float]


def recalls(answers: Sequence[Saved], score: Score, share: float) -> dict[str, float]:
    """Recall by task among the best ``share`` of its items; tasks in which nothing mattered are left out. Of equal scores
    the better-ranked comes first."""
    found = {}
    for change in dict.fromkeys(answer.change for answer in answers):
        inside = sorted((a for a in answers if a.change == change), key=lambda a: (-score(a), a.rank))
        gold = sum(answer.gold for answer in inside)
        if gold:
            found[change] = sum(a.gold for a in inside[: math.ceil(share * len(inside))]) / gold
    return found


def fitted(answers: Sequence[Saved], labels: int, share: float, draws: int) -> tuple[dict[str, float], int]:
    """Recall by task with rules fitted to ``labels`` labels of other repositories, mean over the draws; the most labels that
    there were."""
    total: dict[str, float] = {}
    most = 0
    for repo in dict.fromkeys(answer.repo for answer in answers):
        inside = [answer for answer in answers if answer.repo == repo]
        outside = [answer for answer in answers if answer.repo != repo]
        for draw in range(draws):
            chosen = _drawn(outside, labels, random.Random(f"{repo}{labels}{draw}"))
            most = max(most, len(chosen))
            rule = _rule(chosen, inside[0].stage)
            scored = recalls(inside, lambda a: rule.score(a.p_yes, a.rank, a.numbers) or 0.0, share)  # noqa: B023
            for change, value in scored.items():
                total[change] = total.get(change, 0.0) + value / draws
    return total, most


def _drawn(answers: Sequence[Saved], labels: int, dice: random.Random) -> list[Saved]:
    tasks = list(dict.fromkeys(answer.change for answer in answers))
    dice.shuffle(tasks)
    ordered: list[Saved] = []
    for task in tasks:
        mine = [answer for answer in answers if answer.change == task]
        ordered += dice.sample(mine, len(mine))
    return ordered[:labels]


def _rule(chosen: Sequence[Saved], stage: str) -> Threshold:
    start = Threshold(stage, "", 0.5)
    points = [answer.point for answer in chosen]
    return fit_rule(points, "recall", start) if len({point.label for point in points}) == 2 else start


def interval(by_task: dict[str, float], other: dict[str, float] | None = None) -> tuple[float, float, float]:
    """(mean, lower, upper) of a recall over tasks, or of its paired difference to another's."""
    values = [value - (other[task] if other is not None else 0.0) for task, value in sorted(by_task.items())]
    dice = random.Random(1)
    means = sorted(sum(dice.choices(values, k=len(values))) / len(values) for _ in range(2000))
    return sum(values) / len(values), means[50], means[1949]


def main() -> None:
    """Print the learning curve of every stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, default=DATA)
    parser.add_argument("--share", type=float, default=0.4, help="share of each task's items that is kept")
    parser.add_argument("--draws", type=int, default=10, help="random draws for each number of labels")
    options = parser.parse_args()
    saved = [msgspec.json.decode(line, type=Saved) for line in options.answers.read_bytes().splitlines() if line.strip()]
    for stage in STAGES:
        report([answer for answer in saved if answer.stage == stage], options.share, options.draws)


def report(saved: Sequence[Saved], share: float, draws: int) -> None:
    """One stage."""
    answers = [answer for answer in saved if not answer.examples]
    if not answers:
        return
    model, stage = answers[0].model, answers[0].stage
    by_rank = recalls(answers, lambda a: -a.rank, share)
    gold, repos = sum(a.gold for a in answers), len({a.repo for a in answers})
    print(f"\n{stage}: {len(answers)} answers, {gold} mattered, {len(by_rank)} tasks with something to find, ", end="")
    print(f"{repos} repositories; the best {share:.0%} of each task kept")
    print(f"  {'':<34}{'recall':>7}{'95 %':>14}   less rank alone")
    _line("rank alone", by_rank, None)
    _line("0 labels: P(yes) alone", recalls(answers, lambda a: a.p_yes, share), by_rank)
    shipped = {rule.stage: rule for rule in shipped_thresholds({model})}.get(stage)
    if shipped is not None:
        by_rule = recalls(answers, lambda a: shipped.score(a.p_yes, a.rank, {}) or 0.0, share)
        _line("shipped rule (in-sample)", by_rule, by_rank)
    shown = [answer for answer in saved if answer.examples]
    if shown:
        _line(f"{shown[0].examples} examples: P(yes) alone", recalls(shown, lambda a: a.p_yes, share), by_rank)
    for labels in LABELS:
        by_fit, most = fitted(answers, labels, share, draws)
        name = f"{labels} labels" if most == labels else f"{labels} labels (there were {most})"
        _line(name, by_fit, by_rank)


def _line(name: str, by_task: dict[str, float], other: dict[str, float] | None) -> None:
    mean, low, high = interval(by_task)
    text = f"  {name:<34}{mean:>7.2f}{f'{low:.2f} to {high:.2f}':>14}"
    if other is not None:
        same = {task: value for task, value in other.items() if task in by_task}
        less, low, high = interval(by_task, same)
        text += f"   {less:+.2f} ({low:+.2f} to {high:+.2f})"
        text += f", {len(by_task)} tasks" if len(by_task) != len(other) else ""
    print(text)


if __name__ == "__main__":
    main()
