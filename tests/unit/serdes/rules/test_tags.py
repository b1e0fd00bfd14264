"""Paths of metadata tags match names as in confluent-kafka, in bounded time."""

from __future__ import annotations

import pytest
from confluent_kafka.schema_registry.wildcard_matcher import wildcard_match
from hypothesis import given
from hypothesis import strategies as st

from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.tags import TagPaths

PATHS = st.lists(st.sampled_from(["a", "b", ".", "*", "**", "?", "order", "$"]), max_size=8).map("".join)
NAMES = st.lists(st.sampled_from(["a", "b", ".", "order", "$"]), max_size=8).map("".join)


def matches_path(name: str, path: str) -> bool:
    return TagPaths({path: ["PII"]}).find(name) == {"PII"}


@pytest.mark.parametrize(
    ("name", "path", "matches"),
    [
        ("orders.Order.card", "orders.Order.card", True),
        ("orders.Order.card", "**.card", True),
        ("orders.Order.card", "orders.*.card", True),
        ("orders.Order.card", "*.card", False),
        ("orders.Order.card", "orders.Order.car?", True),
        ("orders.Order.card", "orders.**", True),
        ("orders.Order.card", "orders.**.*", True),
        ("a.b", "a?b", False),
        ("a*b", r"a\*b", True),
        ("axb", r"a\*b", False),
    ],
)
def test_wildcards_stay_within_their_segments(name: str, path: str, *, matches: bool) -> None:
    assert matches_path(name, path) is matches


@given(NAMES, PATHS)
def test_paths_match_what_they_match_in_confluent_kafka(name: str, path: str) -> None:
    assert matches_path(name, path) is wildcard_match(name, path)


def test_hostile_paths_take_bounded_time() -> None:
    paths = TagPaths({"**a*" * 240 + f"b*{number}": ["PII"] for number in range(1_000)})
    with pytest.raises(RuleError, match="too many or too complex"):
        [paths.find("a" * 900 + f"b{number}") for number in range(10_000)]


def test_tags_of_all_matching_paths_unite() -> None:
    paths = TagPaths({"**.card": ["PII"], "o.*.card": ["SECRET"], "x": ["NO"]})
    assert paths.find("o.O.card") == {"PII", "SECRET"}


def test_paths_that_differ_from_names_at_their_ends_cost_one_step() -> None:
    paths = TagPaths({f"**.field{number}": ["PII"] for number in range(100)}, steps=100 * 100 + 100 * len("**.field99"))
    assert sum(bool(paths.find(f"o.O.field{number}")) for number in range(100)) == 100
