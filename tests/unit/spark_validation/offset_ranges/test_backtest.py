"""The back-test of a range accounts for every record, however the range is divided."""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.backtest_state import (
    ReadabilityState,
    ReadCounts,
    ReadKey,
    ReadOutcome,
    UnreadableCounts,
    UnreadableExample,
    UnreadableKey,
    limit_readability,
)
from contractlog.contracts.audit.mergeable_state import MAX_EXAMPLES, MAX_PATHS, MAX_UNKNOWN_IDS
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema
from contractlog.spark_validation.offset_ranges.backtest import BacktestPlan
from contractlog.spark_validation.sources.records import OffsetRange, split_ranges
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import DAY, Record, create_schema, encode_frame, encode_order, write_topic
from support.avro_codecs import encode, record

TOPIC = "orders"
NULLABLE = record(("total", "long"), ("note", ["null", "string"]), name="Order")
PLAN = BacktestPlan(
    "value",
    {
        1: ExpectedSchema(create_schema(1)),
        2: ExpectedSchema(create_schema(2, json.dumps(NULLABLE), version=2)),
        3: ExpectedSchema(create_schema(3, version=3), fault="cannot be used"),
    },
    {b"g" * 16: 2},
    SchemaDraft(json.dumps(record(("total", "long"), ("note", "string"), name="Order"))),
    {},
)
WITH_NOTE = encode(NULLABLE, {"total": 1, "note": "a"})
WITHOUT_NOTE = encode(NULLABLE, {"total": 1, "note": None})
VALUES: list[tuple[ReadOutcome, bytes | None]] = [
    (ReadOutcome.READABLE, encode_order()),
    (ReadOutcome.READABLE, encode_frame(2, WITH_NOTE)),
    (ReadOutcome.UNREADABLE, encode_frame(2, WITHOUT_NOTE)),
    (ReadOutcome.VIOLATING, encode_order()[:-1]),
    (ReadOutcome.NOT_USABLE, encode_order(3)),
    (ReadOutcome.TOMBSTONE, None),
    (ReadOutcome.NOT_FRAMED, b"plain text"),
    (ReadOutcome.OTHER_ID, encode_order(9)),
]
CASES = st.lists(st.tuples(st.integers(0, len(VALUES) - 1), st.integers(1, 3), st.integers(0, DAY)), max_size=30)
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
IDS = st.integers(1, 3)
TEXTS = st.sampled_from(["", "a", "b"])
KEYS = st.builds(UnreadableKey, st.just(TOPIC), IDS, TEXTS, TEXTS, TEXTS, TEXTS)
EXAMPLES = st.builds(UnreadableExample, st.integers(0, 1), st.integers(0, 99), st.just("x"))
TIMES = st.integers(0, 9)


@st.composite
def states(draw: st.DrawFn) -> ReadabilityState:
    """Return a state with few distinct keys, so that merging meets equal ones."""
    counts = st.builds(ReadCounts, st.integers(1, 9), TIMES, TIMES)
    unreadable = st.builds(
        lambda examples, first, last: UnreadableCounts(
            len(examples), first, last, tuple(sorted(examples))[:MAX_EXAMPLES], f"of {min(examples)}"
        ),
        st.sets(EXAMPLES, min_size=1),
        TIMES,
        TIMES,
    )
    keys = st.builds(ReadKey, st.just(TOPIC), IDS, st.sampled_from(ReadOutcome))
    return ReadabilityState(
        counts=draw(st.dictionaries(keys, counts, max_size=6)),
        unreadable=draw(st.dictionaries(KEYS, unreadable, max_size=6)),
    )


def read(folder: Path, ranges: list[OffsetRange], plan: BacktestPlan = PLAN) -> ReadabilityState:
    """Back-test ranges one by one and merge."""
    process = plan.prepare()
    states = [process(ArchiveSource(folder), offsets) for offsets in ranges]
    return limit_readability(reduce(ReadabilityState.merge, states, ReadabilityState()))


