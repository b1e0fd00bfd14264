"""Sources of records, as small values that are sent to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa

from contractlog.contracts.audit.report import AuditSource as SourceBody
from contractlog.spark_validation.sources import archive, kafka
from contractlog.spark_validation.sources.archive_folder import Location, hide_parameters
from contractlog.spark_validation.sources.kafka_reader import KafkaRangeReader
from contractlog.spark_validation.sources.kafka_settings import read_settings
from contractlog.spark_validation.sources.records import SPAN, OffsetRange, split_ranges

__all__ = ["ArchiveSource", "KafkaSource", "RangeReader", "RangeSource", "RecordSource"]

_COMPACT: Final = "compact"  #: the cleanup policy
_COMPACTED: Final = (
    "the topic is compacted, so newer records of the same keys have replaced them; transaction markers and aborted "
    "records are absent, too"
)
_NOT_COMPACTED: Final = (
    "the topic is not compacted, so they are transaction markers, aborted records, or were deleted during the audit"
)


class RangeSource(Protocol):
    """Records by ranges; reading the same range always returns the same records."""

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""


class RangeReader(RangeSource, Protocol):
    """Reader of several ranges."""

    @property
    def duplicates(self) -> Mapping[str, int]:
        """Records that were skipped so far, as their offset occurs twice, by topic."""


class RecordSource(RangeSource, Protocol):
    """Offset ranges and the records in them."""

    def list_topics(self) -> list[str]:
        """Return the names of all topics, sorted.

        Raises:
            Unreachable: the source does not respond.
        """

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of topics that have one; it changes when a topic is created again."""

    def where(self) -> str:
        """Return the source for messages about topics that do not exist, as ``at 127.0.0.1:9092``."""

    def find_offsets(self, ranges: Sequence[OffsetRange], time: int) -> Mapping[tuple[str, int], int]:
        """Return the first offset with a time (in milliseconds) or a later one, by partition."""

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges that contain all records of the given topics, or of all topics if none is given.

        Raises:
            UsageError: a topic does not exist.
            Unreachable: the source does not respond.
        """

    def split(self, ranges: Sequence[OffsetRange], span: int) -> list[OffsetRange]:
        """Return the ranges in parts of about ``span`` records at most."""

    def open(self, ranges: Sequence[OffsetRange]) -> AbstractContextManager[RangeReader]:
        """Return a reader for ranges that are read in this order, cheaper than reading each by itself."""

    def body(self) -> SourceBody:
        """Return the description of this source for the report."""

    def notes(self, topic: str) -> list[str]:
        """Return sentences about data of a topic that is skipped."""

    def explain_absent(self, topics: Sequence[str]) -> Mapping[str, str]:
        """Return a sentence on why offsets of a topic have no record, by topic, where the source knows."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """A Kafka cluster."""

    bootstrap: str
    #: a file of librdkafka properties; each worker reads it itself, so that its secrets never pass through Spark
    config: Path | None = None

    def list_topics(self) -> list[str]:
        """Return the names of all topics that the user may see."""
        return kafka.list_topics(self.bootstrap, settings=read_settings(self.config))

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """Return the ids that the broker has given to topics."""
        return kafka.fetch_topic_ids(self.bootstrap, topics, settings=read_settings(self.config))

    def where(self) -> str:
        """Return the cluster's address for messages."""
        return f"at {self.bootstrap}{', or this user may not see it' if self.config else ''}"

    def find_offsets(self, ranges: Sequence[OffsetRange], time: int) -> Mapping[tuple[str, int], int]:
        """Return the first offset with a time or a later one, by the broker's index."""
        return kafka.find_offsets(
            self.bootstrap, [offsets.key for offsets in ranges], time, settings=read_settings(self.config)
        )

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges from the first to the last stable offset, as of now."""
        return kafka.plan_ranges(self.bootstrap, topics, settings=read_settings(self.config), span=span)

    def split(self, ranges: Sequence[OffsetRange], span: int) -> list[OffsetRange]:
        """Return the ranges in parts of at most ``span`` offsets."""
        return list(split_ranges(ranges, span))

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the committed records of a range."""
        return kafka.read_range(self.bootstrap, offsets, settings=read_settings(self.config))

    def open(self, ranges: Sequence[OffsetRange]) -> AbstractContextManager[RangeReader]:
        """Return a reader with one consumer, which fetches small ranges together."""
        return KafkaRangeReader(self.bootstrap, ranges, settings=read_settings(self.config))

    def body(self) -> SourceBody:
        """Return the cluster's address for the report."""
        return {"kind": "kafka", "bootstrap_servers": self.bootstrap}

    def notes(self, topic: str) -> list[str]:  # noqa: ARG002 - a cluster has none
        """Return no notes: nothing in a cluster is skipped."""
        return []

    def explain_absent(self, topics: Sequence[str]) -> Mapping[str, str]:
        """Return a sentence for each topic, inferred from its cleanup policy."""
        policies = kafka.fetch_cleanup_policies(self.bootstrap, topics, settings=read_settings(self.config))
        return {topic: _COMPACTED if _COMPACT in policy else _NOT_COMPACTED for topic, policy in policies.items()}


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """A folder of Parquet files, local or in an object store."""

    folder: Location  #: a path, or an address such as ``s3://bucket/archive``
    timestamp_unit: str | None = None  #: unit of integer timestamps, one of ``archive.UNITS``

    def list_topics(self) -> list[str]:
        """Return the names of the topics that have a folder."""
        return archive.list_topics(self.folder)

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002 - there are none
        """Return nothing: a folder has no id."""
        return {}

    def where(self) -> str:
        """Return the folder for messages."""
        return f"in the archive {hide_parameters(self.folder)}"

    def find_offsets(self, ranges: Sequence[OffsetRange], time: int) -> Mapping[tuple[str, int], int]:
        """Return the first offset with a time or a later one, by the column of timestamps."""
        return archive.find_offsets(self.folder, {offsets.topic for offsets in ranges}, time, unit=self.timestamp_unit)

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges contained in the files."""
        return archive.plan_ranges(self.folder, topics, span=span, unit=self.timestamp_unit)

    def split(self, ranges: Sequence[OffsetRange], span: int) -> list[OffsetRange]:
        """Return the ranges in parts of about ``span`` records at most, however many offsets are absent."""
        return archive.split_ranges(self.folder, ranges, span, unit=self.timestamp_unit)

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""
        return archive.read_range(self.folder, offsets, unit=self.timestamp_unit)

    def open(self, ranges: Sequence[OffsetRange]) -> AbstractContextManager[RangeReader]:  # noqa: ARG002 - not needed
        """Return a reader that lists the files of a topic once."""
        return nullcontext(archive.ArchiveReader(self.folder, unit=self.timestamp_unit))

    def body(self) -> SourceBody:
        """Return the folder for the report."""
        return {"kind": "archive", "archive": hide_parameters(self.folder)}

    def notes(self, topic: str) -> list[str]:
        """Return a note for each file of zero bytes."""
        return [f"The file `{file}` is empty and was skipped." for file in archive.find_empty_files(self.folder, topic)]

    def explain_absent(self, topics: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002 - a folder does not know
        """Return nothing: a folder does not have the reasons."""
        return {}
