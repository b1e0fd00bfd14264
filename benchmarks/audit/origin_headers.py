"""Cost of reading origins and traces from the headers of records, beside that of a whole audit.

    python benchmarks/audit/origin_headers.py [--records 100000] [--check]

Counts the origins of records in memory, without Spark, with different headers, and prints seconds of processor time per
million records, and the share of an audit of as many orders with samples and profiles. ``--check`` exits with 1 if
headers of other names cost more than a hundredth of the audit, or any headers more than a quarter.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np
import pyarrow as pa
from columnar import SCHEMA, create_order
from profiles import BATCH, BatchSource, encode_records, measure_audit

from contractlog.serdes.provenance import RecordOrigin, provenance_headers
from contractlog.spark_validation.record_metadata.origin_headers import TRACE_HEADER, OriginCounter
from contractlog.spark_validation.sources.records import RECORDS

START: Final = 1_700_000_000_000
MAX_OTHER: Final = 0.01  #: share of the audit, for headers of other names
MAX_ANY: Final = 0.25  #: for any headers
Headers = list[tuple[str, bytes]]


def make_origin(topic: str, number: int) -> Headers:
    """Return our header, which names a record of a topic."""
    headers = provenance_headers(RecordOrigin(topic, number % 12, number, START + number, "enrich-orders"))
    return [(name, value) for name, value in headers if isinstance(value, bytes)]


def make_dead_letter(number: int) -> Headers:
    """Return the headers of Spring's dead letters."""
    prefix = "kafka_dlt-original-"
    return [
        (f"{prefix}topic", b"orders"),
        (f"{prefix}partition", (number % 12).to_bytes(4)),
        (f"{prefix}offset", number.to_bytes(8)),
        (f"{prefix}timestamp", (START + number).to_bytes(8)),
        (f"{prefix}consumer-group", b"billing"),
    ]


KINDS: Final[dict[str, Callable[[int], Headers | None]]] = {
    "no headers": lambda _: None,
    "three of other names": lambda number: [("app", b"shop"), ("note", b"%d" % number), ("zone", b"a")],
    "ours": lambda number: make_origin("orders", number),
    "ours, hostile names": lambda number: make_origin(f"orders.{number}", number),
    "dead letters of Spring": make_dead_letter,
    "trace context": lambda number: [(TRACE_HEADER, b"00-%032x-%016x-01" % (number * 7919 + 1, number + 1))],
}


def measure_counter(make: Callable[[int], Headers | None], records: int) -> float:
    """Return seconds of processor time per million records."""
    kind = RECORDS.field("headers").type
    batches = []
    for start in range(0, records, BATCH):
        numbers = range(start, min(start + BATCH, records))
        headers = [[{"key": key, "value": value} for key, value in make(number) or ()] or None for number in numbers]
        batches.append((pa.RecordBatch.from_arrays([pa.array(headers, kind)], names=["headers"]), np.array(numbers)))
    counter = OriginCounter(0)
    began = time.process_time()
    for batch, offsets in batches:
        counter.add(batch, offsets, START + offsets)
    return (time.process_time() - began) / records * 1e6


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    random = Random(1)
    bodies = encode_records(SCHEMA, [create_order(random) for _ in range(arguments.records)])
    source = BatchSource(
        [pa.array(bodies[start : start + BATCH], pa.binary()) for start in range(0, len(bodies), BATCH)]
    )
    whole = min(measure_audit(source, SCHEMA, len(bodies), samples=True, profiles=True)[0] for _ in range(2))
    print(f"{'audit of orders':30} {whole:7.2f} CPU s per million")
    shares = {}
    for name, make in KINDS.items():
        seconds = min(measure_counter(make, arguments.records) for _ in range(3))
        shares[name] = seconds / whole
        print(f"{name:30} {seconds:7.2f} CPU s per million  {shares[name]:6.1%} of the audit")
    exceeded = shares["three of other names"] > MAX_OTHER or max(shares.values()) > MAX_ANY
    return int(arguments.check and exceeded)


if __name__ == "__main__":
    sys.exit(main())