def test_every_record_has_one_outcome_and_the_cause_is_named(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(at, value=value) for at, (_, value) in enumerate(VALUES)])
    state = read(tmp_path, [OffsetRange(TOPIC, 0, 0, len(VALUES))])
    totals: Counter[ReadOutcome] = Counter()
    for key, count in state.counts.items():
        totals[key.outcome] += count.records
    assert totals == Counter(outcome for outcome, _ in VALUES)
    reason = "null was written, and cannot be read as string"
    key = UnreadableKey(TOPIC, 2, "READER_MISMATCH", "", "note", reason)
    assert state.unreadable == {key: UnreadableCounts(1, 0, 0, (UnreadableExample(0, 2, "note"),), reason)}
    (coverage,) = state.coverage
    assert coverage.records == len(VALUES)


def test_a_guid_in_a_header_names_the_version(tmp_path: Path) -> None:
    headers = [("__value_schema_id", b"\1" + b"g" * 16)]
    write_topic(tmp_path, TOPIC, [Record(0, value=WITHOUT_NOTE, headers=headers)])
    state = read(tmp_path, [OffsetRange(TOPIC, 0, 0, 1)])
    assert list(state.counts) == [ReadKey(TOPIC, 2, ReadOutcome.UNREADABLE)]


def test_records_that_violate_only_the_old_rules_can_become_readable(tmp_path: Path) -> None:
    """The proposed schema drops the logical type that the record breaks."""
    uuid = record(("id", {"type": "string", "logicalType": "uuid"}))
    plain = record(("id", "string"))
    body = encode_frame(1, encode(plain, {"id": "no uuid"}))
    write_topic(tmp_path, TOPIC, [Record(0, value=body)])
    versions = {1: ExpectedSchema(create_schema(1, json.dumps(uuid)))}
    for proposed, expected in ((plain, ReadOutcome.READABLE), (uuid, ReadOutcome.VIOLATING)):
        plan = BacktestPlan("value", versions, {}, SchemaDraft(json.dumps(proposed)), {})
        state = read(tmp_path, [OffsetRange(TOPIC, 0, 0, 1)], plan)
        assert (list(state.counts), state.unreadable) == ([ReadKey(TOPIC, 1, expected)], {})


@QUICK
@given(cases=CASES, span=st.integers(1, 20))
def test_any_split_of_a_range_gives_the_same_state(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[int, int, int]], span: int
) -> None:
    folder = tmp_path_factory.mktemp("archive") / os.urandom(4).hex()
    records, offset = [], 0
    for index, gap, time in cases:
        offset += gap
        records.append(Record(offset, value=VALUES[index][1], timestamp=time))
    write_topic(folder, TOPIC, records, end=offset + 2)
    whole = OffsetRange(TOPIC, 0, 0, offset + 2)
    once, split = read(folder, [whole]), read(folder, list(split_ranges([whole], span)))
    assert (once.counts, once.unreadable) == (split.counts, split.unreadable)
    assert sum(part.records for part in split.coverage) == len(records)


@given(states(), states(), states())
def test_states_merge_in_any_order(first: ReadabilityState, second: ReadabilityState, third: ReadabilityState) -> None:
    assert first.merge(ReadabilityState()) == first
    assert first.merge(second) == second.merge(first)
    assert first.merge(second).merge(third) == first.merge(second.merge(third))


def test_limits_do_not_depend_on_the_order_of_merging() -> None:
    def state(numbers: range) -> ReadabilityState:
        example = (UnreadableExample(0, numbers[0], ""),)
        return ReadabilityState(
            counts={ReadKey(TOPIC, at, ReadOutcome.OTHER_ID): ReadCounts(1, at, at) for at in numbers},
            unreadable={
                UnreadableKey(TOPIC, 1, "CODE", "", f"f{at:04}", ""): UnreadableCounts(1, at, at, example, "")
                for at in numbers
            },
        )

    high, low = state(range(200, 500)), state(range(1, 300))
    limited = limit_readability(high.merge(low))
    assert limit_readability(limit_readability(high).merge(limit_readability(low))) == limited
    assert len(limited.counts) == MAX_UNKNOWN_IDS + 1
    assert len(limited.unreadable) == MAX_PATHS + 1
    assert sum(count.records for count in limited.counts.values()) == 599
    assert sum(count.records for count in limited.unreadable.values()) == 599
