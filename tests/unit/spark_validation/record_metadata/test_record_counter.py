"""The statistics of a range are those that a plain loop over its records finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.record_statistics import RecordStatistics, TimestampRun
from contractlog.spark_validation.record_metadata.record_counter import RecordCounter
from contractlog.spark_validation.record_metadata.timestamps import to_milliseconds
from contractlog.spark_validation.sources.records import OffsetRange

from support.archives import Record, create_batch, encode_frame

KEYS = [None, b"", b"a", b"b", encode_frame(1, b"a"), encode_frame(2, b"a"), encode_frame(2, b"")]
RECORDS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(KEYS),
        st.one_of(st.none(), st.binary(max_size=80)),
        st.one_of(st.none(), st.integers(0, 9)),
    ),
    max_size=30,
)


def _count(records: list[Record], cuts: list[int], *, framed: bool) -> RecordStatistics:
    """Return the statistics of records in batches, the last first."""
    counter = RecordCounter(OffsetRange("t", 0, 0, 200), {} if framed else None)
    bounds = [0, *sorted(cut % (len(records) + 1) for cut in cuts), len(records)]
    for start, end in reversed(list(pairwise(bounds))):
        batch = create_batch("t", records[start:end])
        counter.add(batch, np.asarray(batch.column("offset")), to_milliseconds(batch.column("timestamp")))
    return counter.result()


@pytest.mark.parametrize("framed", [False, True])
@given(RECORDS, st.lists(st.integers(0, 30), max_size=3))
def test_records_are_counted_in_batches_of_any_order(
    framed: bool,  # noqa: FBT001 - a parameter of pytest
    cases: list[tuple[int, bytes | None, bytes | None, int | None]],
    cuts: list[int],
) -> None:
    records, offset = [], 0
    for gap, key, value, time in cases:
        offset += gap
        records.append(Record(offset, key, value, time))
    statistics = _count(records, cuts, framed=framed)
    bodies = [
        record.key[5:] if framed and record.key[:1] == b"\0" else record.key
        for record in records
        if record.key is not None
    ]
    assert statistics.records == len(records)
    assert statistics.null_keys == len(records) - len(bodies)
    assert sorted(counts.records for counts in statistics.keys.values()) == sorted(
        bodies.count(body) for body in set(bodies)
    )
    assert {record.offset for record in statistics.sample} == {each.offset for each in records if each.key is not None}
    values = [len(record.value) for record in records if record.value is not None]
    if values:
        sizes = statistics.sizes["value"]
        assert (sizes.histogram.total, sizes.total, sizes.largest) == (len(values), sum(values), max(values))
    times = [record.timestamp for record in records if record.timestamp is not None]
    steps = [before - after for before, after in pairwise(times) if after < before]
    first, last = (times[0], times[-1]) if times else (None, None)
    assert statistics.runs == (TimestampRun(0, 0, 200, first, last, len(steps), max(steps, default=0)),)


def test_a_key_is_the_same_under_each_schema_id() -> None:
    records = [Record(0, encode_frame(1, b"a")), Record(1, encode_frame(2, b"a"))]
    assert len(_count(records, [], framed=True).keys) == 1
    assert len(_count(records, [], framed=False).keys) == 2
