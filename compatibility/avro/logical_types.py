"""Logical types of Avro nodes; malformed ones are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import Any, Final

from contractlog.compatibility.avro.types import AvroType, Fixed, Primitive
from contractlog.compatibility.json_text import Number

__all__ = [
    "LOGICAL_TYPE_BASES",
    "describe_logical_type",
    "list_logical_properties",
    "max_decimal_digits",
    "parse_decimal",
    "parse_integer",
]

LOGICAL_TYPE_BASES: Final[Mapping[str, frozenset[str]]] = {
    "decimal": frozenset({"bytes", "fixed"}),
    "big-decimal": frozenset({"bytes"}),
    "uuid": frozenset({"string", "fixed"}),
    "date": frozenset({"int"}),
    "time-millis": frozenset({"int"}),
    "duration": frozenset({"fixed"}),
    **{name: frozenset({"long"}) for name in ("time-micros", "time-nanos")},
    **{
        f"{local}timestamp-{unit}": frozenset({"long"})
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    },
}
_MAX_PRECISION: Final = 2**31 - 1  #: Java's int
_DIGITS_PER_BIT: Final = log10(2)
_SIZES: Final[Mapping[str, int]] = {"uuid": 16, "duration": 12}


def describe_logical_type(node: AvroType) -> str:
    """Return the logical type as ``decimal(9,2)`` or ``timestamp-millis``; empty if there is none.

    Logical types outside the specification are custom ones and returned unchanged.
    """
    name = node.logical_type
    if name is None or not isinstance(node, (Primitive, Fixed)):
        return ""
    if node.kind.lower() not in LOGICAL_TYPE_BASES.get(name, (node.kind.lower(),)):
        return ""
    if isinstance(node, Fixed) and _SIZES.get(name, node.size) != node.size:
        return ""
    return _describe_decimal(node) if name == "decimal" else name


def list_logical_properties(node: AvroType) -> tuple[str, ...]:
    """Return the properties of a well-formed logical type that Java supports, in the reference's order."""
    if (
        node.logical_type not in LOGICAL_TYPE_BASES
        or node.logical_type == "time-nanos"
        or not describe_logical_type(node)
    ):
        return ()
    if isinstance(node.props.get("avro.java.string"), str):  # sets Java's string class and hides the logical type
        return ()
    return ("logicalType", "precision", "scale") if node.logical_type == "decimal" else ("logicalType",)


def max_decimal_digits(size: int) -> int:
    """Return the digits of the largest decimal that a number of bytes holds for certain."""
    return int(max(8 * size - 1, 0) * _DIGITS_PER_BIT)


def parse_decimal(props: Mapping[str, Any], size: int | None) -> tuple[int, int] | None:
    """Return the precision and scale of a decimal; None if they are invalid, so that its values are bytes.

    ``size`` is that of a fixed type; None for ``bytes``.
    """
    precision, scale = parse_integer(props.get("precision")), parse_integer(props.get("scale", Number("0")))
    if precision is None or scale is None or not 0 <= scale <= precision or not 1 <= precision <= _MAX_PRECISION:
        return None
    if size is not None and precision > max_decimal_digits(size):
        return None
    return precision, scale


def _describe_decimal(node: AvroType) -> str:
    parameters = parse_decimal(node.props, node.size if isinstance(node, Fixed) else None)
    return "" if parameters is None else "decimal({},{})".format(*parameters)


def parse_integer(value: Any) -> int | None:
    """Return the integer that a property has as its value, if it is one."""
    return int(value.value) if isinstance(value, Number) and value.integral else None
