"""Conversion between values and plain JSON, for the command line.

Bytes are text of code points up to 255, as in Avro's own JSON; times are ISO texts, decimals are texts or numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    is_null,
)
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder

__all__ = ["AvroValueConverter", "to_json_value"]

_SPECIAL_NUMBERS: Final[Mapping[str, float]] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json_value(value: Any) -> Any:  # noqa: PLR0911 -- one line per type
    """Return a value as plain JSON."""
    match value:
        case dict():
            return {key: to_json_value(member) for key, member in value.items()}
        case list():
            return [to_json_value(item) for item in value]
        case bytes():
            return value.decode("latin-1")
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        case datetime() | date() | time():
            return value.isoformat()
        case str() | bool() | int() | float() | None:
            return value
        case _:  # Decimal, UUID
            return str(value)


class AvroValueConverter:
    """Converter of plain JSON, parsed with ``Decimal`` for fractions, to values of one Avro schema."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._builder = CodecBuilder(schema)

    def value(self, json: Any) -> Any:
        """Return the value; the serializer reports what does not fit, with its path.

        Raises:
            UsageError: a member is not in the schema.
        """
        return self._convert(self._schema.root, json)

    def _convert(self, node: AvroType, json: Any) -> Any:
        match self._schema.resolve(node), json:
            case Record() as record, dict():
                return self._convert_record(record, json)
            case Array(items=items), list():
                return [self._convert(items, item) for item in json]
            case Map(values=values), dict():
                return {key: self._convert(values, item) for key, item in json.items()}
            case Union() as union, _:
                return self._convert_union(union, json)
            case (Primitive() | Fixed()) as scalar, _:
                return _convert_scalar(scalar, json)
        return json

    def _convert_record(self, record: Record, json: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Field] = {field.name: field for field in record.fields}
        unknown = [name for name in json if name not in fields]
        if unknown:
            raise UsageError(
                f"`{unknown[0][:60]}` is not a field of {record.name}; it has {', '.join(list(fields)[:20])}"
            )
        return {name: self._convert(fields[name].type, member) for name, member in json.items()}

    def _convert_union(self, union: Union, json: Any) -> Any:
        if json is None:
            return None
        others = [branch for branch in union.branches if not is_null(branch)]
        if len(others) == 1:
            return self._convert(others[0], json)
        unknown: UsageError | None = None
        for branch in others:
            codec = self._builder.codec(branch)
            try:
                value = self._convert(branch, json)
            except UsageError as error:
                unknown = error
                continue
            if codec.fits(value):
                return codec.names[0], value
        if unknown is not None:
            raise unknown
        return json


def _convert_scalar(node: Primitive | Fixed, json: Any) -> Any:  # noqa: PLR0911 -- one line per type
    kind = node.type if isinstance(node, Primitive) else "fixed"
    try:
        match kind, node.logical_type, json:
            case "bytes" | "fixed", "decimal", str() | int() | Decimal() if not isinstance(json, bool):
                return Decimal(json)
            case "bytes" | "fixed", _, str():
                return json.encode("latin-1")
            case "float" | "double", _, Decimal():
                return float(json)
            case "float" | "double", _, str():
                return _SPECIAL_NUMBERS.get(json, json)
            case "int" | "long", "time-millis" | "time-micros", str():
                return time.fromisoformat(json)
            case "long", str() as logical, str() if "timestamp-" in logical:
                return _parse_timestamp(json, local=logical.startswith("local-"))
    except (ValueError, InvalidOperation):
        return json
    return json


def _parse_timestamp(text: str, *, local: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if local or moment.tzinfo is not None else moment.replace(tzinfo=UTC)
