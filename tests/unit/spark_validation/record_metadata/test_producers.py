"""Producers are read from headers as a loop over the records would, without the loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.producers import MAX_PRODUCERS, OTHER_PRODUCERS, ProducerCounts, ProducerKey
from contractlog.spark_validation.record_metadata.producers import read_producers
from contractlog.spark_validation.record_metadata.timestamps import NO_TIME

from support.archives import Record, create_batch

NAMES = ("producer", "service")
Headers = Sequence[tuple[str, bytes | None]] | None
HEADERS = st.one_of(
    st.none(),
    st.lists(
        st.tuples(st.sampled_from(["producer", "service", "trace"]), st.sampled_from([None, b"", b"a", b"b", b"\xff"])),
        max_size=4,
    ),
)


def producer_of(headers: Headers) -> str | None:
    """Return the producer of one record: the last header with the first name, if any has a value."""
    for name in NAMES:
        values = [value for key, value in headers or () if key == name and value]
        if values:
            return values[-1].decode(errors="replace")
    return None


def names_of(headers: Sequence[Headers], *, skipped: int = 0) -> list[str | None]:
    """Return the producers of records, as read from a batch whose first rows are sliced off."""
    batch = create_batch("t", [Record(at, headers=one) for at, one in enumerate(headers)]).slice(skipped)
    producers = read_producers(batch.column("headers"), NAMES)
    return [None if producers is None else producers.name_at(row) for row in range(batch.num_rows)]


@settings(deadline=None)
@given(st.lists(HEADERS, max_size=12), st.integers(0, 3))
def test_the_last_header_of_the_first_name_with_a_value_counts(headers: list[Headers], skipped: int) -> None:
    assert names_of(headers, skipped=skipped) == [producer_of(one) for one in headers][skipped:]


def test_without_producers_nothing_is_returned() -> None:
    batch = create_batch(
        "t", [Record(0), Record(1, headers=[("trace", b"1")]), Record(2, headers=[("producer", None)])]
    )
    assert read_producers(batch.column("headers"), NAMES) is None
    assert read_producers(batch.slice(0, 1).column("headers"), NAMES) is None
    assert read_producers(create_batch("t", [Record(0, headers=[("a", b"b")])]).column("headers"), ()) is None


def test_records_are_counted_by_producer_with_their_times() -> None:
    headers: list[Headers] = [[("producer", b"a")], None, [("service", b"b")], [("producer", b"a")]]
    batch = create_batch("t", [Record(at, headers=one) for at, one in enumerate(headers)])
    producers = read_producers(batch.column("headers"), NAMES)
    assert producers is not None
    violating, times = np.array([True, True, False, False]), np.array([5, 6, 7, NO_TIME])
    assert producers.count_records("t", "value", violating, times) == {
        ProducerKey("t", "value", "a"): ProducerCounts(2, 1, 5, 5),
        ProducerKey("t", "value", "b"): ProducerCounts(1, 0, 7, 7),
    }
    assert producers.count_rows(np.array([0, 1, 3])) == {"a": 2}


def test_names_beyond_the_limit_are_counted_together() -> None:
    headers: list[Headers] = [[("producer", b"%04d" % at)] for at in range(MAX_PRODUCERS + 5)]
    batch = create_batch("t", [Record(at, headers=one) for at, one in enumerate(headers)])
    producers = read_producers(batch.column("headers"), NAMES)
    assert producers is not None
    assert producers.names == (OTHER_PRODUCERS, *(f"{at:04}" for at in range(MAX_PRODUCERS)))
    assert producers.count_rows(np.arange(MAX_PRODUCERS, MAX_PRODUCERS + 5)) == {OTHER_PRODUCERS: 5}
    counts = producers.count_rows(np.arange(25))
    assert (len(counts), counts[OTHER_PRODUCERS]) == (21, 5)
