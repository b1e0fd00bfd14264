"""Normalization of Avro defaults, as the reference implementation writes them."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any, Final

from contractlog.compatibility.avro.types import (
    Array,
    AvroType,
    Field,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
)
from contractlog.compatibility.json_text import Number

__all__ = ["may_change_when_normalized", "normalize_default"]

_FLOATING_TYPES: Final = ("float", "double")


_FLOAT_DIGITS: Final = 9  #: a 32-bit float has at most this many


def normalize_default(value: Any, node: AvroType, types: Mapping[str, NamedType]) -> Any:  # noqa: PLR0911 - one for each kind of type
    """Return a default as written by the reference implementation: floats and doubles have a fraction.

    They have the digits of their own precision. In a union the first branch decides; a value of a later branch, or of
    no type, stays unchanged.
    """
    node = types[node.name] if isinstance(node, TypeName) else node
    match node, value:
        case Union(branches=(first, *_)), _:
            return normalize_default(value, first, types)
        case (Array(), list()) | (Map(), dict()) if _is_unchanged_by_normalization(node):
            return value
        case Array(items=items), list():
            return [normalize_default(item, items, types) for item in value]
        case Map(values=values), dict():
            return {name: normalize_default(member, values, types) for name, member in value.items()}
        case Record(fields=fields), dict():
            plain = {
                field.name: normalize_default(value[field.name], field.type, types)
                for field in fields
                if field.name in value
            }
            return {**value, **plain}
        case Primitive(type="double"), Number():
            return _write_number(float(value.text))
        case Primitive(type="float"), Number():
            return _write_number(_shortest_decimal(float(value.text)))
        case _:
            return value


def _is_unchanged_by_normalization(node: AvroType) -> bool:
    """Return True for arrays and maps, at any depth, of a primitive other than float or double."""
    while isinstance(node, (Array, Map)):
        node = node.items if isinstance(node, Array) else node.values
    return isinstance(node, Primitive) and node.type not in _FLOATING_TYPES


def may_change_when_normalized(field: Field) -> bool:
    """Return True if the default may differ from its normalized form."""
    match field.default:
        case dict() | list():
            return bool(field.default)
        case Number():
            kind = field.type.branches[0] if isinstance(field.type, Union) and field.type.branches else field.type
            return isinstance(kind, Primitive) and kind.type in _FLOATING_TYPES
        case _:
            return False


def _write_number(figure: float) -> Number:
    return Number(repr(figure)) if math.isfinite(figure) else Number("1e999" if figure > 0 else "-1e999")


def _shortest_decimal(figure: float) -> float:
    """Return the number with the fewest digits that rounds to the same 32-bit float."""
    nearest = _round_to_float32(figure)
    candidates = (float(f"{nearest:.{digits}g}") for digits in range(1, _FLOAT_DIGITS + 1))
    return next((candidate for candidate in candidates if _round_to_float32(candidate) == nearest), nearest)


def _round_to_float32(figure: float) -> float:
    try:
        nearest: float = struct.unpack("f", struct.pack("f", figure))[0]
    except OverflowError:
        return math.copysign(math.inf, figure)
    return nearest
