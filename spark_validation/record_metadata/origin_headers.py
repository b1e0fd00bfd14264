"""Origins and traces of a batch's records, read from their headers without a loop over the records.

Headers that are read: our own (``contractlog.serdes.provenance``), those of the programs in ``_FAMILIES``, and the W3C
trace context. MirrorMaker 2 writes none. Confluent Replicator's and Debezium's are not read: the format of the first
is not public, and the second names a database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.record_origins import (
    MAX_ORIGINS,
    MAX_TRACES,
    OTHER_ORIGINS,
    OriginCounts,
    OriginKey,
    OriginPosition,
    TopicOrigins,
    TracedRecord,
)
from contractlog.serdes.provenance import (
    MAX_JOB_BYTES,
    MAX_ORIGIN_BYTES,
    MAX_PARTITION,
    MAX_TOPIC_CHARACTERS,
    ORIGIN_HEADER,
    ORIGIN_PATTERN,
    decode_job,
)
from contractlog.spark_validation.columnar.arrow import pick
from contractlog.spark_validation.profiles.field_profiler import make_histogram
from contractlog.spark_validation.profiles.value_hashes import hash_values
from contractlog.spark_validation.record_metadata.timestamps import NO_TIME, find_time_range
from contractlog.spark_validation.sources.records import TIMES

__all__ = ["REPLICATION_HEADERS", "TRACE_HEADER", "OriginCounter"]

Numbers = NDArray[np.int64]
Rows = NDArray[np.intp]

TRACE_HEADER: Final = "traceparent"
REPLICATION_HEADERS: Final = frozenset({"k2k_topic"})  #: name topics of other clusters
_NO_NUMBER: Final = -1
_WIDTHS: Final = ((4, ">i4"), (8, ">i8"))  #: of numbers in bytes, as Spring writes them
_TRACE: Final = r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$"
_NO_TRACE: Final = r"^ff|^..-0{32}|^.{36}0{16}"  #: no version, no trace, no span
_TRACE_ID: Final = (3, 35)
_SPAN_ID: Final = (36, 52)


@dataclass(frozen=True, slots=True)
class _HeaderFamily:
    """Headers by which a program names the record that another was made from.

    A record has an origin if it has all of the first three.
    """

    topic: str
    partition: str
    offset: str
    time: str = ""
    job: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all headers that the family has."""
        return tuple(filter(None, (self.topic, self.partition, self.offset, self.time, self.job)))


_FAMILIES: Final = (
    _HeaderFamily(  # Kafka Connect, dead letters of sink connectors (KIP-298)
        "__connect.errors.topic",
        "__connect.errors.partition",
        "__connect.errors.offset",
        job="__connect.errors.connector.name",
    ),
    _HeaderFamily(  # Kafka Streams, dead letters (KIP-1034)
        "__streams.errors.topic", "__streams.errors.partition", "__streams.errors.offset"
    ),
    _HeaderFamily(  # Spring for Apache Kafka, dead letters
        "kafka_dlt-original-topic",
        "kafka_dlt-original-partition",
        "kafka_dlt-original-offset",
        "kafka_dlt-original-timestamp",
        "kafka_dlt-original-consumer-group",
    ),
    _HeaderFamily(  # Spring for Apache Kafka, retry topics
        "kafka_original-topic", "kafka_original-partition", "kafka_original-offset", "kafka_original-timestamp"
    ),
    _HeaderFamily(  # Spring Cloud Stream, dead letters; also written by many programs that handle dead letters
        "x-original-topic", "x-original-partition", "x-original-offset", "x-original-timestamp"
    ),
    _HeaderFamily("dead-letter-topic", "dead-letter-partition", "dead-letter-offset"),  # SmallRye, Quarkus
    _HeaderFamily(  # Karafka
        "source_topic", "source_partition", "source_offset", job="source_consumer_group"
    ),
    _HeaderFamily("k2k_topic", "k2k_partition", "k2k_offset", job="k2k_pipeline"),  # Lenses K2K
)
_NAMES: Final = (ORIGIN_HEADER, TRACE_HEADER, *(name for family in _FAMILIES for name in family.names))
_RANKS: Final = {name: rank for rank, name in enumerate(_NAMES)}


