"""Origins are read from headers as a loop over the records would; nothing else of headers is stored."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.record_origins import (
    MAX_ORIGINS,
    MAX_TRACES,
    OTHER_ORIGINS,
    OriginKey,
    OriginPosition,
    TopicOrigins,
)
from contractlog.serdes.provenance import ORIGIN_HEADER, RecordOrigin, format_origin, parse_origin
from contractlog.spark_validation.record_metadata.origin_headers import TRACE_HEADER, OriginCounter
from contractlog.spark_validation.record_metadata.timestamps import to_milliseconds

from support.archives import Record, create_batch

SECRET = b"SECRET-4711"
OWN = st.sampled_from(
    [
        b"1;orders/3/42;time=5;job=a",
        b"1;orders/3/43",
        b"1;customers/0/7;job=a%20b",
        b"1;customers/0/7;job=%61%20b",
        b"1;orders/2147483648/1",
        b"2;orders/3/42",
        b"1;orders/3/42\n",
        SECRET,
        b"\xff",
        b"",
        None,
    ]
)
FOREIGN = st.sampled_from(
    [
        b"orders",
        b"3",
        b"42",
        b"\0\0\0\x03",
        b"\0\0\0\0\0\0\0\x2a",
        b"\xff\xff\xff\xff",
        b"no topic",
        b"9" * 19,
        b"",
        None,
    ]
)
TRACES = st.sampled_from(
    [
        b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"00-00000000000000000000000000000000-b7ad6b7169203331-01",
        b"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        SECRET,
        None,
    ]
)
HEADERS = st.none() | st.lists(
    st.tuples(st.just(ORIGIN_HEADER), OWN)
    | st.tuples(st.just(TRACE_HEADER), TRACES)
    | st.tuples(
        st.sampled_from([f"kafka_dlt-original-{name}" for name in ("topic", "partition", "offset", "timestamp")]),
        FOREIGN,
    )
    | st.tuples(st.sampled_from(["note", "traceparents"]), st.just(SECRET)),
    max_size=6,
)
RECORDS = st.lists(st.tuples(HEADERS, st.none() | st.integers(0, 9)), max_size=12)
Headers = Sequence[tuple[str, bytes | None]] | None


def count(records: Sequence[Record], cuts: Sequence[int] = ()) -> TopicOrigins:
    """Return the origins of records in batches, the last first."""
    counter = OriginCounter(0)
    bounds = [0, *sorted(cuts), len(records)]
    for start, end in reversed(list(pairwise(bounds))):
        batch = create_batch("t", records).slice(start, end - start)
        if batch.num_rows:
            counter.add(batch, np.asarray(batch.column("offset")), to_milliseconds(batch.column("timestamp")))
    return counter.result()


def read_number(value: bytes | None) -> int:
    """Return a number in digits, or in four or eight bytes; -1 if there is none."""
    if value is None:
        return -1
    if re.fullmatch(rb"[0-9]{1,18}", value):
        return int(value)
    return int.from_bytes(value, signed=True) if len(value) in {4, 8} else -1


def named_origins(headers: Headers) -> dict[OriginKey, tuple[int, int]]:
    """Return the origins that a record names, with the position of each."""
    named: dict[OriginKey, tuple[int, int]] = {}
    for name, value in headers or ():
        origin = parse_origin(value) if name == ORIGIN_HEADER else None
        if origin is not None:
            named.setdefault(OriginKey(name, origin.topic, origin.job), (origin.partition, origin.offset))
    last = {name.removeprefix("kafka_dlt-original-"): value for name, value in headers or ()}
    topic, partition, offset = last.get("topic"), read_number(last.get("partition")), read_number(last.get("offset"))
    if topic is not None and re.fullmatch(rb"[A-Za-z0-9._-]+", topic) and 0 <= partition < 2**31 and offset >= 0:
        named[OriginKey("kafka_dlt-original-topic", topic.decode(), "")] = (partition, offset)
    return named


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, st.lists(st.integers(0, 12), max_size=3))
def test_origins_are_those_that_a_loop_over_the_records_finds(
    drawn: list[tuple[Headers, int | None]], cuts: list[int]
) -> None:
    records = [Record(10 * at, headers=headers, timestamp=time) for at, (headers, time) in enumerate(drawn)]
    origins = count(records, [min(cut, len(records)) for cut in cuts])
    expected: defaultdict[OriginKey, list[OriginPosition]] = defaultdict(list)
    for record in records:
        for key, position in named_origins(record.headers).items():
            expected[key].append(OriginPosition(0, record.offset, *position))
    assert {key: (counts.records, counts.example) for key, counts in origins.origins.items()} == {
        key: (len(positions), positions[0]) for key, positions in expected.items()
    }
    own = [value for record in records for name, value in record.headers or () if name == ORIGIN_HEADER]
    assert origins.invalid == sum(parse_origin(value) is None for value in own)
    assert "SECRET" not in repr(origins)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, st.integers(0, 12))
def test_origins_of_two_ranges_merge_to_those_of_both(drawn: list[tuple[Headers, int | None]], cut: int) -> None:
    records = [Record(at, headers=headers, timestamp=time) for at, (headers, time) in enumerate(drawn)]
    assert count(records[:cut]).merge(count(records[cut:])) == count(records)


def test_lag_is_known_if_both_times_are() -> None:
    values = [
        b"1;orders/0/1;time=1000",
        b"1;orders/0/2;time=1500",
        b"1;orders/0/3",
        b"1;orders/0/4;time=999999999999999",
    ]
    records = [Record(at, headers=[(ORIGIN_HEADER, value)], timestamp=2000) for at, value in enumerate(values)]
    (counts,) = count([*records, Record(9, headers=[(ORIGIN_HEADER, values[0])], timestamp=None)]).origins.values()
    assert (counts.records, counts.lags.total, counts.first_seen, counts.last_seen) == (5, 2, 2000, 2000)
    assert counts.lags.quantile(0.1) == pytest.approx(500, rel=0.016)


@pytest.mark.parametrize(
    ("headers", "topic", "job"),
    [
        (
            {
                "__connect.errors.topic": b"orders",
                "__connect.errors.partition": b"3",
                "__connect.errors.offset": b"42",
                "__connect.errors.connector.name": b"sink",
                "__connect.errors.exception.message": SECRET,
            },
            "__connect.errors.topic",
            "sink",
        ),
        (
            {
                "kafka_dlt-original-topic": b"orders",
                "kafka_dlt-original-partition": b"\0\0\0\x03",
                "kafka_dlt-original-offset": b"\0\0\0\0\0\0\0\x2a",
                "kafka_dlt-original-timestamp": b"\0\0\0\0\0\0\x03\xe8",
                "kafka_dlt-original-consumer-group": b"billing",
            },
            "kafka_dlt-original-topic",
            "billing",
        ),
        (
            {"__streams.errors.topic": b"orders", "__streams.errors.partition": b"3", "__streams.errors.offset": b"42"},
            "__streams.errors.topic",
            "",
        ),
        (
            {"k2k_topic": b"orders", "k2k_partition": b"3", "k2k_offset": b"42", "k2k_pipeline": b"mirror"},
            "k2k_topic",
            "mirror",
        ),
    ],
)
def test_headers_of_other_programs_are_read(headers: dict[str, bytes], topic: str, job: str) -> None:
    origins = count([Record(5, headers=list(headers.items()), timestamp=3000)])
    ((key, counts),) = origins.origins.items()
    assert key == OriginKey(topic, "orders", job)
    assert counts.example == OriginPosition(0, 5, 3, 42)
    assert counts.lags.total == ("kafka_dlt-original-timestamp" in headers)
    assert "SECRET" not in repr(origins)


def test_a_name_without_a_position_is_no_origin() -> None:
    """``source_topic`` may be any program's own header, and not that of a topic."""
    headers = [("source_topic", b"orders"), ("source_partition", b"north"), ("source_offset", b"1")]
    assert count([Record(0, headers=headers), Record(1, headers=headers[:1])]).empty


