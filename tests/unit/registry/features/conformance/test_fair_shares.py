"""Selections of parts of topics leave each group of topics its share."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from contractlog.registry.features.conformance.fair_shares import select_fairly

TOPICS = st.lists(st.text(alphabet="abc-", min_size=1, max_size=6), unique=True, max_size=60)


def values(*topics: str) -> list[tuple[str, str]]:
    return [(topic, "value") for topic in topics]


def test_many_topics_of_one_prefix_do_not_displace_those_of_others() -> None:
    many = values(*(f"a-z{number}" for number in range(1_000)))
    others = values("b-payments", "b-orders", "apples", "a")
    chosen = select_fairly([*many, *others], 100)
    assert len(chosen) == 100
    assert set(others) <= set(chosen)


def test_topics_that_differ_in_their_first_characters_leave_a_share_to_others() -> None:
    many = values(*(f"a{letter}{number}" for letter in string.ascii_lowercase for number in range(50)))
    honest = values(*(f"b-{number}" for number in range(30)))
    assert set(honest) <= set(select_fairly([*many, *honest], 200))


def test_the_most_important_half_is_always_selected() -> None:
    parts = values(*(f"b-{number}" for number in range(50)), *(f"c-{number}" for number in range(500)))
    assert set(parts[:50]) <= set(select_fairly(parts, 100))


def test_keys_and_values_of_one_topic_are_selected_by_importance() -> None:
    assert select_fairly([("a", "value"), ("b", "value"), ("b", "key")], 2) == [("a", "value"), ("b", "value")]


@given(topics=TOPICS, limit=st.integers(0, 70))
def test_as_many_distinct_parts_are_selected_as_the_limit_allows(topics: list[str], limit: int) -> None:
    parts = [(topic, part) for topic in topics for part in ("value", "key")]
    chosen = select_fairly(parts, limit)
    assert len(chosen) == len(set(chosen)) == min(limit, len(parts))
    assert set(chosen) <= set(parts)
