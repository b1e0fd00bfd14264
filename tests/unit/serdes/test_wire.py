from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.identifiers import SchemaId
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import BadFrame
from contractlog.serdes.wire import decode_frame, encode_frame


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.binary())
def test_encoded_frames_are_decoded(schema_id: int, body: bytes) -> None:
    found, rest = decode_frame(encode_frame(SchemaId(schema_id), body))
    assert (found, bytes(rest)) == (schema_id, body)


def test_an_empty_body_is_a_body() -> None:
    assert decode_frame(b"\0\0\0\0\x07") == (7, b"")


def test_the_body_is_not_copied() -> None:
    record = bytearray(encode_frame(SchemaId(1), b"body"))
    _, body = decode_frame(record)
    record[5] = ord("B")
    assert bytes(body) == b"Body"


@pytest.mark.parametrize("record", [b"", b"\0", b"\0\0\0\0", b"\x01\0\0\0\x07x", b'{"json": true}'])
def test_invalid_frames_are_rejected(record: bytes) -> None:
    with pytest.raises(BadFrame) as caught:
        decode_frame(record)
    assert caught.value.outcome is Outcome.NOT_FRAMED


def test_errors_survive_pickling_with_their_facts() -> None:
    error = BadFrame(reason="why", field="a[].b", where="a[1].b").within(topic="t", subject="t-value", schema_id=7)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert again == error
    assert str(again) == "NOT_FRAMED: a[1].b: why (topic t, subject t-value, schema id 7)"


def test_importing_serdes_and_the_frame_is_light() -> None:
    code = (
        "import sys, contractlog.serdes.wire, contractlog.serdes.avro, contractlog.serdes.json_schema; "
        "heavy = {'fastavro', 'orjson', 'jsonschema_rs', 'httpx2', 'confluent_kafka', 'jsonschema'}; "
        "print(*sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "\n"
