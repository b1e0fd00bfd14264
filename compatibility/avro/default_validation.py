"""Validation of Avro defaults, which new schemas require as in the reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from contractlog.compatibility.avro.types import (
    MISSING,
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
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import MAX_NESTING, Number, join_pointer

__all__ = ["SpecialFloat", "check_defaults"]

_BITS: Final = {"int": 31, "long": 63}
_MAX_STEPS: Final = 200_000


class SpecialFloat(str):
    """A floating-point default without a JSON number: ``NaN`` or an infinity, directly on a field."""

    __slots__ = ()


def check_defaults(schema: AvroSchema, defaulted: Iterable[Field]) -> None:
    """Reject a default that is not a value of its field's type; for a union any branch counts.

    Args:
        schema: resolves the names of types.
        defaulted: the fields with a default.

    Raises:
        InvalidSchema: with the position of the first such default.
    """
    checker = _DefaultChecker(schema)
    for field in defaulted:
        if not checker.fits(field.type, field.default, 0):
            raise InvalidSchema(
                f'the default of the field "{field.name}" is not a value of its type',
                at=join_pointer(field.at, "default"),
            )


class _DefaultChecker:
    """One validation; steps are limited because record defaults that fill each other may not terminate."""

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = schema
        self.steps = 0

    def fits(self, node: AvroType, value: Any, depth: int) -> bool:  # noqa: PLR0911 - one case for each kind of type
        self.step(node)
        if depth > MAX_NESTING:
            return False
        if isinstance(node, Primitive):
            return _fits_primitive(node.type, value)
        if isinstance(node, Union) and value is None:
            return any([isinstance(branch, Primitive) and branch.type == "null" for branch in node.branches])  # noqa: C419 - twice as fast
        match self.schema.resolve(node):
            case Enum() | Fixed():
                return isinstance(value, str)
            case Array(items=items):
                return isinstance(value, list) and self.all_fit(node, items, value, depth)
            case Map(values=values):
                return isinstance(value, dict) and self.all_fit(node, values, value.values(), depth)
            case Union(branches=branches):
                return any(self.fits(branch, value, depth + 1) for branch in branches)
            case resolved:
                return (
                    isinstance(resolved, Record)
                    and isinstance(value, dict)
                    and self.fits_record(resolved, value, depth)
                )

    def all_fit(self, node: AvroType, inner: AvroType, values: Collection[Any], depth: int) -> bool:
        """Return True if every value fits the inner type; too many values are rejected before checking any."""
        self.step(node, len(values))
        self.steps -= len(values)
        return all(self.fits(inner, value, depth + 1) for value in values)

    def step(self, node: AvroType, count: int = 1) -> None:
        self.steps += count
        if self.steps > _MAX_STEPS:
            raise InvalidSchema(f"checking the defaults takes more than {_MAX_STEPS} steps", at=node.at)

    def fits_record(self, record: Record, value: dict[str, Any], depth: int) -> bool:
        members = ((field.type, value.get(field.name, field.default)) for field in record.fields)
        return all(member is not MISSING and self.fits(node, member, depth + 1) for node, member in members)


def _fits_primitive(name: str, value: Any) -> bool:
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            bound = 1 << _BITS[name]
            return isinstance(value, Number) and value.integral and -bound <= value.value < bound
        case "float" | "double":
            return isinstance(value, (Number, SpecialFloat))
        case _:
            return isinstance(value, str)