@dataclass(frozen=True, slots=True)
class _Names:
    """A column of names."""

    distinct: list[str]
    numbers: Numbers  #: index into ``distinct``

    @classmethod
    def read(cls, values: pa.Array[Any], decode: Callable[[bytes], str]) -> _Names:
        """Decode each distinct value; values that are decoded to the same name are the same."""
        encoded: Any = values.dictionary_encode()
        names = list(map(decode, encoded.dictionary.to_pylist()))
        number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
        by_index = np.array([number_of[name] for name in names], np.int64)
        return cls(list(number_of), by_index[np.asarray(encoded.indices)])


@dataclass(frozen=True, slots=True)
class _Claims:
    """Origins that headers of one kind name, all with a valid position."""

    header: str
    rows: Rows  #: of the batch, ascending; a row may occur several times
    topics: _Names
    jobs: _Names
    partitions: Numbers
    offsets: Numbers
    times: Numbers  #: of the source records; -1 if unknown


class OriginCounter:
    """Counts the origins of the records of a range, batch by batch in any order."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._origins = TopicOrigins()

    def add(self, batch: pa.RecordBatch, offsets: Numbers, times: Numbers) -> None:
        """Count the records of a batch.

        Args:
            batch: the records.
            offsets: their offsets.
            times: their timestamps in milliseconds, ``NO_TIME`` if there is none.
        """
        headers = _RankedHeaders.read(batch.column("headers"))
        if headers is None:
            return
        own, invalid = _read_own(headers)
        for claims in (own, *map(headers.read_family, _FAMILIES)):
            if claims is not None:
                counted = _count_claims(claims, self._partition, offsets, times)
                self._origins = self._origins.merge(TopicOrigins(counted))
        traces = self._sample_traces(headers, offsets, times)
        self._origins = self._origins.merge(TopicOrigins(traces=traces, invalid=invalid))

    def result(self) -> TopicOrigins:
        """Return the origins of the range."""
        return self._origins

    def _sample_traces(self, headers: _RankedHeaders, offsets: Numbers, times: Numbers) -> dict[int, TracedRecord]:
        """Return the first record of each of the traces with the lowest hashes."""
        rows, values = headers.read_last(TRACE_HEADER)
        chosen = np.flatnonzero(_match(values, _TRACE) & ~_match(values, _NO_TRACE))
        if not chosen.size:
            return {}
        rows, values = rows[chosen], pick(values, chosen)
        traces = hash_values(pc.binary_slice(values, *_TRACE_ID))
        sampled = self._origins.traces
        if len(sampled) >= MAX_TRACES:
            low = np.flatnonzero(traces <= np.uint64(max(sampled)))
            rows, values, traces = rows[low], pick(values, low), traces[low]
        if not rows.size:
            return {}
        record_times = np.where(times == NO_TIME, np.iinfo(np.int64).max, times)[rows]
        order = np.lexsort((offsets[rows], record_times, traces))
        first = order[np.flatnonzero(np.diff(traces[order], prepend=~traces[order[:1]]))][:MAX_TRACES]
        spans = hash_values(pc.binary_slice(pick(values, first), *_SPAN_ID))
        columns = (traces[first], record_times[first], offsets[rows[first]], spans)
        return {
            trace: TracedRecord(time, self._partition, offset, span)
            for trace, time, offset, span in zip(*(column.tolist() for column in columns), strict=True)
        }


@dataclass(frozen=True, slots=True)
class _RankedHeaders:
    """The headers of a batch whose names are of interest."""

    ranks: NDArray[np.int32]  #: index into ``_NAMES``; -1 for other names
    rows: Rows  #: the record of each header
    values: pa.Array[Any]
    present: frozenset[int]  #: ranks that occur

    @classmethod
    def read(cls, headers: pa.Array[Any]) -> _RankedHeaders | None:
        """Return the headers of a batch; None if none is of interest, which costs one look-up per header."""
        if headers.null_count == len(headers):
            return None
        entries: Any = pc.list_flatten(headers)
        ranks = pc.index_in(entries.field("key"), value_set=pa.array(_NAMES, pa.string()))
        if ranks.null_count == len(ranks):
            return None
        numbers = np.asarray(ranks.fill_null(_NO_NUMBER))
        present = frozenset(np.unique(numbers[numbers >= 0]).tolist())
        return cls(numbers, np.asarray(pc.list_parent_indices(headers)), entries.field("value"), present)

    def read_all(self, name: str) -> tuple[Rows, pa.Array[Any]]:
        """Return the values of all headers with a name, and their records."""
        positions = np.flatnonzero(self.ranks == _RANKS[name])
        return self.rows[positions], pick(self.values, positions)

    def read_last(self, name: str) -> tuple[Rows, pa.Array[Any]]:
        """Return the value of each record's last header with a name, and the records."""
        positions = np.flatnonzero(self.ranks == _RANKS[name])
        rows = self.rows[positions]
        last = np.flatnonzero(np.append(rows[1:] != rows[:-1], True)) if rows.size else np.zeros(0, np.intp)
        return rows[last], pick(self.values, positions[last])

    def read_family(self, family: _HeaderFamily) -> _Claims | None:
        """Return the origins that the headers of a family name; None if there are none."""
        if not self.present.issuperset(_RANKS[name] for name in (family.topic, family.partition, family.offset)):
            return None
        rows, topics = self.read_last(family.topic)
        partitions, offsets = (self._read_numbers(name, rows) for name in (family.partition, family.offset))
        named = _match(topics, r"^[A-Za-z0-9._-]+$") & (_measure(topics) <= MAX_TOPIC_CHARACTERS)
        placed = (partitions >= 0) & (partitions <= MAX_PARTITION) & (offsets >= 0)
        valid = np.flatnonzero(named & placed)
        if not valid.size:
            return None
        times = self._read_numbers(family.time, rows) if family.time else np.full(rows.size, _NO_NUMBER)
        jobs = self._align(family.job, rows) if family.job else pa.nulls(rows.size, pa.binary())
        named_jobs: Any = pick(jobs, valid).fill_null(b"")
        return _Claims(
            family.topic,
            rows[valid],
            _Names.read(pick(topics, valid), _decode_name),
            _Names.read(pc.binary_slice(named_jobs, 0, MAX_JOB_BYTES), _decode_name),
            partitions[valid],
            offsets[valid],
            times[valid],
        )

    def _align(self, name: str, rows: Rows) -> pa.Array[Any]:
        """Return the last value of a header for some records, ascending; null if a record has none."""
        with_header, values = self.read_last(name)
        positions = np.searchsorted(with_header, rows)
        absent = np.append(with_header, -1)[positions] != rows
        masked: Any = pa.array(positions, mask=absent)
        return values.take(masked)

    def _read_numbers(self, name: str, rows: Rows) -> Numbers:
        """Return numbers in decimal digits, or in four or eight bytes, for some records; -1 if there is none."""
        values = self._align(name, rows)
        digits = _match(values, "^[0-9]{1,18}$")
        numbers = np.full(rows.size, _NO_NUMBER, np.int64)
        in_text = np.flatnonzero(digits)
        numbers[in_text] = np.asarray(pick(values, in_text).cast(pa.string()).cast(pa.int64()))
        lengths = _measure(values)
        for width, kind in _WIDTHS:
            in_bytes = np.flatnonzero((lengths == width) & ~digits)
            content: Any = pick(values, in_bytes).to_pylist()
            numbers[in_bytes] = np.frombuffer(b"".join(content), kind)
        return numbers


