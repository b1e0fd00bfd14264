"""The audit of a range without Spark accounts for every offset, however it is divided."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.mergeable_state import (
    MAX_FIELDS,
    MAX_UNKNOWN_IDS,
    AuditState,
    Coverage,
    limit_state,
    merge_states,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import ProducerCounts, ProducerKey
from contractlog.contracts.audit.summary import summarize
from contractlog.serdes.provenance import RecordOrigin, provenance_headers
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    PartExpectation,
)
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.record_metadata.origin_headers import TRACE_HEADER
from contractlog.spark_validation.sources.records import TIMES, OffsetRange, split_ranges
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.state import state_files
from contractlog.spark_validation.state.state_files import read_state, write_state
from contractlog.spark_validation.violations.violations_file import DEFAULT_MAX_BYTES, VIOLATIONS, ensure_readable

from support.archives import DAY, Record, create_schema, encode_frame, encode_order, write_topic

TOPIC = "orders"
HOUR = 3_600_000
EXPECTATIONS = AuditExpectations(
    parts={
        (TOPIC, "value"): PartExpectation(audited=True, known_ids=frozenset({1, 9}), allowed=frozenset({1})),
        (TOPIC, "key"): PartExpectation(audited=False, notes=("no subject",)),
    },
    schemas={1: ExpectedSchema(create_schema(1))},
    subjects={1: (("orders-value", 1),)},
)
BODIES = {
    Outcome.CONFORMS: encode_order(),
    Outcome.TOMBSTONE: None,
    Outcome.NOT_FRAMED: b"plain text",
    Outcome.UNKNOWN_SCHEMA_ID: encode_order(schema_id=404),
    Outcome.WRONG_SUBJECT: encode_order(schema_id=9),
    Outcome.TRUNCATED: encode_order()[:-2],
    Outcome.TRAILING_BYTES: encode_order() + b"!",
    Outcome.BAD_UTF8: encode_frame(1, b"\x0e\x02\xff"),
}
CASES = st.lists(
    st.tuples(st.sampled_from(list(BODIES)), st.integers(1, 3), st.one_of(st.none(), st.integers(0, 3 * DAY))),
    min_size=1,
    max_size=30,
)
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def traced_headers(offset: int) -> list[tuple[str, bytes]]:
    """Return headers that name an origin and a trace, of some records."""
    origin = RecordOrigin(f"source-{offset % 2}", 0, offset, 1000 * offset, "job")
    return [(TRACE_HEADER, b"00-%032x-%016x-01" % (offset // 4 + 1, offset)), *provenance_headers(origin)][: offset % 3]


def log_of(cases: list[tuple[Outcome, int, int | None]]) -> list[Record]:
    """Lay records out with gaps between them."""
    records, offset = [], 0
    for outcome, gap, timestamp in cases:
        offset += gap
        headers = [("producer", b"p%d" % (offset % 3)), *traced_headers(offset)] if offset % 4 else None
        records.append(Record(offset, key=b"k", value=BODIES[outcome], timestamp=timestamp, headers=headers))
    return records


def audited(folder: Path, ranges: list[OffsetRange], violations: Path | None = None) -> AuditState:
    """Audit ranges one by one and merge."""
    return limit_state(
        merge_states(audit_range(ArchiveSource(folder), one, EXPECTATIONS, violations) for one in ranges)
    )


def counts_of(state: AuditState, part: str = "value") -> dict[Outcome, int]:
    """Add up the cells of a part."""
    counts: dict[Outcome, int] = {}
    for key, cell in state.cells.items():
        if key.part == part:
            for outcome, records in cell.counts.items():
                counts[outcome] = counts.get(outcome, 0) + records
    return counts


def without_coverage(state: AuditState) -> AuditState:
    """Leave out how the range was cut."""
    return replace(state, coverage=frozenset())


@QUICK
@given(CASES, st.integers(1, 20))
def test_an_audit_of_the_whole_is_the_merge_of_the_audits_of_its_parts(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Outcome, int, int | None]], span: int
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    records = log_of(cases)
    write_topic(folder, TOPIC, records)
    whole = OffsetRange(TOPIC, 0, 0, records[-1].offset + 1)
    one, cut = audited(folder, [whole]), audited(folder, list(split_ranges([whole], span)))
    assert without_coverage(one) == without_coverage(cut)
    origins = sum(origin.records for topic in one.origins.values() for origin in topic.origins.values())
    assert origins == sum(record.offset % 4 != 0 and record.offset % 3 == 2 for record in records)
    assert sum(part.records for part in cut.coverage) == len(records) == sum(part.records for part in one.coverage)


def test_statistics_are_reported_unless_a_former_state_lacks_them(tmp_path: Path) -> None:
    times = [5, 9, 7, 9]
    write_topic(tmp_path, TOPIC, [Record(at, b"k", encode_order(), time) for at, time in enumerate(times)])
    state = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC]))
    values, keys = summarize(state, {})
    assert values.get("time_order") == {"backward": 1, "largest_step_ms": 2}
    assert (values["sizes"] or {}).get("bytes") == 4 * len(encode_order())
    assert keys["keys"]["frequent"][0]["share"] == 1
    later = replace(state, coverage=frozenset({Coverage(TOPIC, 0, 4, 8, 4)}), statistics={})
    assert all("sizes" not in entry for entry in summarize(state.merge(later), {}))


@QUICK
@given(CASES)
def test_every_record_gets_the_code_it_was_made_for(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Outcome, int, int | None]]
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    records = log_of(cases)
    write_topic(folder, TOPIC, records)
    state = audited(folder, ArchiveSource(folder).plan([TOPIC]))
    expected: dict[Outcome, int] = {}
    for outcome, _, _ in cases:
        expected[outcome] = expected.get(outcome, 0) + 1
    assert counts_of(state) == expected
    assert counts_of(state, "key") == {Outcome.UNAUDITED: len(records)}


def test_cells_are_kept_by_utc_hour_and_id_with_first_and_last_times(tmp_path: Path) -> None:
    times = [5, HOUR - 1, DAY + HOUR, None]
    write_topic(tmp_path, TOPIC, [Record(at, value=encode_order(), timestamp=time) for at, time in enumerate(times)])
    state = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC]))
    cells = {key.window: cell for key, cell in state.cells.items() if key.part == "value"}
    assert sorted(cells) == ["", "1970-01-01T00", "1970-01-02T01"]
    assert (cells["1970-01-01T00"].first_seen, cells["1970-01-01T00"].last_seen) == (5, HOUR - 1)
    assert state.coverage == {Coverage(TOPIC, 0, 0, 4, 4)}


def test_times_of_all_years_are_counted_in_windows_that_are_bounded(tmp_path: Path) -> None:
    times = [TIMES.start, TIMES.stop - 1, -1, None, 0, *range(0, 4_000 * HOUR, HOUR)]
    write_topic(tmp_path, TOPIC, [Record(at, value=encode_order(), timestamp=time) for at, time in enumerate(times)])
    cells = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC])).cells
    windows = {key.window: cell for key, cell in cells.items() if key.part == "value"}
    assert len(windows) == 1 + 3 + -(-4_000 // 24)
    assert {"", "0001-01-01", "9999-12-31", "1969-12-31", "1970-01-01"} <= set(windows)
    assert windows["1970-01-01"].counts == {Outcome.CONFORMS: 25}


def test_violations_say_where_and_why_with_the_lowest_examples(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(at, value=BODIES[Outcome.BAD_UTF8]) for at in range(30, 60)])
    (item,) = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC])).violations.items()
    key, violation = item
    assert (key.outcome, key.schema_id, key.field) == (Outcome.BAD_UTF8, 1, "note")
    assert key.path.startswith("/fields/1")
    assert violation.records == 30
    assert [(example.partition, example.offset) for example in violation.examples] == [(0, at) for at in range(30, 40)]
    assert violation.detail


def test_violations_name_their_producers(tmp_path: Path) -> None:
    values = [encode_order(), b"bad", b"bad", b"bad"]
    headers = [[("app", b"gate")], [("app", b"gate")], [("app", b"desk"), ("producer", b"x")], None]
    records = [Record(at, value=values[at], timestamp=at, headers=headers[at]) for at in range(4)]
    write_topic(tmp_path, TOPIC, records)
    evidence = EvidenceOptions(producer_headers=("app",))
    state = audit_range(ArchiveSource(tmp_path), OffsetRange(TOPIC, 0, 0, 4), EXPECTATIONS, evidence=evidence)
    (violation,) = state.violations.values()
    assert violation.producers == {"desk": 1, "gate": 1}
    assert state.producers == {
        ProducerKey(TOPIC, "value", "desk"): ProducerCounts(1, 1, 2, 2),
        ProducerKey(TOPIC, "value", "gate"): ProducerCounts(2, 1, 0, 1),
    }


EVIDENCE = [
    (b"plain text", "text(10)", '"plain text"'),
    (b"\xff\xfe\xfd", "bytes(3)", "0xfffefd"),
    (b'{"a": 1}', "JSON-like text(8)", '"{\\"a\\": 1}"'),
    (encode_frame(404, b"\x00\x01"), "bytes(2)", "0x0001"),
    (encode_order(total=7, note="fine")[:-2], "{total: long, note: ✗", "{total: 7, note: ✗"),
    (
        encode_order(total=7) + b"!",
        "{total: long, note: string(4)} ✗ 1 byte left",
        '{total: 7, note: "fine"} ✗ 1 byte left',
    ),
]


@pytest.mark.parametrize(("value", "masked", "shown"), EVIDENCE)
def test_examples_show_what_the_record_decodes_to_masked_unless_values_are_shown(
    tmp_path: Path, value: bytes, masked: str, shown: str
) -> None:
    headers = [("producer", b"gate"), ("trace", b"secret"), ("empty", None)]
    write_topic(tmp_path, TOPIC, [Record(3, key=b"customer", value=value, timestamp=9, headers=headers)])
    for show in (False, True):
        evidence = EvidenceOptions(show_values=show)
        whole = OffsetRange(TOPIC, 0, 0, 4)
        (violation,) = audit_range(ArchiveSource(tmp_path), whole, EXPECTATIONS, evidence=evidence).violations.values()
        (example,) = violation.examples
        assert (example.partition, example.offset, example.timestamp, example.producer) == (0, 3, 9, "gate")
        assert example.size == len(value)
        assert example.decoded == (shown if show else masked)
        assert example.key == ('"customer"' if show else "text(8)")
        assert dict(example.headers) == (
            {"producer": '"gate"', "trace": '"secret"', "empty": "null"}
            if show
            else {"producer": "text(4)", "trace": "text(6)", "empty": "null"}
        )
        assert bool(example.excerpt) == show
        assert violation.first == example


def test_a_state_holds_no_value_unless_values_are_shown(tmp_path: Path) -> None:
    violating, conforming = encode_order(note="confidential") + b"!", encode_order(note="confidential")
    headers = [("trace", b"confidential")]
    records = [
        Record(at, key=b"confidential", value=value, headers=headers)
        for at, value in enumerate((violating, conforming))
    ]
    write_topic(tmp_path, TOPIC, records)
    no_samples = replace(EXPECTATIONS, samples=False)
    for show in (False, True):
        evidence = EvidenceOptions(show_values=show)
        state = audit_range(ArchiveSource(tmp_path), OffsetRange(TOPIC, 0, 0, 2), no_samples, evidence=evidence)
        assert ("confidential" in repr(replace(state, profiles={}))) == show
        assert ("confidential" in repr(state.profiles)) == show


def test_the_bytes_around_a_failure_are_shown_in_brackets(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(0, value=encode_order(total=7, note="x" * 99)[:-2])])
    evidence = EvidenceOptions(show_values=True)
    state = audit_range(ArchiveSource(tmp_path), OffsetRange(TOPIC, 0, 0, 1), EXPECTATIONS, evidence=evidence)
    ((example,),) = [violation.examples for violation in state.violations.values()]
    assert example.failed_at == 1
    assert example.excerpt.startswith("0e [c6] 01 78 78")
    assert example.excerpt.endswith("78 …")


def test_many_unknown_ids_are_counted_alike_in_one_batch_and_in_many(tmp_path: Path) -> None:
    records = [Record(at, value=encode_frame(1_000 - at, b""), timestamp=at) for at in range(2 * MAX_UNKNOWN_IDS)]
    write_topic(tmp_path, TOPIC, records)
    whole = OffsetRange(TOPIC, 0, 0, len(records))
    state, parts = audited(tmp_path, [whole]), audited(tmp_path, list(split_ranges([whole], 50)))
    assert without_coverage(state) == without_coverage(parts)
    ids = sorted(key.schema_id for key in state.violations)
    assert ids == [0, *range(801, 801 + MAX_UNKNOWN_IDS)]
    (others,) = [violation for key, violation in state.violations.items() if not key.schema_id]
    assert (others.records, [example.offset for example in others.examples]) == (MAX_UNKNOWN_IDS, list(range(10)))


def test_the_first_violation_is_the_earliest_whichever_partition_it_is_in(tmp_path: Path) -> None:
    records = [
        Record(0, value=b"a", timestamp=None),
        Record(1, value=b"b", timestamp=50),
        Record(0, value=b"c", timestamp=20, partition=1),
        Record(1, value=b"d", timestamp=20, partition=1),
    ]
    write_topic(tmp_path, TOPIC, records)
    (violation,) = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC])).violations.values()
    assert violation.first is not None
    assert (violation.first.partition, violation.first.offset, violation.first.timestamp) == (1, 0, 20)
    assert violation.first.timestamp == violation.first_seen


def test_every_violating_record_is_written_once_even_when_its_range_is_read_again(tmp_path: Path) -> None:
    bad = [body for outcome, body in BODIES.items() if outcome.violating]
    write_topic(tmp_path, TOPIC, [Record(at, value=body) for at, body in enumerate([encode_order(), *bad, None])])
    out = tmp_path / "violations.parquet"
    out.mkdir()
    for _ in range(2):
        audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC]), out)
    table = pq.read_table(out).sort_by("offset")
    assert table.column("offset").to_pylist() == list(range(1, len(bad) + 1))
    assert table.column("bytes").to_pylist() == bad
    assert set(table.column("code").to_pylist()) == {outcome.name for outcome in BODIES if outcome.violating}
    assert dict(zip(table.column("code").to_pylist(), table.column("schema_id").to_pylist(), strict=True)) == {
        "NOT_FRAMED": None,
        "UNKNOWN_SCHEMA_ID": 404,
        "WRONG_SUBJECT": 9,
        "TRUNCATED": 1,
        "TRAILING_BYTES": 1,
        "BAD_UTF8": 1,
    }
    assert [file.name.startswith(".") for file in out.iterdir()] == [False]


@pytest.mark.parametrize("topic", ["t" * 249, "_hidden", ".dotted"])
def test_the_violations_of_every_topic_that_kafka_admits_are_written_and_read(tmp_path: Path, topic: str) -> None:
    twin = topic[:-1] + "u"  # differs where a long name is cut
    out = tmp_path / "violations.parquet"
    out.mkdir()
    for name in (topic, twin):
        write_topic(tmp_path / "archive", name, [Record(0, value=b"bad")])
        parts = {(name, part): one for (_, part), one in EXPECTATIONS.parts.items()}
        whole = OffsetRange(name, 0, 0, 1)
        audit_range(ArchiveSource(tmp_path / "archive"), whole, replace(EXPECTATIONS, parts=parts), out)
    assert sorted(pq.read_table(out).column("topic").to_pylist()) == [topic, twin]


@pytest.mark.parametrize(("cap", "kept"), [(DEFAULT_MAX_BYTES, 1024), (None, 5000)])
def test_the_bytes_of_a_violating_record_are_capped_unless_all_are_asked_for(
    tmp_path: Path, cap: int | None, kept: int
) -> None:
    write_topic(tmp_path, TOPIC, [Record(0, value=b"x" * 5000)])
    out = tmp_path / "violations.parquet"
    out.mkdir()
    audit_range(ArchiveSource(tmp_path), OffsetRange(TOPIC, 0, 0, 1), EXPECTATIONS, out, cap=cap)
    (row,) = pq.read_table(out).to_pylist()
    assert (row["bytes"], row["size"]) == (b"x" * kept, 5000)


def test_a_range_that_fails_leaves_no_file(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(0, value=b"bad")])
    out = tmp_path / "violations.parquet"
    out.mkdir()

    class Breaking(ArchiveSource):
        def read(self, offsets: OffsetRange):  # noqa: ANN202
            yield from super().read(offsets)
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        audit_range(Breaking(tmp_path), OffsetRange(TOPIC, 0, 0, 1), EXPECTATIONS, out)
    assert list(out.iterdir()) == []


def test_a_folder_without_violations_reads_as_a_table_of_none(tmp_path: Path) -> None:
    ensure_readable(tmp_path / "violations.parquet")
    assert pq.read_table(tmp_path / "violations.parquet").schema.equals(VIOLATIONS)


@QUICK
@given(CASES)
def test_a_state_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Outcome, int, int | None]]
) -> None:
    folder = tmp_path_factory.mktemp("state")
    write_topic(folder, TOPIC, log_of(cases))
    state = audited(folder, ArchiveSource(folder).plan([TOPIC]))
    write_state(state, folder / "state")
    assert read_state(folder / "state") == state


def test_unsampled_fields_survive_a_round_trip(tmp_path: Path) -> None:
    state = AuditState(unsampled=frozenset({("t", "value", "a.b"), ("t", "key", "")}))
    write_state(state, tmp_path)
    assert read_state(tmp_path) == state
    (tmp_path / "state.json").write_text('{"format": "contractlog.state/1"}')  # of an earlier release
    assert read_state(tmp_path) == AuditState()


@pytest.mark.parametrize(
    ("name", "limit"), [("state.json", "MAX_STATE_JSON_BYTES"), ("violations.parquet", "MAX_TABLE_BYTES")]
)
def test_a_state_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: str
) -> None:
    write_state(AuditState(), tmp_path)
    monkeypatch.setattr(state_files, limit, (tmp_path / name).stat().st_size - 1)
    with pytest.raises(UsageError, match="is larger than"):
        read_state(tmp_path)


def test_the_size_of_a_table_is_that_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_state(AuditState(), tmp_path)
    table = pa.table({"topic": ["t" * 1_000] * 100_000})
    pq.write_table(table, tmp_path / "coverage.parquet", compression="zstd")
    monkeypatch.setattr(state_files, "MAX_TABLE_BYTES", 10_000_000)
    assert (tmp_path / "coverage.parquet").stat().st_size < 1_000_000
    with pytest.raises(UsageError, match=r"coverage.parquet` is larger than 9 MiB"):
        read_state(tmp_path)


@pytest.mark.parametrize("name", ["state.json", "cells.parquet"])
def test_a_state_with_a_pipe_is_not_read(tmp_path: Path, name: str) -> None:
    write_state(AuditState(), tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError, match="not a regular file"):
        read_state(tmp_path)


def test_wide_records_are_sampled_in_their_first_fields_by_name_and_the_others_are_named(tmp_path: Path) -> None:
    names = [f"f{number:03}" for number in range(MAX_FIELDS + 3)]
    fields = ",".join(f'{{"name":"{name}","type":"long"}}' for name in names)
    expectations = replace(
        EXPECTATIONS,
        schemas={1: ExpectedSchema(create_schema(1, f'{{"type":"record","name":"W","fields":[{fields}]}}'))},
    )
    write_topic(tmp_path, TOPIC, [Record(at, value=encode_frame(1, bytes([2 * at] * len(names)))) for at in range(5)])
    state = limit_state(audit_range(ArchiveSource(tmp_path), OffsetRange(TOPIC, 0, 0, 5), expectations))
    assert counts_of(state) == {Outcome.CONFORMS: 5}
    assert sorted(field for *_, field in state.samples) == names[:MAX_FIELDS]
    assert sorted(field for *_, field in state.unsampled) == names[MAX_FIELDS:]


def test_an_audit_without_samples_keeps_none_and_counts_the_same(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(at, value=encode_order(total=at)) for at in range(20)])
    whole = OffsetRange(TOPIC, 0, 0, 20)
    state = audit_range(ArchiveSource(tmp_path), whole, replace(EXPECTATIONS, samples=False))
    assert state == replace(audit_range(ArchiveSource(tmp_path), whole, EXPECTATIONS), samples={})


def test_a_conforming_field_is_sampled(tmp_path: Path) -> None:
    write_topic(tmp_path, TOPIC, [Record(at, value=encode_order(total=at)) for at in range(20)])
    state = audited(tmp_path, ArchiveSource(tmp_path).plan([TOPIC]))
    assert set(state.samples) == {(TOPIC, "value", "total"), (TOPIC, "value", "note")}
    assert len({value.value_hash for value in state.samples[TOPIC, "value", "total"].values}) == 20
