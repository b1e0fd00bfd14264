"""Candidate pairs of fields are those that share values, whatever else an estate has."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from contractlog.spark_validation.lineage.candidate_fields import (
    MAX_ANCHORS,
    MIN_CONTAINED,
    MIN_VALUES,
    find_candidates,
    share_two_fields,
)
from contractlog.spark_validation.lineage.sample_arrays import SampledField, SampledTopic, group_by_topic

from support.sampled_topics import sample_topics

Records = list[dict[str, int]]

records = st.lists(
    st.fixed_dictionaries({}, optional={name: st.integers(0, 12) for name in "abc"}).filter(bool),
    min_size=1,
    max_size=30,
)
estates = st.lists(records, min_size=1, max_size=4)


def sample_records(estate: list[Records]) -> list[SampledTopic]:
    topics = {f"t{number}": list(enumerate(records)) for number, records in enumerate(estate)}
    return group_by_topic(sample_topics(topics).samples)


def compare_fields(source: SampledField, target: SampledField) -> tuple[bool, int]:
    """Return whether two fields are candidates, and the shared occurrences; written as the definition says."""
    values, occurrences = set(source.hashes.tolist()), Counter(target.hashes.tolist())
    shared = values & set(occurrences)
    comparable = sum(value <= source.highest for value in occurrences)
    enough = len(shared) >= max(MIN_VALUES, MIN_CONTAINED * comparable)
    return enough, sum(occurrences[value] for value in shared)


@given(estates)
def test_an_index_of_values_finds_the_pairs_of_fields_that_comparing_all_of_them_finds(estate: list[Records]) -> None:
    topics = sample_records(estate)
    expected = {}
    for source in topics:
        for target in topics:
            pairs = [
                (-occurrences, f, g)
                for f, of_source in enumerate(source.fields)
                for g, of_target in enumerate(target.fields)
                for enough, occurrences in [compare_fields(of_source, of_target)]
                if enough and source is not target
            ]
            if pairs:
                expected[source.name, target.name] = [(f, g) for _, f, g in sorted(pairs)[:MAX_ANCHORS]]
    assert find_candidates(topics) == expected


@given(estates, records)
def test_a_further_topic_changes_no_candidates_of_others(estate: list[Records], further: Records) -> None:
    alone = find_candidates(sample_records(estate))
    together = find_candidates(sample_records([*estate, further]))
    added = f"t{len(estate)}"
    assert {pair: fields for pair, fields in together.items() if added not in pair} == alone


def test_no_topics_have_no_candidates() -> None:
    assert find_candidates([]) == {}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=MAX_ANCHORS - 1, unique=True))
def test_two_fields_are_shared_if_two_pairs_have_no_field_in_common(pairs: list[tuple[int, int]]) -> None:
    assert share_two_fields(pairs) == any(a[0] != b[0] and a[1] != b[1] for a in pairs for b in pairs)


def test_topics_of_which_pairs_were_left_out_may_share_two_fields() -> None:
    assert share_two_fields([(0, g) for g in range(MAX_ANCHORS)])
