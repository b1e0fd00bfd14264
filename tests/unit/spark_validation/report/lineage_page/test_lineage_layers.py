"""Layered layout: columns by depth, no cycles, no overlaps, the same picture for the same graph."""

from __future__ import annotations

from random import Random

import pytest

from contractlog.spark_validation.report.lineage_page.layers import (
    LayeredGraph,
    arrange_components,
    orient_edges,
)


def random_edges(seed: int, nodes: int = 40, edges: int = 60) -> set[tuple[str, str]]:
    random = Random(seed)  # noqa: S311 - reproducible
    names = [f"n{number:03}" for number in range(nodes)]
    pairs = ((random.choice(names), random.choice(names)) for _ in range(edges))
    return {(a, b) for a, b in pairs if a != b}


def arranged(edges: set[tuple[str, str]]) -> list[LayeredGraph]:
    nodes = sorted({node for edge in edges for node in edge})
    return arrange_components(dict.fromkeys(nodes, 30.0), orient_edges(nodes, edges))


@pytest.mark.parametrize("seed", range(8))
def test_each_edge_leads_to_a_column_further_right(seed: int) -> None:
    edges = random_edges(seed)
    column = {
        (number, slot.key): index
        for number, component in enumerate(arranged(edges))
        for index, slots in enumerate(component.columns)
        for slot in slots
    }
    for number, component in enumerate(arranged(edges)):
        for (source, target), route in component.routes.items():
            steps = [column[number, key] for key in (source, *route, target)]
            assert steps == list(range(steps[0], steps[0] + len(steps))), "an edge has a bend in each column between"


@pytest.mark.parametrize("seed", range(8))
def test_all_edges_are_kept_and_those_of_cycles_are_turned(seed: int) -> None:
    edges = random_edges(seed)
    turned = orient_edges({node for edge in edges for node in edge}, edges)
    assert {frozenset(edge) for edge in turned} == {frozenset(edge) for edge in edges}
    routes = {edge for component in arranged(edges) for edge in component.routes}
    assert routes == turned


def test_slots_of_a_column_have_gaps_between_them() -> None:
    for seed in range(8):
        for component in arranged(random_edges(seed)):
            for column in component.columns:
                assert column[0].gap >= 0
                assert all(slot.gap >= 7.9 for slot in column[1:])


def test_the_order_of_edges_does_not_matter() -> None:
    edges = random_edges(3)
    nodes = sorted({node for edge in edges for node in edge})
    heights = dict.fromkeys(reversed(nodes), 30.0)
    again = arrange_components(heights, orient_edges(reversed(nodes), sorted(edges, reverse=True)))
    assert again == arranged(edges)


def test_crossings_that_can_be_avoided_are() -> None:
    (component,) = arranged({("a", "z"), ("b", "y"), ("c", "x"), ("a", "y"), ("b", "x")})
    left, right = component.columns
    order = [slot.key for slot in left], [slot.key for slot in right]
    assert order in ((["a", "b", "c"], ["z", "y", "x"]), (["c", "b", "a"], ["x", "y", "z"]))


def test_a_source_that_is_needed_late_is_drawn_late() -> None:
    (component,) = arranged({("a", "b"), ("b", "c"), ("c", "d"), ("airports", "d")})
    assert "airports" in [slot.key for slot in component.columns[2]]


def test_edges_from_outside_have_ends_at_both_borders() -> None:
    (component,) = arrange_components({"a": 30.0, "b": 30.0}, {("a", "b")}, entries=["b"], exits=["a"])
    assert [slot.key for slot in component.columns[0]] == [">b"]
    assert [slot.key for slot in component.columns[-1]] == ["a>"]
    assert component.routes["a", "a>"] == ("a|2",)


def test_a_long_chain_and_a_wide_fan_are_laid_out_without_recursion() -> None:
    chain = {(f"n{number:05}", f"n{number + 1:05}") for number in range(3000)}
    (component,) = arranged(chain)
    assert len(component.columns) == 3001
    (fan,) = arranged({("hub", f"n{number:04}") for number in range(500)})
    assert [len(column) for column in fan.columns] == [1, 500]
