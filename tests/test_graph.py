"""Grouping, ordering and cycle breaking."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.graph import break_cycles, find_cycle, group, topological_order

NODES = st.integers(1, 8).map(lambda n: list(range(n)))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, int], float | None]]:
    nodes = draw(NODES)
    node = st.sampled_from(nodes)
    weight = st.one_of(st.none(), st.floats(0, 1))
    return nodes, draw(st.dictionaries(st.tuples(node, node), weight, max_size=20))


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_grouping_is_a_partition_that_joins_every_pair(graph: tuple) -> None:
    nodes, edges = graph
    found = group(nodes, [(a, b, w) for (a, b), w in edges.items()])
    assert sorted(n for members in found.groups for n in members) == nodes
    home = {n: members for members in found.groups for n in members}
    assert all(home[a] == home[b] for a, b in edges)
    assert not found.refused


@settings(max_examples=80, deadline=None)
@given(graphs(), st.integers(1, 4))
def test_no_group_grows_past_its_cap_and_no_pair_is_lost_in_silence(graph: tuple, cap: int) -> None:
    nodes, edges = graph
    found = group(nodes, [(a, b, w) for (a, b), w in edges.items()], cap)
    assert max(len(members) for members in found.groups) <= cap
    home = {n: members for members in found.groups for n in members}
    for a, b in edges:
        assert home[a] == home[b] or (a, b) in found.refused


def test_one_false_yes_cannot_chain_two_strong_groups() -> None:
    pairs = [("a", "b", 0.9), ("c", "d", 0.9), ("b", "c", 0.51)]
    found = group(["a", "b", "c", "d"], pairs, 3)
    assert found.groups == (("a", "b"), ("c", "d"))
    assert found.refused == (("b", "c"),)


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_broken_cycles_leave_an_order_and_name_what_went(graph: tuple) -> None:
    nodes, edges = graph
    depends_on, given_up = break_cycles(nodes, edges)
    order = topological_order(nodes, depends_on)
    assert sorted(order) == nodes
    place = {n: i for i, n in enumerate(order)}
    assert all(place[d] < place[n] for n in nodes for d in depends_on[n])
    kept = {(n, d) for n in nodes for d in depends_on[n]}
    assert kept | set(given_up) == {(a, b) for a, b in edges if a != b}
    assert not kept & set(given_up)


def test_the_weaker_of_two_yeses_goes() -> None:
    depends_on, given_up = break_cycles(["a", "b"], {("a", "b"): 0.9, ("b", "a"): 0.6})
    assert depends_on == {"a": ("b",), "b": ()}
    assert given_up == [("b", "a")]


def test_without_confidence_the_later_dependent_goes_free() -> None:
    depends_on, given_up = break_cycles(["a", "b"], {("a", "b"): None, ("b", "a"): None})
    assert depends_on == {"a": ("b",), "b": ()}
    assert given_up == [("b", "a")]


def test_a_cycle_behind_a_chain_is_found() -> None:
    depends_on = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["b"]}
    cycle = find_cycle(["a", "b", "c", "d"], depends_on)
    assert set(cycle) == {"b", "c", "d"}


def test_order_keeps_the_given_order_where_it_is_free() -> None:
    assert topological_order(["a", "b", "c"], {"a": ["c"]}) == ["b", "c", "a"]
