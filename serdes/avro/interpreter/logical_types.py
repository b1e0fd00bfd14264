"""Logical types by name: the codec of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contractlog.compatibility.avro.logical_types import parse_decimal
from contractlog.compatibility.avro.types import AvroType, Primitive
from contractlog.serdes.avro.interpreter.codecs import Codec, FixedCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import DecimalCodec, FixedUuidCodec, UuidCodec
from contractlog.serdes.avro.interpreter.times import (
    DateCodec,
    LocalTimestampCodec,
    NanosCodec,
    TimeCodec,
    TimestampCodec,
)

__all__ = ["wrap_logical_type"]

_UUID_BYTES: Final = 16
_MILLIS: Final = 1_000
_MICROS: Final = 1_000_000


def wrap_logical_type(node: AvroType, raw: Codec) -> Codec:  # noqa: C901, PLR0911 -- one line per type
    """Wrap the codec of raw values in the node's logical type; unknown and invalid ones are ignored."""
    underlying = node.type if isinstance(node, Primitive) else "fixed"
    match underlying, node.logical_type:
        case "string", "uuid":
            return UuidCodec(raw)
        case "fixed", "uuid" if isinstance(raw, FixedCodec) and raw.size == _UUID_BYTES:
            return FixedUuidCodec(raw)
        case "bytes" | "fixed", "decimal":
            return _make_decimal(node.props, raw)
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


def _make_decimal(props: Mapping[str, Any], raw: Codec) -> Codec:
    parameters = parse_decimal(props, raw.size if isinstance(raw, FixedCodec) else None)
    return raw if parameters is None else DecimalCodec(raw, *parameters)
