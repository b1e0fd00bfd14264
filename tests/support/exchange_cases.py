"""Schemas and values for the exchange of frames between libraries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

__all__ = ["AVRO", "EVOLVED", "JSON", "PLAIN", "Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """A schema of a topic, and values of it."""

    name: str
    schema: str
    values: tuple[Any, ...]
    later: str = ""  #: the schema's next version
    read_later: tuple[Any, ...] = ()  #: the values, as that version has them

    def __str__(self) -> str:
        return self.name


def record(*fields: tuple[str, Any], name: str = "Order", **more: Any) -> dict[str, Any]:
    """Return a record schema; ``more`` has further members of fields by name."""
    field_schemas = [{"name": field, "type": schema} | more.get(field, {}) for field, schema in fields]
    return {"type": "record", "name": name, "namespace": "acme", "fields": field_schemas}


def case(name: str, schema: Any, *values: Any) -> Case:
    """Return a case whose schema is given as data."""
    return Case(name, json.dumps(schema), values)


CARD: Final = record(("network", "string"), ("digits", "string"), name="Card")
TRANSFER: Final = record(("iban", "string"), name="Transfer")
STATE: Final = {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}
NODE: Final = record(("value", "long"), ("next", ["null", "acme.Node"]), name="Node")

#: supported by every library with the same values (JavaScript's loses the sign of longs that are next to -(2**53))
PLAIN: Final = (
    case("long", "long", 0, -1, 7, 2**31, -(2**40)),
    case("string", "string", "", "Köln 日本 🚀", "x" * 300),
    case(
        "flat",
        record(("i", "int"), ("l", "long"), ("d", "double"), ("b", "boolean"), ("s", "string"), ("e", STATE)),
        {"i": -(2**31), "l": 2**53 - 2, "d": 0.1, "b": True, "s": "é", "e": "PAID"},
        {"i": 2**31 - 1, "l": -(2**52), "d": -1e300, "b": False, "s": "", "e": "NEW"},
    ),
    case("nothing", record(name="Empty"), {}),
    case(
        "nested",
        record(("card", ["null", CARD]), ("more", {"type": "array", "items": "acme.Card"})),
        {"card": None, "more": []},
        {"card": {"network": "visa", "digits": "1"}, "more": [{"network": "a", "digits": ""}] * 3},
    ),
    case(
        "collections",
        record(("m", {"type": "map", "values": "long"}), ("a", {"type": "array", "items": ["null", "string"]})),
        {"m": {}, "a": []},
        {"m": {"": 1, "ü": -2}, "a": [None, "", "x"]},
    ),
    case("list", NODE, {"value": 1, "next": {"value": 2, "next": {"value": 3, "next": None}}}),
)
#: also supported by Python's libraries
AVRO: Final = (
    *PLAIN,
    case("bytes", "bytes", b"", b"\x00\xff"),
    case("int", "int", 0, 1, -(2**31)),
    case("parties", record(("paid_by", [CARD, TRANSFER])), {"paid_by": {"iban": "DE1"}}),
    case(
        "logical",
        record(
            ("uuid", {"type": "string", "logicalType": "uuid"}),
            ("day", {"type": "int", "logicalType": "date"}),
            ("at", {"type": "long", "logicalType": "timestamp-millis"}),
            ("exact", {"type": "long", "logicalType": "timestamp-micros"}),
            ("local", {"type": "long", "logicalType": "local-timestamp-micros"}),
            ("clock", {"type": "int", "logicalType": "time-millis"}),
            ("fine", {"type": "long", "logicalType": "time-micros"}),
            ("price", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}),
            ("fixed", {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal", "precision": 9}),
        ),
        {
            "uuid": UUID("12345678-1234-5678-1234-567812345678"),
            "day": date(1969, 12, 31),
            "at": datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=UTC),
            "exact": datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            "local": datetime(2024, 2, 29, 12, 30, 1, 1),  # noqa: DTZ001 -- the type has no zone
            "clock": time(23, 59, 59, 999_000),
            "fine": time(0, 0, 0, 1),
            "price": Decimal("-1.01"),
            "fixed": Decimal(12345),
        },
    ),
    case(
        "binary",
        record(("b", "bytes"), ("f", {"type": "fixed", "name": "Two", "size": 2}), ("x", "float"), ("n", "null")),
        {"b": b"", "f": b"\x00\x80", "x": 0.5, "n": None},
    ),
)
SEEN: Final = {"seen": {"default": None}, "state": {"default": "NEW"}, "count": {"default": 5}}
EVOLVED: Final = Case(
    "evolved",
    json.dumps(record(("id", "int"), ("gone", "string"), ("card", ["null", CARD]))),
    (
        {"id": 7, "gone": "x", "card": None},
        {"id": -(2**31), "gone": "", "card": {"network": "visa", "digits": "1"}},
    ),
    json.dumps(
        record(
            ("seen", ["null", "string"]),
            ("id", "long"),
            ("state", STATE),
            ("card", ["null", CARD]),
            ("count", "long"),
            **SEEN,
        )
    ),
    (
        {"seen": None, "id": 7, "state": "NEW", "card": None, "count": 5},
        {"seen": None, "id": -(2**31), "state": "NEW", "card": {"network": "visa", "digits": "1"}, "count": 5},
    ),
)
JSON: Final = (
    case(
        "document",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Order",
            "type": "object",
            "properties": {
                "id": {"type": "integer"},
                "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
                "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}},
                "price": {"type": "number", "minimum": 0},
            },
            "required": ["id"],
            "definitions": {"line": {"type": "object", "properties": {"sku": {"type": "string", "minLength": 1}}}},
        },
        {"id": 7},
        {"id": -(2**53) + 1, "note": None, "lines": [{"sku": "Köln"}, {}], "price": 0.1},
        {"id": 1, "note": '日本 🚀 " \\ \n', "lines": [], "price": 1e300},
    ),
    case("words", {"title": "Words", "type": "array", "items": {"type": "string"}}, [], ["", "x"]),
)
