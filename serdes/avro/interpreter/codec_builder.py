"""Builder of the codecs that read and write the values of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
)
from contractlog.serdes.avro.interpreter.codecs import (
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
from contractlog.serdes.avro.interpreter.containers import ArrayCodec, FieldCodec, MapCodec, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.defaults import make_default
from contractlog.serdes.avro.interpreter.lenient_writers import LENIENT_CODECS, LenientArrayCodec, LenientLogicalCodec
from contractlog.serdes.avro.interpreter.logical_types import wrap_logical_type

__all__ = ["CodecBuilder"]

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


class CodecBuilder:
    """Builder of the codecs of a schema's nodes; one codec per named type, so that types may be recursive."""

    def __init__(
        self, schema: AvroSchema, *, logical: bool = True, named_records: bool = False, lenient: bool = False
    ) -> None:
        self.schema = schema
        self._lenient = lenient  # values that do not fit are written as other clients write them
        self._logical = logical  # False: raw values only
        self._named_records = named_records  # records of unions are read as (name, record)
        self._named_codecs: dict[str, Codec] = {}

    def codec(self, node: AvroType) -> Codec:
        """Return the codec of a node."""
        match node:
            case TypeName(name=name):
                return self._named_codecs.get(name) or self._define(self.schema.types[name])
            case NamedType(name=name):
                return self._named_codecs.get(name) or self._define(node)
            case Primitive(type=name):
                codec = LENIENT_CODECS.get(name, _PRIMITIVES[name])() if self._lenient else _PRIMITIVES[name]()
                return self.add_logical_type(node, codec)
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
                union.link([self.codec(branch) for branch in branches])
                return union
        raise NotImplementedError(node.kind)

    def _define(self, node: NamedType) -> Codec:
        codec: Codec
        match node:
            case Record():
                codec = record = RecordCodec((node.name,))
                self._named_codecs[node.name] = record
                record.link([self._field(field) for field in node.fields])
                record.count_empty_fields([field.codec for field in record.fields])
                record.cost = RECORD_COST + sum(field.codec.cost for field in record.fields)
            case Enum():
                codec = EnumCodec((node.name,), node.symbols)
            case Fixed():
                codec = self.add_logical_type(node, FixedCodec((node.name,), node.size))
            case _:
                raise NotImplementedError(node.kind)
        self._named_codecs[node.name] = codec
        return codec

    def add_logical_type(self, node: AvroType, raw: Codec) -> Codec:
        """Wrap the codec of raw values in the node's logical type, as the options of the builder require."""
        codec = wrap_logical_type(node, raw) if self._logical else raw
        return LenientLogicalCodec(codec) if self._lenient and isinstance(codec, LogicalCodec) else codec

    def _field(self, field: Field) -> FieldCodec:
        codec = self.codec(field.type)
        default = make_default(self.schema, field) if field.has_default else None
        if default is None and self._allows_null(field.type):
            return FieldCodec(field.name, codec, lambda: None)
        return FieldCodec(field.name, codec, default)

    def _allows_null(self, node: AvroType) -> bool:
        branches = node.branches if isinstance(node, Union) else (node,)
        return any(isinstance(branch, Primitive) and branch.type == "null" for branch in branches)