def _read_own(headers: _RankedHeaders) -> tuple[_Claims | None, int]:
    """Return the origins in headers of our format, and the number of headers that are not in it.

    Agrees with ``parse_origin``.
    """
    rows, values = headers.read_all(ORIGIN_HEADER)
    short = np.flatnonzero(_measure(values) <= MAX_ORIGIN_BYTES)
    parsed: Any = pc.extract_regex(pick(values, short), pattern=f"^(?:{ORIGIN_PATTERN})$")
    matched = np.flatnonzero(np.asarray(parsed.is_valid()))
    if not matched.size:
        return None, int(rows.size)
    origins: Any = pick(parsed, matched)
    partitions, offsets, times = (_to_integers(origins.field(name)) for name in ("partition", "offset", "time"))
    named = _measure(origins.field("topic")) <= MAX_TOPIC_CHARACTERS
    valid = np.flatnonzero(named & (partitions <= MAX_PARTITION))
    if not valid.size:
        return None, int(rows.size)
    claims = _Claims(
        ORIGIN_HEADER,
        rows[short[matched[valid]]],
        _Names.read(pick(origins.field("topic"), valid), _decode_name),
        _Names.read(pick(origins.field("job"), valid), decode_job),
        partitions[valid],
        offsets[valid],
        times[valid],
    )
    return claims, int(rows.size - valid.size)


