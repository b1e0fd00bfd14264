"""Codecs of ``lenient=True``: values that do not fit exactly are written as fastavro writes them.

A value is tried exactly first, so lenient writing does not change the bytes of a value that fits. The value that is
read back may differ: 1.7 is read as 1, and Java reads 2^31 in an int as another number.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from numbers import Real
from typing import Any, Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import LONG_RANGE, Output, Source, put_long
from contractlog.serdes.avro.codecs import (
    BooleanCodec,
    Codec,
    DoubleCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    is_finite,
    misfit,
)
from contractlog.serdes.avro.containers import ArrayCodec
from contractlog.serdes.avro.failure import Failure, shown
from contractlog.serdes.avro.logical import LogicalCodec

__all__ = ["LENIENT", "LenientArrayCodec", "LenientLogicalCodec"]


class _LenientNull(NullCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append nothing, for any value."""


class _LenientBoolean(BooleanCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the truth value of any Python object."""
        del depth
        out.append(bool(value))


class _LenientInt(IntCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append any number within 64 bits, without its fraction."""
        _put_number(self, out, value)
        del depth


class _LenientLong(LongCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append any number within 64 bits, without its fraction."""
        _put_number(self, out, value)
        del depth


class _LenientFloat(FloatCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append any number; those out of range become infinite."""
        number = _float(self, value)
        try:
            out += self.layout.pack(number)
        except OverflowError:
            out += self.layout.pack(math.copysign(math.inf, number))
        del depth


class _LenientDouble(DoubleCodec):
    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append any number."""
        out += self.layout.pack(_float(self, value))
        del depth


class LenientArrayCodec(ArrayCodec):
    """Codec of a list, or of any other sized iterable except a mapping: a set, the characters of a text."""

    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the items in one block."""
        sized = isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, Mapping)
        super().write(out, list(value) if sized else value, depth)


class LenientLogicalCodec(LogicalCodec):
    """A logical type whose rules a value may break as long as it is a valid raw value."""

    def __init__(self, exact: LogicalCodec) -> None:
        super().__init__(exact.raw)
        self._exact = exact
        self.expected, self.accepts = exact.expected, exact.accepts

    def made(self, raw: Any) -> Any:
        """Return the logical value of a raw value."""
        return self._exact.made(raw)

    def unmade(self, value: Any) -> Any:
        """Return the raw value, also of a value that breaks the type's rules."""
        try:
            return self._exact.unmade(value)
        except Failure:
            raw = self._exact.lax(value)
            if self.raw.fits(raw):
                return raw
            raise

    def read(self, source: Source, depth: int) -> Any:
        """Return the logical value of the next raw value."""
        return self._exact.read(source, depth)

    def fits(self, value: Any) -> bool:
        """Return whether the value looks like one of the type."""
        return self._exact.fits(value)


def _put_number(codec: Codec, out: Output, value: Any) -> None:
    if not is_finite(value):
        raise misfit(codec, value)
    number = int(value.__trunc__())
    if not LONG_RANGE[0] <= number <= LONG_RANGE[1]:
        raise Failure(Outcome.INT_OUT_OF_RANGE, f"{shown(number)} does not fit 64 bits")
    put_long(out, number)


def _float(codec: Codec, value: Any) -> float:
    if not isinstance(value, Real | Decimal):
        raise misfit(codec, value)
    try:
        return struct.unpack("<d", struct.pack("<d", value))[0]  # type: ignore[no-any-return]
    except (OverflowError, ValueError, struct.error):
        raise misfit(codec, value) from None


LENIENT: Final[Mapping[str, type[Codec]]] = {
    "null": _LenientNull,
    "boolean": _LenientBoolean,
    "int": _LenientInt,
    "long": _LenientLong,
    "float": _LenientFloat,
    "double": _LenientDouble,
}
