"""A look at few rows never rejects an alignment that all rows prove."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.spark_validation.lineage.alignment import FEW_ROWS, align_rows, may_agree, measure_agreement
from contractlog.spark_validation.lineage.copied_fields import find_proofs
from contractlog.spark_validation.lineage.sample_arrays import group_by_topic

from support.sampled_topics import sample_topics

rows = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=20, max_size=FEW_ROWS)


@given(rows, st.data())
def test_what_proves_an_alignment_is_never_rejected_after_a_look_at_few_rows(
    values: list[tuple[int, int]], data: st.DataObject
) -> None:
    changed = data.draw(st.sets(st.integers(0, len(values) - 1), max_size=len(values) // 4))
    source = [(1000 * n, {"id": f"id{n}", "a": a, "b": b}) for n, (a, b) in enumerate(values)]
    target = [
        (1000 * n + 1, {"id": f"id{n}", "x": a + (100 if n in changed else 0), "y": b})
        for n, (a, b) in enumerate(values)
    ]
    topics = {topic.name: topic for topic in group_by_topic(sample_topics({"s": source, "t": target}).samples)}
    s, t = topics["s"], topics["t"]
    anchor = (
        next(f for f, field in enumerate(s.fields) if field.name == "id"),
        next(g for g, field in enumerate(t.fields) if field.name == "id"),
    )
    alignment = align_rows(s.fields[anchor[0]], t.fields[anchor[1]])
    proven = find_proofs(s, t, anchor, measure_agreement(s, t, alignment)).any()
    assert may_agree(s, t, anchor, alignment) or not proven


def test_topics_that_share_only_the_aligning_field_are_rejected() -> None:
    source = [(1000 * n, {"id": n, "a": f"a{n % 7}"}) for n in range(200)]
    target = [(1000 * n + 1, {"id": n, "x": f"x{n % 7}"}) for n in range(200)]
    topics = {topic.name: topic for topic in group_by_topic(sample_topics({"s": source, "t": target}).samples)}
    s, t = topics["s"], topics["t"]
    anchor = (
        next(f for f, field in enumerate(s.fields) if field.name == "id"),
        next(g for g, field in enumerate(t.fields) if field.name == "id"),
    )
    assert not may_agree(s, t, anchor, align_rows(s.fields[anchor[0]], t.fields[anchor[1]]))
