"""Topics made by hand, as Parquet archives: framed Avro, and every way to break it that a test asks for."""

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


def registered(schema_id: int, text: str = ORDER, subject: str = "orders-value", version: int = 1) -> RegisteredSchema:
    """Make a schema as a registry would hold it."""
    return RegisteredSchema(SchemaId(schema_id), text, subject=Subject.parse(subject), version=Version(version))


def framed(schema_id: int, body: bytes) -> bytes:
    """Put the frame around a body."""
    return b"\0" + schema_id.to_bytes(4, "big") + body


def order(schema_id: int = 1, total: int = 7, note: str = "fine") -> bytes:
    """Write an order that conforms."""
    out = BytesIO()
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "total", "type": "long"}, {"name": "note", "type": "string"}],
    }
    schemaless_writer(out, schema, {"total": total, "note": note})
    return framed(schema_id, out.getvalue())


def batch(topic: str, records: Sequence[Record]) -> pa.RecordBatch:
    """Return records as a source would."""
    columns: Mapping[str, Sequence[Any]] = {
        "key": [one.key for one in records],
        "value": [one.value for one in records],
        "topic": [topic] * len(records),
        "partition": [one.partition for one in records],
        "offset": [one.offset for one in records],
        "timestamp": [None if one.timestamp is None else one.timestamp * 1000 for one in records],
        "timestampType": [-1 if one.timestamp is None else 0 for one in records],
        "headers": [one.headers and [{"key": key, "value": value} for key, value in one.headers] for one in records],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in RECORDS]
    return pa.record_batch(arrays, schema=RECORDS)


def write_topic(folder: Path, topic: str, records: Sequence[Record], *, start: int = 0, end: int | None = None) -> None:
    """Write a topic into an archive; each partition reaches from ``start`` to ``end``, or past its last record."""
    for partition in {one.partition for one in records} or {0}:
        mine = [one for one in records if one.partition == partition]
        stop = max((one.offset + 1 for one in mine), default=start) if end is None else end
        batches = [batch(topic, mine)] if mine else []
        archive.write_range(folder, OffsetRange(topic, partition, start, stop), batches)
