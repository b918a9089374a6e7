"""Three questions about small graphs: who belongs together, in which order, and which edge to give up for an order."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

N = TypeVar("N", bound=Hashable)


class Groups(msgspec.Struct, Generic[N], frozen=True):
    """Groups in the order of their first member; ``refused`` are the pairs that would have made a group too large."""

    groups: tuple[tuple[N, ...], ...]
    refused: tuple[tuple[N, N], ...] = ()


def group(nodes: Sequence[N], pairs: Iterable[tuple[N, N, float | None]], max_size: int | None = None) -> Groups[N]:
    """Union-find over ``nodes``: every pair (a, b, weight) joins two groups, the heaviest pair first.

    A pair that would make a group of more than ``max_size`` nodes is refused, so that one wrong "yes" cannot chain
    everything together. Pairs without a weight count as 0.5; ties keep the order they came in.
    """
    place = {node: i for i, node in enumerate(nodes)}
    parent = list(range(len(nodes)))
    size = [1] * len(nodes)
    refused: list[tuple[N, N]] = []
    for a, b, _ in sorted(pairs, key=lambda pair: -(0.5 if pair[2] is None else pair[2])):
        low, high = sorted((_root(parent, place[a]), _root(parent, place[b])))
        if low == high:
            continue
        if max_size is not None and size[low] + size[high] > max_size:
            refused.append((a, b))
            continue
        parent[high] = low
        size[low] += size[high]
    members: dict[int, list[N]] = {}
    for i, node in enumerate(nodes):
        members.setdefault(_root(parent, i), []).append(node)
    return Groups(tuple(tuple(found) for found in members.values()), tuple(refused))


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def topological_order(nodes: Sequence[N], depends_on: Mapping[N, Iterable[N]]) -> list[N]:
    """The nodes with every dependency before its dependents; free choices keep the order of ``nodes``.

    Nodes on a cycle, and those behind one, are left out: the caller compares lengths. Unknown dependencies are ignored.
    """
    place = {node: i for i, node in enumerate(nodes)}
    waiting = {node: {d for d in depends_on.get(node, ()) if d in place} for node in nodes}
    users: dict[N, list[N]] = {node: [] for node in nodes}
    for node, needed in waiting.items():
        for dependency in needed:
            users[dependency].append(node)
    ready = [place[node] for node, needed in waiting.items() if not needed]
    heapq.heapify(ready)
    order: list[N] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for user in users[node]:
            waiting[user].discard(node)
            if not waiting[user]:
                heapq.heappush(ready, place[user])
    return order


def find_cycle(nodes: Sequence[N], depends_on: Mapping[N, Iterable[N]]) -> tuple[N, ...]:
    """One cycle, as nodes of which each depends on the next and the last on the first; empty when there is none."""
    ordered = topological_order(nodes, depends_on)
    left = {n for n in nodes if n not in ordered}
    # Every node left either lies on a cycle or depends, in some steps, on one: walking dependencies must come round.
    trail: list[N] = []
    node = next((n for n in nodes if n in left), None)
    while node is not None and node not in trail:
        trail.append(node)
        node = next((d for d in depends_on.get(node, ()) if d in left), None)
    return tuple(trail[trail.index(node) :]) if node is not None else ()


def break_cycles(
    nodes: Sequence[N], edges: Mapping[tuple[N, N], float | None]
) -> tuple[dict[N, tuple[N, ...]], list[tuple[N, N]]]:
    """Give up the weakest edge of every cycle.

    ``edges`` maps (dependent, dependency) to a confidence. On each cycle the edge with the lowest confidence goes; between
    equals (or where none is known, counted as 0.5) the one whose dependent comes last in ``nodes``.

    Returns:
        (dependencies of every node, in the order of ``nodes``; the edges given up, in the order they went)
    """
    place = {node: i for i, node in enumerate(nodes)}
    kept = {edge: (0.5 if weight is None else weight) for edge, weight in edges.items() if edge[0] != edge[1]}
    given_up: list[tuple[N, N]] = []
    while True:
        depends_on: dict[N, list[N]] = {node: [] for node in nodes}
        for user, needed in sorted(kept, key=lambda edge: (place[edge[0]], place[edge[1]])):
            depends_on[user].append(needed)
        cycle = find_cycle(nodes, depends_on)
        if not cycle:
            return {node: tuple(needed) for node, needed in depends_on.items()}, given_up
        around = list(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        weakest = min(around, key=lambda edge: (kept[edge], -place[edge[0]], -place[edge[1]]))
        del kept[weakest]
        given_up.append(weakest)
