"""Groups of topics by the prefix of their names."""

from __future__ import annotations

from contractlog.spark_validation.report.lineage_page.topic_groups import MAX_GROUP, group_topics


def grouped(*topics: str) -> dict[str, tuple[str, ...]]:
    return {group.prefix: group.topics for group in group_topics(topics)}


def test_topics_of_one_prefix_are_a_group_and_others_stay_alone() -> None:
    assert grouped("orders.raw", "orders.clean", "billing.raw", "payments") == {
        "orders.": ("orders.clean", "orders.raw")
    }


def test_a_dot_divides_before_a_hyphen_and_a_hyphen_before_an_underscore() -> None:
    assert grouped("shop-a.x_1", "shop-a.x_2", "shop-b_1", "shop-b_2") == {
        "shop-a.": ("shop-a.x_1", "shop-a.x_2"),
        "shop-": ("shop-b_1", "shop-b_2"),
    }


def test_a_prefix_of_all_topics_is_no_group_if_longer_ones_are() -> None:
    assert set(grouped("prod.a.1", "prod.a.2", "prod.b.1", "prod.b.2")) == {"prod.a.", "prod.b."}
    assert set(grouped("prod.a", "prod.b")) == {"prod."}


def test_large_groups_are_divided() -> None:
    names = [f"shop.{part}.{number}" for part in ("a", "b") for number in range(MAX_GROUP)]
    assert set(grouped(*names, "x.1", "x.2")) == {"shop.a.", "shop.b.", "x."}
    flat = [f"shop.{number}" for number in range(MAX_GROUP + 1)]
    assert len(grouped(*flat, "x.1", "x.2")["shop."]) == MAX_GROUP + 1


def test_each_topic_is_in_one_group_at_most() -> None:
    names = [f"shop.{part}.{number}" for part in ("a", "b") for number in range(30)] + [f"shop.{n}" for n in range(5)]
    groups = group_topics([*names, "x.1"])
    topics = [topic for group in groups for topic in group.topics]
    assert sorted(topics) == sorted(names)


def test_names_of_separators_alone_are_no_prefix() -> None:
    assert grouped("..", ".", "-", "__", "a.", "a-") == {}
