"""Sampling of a few records per topic before planning; the same ranges give the same records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from contractlog.contracts.audit.report import PARTS, Part
from contractlog.spark_validation.columnar.schema_headers import read_schema_headers
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource

__all__ = ["SampledPart", "sample_topics"]

WINDOW: Final = 200  #: offsets read per position
PARTITIONS: Final = 8  #: partitions sampled per topic, each at its beginning, middle and end
MAX_CONCURRENT: Final = 8


@dataclass(frozen=True, slots=True)
class SampledPart:
    """Keys or values of a few records, with the ids and guids from the records' headers."""

    bodies: pa.Array[Any]
    heads: pa.Array[Any]  #: null if a record has no such header


def sample_topics(
    source: RecordSource, ranges: Iterable[OffsetRange], topics: Collection[str]
) -> Mapping[tuple[str, Part], SampledPart]:
    """Return the keys and values of a few records of each topic."""
    places = [place for topic in topics for place in _sampled_ranges(one for one in ranges if one.topic == topic)]
    found: defaultdict[tuple[str, Part], list[tuple[pa.Array[Any], pa.Array[Any]]]] = defaultdict(list)
    with ThreadPoolExecutor(MAX_CONCURRENT) as threads:
        for place, batches in zip(places, threads.map(lambda place: list(source.read(place)), places), strict=True):
            for batch in batches:
                for part in PARTS:
                    heads = read_schema_headers(batch.column("headers"), part)
                    none: pa.Array[Any] = pa.nulls(batch.num_rows, pa.binary())
                    found[place.topic, part].append((batch.column(part), none if heads is None else heads))
    return {
        key: SampledPart(*(pa.concat_arrays(list(arrays)) for arrays in zip(*pairs, strict=True)))
        for key, pairs in found.items()
    }


def _sampled_ranges(ranges: Iterable[OffsetRange]) -> Iterator[OffsetRange]:
    reach: dict[int, tuple[int, int]] = {}
    topic = ""
    for one in ranges:
        topic = one.topic
        start, end = reach.get(one.partition, (one.start, one.end))
        reach[one.partition] = (min(start, one.start), max(end, one.end))
    filled = [(partition, start, end) for partition, (start, end) in sorted(reach.items()) if end > start]
    for partition, start, end in filled[:PARTITIONS]:
        for at in dict.fromkeys((start, max(start, (start + end - WINDOW) // 2), max(start, end - WINDOW))):
            yield OffsetRange(topic, partition, at, min(at + WINDOW, end))
