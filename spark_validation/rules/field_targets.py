"""Fields of an Avro schema, of primitive types, on which rules of type CEL_FIELD are evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa

from contractlog.compatibility.avro import types as avro
from contractlog.compatibility.avro.logical_types import describe_logical_type, parse_decimal
from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.tags import read_tags
from contractlog.contracts.rules.language.value_types import (
    BOOL,
    BYTES,
    DECIMAL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    ValueKind,
    ValueType,
)
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.tags import TagPaths

__all__ = ["FieldTarget", "TargetsUnclear", "find_targets"]

MAX_TARGETS: Final = 1_000  #: fields of a schema
_PRIMITIVES: Final = {
    "boolean": BOOL, "int": INT, "long": INT, "float": DOUBLE, "double": DOUBLE, "bytes": BYTES, "string": STRING,
}  # fmt: skip
_LOGICAL: Final = {
    "date": ValueType(ValueKind.INT, conversion="date"),
    "uuid": STRING,
    "decimal": DECIMAL,
    "timestamp-millis": TIMESTAMP,
    "timestamp-micros": TIMESTAMP,
}
_UNREAD: Final = frozenset(
    {"time-millis", "time-micros", "timestamp-nanos", "local-timestamp-millis", "local-timestamp-micros",
     "local-timestamp-nanos"}
)  # fmt: skip
_WIDEST_DECIMAL: Final = 76  #: digits of a decimal in Arrow
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS: Final = pa.timestamp("us", "UTC")
_ARROW: Final[Mapping[ValueKind, Callable[[Any], bool]]] = {
    ValueKind.BOOL: pa.types.is_boolean,
    ValueKind.DOUBLE: pa.types.is_float64,
    ValueKind.STRING: pa.types.is_string,
    ValueKind.BYTES: pa.types.is_binary,
    ValueKind.DECIMAL: pa.types.is_decimal,
    ValueKind.TIMESTAMP: pa.types.is_timestamp,
}


class TargetsUnclear(Exception):
    """The fields of a schema cannot be told apart by their columns; the message says why."""


@dataclass(frozen=True, slots=True)
class FieldTarget:
    """A field of a primitive type."""

    path: str  #: of its values, such as ``legs[].carrier``
    name: str
    full_name: str  #: with that of its record
    type_name: str  #: in capital letters
    tags: frozenset[str]
    type: ValueType
    logical: str = ""  #: name of the logical type

    def accepts(self, arrow: pa.DataType) -> bool:
        """Return true if a column has values of the field's type."""
        if self.type.kind is ValueKind.INT:
            return pa.types.is_date32(arrow) if self.type.conversion else pa.types.is_int64(arrow)
        return _ARROW[self.type.kind](arrow)

    def decode(self, values: pa.Array[Any]) -> list[Any]:
        """Return the values of a column as deserializers do."""
        if self.type.conversion == "date":
            return values.cast(pa.int32()).to_pylist()
        if self.type.kind is ValueKind.TIMESTAMP:
            times: list[int] = np.asarray(values.cast(_MICROSECONDS).cast(pa.int64())).tolist()
            return [_decode_time(time, self.logical) for time in times]
        decoded: list[Any] = values.to_pylist()
        return [str(UUID(value)) for value in decoded] if self.logical == "uuid" else decoded


def _decode_time(time: int, logical: str) -> datetime | int:
    """Return a time in microseconds; as a plain number if its year is not within 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        return time // 1000 if logical == "timestamp-millis" else time


@dataclass(frozen=True, slots=True)
class _Field:
    """The field that encloses a value."""

    name: str
    full_name: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Value:
    """A scalar value at a path; ``target`` is None if rules leave it out."""

    path: str
    target: FieldTarget | None
    unclear: str = ""


def find_targets(rule: Rule, parsed: ParsedSchema, tag_paths: TagPaths) -> list[FieldTarget]:
    """Return the fields that a rule is evaluated on; ``tag_paths`` has the tags of the schema's metadata.

    Raises:
        TargetsUnclear: a field cannot be told apart from another one, or has no column.
    """
    root: Any = parsed.root
    try:
        values = list(islice(_walk(root, root.root, "", None, frozenset(), tag_paths=tag_paths), MAX_TARGETS + 1))
    except RuleError as error:
        raise TargetsUnclear(str(error)) from None
    if len(values) > MAX_TARGETS:
        raise TargetsUnclear(f"the schema has more than {MAX_TARGETS:,} fields")
    paths = Counter(value.path for value in values)
    targets = []
    for value in values:
        target = value.target
        if target is None or (rule.tags and target.tags.isdisjoint(rule.tags)):
            continue
        if value.unclear:
            raise TargetsUnclear(value.unclear)
        if paths[value.path] > 1:
            raise TargetsUnclear(f"the field `{value.path}` may have values of several types")
        targets.append(target)
    return targets


def _walk(
    schema: avro.AvroSchema,
    use: avro.AvroType,
    path: str,
    field: _Field | None,
    opened: frozenset[str],
    *,
    tag_paths: TagPaths,
) -> Iterator[_Value]:
    """Yield the scalar values below a type."""
    node = schema.resolve(use)
    match node:
        case avro.Record():
            if node.name in opened:
                raise TargetsUnclear(f"the record `{node.name}` contains itself")
            for member in node.fields:
                full_name = f"{node.name}.{member.name}"
                tags = frozenset(read_tags(member.props)) | tag_paths.find(full_name)
                inner = f"{path}.{member.name}" if path else member.name
                around = _Field(member.name, full_name, tags)
                yield from _walk(schema, member.type, inner, around, opened | {node.name}, tag_paths=tag_paths)
        case avro.Array():
            yield from _walk(schema, node.items, f"{path}[]", field, opened, tag_paths=tag_paths)
        case avro.Map():
            yield from _walk(schema, node.values, f"{path}{{}}", field, opened, tag_paths=tag_paths)
        case avro.Union():
            for branch in node.branches:
                yield from _walk(schema, branch, path, field, opened, tag_paths=tag_paths)
        case avro.Primitive(type="null"):
            return
        case avro.Primitive() if field is not None:
            yield _make_value(node, path, field)
        case _:
            yield _Value(path, None)


def _make_value(node: avro.Primitive, path: str, field: _Field) -> _Value:
    logical = describe_logical_type(node).partition("(")[0]
    decimal = parse_decimal(node.props, None) if logical == "decimal" else None
    is_unread = logical in _UNREAD or (decimal is not None and decimal[0] > _WIDEST_DECIMAL)
    unclear = f"columns do not have the values of `{path}`, of type {logical}" if is_unread else ""
    value_type = _LOGICAL.get(logical, _PRIMITIVES[node.type])
    target = FieldTarget(path, field.name, field.full_name, node.type.upper(), field.tags, value_type, logical)
    return _Value(path, target, unclear)
