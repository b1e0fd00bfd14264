"""Hypothesis strategies for Avro schemas without recursion, and for their values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

SCALARS = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LOGICAL: tuple[dict[str, Any], ...] = (
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3},
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001 -- zones are put on where wanted
NATURAL: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=8),
    "string": TEXT,
    "date": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "time-millis": st.times().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)),
    "time-micros": st.times(),
    "timestamp-millis": INSTANTS.map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000, tzinfo=UTC)),
    "timestamp-micros": INSTANTS.map(lambda t: t.replace(tzinfo=UTC)),
    "timestamp-nanos": st.integers(-(2**63), 2**63 - 1),
    "local-timestamp-millis": INSTANTS.map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)),
    "local-timestamp-micros": INSTANTS,
    "uuid": st.uuids(),
    "decimal": st.integers(-(10**9) + 1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-3)),
}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """Generate a record schema."""
    return _record(draw, depth, _names())


@st.composite
def values(draw: st.DrawFn, schema: Any) -> Any:
    """Generate a value of a schema, as fastavro reads it."""
    return _value(draw, schema)


def _names() -> Callable[[], str]:
    used: list[str] = []

    def name() -> str:
        used.append(f"n{len(used)}")
        return f"space.{used[-1]}"

    return name


def _record(draw: st.DrawFn, depth: int, name: Callable[[], str]) -> dict[str, Any]:
    own = name()
    fields = [{"name": f"f{index}", "type": _type(draw, depth - 1, name)} for index in range(draw(st.integers(0, 4)))]
    return {"type": "record", "name": own, "fields": fields}


def _type(draw: st.DrawFn, depth: int, name: Callable[[], str]) -> Any:  # noqa: PLR0911 -- one line per type
    kinds = ["scalar", "logical"] + (["record", "enum", "fixed", "array", "map", "union", "nullable"] if depth else [])
    match draw(st.sampled_from(kinds)):
        case "record":
            return _record(draw, depth, name)
        case "enum":
            return {"type": "enum", "name": name(), "symbols": ["A", "B", "C"]}
        case "fixed":
            return {"type": "fixed", "name": name(), "size": draw(st.integers(0, 4))}
        case "array":
            return {"type": "array", "items": _type(draw, depth - 1, name)}
        case "map":
            return {"type": "map", "values": _type(draw, depth - 1, name)}
        case "union":
            return draw(st.lists(st.sampled_from(SCALARS), min_size=1, max_size=5, unique=True))
        case "nullable":
            inner = _type(draw, depth - 1, name)
            return inner if isinstance(inner, list) or inner == "null" else ["null", inner]
        case "logical":
            return draw(st.sampled_from(LOGICAL))
        case _:
            return draw(st.sampled_from(SCALARS))


def _value(draw: st.DrawFn, schema: Any) -> Any:  # noqa: PLR0911 -- one line per type
    match schema:
        case str():
            return draw(NATURAL[schema])
        case list():
            return _value(draw, draw(st.sampled_from(schema)))
        case {"logicalType": str() as logical}:
            return draw(NATURAL[logical])
        case {"type": "record", "fields": fields}:
            return {field["name"]: _value(draw, field["type"]) for field in fields}
        case {"type": "enum", "symbols": symbols}:
            return draw(st.sampled_from(symbols))
        case {"type": "fixed", "size": size}:
            return draw(st.binary(min_size=size, max_size=size))
        case {"type": "array", "items": items}:
            return [_value(draw, items) for _ in range(draw(st.integers(0, 3)))]
        case {"type": "map", "values": inner}:
            return {key: _value(draw, inner) for key in draw(st.lists(TEXT, max_size=3, unique=True))}
    raise AssertionError(schema)
