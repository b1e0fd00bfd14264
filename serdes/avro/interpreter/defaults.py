"""Defaults of missing fields, as raw values of the field's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
)
from contractlog.compatibility.json_text import MAX_NESTING, Number
from contractlog.serdes.avro.interpreter.codecs import RECORD_COST
from contractlog.serdes.avro.interpreter.failure import CodecFailure

__all__ = ["INVALID_DEFAULT", "count_default_items", "default_cost", "make_copier", "make_default"]

INVALID_DEFAULT: Final = "the field is missing, and its default is not a value of its type"
_SPECIAL_NUMBERS: Final[Mapping[str, float]] = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_MAX_STEPS: Final = 100_000
_BYTES_OF_ITEM: Final = 8


def make_default(schema: AvroSchema, field: Field) -> Callable[[], Any]:
    """Return a function that makes the field's default, converted to the field's type.

    Bytes are bytes, doubles are floats, and missing fields of nested records are filled in. The value is made on first
    use, so that a stored schema with an invalid default still works where that default is not needed. Each call returns
    a value of its own, or raises ``CodecFailure``.
    """
    copy: Callable[[], Any] | None = None

    def default() -> Any:
        nonlocal copy
        if copy is None:
            try:
                copy = make_copier(_DefaultConverter(schema).value(field.type, field.default, 0))
            except _InvalidDefaultError:
                raise CodecFailure(None, INVALID_DEFAULT) from None
        return copy()

    return default


def make_copier(value: Any) -> Callable[[], Any]:
    """Return a function that copies a value: its lists and dicts, as scalars never change."""
    if not isinstance(value, list | dict | tuple):
        return lambda: value
    parts = list(value.values()) if isinstance(value, dict) else value
    if not any(isinstance(part, list | dict | tuple) for part in parts):
        return (lambda: value) if isinstance(value, tuple) else value.copy
    copiers = [make_copier(part) for part in parts]
    if isinstance(value, dict):
        return lambda: {name: copy() for name, copy in zip(value, copiers, strict=True)}
    return lambda: type(value)(copy() for copy in copiers)


def default_cost(schema: AvroSchema, field: Field) -> int:
    """Return how many items a field's default counts as, by its size; an invalid default counts as none."""
    try:
        return _value_cost(make_default(schema, field)()) if field.has_default else 0
    except CodecFailure:
        return 0


def count_default_items(schema: AvroSchema, field: Field) -> int:
    """Return how many items a default counts as beyond an empty list or dict; 0 for scalars."""
    if not isinstance(field.default, list | dict):
        return 0
    return max(default_cost(schema, field) - RECORD_COST, 0)


def _value_cost(value: Any) -> int:
    match value:
        case list():
            return RECORD_COST + sum(1 + _value_cost(item) for item in value)
        case dict():
            return RECORD_COST + sum(1 + _value_cost(item) for item in value.values())
        case str() | bytes():
            return len(value) // _BYTES_OF_ITEM
    return 0


class _InvalidDefaultError(Exception):
    """The JSON is not a value of the type."""


class _DefaultConverter:
    """Converter of one default; it counts its steps, as records that fill each other might never end."""

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = schema
        self.steps = 0

    def value(self, node: AvroType, json: Any, depth: int) -> Any:  # noqa: PLR0911 -- one line per type
        self.steps += 1
        if depth > MAX_NESTING or self.steps > _MAX_STEPS:
            raise _InvalidDefaultError
        match self.schema.resolve(node), json:
            case Primitive(type=name), _:
                return _convert_primitive(name, json)
            case Fixed(size=size), str() if len(json) == size:
                return _convert_bytes(json)
            case Enum(symbols=symbols), str() if json in symbols:
                return json
            case Array(items=items), list():
                return [self.value(items, item, depth + 1) for item in json]
            case Map(values=values), dict():
                return {key: self.value(values, item, depth + 1) for key, item in json.items()}
            case Record() as record, dict():
                return {field.name: self.member(field, json, depth) for field in record.fields}
            case Union(branches=branches), _:
                return self.first(branches, json, depth)
        raise _InvalidDefaultError

    def member(self, field: Field, json: Mapping[str, Any], depth: int) -> Any:
        if field.name not in json and not field.has_default:
            raise _InvalidDefaultError
        return self.value(field.type, json.get(field.name, field.default), depth + 1)

    def first(self, branches: tuple[AvroType, ...], json: Any, depth: int) -> Any:
        for branch in branches:
            try:
                return self.value(branch, json, depth + 1)
            except _InvalidDefaultError:
                continue
        raise _InvalidDefaultError


def _convert_primitive(name: str, json: Any) -> Any:  # noqa: PLR0911 -- one line per type
    match name, json:
        case "null", None:
            return None
        case "boolean", bool():
            return json
        case "int" | "long", Number() if json.integral:
            return int(json.value)
        case "float" | "double", Number():
            return float(json.value)
        case "float" | "double", str() if json in _SPECIAL_NUMBERS:
            return _SPECIAL_NUMBERS[json]
        case "string", str():
            return json
        case "bytes", str():
            return _convert_bytes(json)
    raise _InvalidDefaultError


def _convert_bytes(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise _InvalidDefaultError from None
