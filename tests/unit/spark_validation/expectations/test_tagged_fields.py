"""Samples have only hashes of the values of tagged fields, and no text at all."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as pq
import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.data_contract import Metadata
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    PartExpectation,
)
from contractlog.spark_validation.expectations.tagged_fields import TaggedNames, find_tagged_names
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.state.state_files import ROWS, SAMPLES, write_state

from support.archives import Record, create_schema, encode_frame, write_topic

START = 1_700_000_000_000
KEY = "a secret key of tests"
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Person",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "name", "type": "string"},
        {"name": "salary", "type": "double", "confluent:tags": ["PII"]},
        {"name": "age", "type": "long"},
        {"name": "height", "type": "double"},
    ],
}
METADATA = Metadata(tags={"Person.age": ("PII",)})


def make_person(number: int) -> dict[str, Any]:
    return {
        "id": f"id-{number * 7919:08x}",
        "name": f"PLANTED text {number}",
        "salary": 81_000.125 + number,
        "age": 7_000_000_000 + number,
        "height": 5_000_000.5 + number,
    }


def encode_person(person: dict[str, Any]) -> bytes:
    body = BytesIO()
    fastavro.schemaless_writer(body, SCHEMA, person)
    return body.getvalue()


def audit_people(folder: Path) -> AuditState:
    """Audit people, and salaries that were made from theirs."""
    for topic, lag in (("people", 0), ("paid", 900)):
        records = [
            Record(at, value=encode_frame(1, encode_person(make_person(at))), timestamp=START + 60_000 * at + lag)
            for at in range(300)
        ]
        write_topic(folder, topic, records)
    schema = replace(create_schema(1, json.dumps(SCHEMA)), metadata=METADATA)
    parts = {
        (topic, part): PartExpectation(part == "value", frozenset({1}))
        for topic in ("people", "paid")
        for part in ("key", "value")
    }
    expectations = AuditExpectations(parts, {1: ExpectedSchema(schema)})  # type: ignore[arg-type]
    evidence = EvidenceOptions(sample_key=KEY)
    state = AuditState()
    for topic in ("people", "paid"):
        offsets = OffsetRange(topic, 0, 0, 300)
        state = state.merge(audit_range(ArchiveSource(folder), offsets, expectations, evidence=evidence))
    return state


def list_values(value: Any) -> Iterator[Any]:
    """Yield all scalars in a value."""
    if isinstance(value, dict):
        for member in value.values():
            yield from list_values(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from list_values(member)
    else:
        yield value


def test_planted_texts_and_tagged_numbers_are_in_no_sample_and_no_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = audit_people(tmp_path / "archive")
    folder = tmp_path / "state"
    write_state(state, folder)
    people = [make_person(at) for at in range(300)]
    secrets = [struct.pack("<d", person[name]) for person in people for name in ("salary", "age")]
    for file in sorted(folder.rglob("*.parquet")):
        for value in list_values(pq.read_table(file).to_pylist()):
            assert "PLANTED" not in str(value), file
            if isinstance(value, bytes):
                assert b"PLANTED" not in value, file
                assert not any(secret in value for secret in secrets), file
    rows = b"".join(
        value for value in list_values(pq.read_table(folder / ROWS).to_pylist()) if isinstance(value, bytes)
    )
    assert struct.pack("<d", people[0]["height"]) in rows  # numbers without a tag are kept
    assert (folder / SAMPLES).exists()
    monkeypatch.setenv("CONTRACTLOG_SAMPLE_KEY", KEY)
    for form in ("text", "json", "html"):
        assert main(["lineage", "--state", str(folder), "--format", form]) == 0
        printed = capsys.readouterr()
        assert "salary" in printed.out
        for output in (printed.out, printed.err):
            assert "PLANTED" not in output
            assert not any(str(person["salary"]) in output or str(person["age"]) in output for person in people)


@pytest.mark.parametrize(
    ("names", "field", "tagged"),
    [
        ({"card"}, "payments[].card", True),
        ({"card"}, "card", True),
        ({"card"}, "cards", False),
        ({"card"}, "card[].number", True),
        ({"*"}, "anything.else", True),
        (set(), "card", False),
    ],
)
def test_a_field_is_tagged_by_the_names_on_its_path(names: set[str], field: str, *, tagged: bool) -> None:
    assert TaggedNames(names).contain(field) is tagged


def test_tags_of_texts_metadata_and_referenced_texts_count_and_those_of_records_cover_all() -> None:
    tagged = ExpectedSchema(replace(create_schema(1, json.dumps(SCHEMA)), metadata=METADATA))
    assert find_tagged_names([tagged]) == {"salary", "age"}
    other = ExpectedSchema(create_schema(2, '"string"'), {"person": json.dumps(SCHEMA)})
    assert find_tagged_names([other]) == {"salary"}
    record = ExpectedSchema(create_schema(3, json.dumps({**SCHEMA, "confluent:tags": ["PII"]})))
    assert find_tagged_names([record]).contain("height")
    assert find_tagged_names([]) == frozenset()
