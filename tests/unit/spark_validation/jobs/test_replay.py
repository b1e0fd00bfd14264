"""Replay sends the audited records, in order, and no other record that is now at their offsets."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.cli.record_encoder import ProducerRecord
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    PartExpectation,
)
from contractlog.spark_validation.jobs.replay_command import print_replay
from contractlog.spark_validation.jobs.replay_job import ReplaySummary, SourceRecord, replay_records
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.violations.corrections import Coordinates, Corrections
from contractlog.spark_validation.violations.violation_selection import (
    OffsetSelection,
    ViolationSelection,
    select_records,
)
from contractlog.spark_validation.violations.violations_file import ensure_readable

from support.archives import ORDER, Record, create_schema, encode_frame, encode_order, write_topic

if TYPE_CHECKING:
    from contractlog.clients import Registry

TOPIC = "orders"
PART = PartExpectation(audited=True, known_ids=frozenset({1}), allowed=frozenset({1}))
EXPECTATIONS = AuditExpectations(
    parts={(TOPIC, "value"): PART, (TOPIC, "key"): PART},
    schemas={1: ExpectedSchema(create_schema(1))},
    subjects={1: (("orders-value", 1),)},
)
KEY = encode_order(note="key")
HEADERS: list[tuple[str, bytes | None]] = [("trace", b"1"), ("trace", None)]
LOG = [
    Record(0, key=KEY, value=encode_order()),
    Record(2, key=KEY, value=encode_order()[:-1], timestamp=77, headers=HEADERS),
    Record(5, key=b"bad key", value=b"bad value"),
    Record(6, key=b"bad key", value=encode_order()),
    Record(4_000, key=None, value=b"x" * 5_000),
]


def write_report(folder: Path, records: list[Record], end: int = 5_000) -> Path:
    """Audit records, and return the folder of their violations."""
    write_topic(folder / "archive", TOPIC, records, end=end)
    violations = folder / "audit" / "violations.parquet"
    violations.mkdir(parents=True)
    for start in range(0, end, 1_000):
        audit_range(
            ArchiveSource(folder / "archive"), OffsetRange(TOPIC, 0, start, start + 1_000), EXPECTATIONS, violations
        )
    ensure_readable(violations)
    return violations


def reader_of(records: list[Record]) -> Any:
    """Return a function that reads a log."""

    def read(topic: str, partition: int, start: int, end: int) -> Iterator[SourceRecord]:
        assert (topic, partition) == (TOPIC, 0)
        for record in records:
            if start <= record.offset < end:
                yield SourceRecord(
                    record.offset, record.key, record.value, record.timestamp, list(record.headers or ())
                )

    return read


def replay(
    folder: Path, selection: ViolationSelection | None = None, records: list[Record] = LOG, **options: Any
) -> tuple[ReplaySummary, list[ProducerRecord]]:
    """Replay, and return the summary and what was sent."""
    sent: list[ProducerRecord] = []
    read = reader_of(records)
    return replay_records(folder, selection or ViolationSelection(), read, sent.append, **options), sent


def offsets_of(sent: list[ProducerRecord]) -> list[int]:
    """Return the offsets in the headers of records."""
    return [int(dict(record.headers)["contractlog.source.offset"] or b"") for record in sent]


def test_records_are_sent_once_in_order_with_their_headers_and_their_source(tmp_path: Path) -> None:
    summary, sent = replay(write_report(tmp_path, LOG))
    assert offsets_of(sent) == [2, 5, 6, 4_000]
    source = [("contractlog.source.topic", b"orders"), ("contractlog.source.partition", b"0")]
    headers = [*HEADERS, *source, ("contractlog.source.offset", b"2")]
    assert sent[0] == (KEY, LOG[1].value, 77, headers, " (from orders partition 0 offset 2)")
    assert sent[3].value == b"x" * 5_000  # the report has the first 1,024 bytes
    assert (summary.selected, summary.sent, summary.is_complete) == (4, 4, True)
    assert summary.codes == {"TRUNCATED": 1, "NOT_FRAMED": 4}


@pytest.mark.parametrize(
    ("selection", "offsets"),
    [
        (ViolationSelection(codes=frozenset({"TRUNCATED"})), [2]),
        (ViolationSelection(parts=frozenset({"key"})), [5, 6]),
        (ViolationSelection(offsets=(OffsetSelection(0, 5, 5), OffsetSelection(0, 9, 9_999))), [5, 4_000]),
        (ViolationSelection(offsets=(OffsetSelection(1, 0, 9_999),)), []),
        (ViolationSelection(topics=frozenset({"other"})), []),
    ],
)
def test_a_selection_limits_what_is_sent(tmp_path: Path, selection: ViolationSelection, offsets: list[int]) -> None:
    assert offsets_of(replay(write_report(tmp_path, LOG), selection)[1]) == offsets


def test_records_that_are_gone_or_replaced_are_counted_and_not_sent(tmp_path: Path) -> None:
    folder = write_report(tmp_path, LOG)
    now = [LOG[1], Record(5, key=b"bad key", value=b"new value"), Record(4_000, key=None, value=b"x" * 4_999)]
    summary, sent = replay(folder, records=now)
    assert offsets_of(sent) == [2]
    assert summary.missing == [Coordinates(TOPIC, 0, 6)]
    assert summary.changed == [Coordinates(TOPIC, 0, 5), Coordinates(TOPIC, 0, 4_000)]
    assert not summary.is_complete


def test_long_parts_without_selected_records_are_not_read(tmp_path: Path) -> None:
    records = [Record(at, value=b"bad") for at in (0, 900, 2_500, 2_501)]
    (selected,) = select_records(write_whole(tmp_path, records), ViolationSelection())
    assert list(selected.runs()) == [(0, 901), (2_500, 2_502)]


def write_whole(folder: Path, records: list[Record]) -> Path:
    """Audit records as one range."""
    write_topic(folder / "archive", TOPIC, records)
    violations = folder / "violations"
    violations.mkdir()
    whole = OffsetRange(TOPIC, 0, 0, records[-1].offset + 1)
    audit_range(ArchiveSource(folder / "archive"), whole, EXPECTATIONS, violations)
    return violations


def test_an_interruption_ends_between_two_records(tmp_path: Path) -> None:
    folder = write_report(tmp_path, LOG)
    sent: list[ProducerRecord] = []
    summary = replay_records(folder, ViolationSelection(), reader_of(LOG), sent.append, stopped=lambda: len(sent) == 2)
    assert offsets_of(sent) == [2, 5]
    assert summary.sent == 2


def test_only_corrected_records_are_sent_with_the_schema_that_is_named(tmp_path: Path, registry: Registry) -> None:
    folder = write_report(tmp_path, LOG)
    avro = int(registry.register("orders-value", SchemaDraft(ORDER)).schema_id)
    documents = int(registry.register("documents-value", SchemaDraft('{"type": "object"}', SchemaType.JSON)).schema_id)
    lines = [
        {"partition": 0, "offset": 2, "value": {"total": 7, "note": "fine"}},
        {"topic": TOPIC, "partition": 0, "offset": 5, "value": {"price": 1.5}, "schema_id": documents},
        {"partition": 0, "offset": 6, "value": None},
        {"partition": 0, "offset": 99, "value": None},
    ]
    file = tmp_path / "corrected.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    old = [("__value_schema_id", b"\0\0\0\0\1"), ("trace", b"1")]
    log = [*LOG[:1], Record(2, key=KEY, value=LOG[1].value, headers=old), *LOG[2:]]
    with Corrections(file, registry, TOPIC, avro) as corrections:
        summary, sent = replay(folder, records=log, corrections=corrections)
    assert [record.value for record in sent] == [
        encode_order(avro),
        encode_frame(documents, b'{"price":1.5}'),
        None,
    ]
    assert [name for name, _ in sent[0].headers][:2] == ["trace", "contractlog.source.topic"]
    assert (summary.sent, summary.corrected, summary.uncorrected, summary.unmatched) == (3, 3, 1, 1)
    assert not summary.is_complete


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2 is not JSON"),
        ('{"partition": 0, "offset": 1}', "line 2: a line reads"),
        ('{"partition": true, "offset": 1, "value": null}', "line 2: a line reads"),
        ('{"partition": 0, "offset": 0, "value": null}', "line 2 corrects the same record as line 1"),
        ('{"partition": 0, "offset": 1, "value": 1}', "line 2: the value has no schema"),
        ('{"partition": 0, "offset": 1, "value": 1, "schema_id": 99}', "line 2: the registry has no schema 99"),
        ('{"partition": 0, "offset": 1, "value": NaN, "schema_id": 1}', "line 2 is not JSON: NaN"),
        ('{"partition": 0, "offset": 1, "value": "x", "schema_id": 1}', "line 2: .*an integer of 64 bits is expected"),
    ],
)
def test_a_file_of_corrections_is_checked_before_anything_is_sent(
    tmp_path: Path, registry: Registry, line: str, problem: str
) -> None:
    registry.register("numbers-value", SchemaDraft('"long"'))
    file = tmp_path / "corrected.jsonl"
    file.write_text(f'{{"partition": 0, "offset": 0, "value": null}}\n{line}\n')
    with pytest.raises(UsageError, match=problem):
        Corrections(file, registry, TOPIC, None)


def test_the_source_topic_and_a_folder_without_violations_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(tmp_path, LOG)
    assert main(["replay", str(tmp_path / "audit"), "--to", TOPIC]) == 2
    assert "pass --allow-source-topic" in capsys.readouterr().err
    assert main(["replay", str(tmp_path), "--to", "repair"]) == 2
    assert "has no violations of an audit" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "audit"), "--to", "repair", "--offsets", "0:9-3"]) == 2
    assert "PARTITION:FIRST-LAST" in capsys.readouterr().err


def test_text_says_what_was_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    missing = [Coordinates(TOPIC, 0, 6)]
    summary = ReplaySummary(selected=3, sent=1, missing=missing, missing_count=1, changed_count=1)
    summary.codes.update({"TRUNCATED": 3})
    print_replay(summary.body(), "repair", sent=False)
    printed = capsys.readouterr()
    assert printed.out == (
        "✗ would send 1 record to `repair` (TRUNCATED 3)\n"
        "    not sent: 2 of 3 selected records\n"
        "        1 no longer in the log, such as `orders` partition 0 offset 6\n"
        "        1 another record than the audited one\n"
    )
    assert printed.err == "nothing was sent: pass --confirm to send\n"


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("offset", None, "a row has no `offset`"),
        ("code", None, "a row has no `code`"),
        ("topic", None, "a row has no `topic`"),
        ("part", "header", "the part `header` is none of value, key"),
    ],
)
def test_edited_violations_are_refused(tmp_path: Path, column: str, value: str | None, problem: str) -> None:
    folder = write_report(tmp_path, LOG)
    file = max(folder.glob("*.parquet"), key=lambda path: path.stat().st_size)
    table = pq.read_table(file)
    index = table.column_names.index(column)
    edited = pa.array([value] * len(table), table.schema.field(column).type)
    pq.write_table(table.set_column(index, column, edited), file)
    with pytest.raises(UsageError, match=f"no readable violations of an audit: {problem}"):
        list(select_records(folder, ViolationSelection()))


def test_violations_that_expand_are_read_in_bounded_memory(tmp_path: Path) -> None:
    violations = write_report(tmp_path, LOG)
    [file, *_] = sorted(violations.glob("*.parquet"))
    rows, stored = 2_000, b"x" * 100_000
    table = pq.read_table(file).slice(0, 1)
    table = pa.concat_tables([table] * rows)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([stored]))
    table = table.set_column(table.schema.get_field_index("bytes"), "bytes", column)
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    pq.write_table(table, hostile / "part-0.parquet", compression="zstd", store_schema=False)
    tracemalloc.start()
    try:
        [selected] = select_records(hostile, ViolationSelection())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(selected.codes.values()) == rows
    assert peak < rows * len(stored) / 3
