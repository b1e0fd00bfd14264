"""Kafka as a Spark data source without a connector jar: raw records, one partition per offset range.

>>> spark.dataSource.register(KafkaDataSource)
>>> spark.read.format("contractlog_kafka").option("kafka.bootstrap.servers", …).option("subscribe", "orders").load()

Every other option that begins with ``kafka.`` is passed to the client without that prefix. Put secrets into the file
named by ``brokerConfig``: each worker reads it itself, and its content is not part of any query plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources import kafka
from contractlog.spark_validation.sources.kafka_settings import read_settings, require_shared_file
from contractlog.spark_validation.sources.records import RECORDS_DDL, SPAN, OffsetRange

__all__ = ["NAME", "KafkaDataSource"]

NAME: Final = "contractlog_kafka"
_CLIENT: Final = "kafka."
_BOOTSTRAP: Final = "kafka.bootstrap.servers"


class KafkaDataSource(DataSource):
    """Records of topics from the first to the last stable offset, as of the planning of the query.

    Options: ``kafka.bootstrap.servers``; ``subscribe``, comma-separated topics (default: all that do not start with
    ``_``); ``maxRecordsPerPartition``, maximum number of offsets per task; ``brokerConfig``, a file of librdkafka
    properties.
    """

    @classmethod
    def name(cls) -> str:
        """Return the format name under which Spark finds the source."""
        return NAME

    def schema(self) -> str:
        """Return the columns, which are those of Spark's own Kafka source."""
        return RECORDS_DDL

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - the columns are always these
        """Return the reader for the options of this source."""
        return KafkaReader(dict(self.options))


class KafkaReader(DataSourceReader):
    """Plans offset ranges on the driver and reads them in the workers."""

    def __init__(self, options: dict[str, str]) -> None:
        given = {key.lower(): value for key, value in options.items()}
        if _BOOTSTRAP not in given:
            raise UsageError(f"the data source {NAME} needs the option `{_BOOTSTRAP}`")
        self._bootstrap = given[_BOOTSTRAP]
        self._topics = [name for name in map(str.strip, given.get("subscribe", "").split(",")) if name]
        self._span = int(given.get("maxrecordsperpartition", SPAN))
        self._config = require_shared_file(Path(given["brokerconfig"])) if "brokerconfig" in given else None
        self._options = {
            key.removeprefix(_CLIENT): value
            for key, value in given.items()
            if key.startswith(_CLIENT) and key != _BOOTSTRAP
        }

    @property
    def _settings(self) -> dict[str, Any]:
        return {**read_settings(self._config), **self._options}

    def partitions(self) -> Sequence[InputPartition]:
        """Return the ranges of offsets; their ends are fixed here."""
        ranges = kafka.plan_ranges(self._bootstrap, self._topics, settings=self._settings, span=self._span)
        return [InputPartition(offsets) for offsets in ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the records of one range."""
        offsets: OffsetRange = partition.value
        yield from kafka.read_range(self._bootstrap, offsets, settings=self._settings)
