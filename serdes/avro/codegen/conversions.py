"""Conversions to plain classes, called by generated code for values of other classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from contractlog.serdes.avro.codegen import InterpreterNeeded

__all__ = ["as_bytes", "as_dict", "as_float", "as_int", "as_list", "as_text", "make_unwrapper", "reject_value"]


def as_int(value: Any) -> int:
    """Return the plain integer of an integer of another class."""
    if isinstance(value, bool) or not isinstance(value, int | Integral):
        raise InterpreterNeeded
    return int(value)


def as_float(value: Any) -> Any:
    """Return a number that can be packed."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Real)):
        raise InterpreterNeeded
    return value


def as_bytes(value: Any) -> bytes:
    """Return the bytes of another bytes-like object."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise InterpreterNeeded


def as_dict(value: Any) -> dict[str, Any]:
    """Return a plain dict of another mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    raise InterpreterNeeded


def as_list(value: Any) -> Any:
    """Return a tuple unchanged; other sequences may vary between reads, so the interpreter handles them."""
    if type(value) is tuple:
        return value
    raise InterpreterNeeded


def reject_value(value: Any) -> Any:  # noqa: ARG001 -- same signature as the others
    """Reject every value: the interpreter decides whether it fits."""
    raise InterpreterNeeded


def as_text(value: Any) -> str:
    """Return the plain text of a string subclass, such as a member of an enum."""
    return str.__str__(value)


def make_unwrapper(
    named: Callable[[Any], int | None], index: int, plain: type, otherwise: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return a function that unwraps ``(branch, value)`` if it names this branch."""

    def unwrap(value: Any) -> Any:
        if type(value) is not tuple:
            return otherwise(value)
        if named(value) != index:
            raise InterpreterNeeded
        inner = value[1]
        return inner if type(inner) is plain else otherwise(inner)

    return unwrap
