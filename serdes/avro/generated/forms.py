"""What generated code calls for values that are not of the plainest class: they are brought into that form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from contractlog.serdes.avro.generated import Otherwise

__all__ = ["as_bytes", "as_dict", "as_float", "as_int", "as_list", "as_text", "inside", "never"]


def as_int(value: Any) -> int:
    """Return the integer that an object of another class is."""
    if isinstance(value, bool) or not isinstance(value, int | Integral):
        raise Otherwise
    return int(value)


def as_float(value: Any) -> Any:
    """Return a number that can be packed."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Real)):
        raise Otherwise
    return value


def as_bytes(value: Any) -> bytes:
    """Return the bytes that an object of another class holds."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise Otherwise


def as_dict(value: Any) -> dict[str, Any]:
    """Return a plain dict of another mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    raise Otherwise


def as_list(value: Any) -> Any:
    """Return a tuple as it is; other sequences may change their minds, so the interpreter takes them."""
    if type(value) is tuple:
        return value
    raise Otherwise


def never(value: Any) -> Any:  # noqa: ARG001 -- called in place of others
    """Take no value; the interpreter knows whether it fits."""
    raise Otherwise


def as_text(value: Any) -> str:
    """Return the text that a member of an enum is."""
    return str.__str__(value)


def inside(
    named: Callable[[Any], int | None], index: int, plain: type, otherwise: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return what takes a union's value out of ``(branch, value)`` where it names this branch."""

    def taken(value: Any) -> Any:
        if type(value) is not tuple:
            return otherwise(value)
        if named(value) != index:
            raise Otherwise
        inner = value[1]
        return inner if type(inner) is plain else otherwise(inner)

    return taken
