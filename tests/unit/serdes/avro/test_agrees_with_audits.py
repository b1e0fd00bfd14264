"""Deserializers and audits accept the same records, with the same code and field otherwise."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.body_codec import AvroReader
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.errors import DecodeError

from support.avro_codecs import encode, parse, record
from support.avro_strategies import schemas, values
from support.columnar import create_validator, list_outcomes, validate_bodies


def decoded(schema: Any, body: bytes) -> tuple[str, str]:
    try:
        AvroReader(parse(schema), limits=Limits(strict_booleans=False)).decode(body)
    except DecodeError as error:
        return (error.outcome or Outcome.CONFORMS).name, error.field
    return Outcome.CONFORMS.name, ""


def audited(schema: Any, body: bytes) -> tuple[str, str]:
    [(code, _, field)] = list_outcomes(validate_bodies([body], create_validator(schema)))
    return code, field


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_records_have_the_same_code_and_field(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    body = bytearray(encode(schema, data.draw(values(schema))))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(body)))
        match data.draw(st.sampled_from(["cut", "insert", "replace"])):
            case "cut":
                del body[at:]
            case "insert":
                body[at:at] = data.draw(st.binary(min_size=1, max_size=3))
            case _:
                body[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
    assert decoded(schema, bytes(body)) == audited(schema, bytes(body))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.binary(max_size=48))
@example(record(("b", "boolean")), b"\x02")
def test_random_bytes_have_the_same_code_and_field(schema: Any, body: bytes) -> None:
    assert decoded(schema, body) == audited(schema, body)
