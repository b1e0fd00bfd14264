"""Topics are selected by name or glob."""

from __future__ import annotations

from contractlog.spark_validation.sources.topic_patterns import is_glob, match_topics


def test_a_name_with_wildcards_is_first_of_all_a_name() -> None:
    assert match_topics("a[b]", ["a[b]", "ab"]) == ["a[b]", "ab"]


def test_internal_topics_are_matched_by_patterns_that_begin_like_them() -> None:
    assert match_topics("*", ["_schemas", "orders"]) == ["orders"]
    assert match_topics("_*", ["_schemas", "orders"]) == ["_schemas"]


def test_wildcards_make_a_glob() -> None:
    assert not is_glob("orders.v1-value")
    assert all(map(is_glob, ("orders-*", "o?", "[ab]")))
