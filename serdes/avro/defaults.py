"""Defaults of missing fields, as raw values of the field's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from contractlog.compatibility.avro.nodes import Array, Enum, Field, Fixed, Map, Node, Primitive, Record, Schema, Union
from contractlog.compatibility.json_text import MAX_NESTING, Number
from contractlog.serdes.avro.codecs import RECORD_COST
from contractlog.serdes.avro.failure import Failure

__all__ = ["NO_VALUE", "default_of", "room_of_default"]

NO_VALUE: Final = "the field is missing, and its default is no value of its type"
_SPECIAL: Final[Mapping[str, float]] = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_MAX_STEPS: Final = 100_000
_BYTES_OF_ITEM: Final = 8


def default_of(schema: Schema, field: Field) -> Callable[[], Any]:
    """Return a function that makes the field's default, converted to the field's type.

    Bytes are bytes, doubles are floats, and missing fields of nested records are filled in. The value is made on first
    use, so that a stored schema with an invalid default still works where that default is not needed. Each call returns
    a value of its own, or raises ``Failure``.
    """
    made: list[Any] = []

    def default() -> Any:
        if not made:
            try:
                made.append(_Making(schema).value(field.type, field.default, 0))
            except _NoValueError:
                raise Failure(None, NO_VALUE) from None
        return deepcopy(made[0]) if isinstance(made[0], list | dict) else made[0]

    return default


def room_of_default(schema: Schema, field: Field) -> int:
    """Return how many items a field's default counts as, by its size; an invalid default counts as none."""
    try:
        return _room(default_of(schema, field)()) if field.has_default else 0
    except Failure:
        return 0


def _room(value: Any) -> int:
    match value:
        case list():
            return RECORD_COST + sum(1 + _room(item) for item in value)
        case dict():
            return RECORD_COST + sum(1 + _room(item) for item in value.values())
        case str() | bytes():
            return len(value) // _BYTES_OF_ITEM
    return 0


class _NoValueError(Exception):
    """The JSON is not a value of the type."""


class _Making:
    """Converter of one default; it counts its steps, as records that fill each other might never end."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.steps = 0

    def value(self, node: Node, json: Any, depth: int) -> Any:  # noqa: PLR0911 -- one line per type
        self.steps += 1
        if depth > MAX_NESTING or self.steps > _MAX_STEPS:
            raise _NoValueError
        match self.schema.resolve(node), json:
            case Primitive(type=name), _:
                return _primitive(name, json)
            case Fixed(size=size), str() if len(json) == size:
                return _bytes(json)
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
        raise _NoValueError

    def member(self, field: Field, json: Mapping[str, Any], depth: int) -> Any:
        if field.name not in json and not field.has_default:
            raise _NoValueError
        return self.value(field.type, json.get(field.name, field.default), depth + 1)

    def first(self, branches: tuple[Node, ...], json: Any, depth: int) -> Any:
        for branch in branches:
            try:
                return self.value(branch, json, depth + 1)
            except _NoValueError:
                continue
        raise _NoValueError


def _primitive(name: str, json: Any) -> Any:  # noqa: PLR0911 -- one line per type
    match name, json:
        case "null", None:
            return None
        case "boolean", bool():
            return json
        case "int" | "long", Number() if json.integral:
            return int(json.value)
        case "float" | "double", Number():
            return float(json.value)
        case "float" | "double", str() if json in _SPECIAL:
            return _SPECIAL[json]
        case "string", str():
            return json
        case "bytes", str():
            return _bytes(json)
    raise _NoValueError


def _bytes(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise _NoValueError from None