def _to_integers(texts: pa.Array[Any]) -> Numbers:
    """Return texts of digits as numbers; -1 for empty ones."""
    numbers = np.full(len(texts), _NO_NUMBER, np.int64)
    filled = np.flatnonzero(_measure(texts))
    numbers[filled] = np.asarray(pick(texts, filled).cast(pa.string()).cast(pa.int64()))
    return numbers


def _measure(values: Any) -> Numbers:
    """Return the length of each value in bytes; 0 for null."""
    return np.asarray(pc.binary_length(values).fill_null(0)).astype(np.int64)


def _match(values: Any, pattern: str) -> NDArray[np.bool_]:
    """Return whether each value matches a pattern; null does not."""
    return np.asarray(pc.match_substring_regex(values, pattern).fill_null(False))  # noqa: FBT003 - positional only


def _decode_name(name: bytes) -> str:
    """Return a name, which may have been cut within a character."""
    return name.decode(errors="ignore")


def _count_claims(claims: _Claims, partition: int, offsets: Numbers, times: Numbers) -> dict[OriginKey, OriginCounts]:
    """Count the records by origin; a record that names an origin several times counts once."""
    topics, jobs = claims.topics, claims.jobs
    pairs, numbers = np.unique(topics.numbers * len(jobs.distinct) + jobs.numbers, return_inverse=True)
    keys = [
        OriginKey(claims.header, topics.distinct[pair // len(jobs.distinct)], jobs.distinct[pair % len(jobs.distinct)])
        for pair in pairs.tolist()
    ]
    _, chosen = np.unique(claims.rows * len(keys) + numbers, return_index=True)
    order = chosen[np.argsort(numbers[chosen], kind="stable")]
    bounds = np.searchsorted(numbers[order], np.arange(len(keys) + 1))
    groups = dict(zip(keys, np.split(order, bounds[1:-1]), strict=True))
    lowest = nsmallest(MAX_ORIGINS, groups)
    counts = {key: _count_group(claims, groups.pop(key), partition, offsets, times) for key in lowest}
    if groups:  # hostile names: no more than a count of each batch
        others = claims.rows[np.concatenate(list(groups.values()))]
        counts[OTHER_ORIGINS] = OriginCounts(others.size, *find_time_range(times[others]))
    return counts


def _count_group(claims: _Claims, group: Rows, partition: int, offsets: Numbers, times: Numbers) -> OriginCounts:
    """Count the records with one origin."""
    record_times, record_offsets = times[claims.rows[group]], offsets[claims.rows[group]]
    lowest = int(np.argmin(record_offsets))
    source = int(group[lowest])
    position = OriginPosition(
        partition, int(record_offsets[lowest]), int(claims.partitions[source]), int(claims.offsets[source])
    )
    source_times = claims.times[group]
    timed = np.flatnonzero((record_times != NO_TIME) & (source_times >= 0) & (source_times < TIMES.stop))
    lags, records = np.unique(record_times[timed] - source_times[timed], return_counts=True)
    histogram = make_histogram(lags.astype(np.float64), records) if lags.size else NumberHistogram()
    return OriginCounts(group.size, *find_time_range(record_times), histogram, position)
