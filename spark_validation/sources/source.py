"""A place that records come from, as a small value that travels to workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from contractlog.contracts.observed.report import Source as SourceBody
from contractlog.spark_validation.sources import archive, kafka, kafka_ranges
from contractlog.spark_validation.sources.kafka_talk import settings_in
from contractlog.spark_validation.sources.records import SPAN, OffsetRange

__all__ = ["ArchiveSource", "KafkaSource", "Source"]


class Source(Protocol):
    """Ranges of offsets, and the records in them; always the same records for the same range."""

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges that hold all records of topics; none named means all.

        Raises:
            UsageError: a topic does not exist.
            Unreachable: there is nobody to ask.
        """

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""

    def body(self) -> SourceBody:
        """Say in a report where the records were read."""

    def notes(self, topic: str) -> list[str]:
        """Say what of a topic is passed over, in sentences."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """A Kafka cluster."""

    bootstrap: str
    #: a file of librdkafka properties; each worker reads it itself, so that Spark never carries what it holds
    config: Path | None = None

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges from the first to the last stable offset, as they are now."""
        return kafka_ranges.plan_ranges(self.bootstrap, topics, settings=settings_in(self.config), span=span)

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the committed records of a range."""
        return kafka.read_range(self.bootstrap, offsets, settings=settings_in(self.config))

    def body(self) -> SourceBody:
        """Name the cluster."""
        return {"kind": "kafka", "bootstrap_servers": self.bootstrap}

    def notes(self, topic: str) -> list[str]:  # noqa: ARG002 - a cluster has none
        """Say nothing: a cluster passes nothing over."""
        return []


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """A folder of Parquet files."""

    folder: Path
    timestamp_unit: str | None = None  #: of timestamps that are written as integers, one of ``archive.UNITS``

    def plan(self, topics: Sequence[str], *, span: int = SPAN) -> list[OffsetRange]:
        """Return the ranges that the files hold."""
        return archive.plan_ranges(self.folder, topics, span=span, unit=self.timestamp_unit)

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""
        return archive.read_range(self.folder, offsets, unit=self.timestamp_unit)

    def body(self) -> SourceBody:
        """Name the folder."""
        return {"kind": "archive", "archive": str(self.folder)}

    def notes(self, topic: str) -> list[str]:
        """Name files that hold no bytes."""
        return [f"The file `{file}` is empty and was passed over." for file in archive.empty_files(self.folder, topic)]
