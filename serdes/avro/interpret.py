"""Builder of the codecs that read and write the values of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contractlog.compatibility.avro.nodes import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    TypeName,
    Union,
)
from contractlog.compatibility.json_text import Number
from contractlog.serdes.avro.binary import INT_RANGE
from contractlog.serdes.avro.codecs import (
    RECORD_COST,
    BooleanCodec,
    BytesCodec,
    Codec,
    DoubleCodec,
    EnumCodec,
    FixedCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    StringCodec,
)
from contractlog.serdes.avro.containers import ArrayCodec, FieldCodec, MapCodec, RecordCodec
from contractlog.serdes.avro.defaults import default_of
from contractlog.serdes.avro.lenient import LENIENT, LenientArrayCodec, LenientLogicalCodec
from contractlog.serdes.avro.logical import DecimalCodec, FixedUuidCodec, LogicalCodec, UuidCodec
from contractlog.serdes.avro.times import DateCodec, LocalTimestampCodec, NanosCodec, TimeCodec, TimestampCodec
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["Builder", "with_logical_type"]

_PRIMITIVES: Final[Mapping[str, type[Codec]]] = {
    "null": NullCodec,
    "boolean": BooleanCodec,
    "int": IntCodec,
    "long": LongCodec,
    "float": FloatCodec,
    "double": DoubleCodec,
    "bytes": BytesCodec,
    "string": StringCodec,
}
_UUID_BYTES: Final = 16
_MILLIS: Final = 1_000
_MICROS: Final = 1_000_000
_DIGITS_PER_BIT: Final = 0.30103


class Builder:
    """Builder of the codecs of a schema's nodes; one codec per named type, so that types may be recursive."""

    def __init__(
        self, schema: Schema, *, logical: bool = True, named_records: bool = False, lenient: bool = False
    ) -> None:
        self.schema = schema
        self._lenient = lenient  # values that do not fit are written as other clients write them
        self._logical = logical  # False: raw values only
        self._named_records = named_records  # records of unions are read as (name, record)
        self._named: dict[str, Codec] = {}

    def codec(self, node: Node) -> Codec:
        """Return the codec of a node."""
        match node:
            case TypeName(name=name):
                return self._named.get(name) or self._define(self.schema.types[name])
            case Named(name=name):
                return self._named.get(name) or self._define(node)
            case Primitive(type=name):
                codec = LENIENT.get(name, _PRIMITIVES[name])() if self._lenient else _PRIMITIVES[name]()
                return self._logically(node, codec)
            case Array(items=items):
                array = LenientArrayCodec() if self._lenient else ArrayCodec()
                array.items = self.codec(items)
                return array
            case Map(values=values):
                entries = MapCodec()
                entries.values = self.codec(values)
                return entries
            case Union(branches=branches):
                union = UnionCodec(named_records=self._named_records)
                union.tie([self.codec(branch) for branch in branches])
                return union
        raise NotImplementedError(node.kind)

    def _define(self, node: Named) -> Codec:
        codec: Codec
        match node:
            case Record():
                codec = record = RecordCodec((node.name,))
                self._named[node.name] = record
                record.tie([self._field(field) for field in node.fields])
                record.empty = all(field.codec.empty for field in record.fields)
                record.cost = RECORD_COST + sum(field.codec.cost for field in record.fields)
            case Enum():
                codec = EnumCodec((node.name,), node.symbols)
            case Fixed():
                codec = self._logically(node, FixedCodec((node.name,), node.size))
            case _:
                raise NotImplementedError(node.kind)
        self._named[node.name] = codec
        return codec

    def _logically(self, node: Node, raw: Codec) -> Codec:
        codec = with_logical_type(node, raw) if self._logical else raw
        return LenientLogicalCodec(codec) if self._lenient and isinstance(codec, LogicalCodec) else codec

    def _field(self, field: Field) -> FieldCodec:
        codec = self.codec(field.type)
        default = default_of(self.schema, field) if field.has_default else None
        if default is None and self._takes_null(field.type):
            return FieldCodec(field.name, codec, lambda: None)
        return FieldCodec(field.name, codec, default)

    def _takes_null(self, node: Node) -> bool:
        branches = node.branches if isinstance(node, Union) else (node,)
        return any(isinstance(branch, Primitive) and branch.type == "null" for branch in branches)


def with_logical_type(node: Node, raw: Codec) -> Codec:  # noqa: C901, PLR0911 -- one line per type
    """Wrap the codec of raw values in the node's logical type; unknown and invalid ones are ignored."""
    underlying = node.type if isinstance(node, Primitive) else "fixed"
    match underlying, node.logical_type:
        case "string", "uuid":
            return UuidCodec(raw)
        case "fixed", "uuid" if isinstance(raw, FixedCodec) and raw.size == _UUID_BYTES:
            return FixedUuidCodec(raw)
        case "bytes" | "fixed", "decimal":
            return _decimal(node.props, raw)
        case "int", "date":
            return DateCodec(raw)
        case "int", "time-millis":
            return TimeCodec(raw, _MILLIS)
        case "long", "time-micros":
            return TimeCodec(raw, _MICROS)
        case "long", "timestamp-millis":
            return TimestampCodec(raw, _MILLIS)
        case "long", "timestamp-micros":
            return TimestampCodec(raw, _MICROS)
        case "long", "local-timestamp-millis":
            return LocalTimestampCodec(raw, _MILLIS)
        case "long", "local-timestamp-micros":
            return LocalTimestampCodec(raw, _MICROS)
        case "long", "timestamp-nanos" | "local-timestamp-nanos":
            return NanosCodec(raw, local=node.logical_type == "local-timestamp-nanos")
    return raw  # also ``duration`` and ``big-decimal``


def _decimal(props: Mapping[str, Any], raw: Codec) -> Codec:
    precision, scale = _integer(props.get("precision")), _integer(props.get("scale", Number("0")))
    if precision is None or scale is None or not 0 <= scale <= precision or not 1 <= precision <= INT_RANGE[1]:
        return raw
    if isinstance(raw, FixedCodec) and precision > int((8 * raw.size - 1) * _DIGITS_PER_BIT):
        return raw
    return DecimalCodec(raw, precision, scale)


def _integer(value: Any) -> int | None:
    return int(value.value) if isinstance(value, Number) and value.integral else None
