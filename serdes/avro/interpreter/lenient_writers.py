# ruff: noqa: ARG002 -- scalars are written at any depth
"""Codecs of ``lenient=True``, which write values that do not fit their type as fastavro does.

``InterpretedWriter`` (``interpreter.py``) tries the exact codec of the schema first, and these only if that fails: a
value that fits has the same bytes with and without ``lenient``. A value that does not fit may be read back as another:
1.7, written as an int, is read as 1, and 2^31, written as an int, is another number for Java.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from numbers import Real
from typing import Any, Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import LONG_RANGE, ByteCursor, OutputBuffer, put_long
from contractlog.serdes.avro.interpreter.codecs import (
    BooleanCodec,
    Codec,
    DoubleCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    is_finite,
    make_misfit,
)
from contractlog.serdes.avro.interpreter.containers import ArrayCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure, describe_value

__all__ = ["LENIENT_CODECS", "LenientArrayCodec", "LenientLogicalCodec"]


class _LenientNull(NullCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append nothing, for any value."""


class _LenientBoolean(BooleanCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the truth value of any Python object."""
        out.append(bool(value))


class _LenientInt(IntCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append any number within 64 bits, without its fraction."""
        _write_number(self, out, value)


class _LenientLong(LongCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append any number within 64 bits, without its fraction."""
        _write_number(self, out, value)


class _LenientFloat(FloatCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append any number; those out of range become infinite."""
        number = _to_float(self, value)
        try:
            out += self.layout.pack(number)
        except OverflowError:
            out += self.layout.pack(math.copysign(math.inf, number))


class _LenientDouble(DoubleCodec):
    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append any number."""
        out += self.layout.pack(_to_float(self, value))


class LenientArrayCodec(ArrayCodec):
    """Codec of a list, or of any other sized iterable except a mapping: a set, the characters of a string."""

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the items in one block."""
        sized = isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, Mapping)
        super().write(out, list(value) if sized else value, depth)


class LenientLogicalCodec(LogicalCodec):
    """Codec of a logical type that also writes valid raw values that break the rules of the type."""

    def __init__(self, exact: LogicalCodec) -> None:
        super().__init__(exact.raw)
        self._exact = exact
        self.expected, self.accepts = exact.expected, exact.accepts

    def to_logical(self, raw: Any) -> Any:
        """Return the logical value of a raw value."""
        return self._exact.to_logical(raw)

    def to_raw(self, value: Any) -> Any:
        """Return the raw value, also of a value that breaks the type's rules."""
        try:
            return self._exact.to_raw(value)
        except CodecFailure:
            raw = self._exact.to_raw_leniently(value)
            if self.raw.fits(raw):
                return raw
            raise

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the logical value of the next raw value."""
        return self._exact.read(source, depth)

    def fits(self, value: Any) -> bool:
        """Return whether the value looks like one of the type."""
        return self._exact.fits(value)


def _write_number(codec: Codec, out: OutputBuffer, value: Any) -> None:
    if not is_finite(value):
        raise make_misfit(codec, value)
    number = int(value)
    if not LONG_RANGE[0] <= number <= LONG_RANGE[1]:
        raise CodecFailure(Outcome.INT_OUT_OF_RANGE, f"{describe_value(number)} does not fit 64 bits")
    put_long(out, number)


def _to_float(codec: Codec, value: Any) -> float:
    if not isinstance(value, Real | Decimal):
        raise make_misfit(codec, value)
    try:
        return struct.unpack("<d", struct.pack("<d", value))[0]  # type: ignore[no-any-return]
    except (OverflowError, ValueError, struct.error):
        raise make_misfit(codec, value) from None


LENIENT_CODECS: Final[Mapping[str, type[Codec]]] = {
    "null": _LenientNull,
    "boolean": _LenientBoolean,
    "int": _LenientInt,
    "long": _LenientLong,
    "float": _LenientFloat,
    "double": _LenientDouble,
}
