# ruff: noqa: ARG002 -- scalars are read and written at any depth
"""The interface of codecs, and the codecs of scalar types."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any, Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import (
    INT_RANGE,
    LONG_RANGE,
    ByteCursor,
    OutputBuffer,
    put_bytes,
    put_long,
)
from contractlog.serdes.avro.interpreter.failure import CodecFailure, describe_value

__all__ = [
    "LENIENT_HINT",
    "RECORD_COST",
    "BooleanCodec",
    "BytesCodec",
    "Codec",
    "DoubleCodec",
    "EnumCodec",
    "FixedCodec",
    "FloatCodec",
    "IntCodec",
    "LongCodec",
    "NullCodec",
    "StringCodec",
    "ValueReader",
    "is_finite",
    "make_misfit",
]

RECORD_COST: Final = 10  #: the cost of a record without bytes, beside the costs of its fields: the memory of its dict
_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")


class ValueReader(ABC):
    """Decoder of the values of one schema node."""

    empty: bool = False  #: whether a value may take no bytes at all
    cost: int = 1  #: what such a value counts against the limit on items without bytes
    weight: int = 1  #: the same without the defaults that a reader schema fills in
    surplus: int = 0  #: what such a value counts as a branch of a union, an entry of a map or the whole record
    extra_items: int = 0  #: what each value of a record counts by itself: defaults, and fields without bytes

    def count_empty_fields(self, fields: Sequence[ValueReader]) -> None:
        """Set what the fields of a record without bytes count, beyond a record without fields.

        They may be many, as each may be a record of others.
        """
        weight = sum(field.weight for field in fields if field.empty)
        self.empty = all(field.empty for field in fields)
        if self.empty:
            self.weight = RECORD_COST + weight
            self.surplus = max(weight - RECORD_COST, 0)
        else:
            self.extra_items += max(weight - RECORD_COST, 0)

    @abstractmethod
    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the value at the source's position, and advance the source past it.

        Args:
            source: unchecked bytes.
            depth: how many more levels of records, arrays and maps may be opened.

        Raises:
            CodecFailure: the bytes do not fit.
        """


class Codec(ValueReader):
    """Encoder and decoder of the values of one schema node."""

    names: tuple[str, ...] = ()  #: the names that select this branch of a union, as in ``("string", "x")``
    expected: str = ""  #: for messages: the expected kind of value

    @abstractmethod
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the bytes of a value.

        Raises:
            CodecFailure: the value does not fit; ``docs/serdes.md`` lists the conversions that are made.
        """

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Return whether the value looks like one of this node.

        The parts of records, arrays and maps are not checked.
        """


LENIENT_HINT: Final = "; lenient=True writes it as other clients do"  #: appended where ``lenient=True`` would help


def make_misfit(codec: Codec, value: Any, *, hint: bool = False) -> CodecFailure:
    """Return the failure for a value that does not fit this node.

    ``hint`` adds that ``lenient=True`` would accept the value.
    """
    return CodecFailure(
        Outcome.SCHEMA_VIOLATION,
        f"{codec.expected} is expected, not {describe_value(value)} ({type(value).__name__}){LENIENT_HINT * hint}",
    )


def is_finite(value: Any) -> bool:
    """Return whether the value is a number that is finite as a double."""
    try:
        return isinstance(value, Real | Decimal) and isfinite(value)
    except (OverflowError, ValueError):  # a huge number; a signalling NaN
        return False


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)


class NullCodec(Codec):
    """The null type: no bytes."""

    empty = True
    names = ("null",)
    expected = "None"

    def read(self, source: ByteCursor, depth: int) -> None:
        """Return None."""

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append nothing."""
        if value is not None:
            raise make_misfit(self, value, hint=True)

    def fits(self, value: Any) -> bool:
        """Return whether the value is None."""
        return value is None


class BooleanCodec(Codec):
    """A boolean in one byte."""

    names = ("boolean",)
    expected = "True or False"

    def read(self, source: ByteCursor, depth: int) -> bool:
        """Return False for 0 and True for 1.

        Other bytes fail, or are True if ``limits.strict_booleans`` is off.
        """
        byte = source.read_byte()
        if byte > 1 and source.limits.strict_booleans:
            source.at -= 1
            raise CodecFailure(Outcome.BAD_BOOLEAN, f"a boolean is one byte, 0 or 1, not {byte}")
        return byte != 0

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the byte."""
        if not isinstance(value, bool):
            raise make_misfit(self, value, hint=True)
        out.append(value)

    def fits(self, value: Any) -> bool:
        """Return whether the value is a bool."""
        return isinstance(value, bool)


class _IntegerCodec(Codec):
    bits: int
    low: int
    high: int

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append an integer within the type's range; booleans and floats are rejected."""
        if not _is_integer(value):
            raise make_misfit(self, value, hint=is_finite(value))
        number = int(value)
        if not self.low <= number <= self.high:
            hint = LENIENT_HINT * (LONG_RANGE[0] <= number <= LONG_RANGE[1])
            raise CodecFailure(
                Outcome.INT_OUT_OF_RANGE, f"{describe_value(number)} does not fit {self.bits} bits{hint}"
            )
        put_long(out, number)

    def fits(self, value: Any) -> bool:
        """Return whether the value is an integer within the type's range."""
        return _is_integer(value) and self.low <= int(value) <= self.high


