"""Ids and guids in record headers are read as by deserializers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import BadFrame
from contractlog.serdes.schema_ids import FrameId, dual_schema_id_deserializer
from contractlog.serdes.wire import KEY_ID_HEADER, VALUE_ID_HEADER
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes, make_validator, validate_column
from contractlog.spark_validation.columnar.frames import read_frames, read_schema_headers
from contractlog.spark_validation.sources.records import RECORDS

GUID, OTHER = UUID(int=7).bytes, UUID(int=8).bytes
GUIDS = {GUID: 3, bytes(range(16)): 5}
KNOWN = {3: make_validator(RegisteredSchema(SchemaId(3), '"string"'))}
BODY = b"\x04ab"

Headers = list[tuple[str, bytes | None]] | None


def column(rows: list[Headers]) -> pa.Array[Any]:
    """Return headers as sources do."""
    made = [row and [{"key": key, "value": value} for key, value in row] for row in rows]
    return pa.array(made, RECORDS.field("headers").type)


def check(records: list[tuple[bytes | None, Headers]], part: str = "value") -> ColumnOutcomes:
    """Check records that carry headers."""
    header_ids = read_schema_headers(column([headers for _, headers in records]), part)
    bodies: Any = pa.array([body for body, _ in records], pa.binary())
    return validate_column(bodies, KNOWN, None, columns=False, header_ids=header_ids, guids=GUIDS)


HEADS = st.one_of(
    st.none(),
    st.sampled_from([b"", b"\x00", b"\x00\x00\x00\x00\x03", b"\x01" + GUID, b"\x01" + OTHER, b"\x01" + GUID + b"!"]),
    st.binary(max_size=20),
)
NAMES = st.sampled_from([VALUE_ID_HEADER, KEY_ID_HEADER, "trace"])
BODIES = st.one_of(
    st.sampled_from([b"", b"\x00\x00\x00\x00\x03" + BODY, b"\x01" + GUID + BODY, BODY]), st.binary(max_size=24)
)
ROWS = st.lists(st.tuples(BODIES, st.one_of(st.none(), st.lists(st.tuples(NAMES, HEADS), max_size=4))), max_size=12)


def expected(body: bytes, headers: Headers) -> tuple[bool, int, bytes]:
    """Read a frame as a deserializer does: framed or not, the id (0: unknown guid), and the rest."""
    context: Any = SimpleNamespace(field="value", headers=headers)
    frame = FrameId("AVRO")
    try:
        rest: io.BytesIO = dual_schema_id_deserializer(body, context, frame)
    except BadFrame:
        return False, 0, b""
    if frame.guid is None:
        assert frame.id is not None
        return True, frame.id if frame.id < 2**31 else frame.id - 2**32, rest.read()
    return True, GUIDS.get(frame.guid.bytes, 0), rest.read()


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, st.integers(0, 3))
def test_frames_are_those_that_a_deserializer_reads(rows: list[tuple[bytes, Headers]], start: int) -> None:
    bodies: Any = pa.array([body for body, _ in rows], pa.binary()).slice(start)
    headers = column([headers for _, headers in rows]).slice(start)
    frames = read_frames(bodies, read_schema_headers(headers, "value"), GUIDS)
    for index, (body, row) in enumerate(rows[start:]):
        framed, schema_id, rest = expected(body, row)
        assert bool(frames.framed[index]) == framed
        if framed:
            assert int(frames.schema_ids[index]) == schema_id
            assert frames.data[frames.starts[index] : frames.ends[index]].tobytes() == rest


def test_an_unknown_guid_before_a_body_is_an_unknown_schema() -> None:
    checked = check([(b"\x01" + OTHER + BODY, None), (b"\x01" + OTHER[1:], None)])
    assert [Outcome(code).name for code in checked.codes] == ["UNKNOWN_SCHEMA_ID", "NOT_FRAMED"]
    assert checked.details[0] == f"the registry has no schema with the guid {UUID(int=8)}"


def test_bodies_named_in_headers_conform_as_they_are() -> None:
    guid, number = b"\x01" + GUID, b"\x00\x00\x00\x00\x03"
    checked = check(
        [
            (BODY, [(VALUE_ID_HEADER, guid)]),
            (BODY, [("trace", b"x"), (VALUE_ID_HEADER, number)]),
            (number + BODY, None),
            (guid + BODY, []),
            (None, [(VALUE_ID_HEADER, guid)]),
            (number + BODY, [(VALUE_ID_HEADER, None)]),  # a header without a value says nothing
        ]
    )
    assert [Outcome(code).name for code in checked.codes] == [
        *["CONFORMS"] * 4,
        "TOMBSTONE",
        "CONFORMS",
    ]
    assert checked.schema_ids.tolist() == [3, 3, 3, 3, 0, 3]


@pytest.mark.parametrize(
    ("head", "outcome", "sentence"),
    [
        (b"\x01" + OTHER, "UNKNOWN_SCHEMA_ID", f"the registry has no schema with the guid {UUID(int=8)}"),
        (b"\x00\x00\x00\x00\x09", "UNKNOWN_SCHEMA_ID", "the registry has no schema 9"),
        (b"\x01" + GUID + b"!", "NOT_FRAMED", "the schema header holds 18 bytes, which are not a schema id or guid"),
        (b"", "NOT_FRAMED", "the schema header holds 0 bytes, which are not a schema id or guid"),
    ],
)
def test_invalid_headers_are_reported(head: bytes, outcome: str, sentence: str) -> None:
    checked = check([(BODY, [(VALUE_ID_HEADER, head)]), (b"\x00\x00\x00\x00\x03" + BODY, None)])
    assert [Outcome(code).name for code in checked.codes] == [outcome, "CONFORMS"]
    assert checked.details == {0: sentence}


def test_keys_have_a_header_of_their_own() -> None:
    records: list[tuple[bytes | None, Headers]] = [(BODY, [(KEY_ID_HEADER, b"\x01" + GUID)])]
    assert Outcome(check(records, "key").codes[0]) is Outcome.CONFORMS
    assert Outcome(check(records, "value").codes[0]) is Outcome.NOT_FRAMED


def test_without_headers_nothing_is_looked_for() -> None:
    assert read_schema_headers(column([None, None]), "value") is None
    assert read_schema_headers(column([None, [("trace", b"x")], []]), "value") is None


def test_the_mapping_of_guids_may_be_empty() -> None:
    none: Mapping[bytes, int] = {}
    bodies: Any = pa.array([BODY], pa.binary())
    header_ids = read_schema_headers(column([[(VALUE_ID_HEADER, b"\x01" + GUID)]]), "value")
    checked = validate_column(bodies, KNOWN, None, columns=False, header_ids=header_ids, guids=none)
    assert Outcome(checked.codes[0]) is Outcome.UNKNOWN_SCHEMA_ID
