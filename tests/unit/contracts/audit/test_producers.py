"""Counts per producer are limited to the lowest names, and do not depend on the division of the range."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.mergeable_state import (
    AuditState,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    limit_state,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import (
    MAX_PRODUCERS,
    MAX_VIOLATION_PRODUCERS,
    OTHER_PRODUCERS,
    ProducerCounts,
    ProducerKey,
    parse_producer,
)

RECORDS = st.lists(st.tuples(st.integers(0, 150), st.integers(0, 2)), max_size=300)


def state_of(records: list[tuple[int, int]], start: int = 0) -> AuditState:
    """Make a state of records, each with a producer and whether it violates (0: it conforms)."""
    producers: dict[ProducerKey, ProducerCounts] = {}
    state = AuditState()
    for offset, (number, kind) in enumerate(records, start):
        key = ProducerKey("t", "value", f"p{number:03}")
        counts = ProducerCounts(1, int(kind > 0), offset, offset)
        producers[key] = producers[key].merge(counts) if key in producers else counts
        if kind:
            line = ViolationKey("t", "value", Outcome.TRUNCATED, kind, "/fields/0", "a")
            example = (ViolationExample(0, offset),)
            violation = ViolationCounts(1, offset, offset, example, producers={key.producer: 1})
            state = state.merge(AuditState(violations={line: violation}))
    return state.merge(AuditState(producers=producers))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, RECORDS)
def test_limiting_producers_early_or_late_gives_the_same(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    left, right = state_of(a), state_of(b, 1_000)
    whole = limit_state(left.merge(right))
    assert limit_state(limit_state(left).merge(limit_state(right))) == whole
    assert sum(counts.records for counts in whole.producers.values()) == len(a) + len(b)
    for violation in whole.violations.values():
        assert sum(violation.producers.values()) == violation.records


def test_the_lowest_names_are_counted_separately_and_the_others_together() -> None:
    state = limit_state(state_of([(number, 1) for number in range(150)]))
    names = [f"p{number:03}" for number in range(150)]
    assert sorted(key.producer for key in state.producers) == [OTHER_PRODUCERS, *names[:MAX_PRODUCERS]]
    assert state.producers[ProducerKey("t", "value", OTHER_PRODUCERS)] == ProducerCounts(50, 50, 100, 149)
    ((_, violation),) = state.violations.items()
    assert sorted(violation.producers) == [OTHER_PRODUCERS, *names[:MAX_VIOLATION_PRODUCERS]]
    assert violation.producers[OTHER_PRODUCERS] == 150 - MAX_VIOLATION_PRODUCERS


def test_a_topic_that_is_read_again_loses_its_producers() -> None:
    state = AuditState(producers={ProducerKey(topic, "value", "p"): ProducerCounts(1, 0, 0, 0) for topic in "ab"})
    assert [key.topic for key in state.without(["a"]).producers] == ["b"]


def test_names_are_text_of_limited_length() -> None:
    assert parse_producer("gärtner".encode()) == "gärtner"
    assert parse_producer(b"a\xffb") == "a\N{REPLACEMENT CHARACTER}b"
    assert parse_producer("é".encode() * 500) == "é" * 64 + "…"
    assert parse_producer(b"x" * 128) == "x" * 128
