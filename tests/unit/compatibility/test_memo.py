"""A memo keeps the shape of a tree while the tree exists."""

from __future__ import annotations

import gc

from contractlog.compatibility.memo import Memo


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
