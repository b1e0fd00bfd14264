"""Types of rule expressions: those of CEL, and records with their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

__all__ = [
    "BOOL",
    "BYTES",
    "DECIMAL",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "NULL",
    "NUMBERS",
    "STRING",
    "TIMESTAMP",
    "TYPE",
    "UINT",
    "RecordFields",
    "ValueKind",
    "ValueType",
    "describe_type",
    "list_of",
    "map_of",
    "nullable",
    "record_of",
]


class ValueKind(StrEnum):
    """The kinds of types; ``decimal`` and ``record`` are not of CEL's standard."""

    NULL = "null_type"
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    BYTES = "bytes"
    TIMESTAMP = "google.protobuf.Timestamp"
    DURATION = "google.protobuf.Duration"
    LIST = "list"
    MAP = "map"
    RECORD = "record"
    TYPE = "type"
    DYN = "dyn"

    @property
    def label(self) -> str:
        """The name in messages, such as ``timestamp`` or ``null``."""
        return "null" if self is ValueKind.NULL else self.value.rpartition(".")[2].lower()


class RecordFields:
    """The fields of a record, made when they are first used: a record may contain itself."""

    def __init__(self, make: Callable[[], Mapping[str, ValueType]], *, closed: bool = True) -> None:
        self._make = make
        self.closed = closed  #: false if values may have other fields

    @cached_property
    def by_name(self) -> Mapping[str, ValueType]:
        """The type of each field."""
        return self._make()


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type; two records are of the same type if they have the same declaration."""

    kind: ValueKind
    parameters: tuple[ValueType, ...] = ()  #: of a list its items; of a map its keys and values
    name: str = ""  #: of a record
    nullable: bool = False  #: true if the value may be null
    conversion: str = ""  #: ``date`` or ``uuid`` if serdes return a Python value that CEL reads as int or string
    fields: RecordFields | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return describe_type(self)


def describe_type(value_type: ValueType) -> str:
    """Return a type as people write it: ``list<string>``, ``record Order``, ``int or null``."""
    if value_type.kind in (ValueKind.LIST, ValueKind.MAP):
        text = f"{value_type.kind}<{', '.join(map(describe_type, value_type.parameters))}>"
    elif value_type.kind is ValueKind.RECORD:
        text = f"record {value_type.name}".rstrip()
    else:
        text = value_type.kind.label
    return f"{text} or null" if value_type.nullable else text


NULL = ValueType(ValueKind.NULL)
BOOL = ValueType(ValueKind.BOOL)
INT = ValueType(ValueKind.INT)
UINT = ValueType(ValueKind.UINT)
DOUBLE = ValueType(ValueKind.DOUBLE)
DECIMAL = ValueType(ValueKind.DECIMAL)
STRING = ValueType(ValueKind.STRING)
BYTES = ValueType(ValueKind.BYTES)
TIMESTAMP = ValueType(ValueKind.TIMESTAMP)
DURATION = ValueType(ValueKind.DURATION)
TYPE = ValueType(ValueKind.TYPE)
DYN = ValueType(ValueKind.DYN)

#: Kinds whose values are compared by their numbers.
NUMBERS = frozenset({ValueKind.INT, ValueKind.UINT, ValueKind.DOUBLE, ValueKind.DECIMAL})


def list_of(items: ValueType) -> ValueType:
    """Return the type of lists with these items."""
    return ValueType(ValueKind.LIST, (items,))


def map_of(keys: ValueType, values: ValueType) -> ValueType:
    """Return the type of maps from keys to values."""
    return ValueType(ValueKind.MAP, (keys, values))


def record_of(name: str, make_fields: Callable[[], Mapping[str, ValueType]], *, closed: bool = True) -> ValueType:
    """Return the type of a record; ``make_fields`` is called when its fields are first needed."""
    return ValueType(ValueKind.RECORD, name=name, fields=RecordFields(make_fields, closed=closed))


def nullable(value_type: ValueType) -> ValueType:
    """Return the type with null as another possible value."""
    if value_type.kind in (ValueKind.NULL, ValueKind.DYN):
        return value_type
    return replace(value_type, nullable=True)
