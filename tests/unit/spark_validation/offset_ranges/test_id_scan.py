"""The scan for ids sees frames and headers of keys and values, and no other ids."""

from __future__ import annotations

from pathlib import Path

from contractlog.contracts.audit.id_usage import IdKey, IdUse
from contractlog.spark_validation.offset_ranges.id_scan import IdScan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import Record, encode_frame, write_topic

SCAN = IdScan(frozenset({1, 2, 3, 4}), {b"g" * 16: (3,)})


def test_ids_in_frames_and_headers_are_counted_whatever_the_body_is(tmp_path: Path) -> None:
    write_topic(
        tmp_path,
        "orders",
        [
            Record(0, key=encode_frame(1, b""), value=encode_frame(2, b"no Avro"), timestamp=50),
            Record(1, value=encode_frame(2, b""), timestamp=20),
            Record(2, value=b"body", headers=[("__value_schema_id", b"\1" + b"g" * 16)], timestamp=None),
            Record(3, value=encode_frame(99, b""), timestamp=30),
            Record(5, value=None, timestamp=40),
        ],
    )
    source = ArchiveSource(tmp_path)
    usage = SCAN.scan(source, OffsetRange("orders", 0, 0, 6))
    assert usage.uses.keys() == {
        IdKey("orders", "key", 1),
        IdKey("orders", "value", 2),
        IdKey("orders", "value", 3),
    }
    assert usage.uses[IdKey("orders", "value", 2)] == IdUse(2, 20, 50)
    assert usage.times == {"orders": (20, 50)}
    assert [coverage.records for coverage in usage.coverage] == [5]
    halves = [SCAN.scan(source, OffsetRange("orders", 0, start, start + 3)) for start in (0, 3)]
    merged = SCAN.merge(SCAN.merge(SCAN.empty(), halves[0]), halves[1])
    assert (merged.uses, merged.times) == (usage.uses, usage.times)
