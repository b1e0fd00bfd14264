"""Golden bytes of this release, which must not change because stored records must stay readable."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

if TYPE_CHECKING:
    from contractlog.clients import Registry

CONTEXT = SerializationContext("golden", MessageField.VALUE)
FLIGHT = {
    "type": "record",
    "name": "Flight",
    "namespace": "golden",
    "fields": [
        {"name": "number", "type": "int"},
        {"name": "distance", "type": "long"},
        {"name": "speed", "type": "float"},
        {"name": "delay", "type": ["null", "double"], "default": None},
        {"name": "tail", "type": "string"},
        {"name": "raw", "type": "bytes"},
        {"name": "airborne", "type": "boolean"},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["CARGO", "PASSENGER"]}},
        {"name": "legs", "type": {"type": "array", "items": "string"}},
        {"name": "seats", "type": {"type": "map", "values": "int"}},
        {"name": "next", "type": ["null", "Flight"], "default": None},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "departed", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
    ],
}
DEPARTED = {
    "number": -1545,
    "distance": 2**40,
    "speed": 0.5,
    "delay": 2.0,
    "tail": "N14228 é",
    "raw": b"\x00\xff",
    "airborne": True,
    "hash": b"\xca\xfe",
    "kind": "PASSENGER",
    "legs": ["EWR", "IAH"],
    "seats": {"A": 1},
    "next": None,
    "id": UUID("12345678-1234-5678-1234-567812345678"),
    "price": Decimal("-12.34"),
    "day": date(2013, 7, 1),
    "at": time(5, 15),
    "departed": datetime(2013, 7, 1, 9, 15, tzinfo=UTC),
    "local": datetime(2013, 7, 1, 5, 15),  # noqa: DTZ001 -- local
}
FRAME = "00 00000001"
GOLDEN: list[tuple[str, Any, Any, str]] = [
    (
        "avro",
        FLIGHT,
        DEPARTED,
        (
            f"{FRAME} 9118 8080808080400000003f02000000000000004012 4e313432323820c3a9 0400ff 01 cafe 02 04 06455752"
            "06494148 00 02 0241 02 00 00 48 31323334353637382d313233342d353637382d313233342d353637383132333435363738"
            "04fb2e 9ef801 c0908312 c0889c98f34f 80f4adf6899bf004"
        ),
    ),
    ("avro", "string", "é", f"{FRAME} 04 c3a9"),
    ("avro", "bytes", b"raw", f"{FRAME} 726177"),
    ("avro", {"type": "record", "name": "Nothing", "fields": []}, {}, FRAME),
    ("avro", ["null", "int"], -1, f"{FRAME} 02 01"),
    ("avro", "long", -(2**63), f"{FRAME} ffffffffffffffffff01"),
    (
        "json",
        {"type": "object", "properties": {"a": {"type": "number"}}},
        {"a": 1.5, "b": ["é", None, True]},
        f"{FRAME} 7b2261223a312e352c2262223a5b22c3a9222c6e756c6c2c747275655d7d",
    ),
]


@pytest.mark.parametrize(("kind", "schema", "value", "golden"), GOLDEN)
def test_bytes_are_those_of_the_first_release(
    registry: Registry, kind: str, schema: Any, value: Any, golden: str
) -> None:
    text = json.dumps(schema)
    serializer = AvroSerializer(registry, text) if kind == "avro" else JSONSerializer(text, registry)
    deserializer = AvroDeserializer(registry) if kind == "avro" else JSONDeserializer(None, None, registry)
    written = serializer(value, CONTEXT)
    assert written is not None
    assert written.hex() == golden.replace(" ", "")
    assert deserializer(bytes.fromhex(golden), CONTEXT) == value
