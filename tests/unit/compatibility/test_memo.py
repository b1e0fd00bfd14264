"""A memo is bounded, and what it forgets it only has to learn again."""

from __future__ import annotations

import gc

from contractlog.compatibility.memo import Memo, WeightedCache


def test_a_table_never_weighs_more_than_its_limit_and_lets_older_entries_go() -> None:
    table: WeightedCache[int, int] = WeightedCache(100)
    for number in range(1_000):
        assert table.put(number, -number, 1 + number % 7) == -number
        assert table.weight <= 100
    assert max(table.entries) == 999
    assert list(table.entries) == list(range(min(table.entries), 1_000))


def test_what_is_too_heavy_is_not_held() -> None:
    table: WeightedCache[str, int] = WeightedCache(100)
    table.put("light", 1)
    assert table.put("heavy", 2, 11) == 2
    assert list(table.entries) == ["light"]


class Tree:
    pass


def test_a_tree_is_shaped_once_and_forgotten_with_it() -> None:
    memo, made = Memo(), []
    tree = Tree()

    def make() -> str:
        made.append(1)
        return "shape"

    assert memo.root(tree, make) == memo.root(tree, make) == "shape"
    assert len(made) == len(memo._roots) == 1
    del tree
    gc.collect()
    assert memo._roots == {}
