"""Runtime functions of generated encoding code: conversions to plain classes, and bytes of values.

Values that do not fit raise an exception. The tables of small numbers are tuples, not dicts: Python indexes a tuple
several times faster.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, Final

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.bulk_integers import MIN_BULK_COUNT, encode_numbers
from contractlog.serdes.avro.interpreter.binary import INT_RANGE

__all__ = [
    "SMALL_VARINTS",
    "TABLE_SIZE",
    "as_bytes",
    "as_dict",
    "as_float",
    "as_int",
    "as_list",
    "as_text",
    "encode_doubles",
    "encode_floats",
    "encode_int",
    "encode_ints",
    "encode_longs",
    "encode_strings",
    "encode_varint",
    "make_unwrapper",
    "reject_value",
    "small_lengths",
]

TABLE_SIZE: Final = 1024  #: numbers below have their bytes in a table
_CONTINUES: Final = 0x80
_INTEGERS: Final = frozenset({int})
_NUMBERS: Final = frozenset({int, float})
_BYTE_PAIRS: Final = tuple(bytes((bits & 0x7F | _CONTINUES, bits >> 7 | _CONTINUES)) for bits in range(1 << 14))
"""Fourteen bits as two bytes with continuation bits."""
_LAST_BYTES: Final = tuple(
    bytes((bits & 0x7F | _CONTINUES, bits >> 7)) if bits >= _CONTINUES else bytes((bits,)) for bits in range(1 << 14)
)
"""Up to fourteen bits as the last one or two bytes of an integer."""


def encode_varint(number: int) -> bytes:
    """Return the bytes of an integer of 64 bits."""
    raw = number << 1 if number >= 0 else ~(number << 1)
    if raw < 1 << 14:
        return _LAST_BYTES[raw]
    if raw < 1 << 28:
        return _BYTE_PAIRS[raw & 0x3FFF] + _LAST_BYTES[raw >> 14]
    if raw < 1 << 42:
        return _BYTE_PAIRS[raw & 0x3FFF] + _BYTE_PAIRS[raw >> 14 & 0x3FFF] + _LAST_BYTES[raw >> 28]
    if raw < 1 << 56:
        return (
            _BYTE_PAIRS[raw & 0x3FFF]
            + _BYTE_PAIRS[raw >> 14 & 0x3FFF]
            + _BYTE_PAIRS[raw >> 28 & 0x3FFF]
            + _LAST_BYTES[raw >> 42]
        )
    if raw >> 64:
        raise InterpreterNeeded
    pairs = _BYTE_PAIRS[raw >> 28 & 0x3FFF] + _BYTE_PAIRS[raw >> 42 & 0x3FFF]
    return _BYTE_PAIRS[raw & 0x3FFF] + _BYTE_PAIRS[raw >> 14 & 0x3FFF] + pairs + _LAST_BYTES[raw >> 56]


SMALL_VARINTS: Final = tuple(map(encode_varint, range(TABLE_SIZE)))  #: the bytes of small numbers
_COMMON_VARINTS: Final = {
    number: encode_varint(number) for number in range(-TABLE_SIZE, TABLE_SIZE)
}  #: numbers of arrays that are likely small


def encode_int(number: int) -> bytes:
    """Return the bytes of an integer of 32 bits."""
    if not INT_RANGE[0] <= number <= INT_RANGE[1]:
        raise InterpreterNeeded
    return encode_varint(number)


@lru_cache(32)
def small_lengths(before: bytes) -> tuple[bytes, ...]:
    """Return the bytes of small lengths, each preceded by ``before``."""
    return tuple(before + length for length in SMALL_VARINTS)


def encode_ints(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 32 bits."""
    encoded = encode_longs(values)
    struct.pack(f"<{len(values)}i", *values)  # raises if one is out of range
    return encoded


def encode_longs(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 64 bits."""
    if not _INTEGERS.issuperset(map(type, values)):
        raise InterpreterNeeded
    if len(values) > 1 and values[0] in _COMMON_VARINTS and values[-1] in _COMMON_VARINTS:
        try:
            return b"".join(itemgetter(*values)(_COMMON_VARINTS))
        except KeyError:
            pass
    return encode_numbers(values) if len(values) >= MIN_BULK_COUNT else b"".join(map(encode_varint, values))


def encode_strings(values: Sequence[Any]) -> bytes:
    """Return the bytes of strings, each preceded by its length."""
    parts: list[bytes] = []
    append, encode, small = parts.append, str.encode, SMALL_VARINTS
    for value in values:
        data = encode(value)
        length = len(data)
        append(small[length] if length < TABLE_SIZE else encode_varint(length))
        append(data)
    return b"".join(parts)


def encode_floats(values: Sequence[Any]) -> bytes:
    """Return the bytes of floats."""
    if not _NUMBERS.issuperset(map(type, values)):
        raise InterpreterNeeded
    return struct.pack(f"<{len(values)}f", *values)


def encode_doubles(values: Sequence[Any]) -> bytes:
    """Return the bytes of doubles."""
    if not _NUMBERS.issuperset(map(type, values)):
        raise InterpreterNeeded
    return struct.pack(f"<{len(values)}d", *values)


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