class IntCodec(_IntegerCodec):
    """An integer of 32 bits."""

    names = ("int",)
    expected = "an integer of 32 bits"
    bits = 32
    low, high = INT_RANGE

    def read(self, source: ByteCursor, depth: int) -> int:
        """Return the integer."""
        return source.read_int()


class LongCodec(_IntegerCodec):
    """An integer of 64 bits."""

    names = ("long",)
    expected = "an integer of 64 bits"
    bits = 64
    low, high = LONG_RANGE

    def read(self, source: ByteCursor, depth: int) -> int:
        """Return the integer."""
        return source.read_long()


class FloatCodec(Codec):
    """A number in four bytes, little-endian."""

    names = ("float",)
    expected = "a number"
    layout = _FLOAT

    def read(self, source: ByteCursor, depth: int) -> float:
        """Return the number."""
        number: float = self.layout.unpack(source.read_bytes(self.layout.size))[0]
        return number

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append a number within the type's range."""
        if not self.fits(value):
            raise make_misfit(self, value, hint=isinstance(value, Real | Decimal))
        try:
            out += self.layout.pack(value)
        except (OverflowError, struct.error):
            hint = LENIENT_HINT * isinstance(value, float)
            raise CodecFailure(
                Outcome.SCHEMA_VIOLATION, f"{describe_value(value)} is beyond what a {self.names[0]} can hold{hint}"
            ) from None

    def fits(self, value: Any) -> bool:
        """Return whether the value is a real number."""
        return not isinstance(value, bool) and isinstance(value, Real)


class DoubleCodec(FloatCodec):
    """A number in eight bytes, little-endian."""

    names = ("double",)
    layout = _DOUBLE


class BytesCodec(Codec):
    """Bytes preceded by their length."""

    names = ("bytes",)
    expected = "bytes"

    def read(self, source: ByteCursor, depth: int) -> bytes:
        """Return the bytes."""
        return source.read_bytes(source.read_length())

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the bytes, preceded by their length."""
        if not isinstance(value, bytes | bytearray | memoryview):
            raise make_misfit(self, value)
        put_bytes(out, value)

    def fits(self, value: Any) -> bool:
        """Return whether the value is bytes-like."""
        return isinstance(value, bytes | bytearray | memoryview)


class StringCodec(Codec):
    """Text in UTF-8, preceded by its length in bytes."""

    names = ("string",)
    expected = "a string"

    def read(self, source: ByteCursor, depth: int) -> str:
        """Return the text."""
        data = source.read_bytes(source.read_length())
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CodecFailure(
                Outcome.BAD_UTF8, f"byte 0x{data[error.start]:02x} at {error.start} of a string is no UTF-8"
            ) from None

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the text, preceded by its length in bytes."""
        if not isinstance(value, str):
            raise make_misfit(self, value)
        try:
            put_bytes(out, str.encode(value))  # bypasses an ``encode`` that a subclass overrides
        except UnicodeEncodeError:
            raise CodecFailure(
                Outcome.BAD_UTF8, f"{describe_value(value)} holds half of a surrogate pair, which UTF-8 has not"
            ) from None

    def fits(self, value: Any) -> bool:
        """Return whether the value is a string."""
        return isinstance(value, str)


class FixedCodec(Codec):
    """A fixed number of bytes."""

    def __init__(self, names: tuple[str, ...], size: int) -> None:
        self.names = names
        self.size = size
        self.empty = size == 0
        self.expected = f"exactly {size} bytes"

    def read(self, source: ByteCursor, depth: int) -> bytes:
        """Return the bytes."""
        return source.read_bytes(self.size)

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append bytes of the declared size."""
        if not self.fits(value):
            raise make_misfit(self, value)
        out += value.tobytes() if isinstance(value, memoryview) else value

    def fits(self, value: Any) -> bool:
        """Return whether the value is bytes of the declared size; a memoryview is measured in bytes."""
        if isinstance(value, memoryview):
            return value.nbytes == self.size
        return isinstance(value, bytes | bytearray) and len(value) == self.size


class EnumCodec(Codec):
    """A symbol of an enum, encoded as its position."""

    def __init__(self, names: tuple[str, ...], symbols: Sequence[str]) -> None:
        self.names = names
        self.symbols = tuple(symbols)
        self._index: Mapping[str, int] = {symbol: index for index, symbol in enumerate(self.symbols)}
        self.expected = f"a symbol of {names[0]}"

    def read(self, source: ByteCursor, depth: int) -> str:
        """Return the symbol."""
        index = source.read_int()
        if not 0 <= index < len(self.symbols):
            raise CodecFailure(Outcome.BAD_ENUM_INDEX, f"symbol {index} of an enum that has {len(self.symbols)}")
        return self.symbols[index]

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the symbol's position."""
        index = self._position(value)
        if index is None:
            raise make_misfit(self, value)
        put_long(out, index)

    def fits(self, value: Any) -> bool:
        """Return whether the value is one of the symbols."""
        return self._position(value) is not None

    def _position(self, value: Any) -> int | None:
        """Return a symbol's position; a member of a Python enum is looked up by its value, not by its name."""
        return self._index.get(str.__str__(value)) if isinstance(value, str) else None
