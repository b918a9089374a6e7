"""Yes/no questions about pairs, and what follows from them: groups, and what waits for what."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations, permutations

from agent.context import RunContext
from agent.events import CallFinished
from agent.graph import Groups, break_cycles, group
from agent.judgment.binary import run_binary_judgment

FACT = 2.0
"""Weight of an edge that is known: above every probability, so that a cycle is never broken there."""

Pair = tuple[str, str]


async def yes_pairs(
    ctx: RunContext, name: str, pairs: Sequence[Pair], *, system: str, context: str, item: Callable[[Pair], str]
) -> dict[Pair, float | None]:
    """The pairs that got a yes, with its P(yes) where the model tells. One audited call a pair; unreadable means no.

    Raises:
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    if not pairs:
        return {}
    found: dict[Pair, float | None] = {}

    def hear(pair: Pair, event: CallFinished) -> None:
        if event.verdict:
            # A person's yes is as good as a fact.
            found[pair] = FACT if event.overruled else event.p_yes if event.score is None else event.score

    async with ctx.stage(name, len(pairs)) as report:
        await run_binary_judgment(
            pairs,
            system_prompt=system,
            task_context=context,
            llm=ctx.llm(name),
            format_item=item,
            item_key=lambda pair: pair,
            label_item=lambda pair: f"{pair[0]} + {pair[1]}" if name == "part_grouping" else f"{pair[0]} after {pair[1]}",
            stage_name=name,
            default_action="separate" if name == "part_grouping" else "independent",
            on_verdict=hear,
        )
        report.counts = {"asked": len(pairs), "yes": len(found), "no": len(pairs) - len(found)}
    return found


async def group_by_questions(
    ctx: RunContext, name: str, ids: Sequence[str], *, system: str, context: str, item: Callable[[Pair], str], cap: int
) -> Groups[str]:
    """Groups of at most ``cap`` ids by one yes/no for each unordered pair."""
    pairs = list(combinations(ids, 2))
    found = await yes_pairs(ctx, name, pairs, system=system, context=context, item=item)
    return group(ids, [(a, b, found[a, b]) for a, b in pairs if (a, b) in found], cap)


async def waits_for(
    ctx: RunContext,
    name: str,
    ids: Sequence[str],
    known: Mapping[Pair, object],
    *,
    system: str,
    context: str,
    item: Callable[[Pair], str],
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """What each id waits for: facts where there are any, one yes/no for each other ordered pair.

    A pair with a fact in either direction is not asked about. Cycles are broken at the weaker yes.

    Returns:
        (dependencies by id, a note for each yes that was given up)
    """
    settled = {frozenset(pair) for pair in known}
    pairs = [pair for pair in permutations(ids, 2) if frozenset(pair) not in settled]
    found = await yes_pairs(ctx, name, pairs, system=system, context=context, item=item)
    edges: dict[Pair, float | None] = {**dict.fromkeys(known, FACT), **found}
    needs, given_up = break_cycles(list(ids), edges)
    text = "{} and {} were each to wait for the other, directly or in a circle; {} does not wait"
    return needs, tuple(text.format(a, b, a) for a, b in given_up)


def uses(edges: Sequence[tuple[str, str]], owners: Mapping[str, Sequence[Hashable]]) -> dict[Pair, object]:
    """(user, used) for owners of names: ``edges`` are (using name, used name), ``owners`` maps an id to its names."""
    found: dict[Pair, object] = {}
    for a, b in permutations(owners, 2):
        if any(source in owners[a] and target in owners[b] and target not in owners[a] for source, target in edges):
            found[a, b] = True
    return found
