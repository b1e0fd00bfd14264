"""Columnar validation compared with reading each record with fastavro, in one run.

    python benchmarks/audit/columnar.py [--records 100000] [--batch 10000] [--repeats 5]

Prints microseconds of processor time per record, the best of the repeats, and the ratio to fastavro at its best.
"""

from __future__ import annotations

import argparse
import io
import json
import struct
import sys
import time
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

import fastavro
import pyarrow as pa

from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.spark_validation.columnar.column_validation import make_validator, validate_column

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "customer", "type": "long"},
        {"name": "placed_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT", "BACK"]}},
        {"name": "channel", "type": "string"},
        {"name": "currency", "type": ["null", "string"]},
        {"name": "discount", "type": ["null", "double"]},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "gift", "type": "boolean"},
        {"name": "items", "type": "int"},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "fields": [
                    {"name": "street", "type": "string"},
                    {"name": "city", "type": "string"},
                    {"name": "zip", "type": ["null", "string"]},
                ],
            },
        },
        {
            "name": "lines",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Line",
                    "fields": [
                        {"name": "sku", "type": "string"},
                        {"name": "quantity", "type": "int"},
                        {"name": "price", "type": "double"},
                    ],
                },
            },
        },
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "weight", "type": "float"},
        {"name": "note", "type": ["null", "string"]},
    ],
}


def create_order(random: Random) -> dict[str, Any]:
    """Return a random order."""
    return {
        "order_id": str(uuid.UUID(int=random.getrandbits(128))),
        "customer": random.randrange(10**6),
        "placed_at": 1_360_000_000_000 + random.randrange(10**10),
        "status": random.choice(["NEW", "PAID", "SENT", "BACK"]),
        "channel": random.choice(["web", "app", "shop"]),
        "currency": random.choice([None, "EUR", "USD"]),
        "discount": random.choice([None, 0.1, 0.25]),
        "total": random.randrange(1, 10**6).to_bytes(4, "big"),
        "gift": not random.randrange(10),
        "items": random.randrange(20),
        "address": {"street": f"Main {random.randrange(200)}", "city": random.choice(["Köln", "Bonn"]), "zip": "50667"},
        "lines": [
            {"sku": f"S{random.randrange(10**5)}", "quantity": random.randrange(9), "price": random.random() * 100}
            for _ in range(random.randrange(4))
        ],
        "tags": {"source": "mail"} if random.randrange(2) else {},
        "weight": 1.5,
        "note": random.choice([None, None, "leave at the door"]),
    }


def strip_logical_types(schema: Any) -> Any:
    """Return the schema without logical types."""
    if isinstance(schema, list):
        return [strip_logical_types(branch) for branch in schema]
    if isinstance(schema, dict):
        return {key: strip_logical_types(value) for key, value in schema.items() if key != "logicalType"}
    return schema


def measure_best(repeats: int, records: int, work: Callable[[], object]) -> float:
    """Return microseconds of processor time per record, the best of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / records * 1e6


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    random = Random(1)
    plain = fastavro.parse_schema(strip_logical_types(SCHEMA))
    bodies = []
    for _ in range(arguments.records):
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, plain, create_order(random))
        bodies.append(b"\0" + struct.pack(">I", 1) + stream.getvalue())
    batches = [
        pa.array(bodies[start : start + arguments.batch], pa.binary())
        for start in range(0, arguments.records, arguments.batch)
    ]
    validator = make_validator(RegisteredSchema(SchemaId(1), json.dumps(SCHEMA)))

    def read_all(schema: Any) -> None:
        for body in bodies:
            fastavro.schemaless_reader(io.BytesIO(body[5:]), schema, None)

    def check_all(*, columns: bool) -> None:
        for batch in batches:
            assert not validate_column(batch, {1: validator}, None, columns=columns).codes.any()

    figures = {
        "fastavro, logical types stripped": measure_best(arguments.repeats, arguments.records, lambda: read_all(plain)),
        "fastavro": measure_best(arguments.repeats, arguments.records, lambda: read_all(fastavro.parse_schema(SCHEMA))),
        "columnar, outcomes": measure_best(arguments.repeats, arguments.records, lambda: check_all(columns=False)),
        "columnar, outcomes and columns": measure_best(
            arguments.repeats, arguments.records, lambda: check_all(columns=True)
        ),
    }
    reference = figures["fastavro, logical types stripped"]
    size = sum(map(len, bodies)) / arguments.records
    print(f"python {' '.join(sys.argv)}: {arguments.records} records of {size:.0f} bytes, batches of {arguments.batch}")
    for name, figure in figures.items():
        print(f"{name:36} {figure:7.2f} us/record  {reference / figure:5.1f}x")


if __name__ == "__main__":
    main()