def test_hostile_names_and_traces_are_bounded() -> None:
    records = [
        Record(
            at,
            headers=[
                (ORIGIN_HEADER, format_origin(RecordOrigin(f"t{at:06}", 0, at))),
                (TRACE_HEADER, b"00-%032x-%016x-01" % (at + 1, at + 1)),
            ],
        )
        for at in range(3000)
    ]
    origins = count(records, [1000, 2500])
    assert (
        origins
        == count(records)
        == reduce(TopicOrigins.merge, (count(records[at : at + 7]) for at in range(0, 3000, 7)))
    )
    assert len(origins.origins) == MAX_ORIGINS + 1
    assert OriginKey(ORIGIN_HEADER, "t000099", "") in origins.origins
    assert origins.origins[OTHER_ORIGINS].records == 3000 - MAX_ORIGINS
    assert len(origins.traces) == MAX_TRACES


def test_a_trace_has_its_first_record() -> None:
    trace = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    other = trace[:36] + b"c7ad6b7169203331-01"
    records = [
        Record(0, headers=[(TRACE_HEADER, trace)], timestamp=9),
        Record(1, headers=[(TRACE_HEADER, trace), (TRACE_HEADER, other)], timestamp=4),
        Record(2, headers=[(TRACE_HEADER, trace)], timestamp=4),
        Record(3, headers=[(TRACE_HEADER, trace)], timestamp=None),
    ]
    (first,) = count(records).traces.values()
    (last,) = count(records[2:]).traces.values()
    assert (first.timestamp, first.offset) == (4, 1)
    assert first.span_hash != last.span_hash


def test_records_without_such_headers_have_no_origins() -> None:
    assert count([Record(0), Record(1, headers=[("trace", b"1")]), Record(2, headers=[])]).empty
