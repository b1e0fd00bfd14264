"""Origins of a topic's records, as their headers name them, and the traces that they belong to.

Headers may be hostile, so a topic has at most ``MAX_ORIGINS`` origins, the lowest by name, and all others are counted
together; and the ``MAX_TRACES`` traces with the lowest hashes. Every topic samples the same traces, so samples can be
joined. Names and traces beyond a limit are never among the lowest of a larger range, so the result does not depend on
how a range was divided. No other content of headers is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, NamedTuple

from contractlog.contracts.audit.number_histograms import NumberHistogram

__all__ = [
    "MAX_ORIGINS",
    "MAX_TRACES",
    "OTHER_ORIGINS",
    "OriginCounts",
    "OriginKey",
    "OriginPosition",
    "TopicOrigins",
    "TracedRecord",
    "describe_uncounted_origins",
]

MAX_ORIGINS: Final = 100  #: per topic
MAX_TRACES: Final = 1_024  #: per topic


class OriginKey(NamedTuple):
    """A topic that headers of one kind name as the origin, and the program that wrote the records."""

    header: str  #: the header that names the topic
    topic: str
    job: str  #: empty if unknown


OTHER_ORIGINS: Final = OriginKey("", "", "")  #: stands for all beyond the limit


class OriginPosition(NamedTuple):
    """A record, and the record that it was made from."""

    partition: int
    offset: int
    source_partition: int
    source_offset: int


@dataclass(frozen=True, slots=True)
class OriginCounts:
    """Records with the same origin: their count, time range, lag, and the lowest of them."""

    records: int
    first_seen: int  #: milliseconds since 1970, UTC
    last_seen: int
    lags: NumberHistogram = field(default_factory=NumberHistogram)  #: milliseconds, where both times are known
    example: OriginPosition | None = None  #: None for ``OTHER_ORIGINS``

    def merge(self, other: OriginCounts) -> OriginCounts:
        """Return the counts of both together."""
        return OriginCounts(
            self.records + other.records,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
            self.lags.merge(other.lags),
            min(filter(None, (self.example, other.example)), default=None),
        )

    def without_details(self) -> OriginCounts:
        """Return the counts as they are added to those of ``OTHER_ORIGINS``."""
        return OriginCounts(self.records, self.first_seen, self.last_seen)


class TracedRecord(NamedTuple):
    """The first record of a trace in a topic; tuple order is by time, then by position."""

    timestamp: int  #: milliseconds since 1970, UTC
    partition: int
    offset: int
    span_hash: int  #: unsigned 64-bit hash of the id of the span that wrote the record


@dataclass(frozen=True, slots=True)
class TopicOrigins:
    """Origins of the records of a topic, and a sample of their traces."""

    origins: Mapping[OriginKey, OriginCounts] = field(default_factory=dict)
    traces: Mapping[int, TracedRecord] = field(default_factory=dict)  #: by the unsigned 64-bit hash of the trace's id
    invalid: int = 0  #: headers in our format's name that are not in the format

    def merge(self, other: TopicOrigins) -> TopicOrigins:
        """Return the origins of the records of both, which have no record in common."""
        origins = dict(self.origins)
        for key, counts in other.origins.items():
            origins[key] = origins[key].merge(counts) if key in origins else counts
        traces = dict(self.traces)
        for trace, record in other.traces.items():
            traces[trace] = min(traces.get(trace, record), record)
        return TopicOrigins(
            _limit_origins(origins),
            traces if len(traces) <= MAX_TRACES else {trace: traces[trace] for trace in nsmallest(MAX_TRACES, traces)},
            self.invalid + other.invalid,
        )

    @property
    def empty(self) -> bool:
        """True if no header says anything about origins."""
        return not (self.origins or self.traces or self.invalid)


def _limit_origins(origins: dict[OriginKey, OriginCounts]) -> dict[OriginKey, OriginCounts]:
    """Return the counts with those of all origins beyond the limit combined."""
    if len(origins) <= MAX_ORIGINS:
        return origins
    lowest = set(nsmallest(MAX_ORIGINS, origins.keys() - {OTHER_ORIGINS}))
    limited: dict[OriginKey, OriginCounts] = {}
    for key, counts in origins.items():
        if key in lowest:
            limited[key] = counts
        else:
            former = limited.get(OTHER_ORIGINS)
            pooled = counts.without_details()
            limited[OTHER_ORIGINS] = pooled if former is None else former.merge(pooled)
    return limited


def describe_uncounted_origins(origins: Mapping[str, TopicOrigins]) -> dict[str, list[str]]:
    """Return sentences by topic about headers that lineage does not see."""
    notes: dict[str, list[str]] = {}
    for topic, of_topic in sorted(origins.items()):
        others = of_topic.origins.get(OTHER_ORIGINS)
        if others is not None:
            notes.setdefault(topic, []).append(
                f"Headers name more than {MAX_ORIGINS} origins. Records with others, which lineage leaves out: "
                f"{others.records:,}."
            )
        if of_topic.invalid:
            plural = "header is" if of_topic.invalid == 1 else "headers are"
            notes.setdefault(topic, []).append(f"{of_topic.invalid:,} provenance {plural} not in the format.")
    return notes
