"""Topics in Parquet archives, with valid and invalid Avro records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastavro import schemaless_writer

from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.spark_validation.sources import archive
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange

ORDER = '{"type":"record","name":"Order","fields":[{"name":"total","type":"long"},{"name":"note","type":"string"}]}'
DAY = 86_400_000


@dataclass(frozen=True)
class Record:
    """One record of a log, at an offset."""

    offset: int
    key: bytes | None = None
    value: bytes | None = None
    timestamp: int | None = 0  #: milliseconds
    partition: int = 0
    headers: Sequence[tuple[str, bytes | None]] | None = None


def create_schema(
    schema_id: int, text: str = ORDER, subject: str = "orders-value", version: int = 1
) -> RegisteredSchema:
    """Create a schema as a registry returns it."""
    return RegisteredSchema(SchemaId(schema_id), text, subject=Subject.parse(subject), version=Version(version))


def encode_frame(schema_id: int, body: bytes) -> bytes:
    """Add the frame to a body."""
    return b"\0" + schema_id.to_bytes(4, "big") + body


def encode_order(schema_id: int = 1, total: int = 7, note: str = "fine") -> bytes:
    """Encode a valid order."""
    out = BytesIO()
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "total", "type": "long"}, {"name": "note", "type": "string"}],
    }
    schemaless_writer(out, schema, {"total": total, "note": note})
    return encode_frame(schema_id, out.getvalue())


def create_batch(topic: str, records: Sequence[Record]) -> pa.RecordBatch:
    """Return records as a source does."""
    columns: Mapping[str, Sequence[Any]] = {
        "key": [record.key for record in records],
        "value": [record.value for record in records],
        "topic": [topic] * len(records),
        "partition": [record.partition for record in records],
        "offset": [record.offset for record in records],
        "timestamp": [None if record.timestamp is None else record.timestamp * 1000 for record in records],
        "timestampType": [-1 if record.timestamp is None else 0 for record in records],
        "headers": [
            record.headers and [{"key": key, "value": value} for key, value in record.headers] for record in records
        ],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in RECORDS]
    return pa.record_batch(arrays, schema=RECORDS)


def write_topic(folder: Path, topic: str, records: Sequence[Record], *, start: int = 0, end: int | None = None) -> None:
    """Write a topic to an archive; partitions extend from ``start`` to ``end`` or to their last record."""
    for partition in {record.partition for record in records} or {0}:
        partition_records = [record for record in records if record.partition == partition]
        stop = max((record.offset + 1 for record in partition_records), default=start) if end is None else end
        batches = [create_batch(topic, partition_records)] if partition_records else []
        archive.write_range(folder, OffsetRange(topic, partition, start, stop), batches)
