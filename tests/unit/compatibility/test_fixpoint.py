"""Keys hold unless they are refuted, independent of the order of checks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.fixpoint import Fixpoint

GRAPHS = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 9)), min_size=1)
LONG = 100_000


def find_refuted(reasons: dict[int, set[int]], root: int) -> set[int]:
    """Return the keys that are refuted, by repetition until nothing changes: 0, and those with a refuted reason."""
    reached, pending = {root}, [root]
    while pending:
        new = reasons.get(pending.pop(), set()) - reached
        reached |= new
        pending += new
    refuted: set[int] = set()
    while new := {key for key in reached - refuted if key == 0 or reasons.get(key, set()) & refuted}:
        refuted |= new
    return refuted


@given(GRAPHS, st.integers(0, 9), st.booleans())
def test_keys_are_refuted_by_refuted_reasons_alone(reasons: dict[int, set[int]], root: int, newest_first: bool) -> None:  # noqa: FBT001
    keys = Fixpoint[int](newest_first=newest_first)

    def refutes(key: int) -> bool:
        reasons_hold = [keys.holds(reason) for reason in sorted(reasons.get(key, ()))]
        return key == 0 or not all(reasons_hold)

    refuted = find_refuted(reasons, root)
    assert keys.decide(root, refutes) == (root not in refuted)
    assert keys.refuted == refuted
    assert keys.current is None


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_long_chain_is_decided_without_recursion(newest_first: bool) -> None:  # noqa: FBT001
    keys = Fixpoint[int](newest_first=newest_first)
    assert not keys.decide(LONG, lambda key: key == 0 or not keys.holds(key - 1))
    assert len(keys.refuted) == LONG + 1
