"""Cost of the parts of an audit's state: outcomes, samples for lineage, and profiles of fields.

    python benchmarks/audit/profiles.py [--records 100000] [--wide 2000] [--wide-records 200000] [--check]

Reads an archive of orders with ``audit_range``, without Spark, in each of four ways, and prints seconds of processor
time per million records and the ratio to the audit without samples and profiles. Then it audits a topic with
``--wide`` fields, whose records are drawn from 5,000 distinct ones, and prints its time and the peak of the memory.
``--check`` exits with 1 if profiles cost more than the audit without them.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import struct
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import fastavro
import pyarrow as pa
from columnar import SCHEMA, create_order, strip_logical_types

from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    PartExpectation,
)
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange

BATCH: Final = 10_000
DISTINCT: Final = 5_000  #: records of the wide topic
WIDE_BATCH: Final = 2_000


class BatchSource:
    """Records in memory, as batches of values."""

    def __init__(self, batches: list[pa.Array[Any]]) -> None:
        self._batches = batches

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield all batches, with consecutive offsets from 0."""
        offset = 0
        for values in self._batches:
            size = len(values)
            columns = {
                "key": pa.nulls(size, pa.binary()),
                "value": values,
                "topic": pa.repeat(offsets.topic, size),
                "partition": pa.repeat(pa.scalar(0, pa.int32()), size),
                "offset": pa.array(range(offset, offset + size), pa.int64()),
                "timestamp": pa.array(range(offset, offset + size), pa.int64()).cast(pa.timestamp("us", "UTC")),
                "timestampType": pa.repeat(pa.scalar(0, pa.int32()), size),
                "headers": pa.nulls(size, RECORDS.field("headers").type),
            }
            yield pa.RecordBatch.from_arrays([columns[name] for name in RECORDS.names], schema=RECORDS)
            offset += size


def encode_records(schema: Any, records: list[dict[str, Any]]) -> list[bytes]:
    """Return records as they are stored in the log, with schema id 1."""
    parsed = fastavro.parse_schema(strip_logical_types(schema))
    bodies = []
    for record in records:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, record)
        bodies.append(b"\0" + struct.pack(">I", 1) + stream.getvalue())
    return bodies


def make_expectations(schema: Any, *, samples: bool) -> AuditExpectations:
    """Return the expectations of one topic whose values carry schema id 1."""
    ids = frozenset({1})
    return AuditExpectations(
        {
            ("orders", "value"): PartExpectation(audited=True, known_ids=ids, allowed=ids),
            ("orders", "key"): PartExpectation(audited=False),
        },
        {1: ExpectedSchema(RegisteredSchema(SchemaId(1), json.dumps(schema)))},
        samples=samples,
    )


def measure_audit(
    source: BatchSource, schema: Any, records: int, *, samples: bool, profiles: bool
) -> tuple[float, AuditState]:
    """Return seconds of processor time per million records, and the state."""
    expectations = make_expectations(schema, samples=samples)
    start = time.process_time()
    state = audit_range(
        source, OffsetRange("orders", 0, 0, records), expectations, evidence=EvidenceOptions(profiles=profiles)
    )
    seconds = time.process_time() - start
    assert sum(cell.counts.get(Outcome.CONFORMS, 0) for cell in state.cells.values()) == records
    return seconds / records * 1e6, state


def make_wide_schema(fields: int) -> dict[str, Any]:
    """Return a record of nullable longs, doubles, and strings in turn."""
    types = (["null", "long"], "double", "string", "int")
    return {
        "type": "record",
        "name": "Wide",
        "fields": [{"name": f"f{number:04}", "type": types[number % len(types)]} for number in range(fields)],
    }


def make_wide_record(random: Random, fields: int) -> dict[str, Any]:
    """Return a random record of the wide schema."""
    makers: tuple[Callable[[], Any], ...] = (
        lambda: random.choice([None, random.randrange(10**6)]),
        random.random,
        lambda: f"text {random.randrange(10**4)}",
        lambda: random.randrange(50),
    )
    return {f"f{number:04}": makers[number % len(makers)]() for number in range(fields)}


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--wide", type=int, default=2_000, help="fields of the wide topic; 0: leave it out")
    parser.add_argument("--wide-records", type=int, default=200_000)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    random = Random(1)
    print(f"python {' '.join(sys.argv)}")
    bodies = encode_records(SCHEMA, [create_order(random) for _ in range(arguments.records)])
    source = BatchSource(
        [pa.array(bodies[start : start + BATCH], pa.binary()) for start in range(0, len(bodies), BATCH)]
    )
    figures = {}
    for name, samples, profiles in (
        ("outcomes", False, False),
        ("outcomes, samples", True, False),
        ("outcomes, profiles", False, True),
        ("outcomes, samples, profiles", True, True),
    ):
        figures[name] = min(
            measure_audit(source, SCHEMA, len(bodies), samples=samples, profiles=profiles)[0] for _ in range(3)
        )
        print(f"{name:30} {figures[name]:7.2f} CPU s per million  {figures[name] / figures['outcomes']:5.2f}x")
    if arguments.wide:
        measure_wide(random, arguments.wide, arguments.wide_records)
    without, whole = figures["outcomes, samples"], figures["outcomes, samples, profiles"]
    return int(arguments.check and whole > 2 * without)


def measure_wide(random: Random, fields: int, records: int) -> None:
    """Audit records with many fields, and print the time and the peak of the process's memory."""
    schema = make_wide_schema(fields)
    bodies = encode_records(schema, [make_wide_record(random, fields) for _ in range(DISTINCT)])
    batches = [
        pa.array([bodies[random.randrange(DISTINCT)] for _ in range(min(WIDE_BATCH, records - start))], pa.binary())
        for start in range(0, records, WIDE_BATCH)
    ]
    del bodies
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, state = measure_audit(BatchSource(batches), schema, records, samples=True, profiles=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{fields:,} fields, {records:,} records: {seconds * records / 1e6:.0f} CPU s, "
        f"{len(state.profiles):,} profiles, peak {peak:,.0f} MiB "
        f"({before:,.0f} MiB before the audit, for the records)"
    )


if __name__ == "__main__":
    sys.exit(main())
