"""Lineage edges between whole topics, traced in the headers of records.

A header that names the position of a source record is a statement of the program that wrote the record. A trace in two
topics is weaker: both have records of one request, in an order, and a third program may have written both. Such edges
have no direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.mergeable_state import NO_TIMESTAMP, AuditState
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.record_origins import (
    MAX_TRACES,
    OTHER_ORIGINS,
    OriginCounts,
    OriginKey,
    TopicOrigins,
    TracedRecord,
)
from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.audit.time_text import format_timestamp
from contractlog.contracts.lineage.edges import EdgeExample, LagQuantiles, LineageEdge
from contractlog.spark_validation.record_metadata.origin_headers import REPLICATION_HEADERS

__all__ = ["TRACE", "find_traced_edges"]

ORIGIN: Final = "origin"  #: method of edges that headers with positions name
TRACE: Final = "trace"  #: method of edges between topics with the same traces
MIN_SHARED: Final = 10  #: traces; fewer are coincidences, such as a static header
MIN_SHARE: Final = 0.5  #: of the traces of the later topic
MIN_ORDERED: Final = 0.95  #: of the shared traces; others have clocks that differ, or no order
MIN_NEAREST: Final = 0.5  #: of the shared traces, without a third topic between both
_QUANTILES: Final = (0.05, 0.5, 0.95)

_HIGHEST: Final = 2**64 - 1
_NO_INDEX: Final = -1
_ABSENT: Final = -np.inf
_PASSED_ON: Final = 2.0**52  #: more than all times, so that these sort last; sums are exact

Hashes = NDArray[np.uint64]
Indexes = NDArray[np.intp]


def find_traced_edges(state: AuditState) -> list[LineageEdge]:
    """Return the edges that headers show, by target and source topic.

    Their fields are empty, as headers are about whole records.
    """
    edges = [
        _make_origin_edge(topic, key, counts)
        for topic, origins in state.origins.items()
        for key, counts in origins.origins.items()
        if key != OTHER_ORIGINS and key.topic != topic  # a replayed dead letter names its own topic
    ]
    named = {frozenset((edge["from"]["topic"], edge["to"]["topic"])) for edge in edges}
    traced = [edge for edge in _find_trace_edges(state.origins) if frozenset(_ends(edge)) not in named]
    return sorted(
        edges + traced, key=lambda edge: (*reversed(_ends(edge)), edge["method"], edge.get("description", ""))
    )


def _ends(edge: LineageEdge) -> tuple[str, str]:
    return edge["from"]["topic"], edge["to"]["topic"]


def _make_origin_edge(topic: str, key: OriginKey, counts: OriginCounts) -> LineageEdge:
    records = "1 record names" if counts.records == 1 else f"{counts.records:,} records name"
    written = f", written by `{key.job}`" if key.job else ""
    elsewhere = "; it may be a topic of another cluster" if key.header in REPLICATION_HEADERS else ""
    edge: LineageEdge = {
        "from": {"topic": key.topic, "field": ""},
        "to": {"topic": topic, "field": ""},
        "direction": "known",
        "method": ORIGIN,
        "score": 1.0,
        "support": counts.records,
        "lag_ms": counts.lags.quantile(0.5) if counts.lags.total else None,
        "evidence": "traced",
        "description": f"{records} it in the header `{key.header}`{written}{elsewhere}",
        "lag_quantiles_ms": _find_quantiles(counts.lags),
        "first_seen": format_timestamp(counts.first_seen),
        "last_seen": format_timestamp(counts.last_seen),
        "example": None,
    }
    if key.job:
        edge["job"] = key.job
    if counts.example is not None:
        position = counts.example
        edge["example"] = {
            "from": {"partition": position.source_partition, "offset": position.source_offset},
            "to": {"partition": position.partition, "offset": position.offset},
        }
    return edge


def _find_quantiles(lags: NumberHistogram) -> LagQuantiles | None:
    if not lags.total:
        return None
    low, middle, high = (lags.quantile(share) for share in _QUANTILES)
    return {"p05": low, "p50": middle, "p95": high}


@dataclass(frozen=True, slots=True)
class _TraceSample:
    """The sampled traces of a topic whose first record has a time, as columns by ascending hash."""

    topic: str
    hashes: Hashes
    times: NDArray[np.int64]
    spans: Hashes
    positions: Sequence[RecordPosition]
    bound: int  #: the sample is complete up to this hash

    @classmethod
    def of(cls, topic: str, traces: Mapping[int, TracedRecord]) -> _TraceSample:
        timed = sorted((trace, record) for trace, record in traces.items() if record.timestamp != NO_TIMESTAMP)
        return cls(
            topic,
            np.array([trace for trace, _ in timed], np.uint64),
            np.array([record.timestamp for _, record in timed], np.int64),
            np.array([record.span_hash for _, record in timed], np.uint64),
            [{"partition": record.partition, "offset": record.offset} for _, record in timed],
            max(traces) if len(traces) >= MAX_TRACES else _HIGHEST,
        )

    def count(self, bound: int) -> int:
        """Return the number of traces up to a hash."""
        return int(np.searchsorted(self.hashes, np.uint64(bound), side="right"))


@dataclass(frozen=True, slots=True)
class _SharedTraces:
    """Traces that two topics have in common, as indexes into both samples by ascending hash."""

    first: _TraceSample  #: the topic that comes first in time
    second: _TraceSample
    in_first: Indexes
    in_second: Indexes

    @property
    def ordered(self) -> bool:
        """True if the traces are enough, and show that the first topic comes first."""
        lags = self.lags
        earlier, later = int(np.count_nonzero(lags > 0)), int(np.count_nonzero(lags < 0))
        whole = self.second.count(min(self.first.bound, self.second.bound))
        return earlier >= max(MIN_ORDERED * (earlier + later), lags.size / 2) and lags.size >= MIN_SHARE * whole

    @property
    def lags(self) -> NDArray[np.int64]:
        """Milliseconds from the first record of each trace in the first topic to that in the second."""
        return self.second.times[self.in_second] - self.first.times[self.in_first]

    @property
    def passed_on(self) -> NDArray[np.bool_]:
        """True for traces whose parent id is the same in both topics."""
        return np.equal(self.second.spans[self.in_second], self.first.spans[self.in_first], dtype=np.bool_)


def _find_trace_edges(origins: Mapping[str, TopicOrigins]) -> list[LineageEdge]:
    samples = [
        _TraceSample.of(topic, of_topic.traces)
        for topic, of_topic in sorted(origins.items())
        if len(of_topic.traces) >= MIN_SHARED
    ]
    return [_make_trace_edge(shared) for candidates in _find_earlier(samples) for shared in _select_nearest(candidates)]


def _find_earlier(samples: Sequence[_TraceSample]) -> Iterator[list[_SharedTraces]]:
    """Yield, for each topic that has any, the topics that come before it in the traces of both.

    It looks traces up by number instead of sorting each pair of samples: 500 topics have 250,000 pairs.
    """
    sizes = [sample.hashes.size for sample in samples]
    distinct, numbers = np.unique(
        np.concatenate([np.zeros(0, np.uint64), *(sample.hashes for sample in samples)]), return_inverse=True
    )
    traces = np.split(numbers, np.cumsum(sizes))[:-1]  # of each sample, ascending as its hashes; the last is empty
    index_of = np.full(distinct.size, _NO_INDEX)
    for target, target_traces in zip(samples, traces, strict=True):
        index_of[target_traces] = np.arange(target_traces.size)
        candidates = []
        for source, source_traces in zip(samples, traces, strict=True):
            positions = index_of[source_traces]
            in_source = np.flatnonzero(positions >= 0)
            if in_source.size >= MIN_SHARED and source is not target:
                shared = _SharedTraces(source, target, in_source, positions[in_source])
                if shared.ordered:
                    candidates.append(shared)
        index_of[target_traces] = _NO_INDEX
        if candidates:
            yield candidates


def _select_nearest(candidates: Sequence[_SharedTraces]) -> list[_SharedTraces]:
    """Return the topics before one that are directly before it in enough traces."""
    target = candidates[0].second
    size = target.count(min(target.bound, *(each.first.bound for each in candidates)))  # of traces that all would have
    ranks = np.full((len(candidates), target.hashes.size), _ABSENT, np.float64)
    for row, shared in enumerate(candidates):
        times = shared.first.times[shared.in_first].astype(np.float64)
        before = shared.lags > 0
        ranks[row, shared.in_second[before]] = (times + shared.passed_on * _PASSED_ON)[before]
    present = ranks[:, :size] > _ABSENT
    nearest = present & (ranks[:, :size] == ranks[:, :size].max(axis=0, initial=_ABSENT))
    counts = zip(candidates, nearest.sum(axis=1).tolist(), present.sum(axis=1).tolist(), strict=True)
    return [shared for shared, direct, traces in counts if direct >= MIN_NEAREST * traces]


def _make_trace_edge(shared: _SharedTraces) -> LineageEdge:
    lags, first, second = shared.lags, shared.first, shared.second
    earlier = int(np.count_nonzero(lags > 0))
    low, middle, high = np.quantile(lags, _QUANTILES).tolist()
    times = second.times[shared.in_second]
    chosen = int(np.argmax(lags > 0))  # the trace with the lowest hash that has the order
    example: EdgeExample = {
        "from": first.positions[int(shared.in_first[chosen])],
        "to": second.positions[int(shared.in_second[chosen])],
    }
    passed_on = int(np.count_nonzero(shared.passed_on))
    parents = f", {passed_on:,} of them with the same parent id" if passed_on else ""
    return {
        "from": {"topic": first.topic, "field": ""},
        "to": {"topic": second.topic, "field": ""},
        "direction": "unknown",
        "method": TRACE,
        "score": round(earlier / lags.size, 4),
        "support": int(lags.size),
        "lag_ms": middle,
        "evidence": "traced",
        "description": (
            f"{lags.size:,} sampled traces are in both topics{parents}; {earlier:,} begin earlier in `{first.topic}`;"
            " a third program may have written both"
        ),
        "lag_quantiles_ms": {"p05": low, "p50": middle, "p95": high},
        "first_seen": format_timestamp(int(times.min())),
        "last_seen": format_timestamp(int(times.max())),
        "example": example,
    }
