"""Logical types: what stands for the raw values, and the rules of their own that raw values may break.

Values are what Python's users are used to, as fastavro gives them: ``Decimal``, ``UUID``, and those of ``times.py``.
Writing takes raw values as well. A valid record is never refused.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from binascii import unhexlify
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    Context,
    Decimal,
    DecimalException,
    Inexact,
    InvalidOperation,
    Rounded,
)
from typing import Any, Final
from uuid import UUID, SafeUUID

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source
from contractlog.serdes.avro.codecs import HINT, Codec, FixedCodec
from contractlog.serdes.avro.failure import Failure, shown

__all__ = [
    "DecimalCodec",
    "FixedUuidCodec",
    "LogicalCodec",
    "UuidCodec",
    "broken",
    "uuid_of_text",
]

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_UUID_LENGTH: Final = 36
_UUID_BYTES: Final = 16
_USUAL: Final = 1_000  #: digits of a number that is small enough to try
_BITS_PER_DIGIT: Final = 3.3219280949


class LogicalCodec(Codec):
    """A codec around the codec of the raw values."""

    def __init__(self, raw: Codec) -> None:
        self.raw = raw
        self.empty = raw.empty
        self.names = raw.names

    @abstractmethod
    def made(self, raw: Any) -> Any:
        """Make the value that a raw one stands for, or raise ``Failure``: the raw value breaks a rule."""

    @abstractmethod
    def unmade(self, value: Any) -> Any:
        """Make the raw value, or raise ``Failure``."""

    def read(self, source: Source, depth: int) -> Any:
        """Return the value that the raw one stands for."""
        return self.made(self.raw.read(source, depth))

    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the raw value's bytes."""
        self.raw.write(out, self.unmade(value), depth)


def broken(reason: str) -> Failure:
    """Say that a value breaks a rule of its logical type."""
    return Failure(Outcome.LOGICAL_TYPE, reason)


_new: Final = object.__new__
_from_bytes: Final = int.from_bytes  # big-endian, without a sign
_UNKNOWN: Final = SafeUUID.unknown
_set_int: Final = UUID.__dict__["int"].__set__
_set_is_safe: Final = UUID.__dict__["is_safe"].__set__


def uuid_of(data: bytes) -> UUID:
    """Return the UUID of sixteen bytes, without the detour through a text that its constructor takes."""
    made = _new(UUID)
    _set_int(made, _from_bytes(data))
    _set_is_safe(made, _UNKNOWN)
    return made


def uuid_of_text(text: bytes) -> UUID:
    """Return the UUID of a text in its one form; raise ``ValueError`` for others."""
    data = unhexlify(text.replace(b"-", b""))
    if len(text) != _UUID_LENGTH or text[8:24:5] != b"----" or len(data) != _UUID_BYTES:
        raise ValueError
    made = _new(UUID)
    _set_int(made, _from_bytes(data))
    _set_is_safe(made, _UNKNOWN)
    return made


class UuidCodec(LogicalCodec):
    """A UUID as a string of 36 characters."""

    expected = "a UUID"

    def made(self, raw: Any) -> UUID:
        """Make a UUID of its text."""
        try:
            return uuid_of_text(raw.encode())
        except ValueError:
            raise broken(f"{shown(raw)} is no UUID") from None

    def unmade(self, value: Any) -> Any:
        """Make the text; texts have to be UUIDs already."""
        if type(value) is UUID:
            digits = f"{value.int:032x}"
            return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        if isinstance(value, UUID):
            return str(value)
        if isinstance(value, str) and not _UUID.fullmatch(value):
            raise broken(f"{shown(value)} is no UUID{HINT}")
        return value

    def fits(self, value: Any) -> bool:
        """Whether it is a UUID, or a string."""
        return isinstance(value, UUID | str)


class FixedUuidCodec(LogicalCodec):
    """A UUID as its sixteen bytes."""

    expected = "a UUID"

    def made(self, raw: Any) -> UUID:
        """Make a UUID of its bytes; all are one."""
        return uuid_of(raw)

    def unmade(self, value: Any) -> Any:
        """Make the bytes; texts have to be UUIDs."""
        if isinstance(value, str):
            if not _UUID.fullmatch(value):
                raise broken(f"{shown(value)} is no UUID")
            return UUID(value).bytes
        return value.bytes if isinstance(value, UUID) else value

    def fits(self, value: Any) -> bool:
        """Whether it is a UUID, or raw bytes."""
        return isinstance(value, UUID) or self.raw.fits(value)


class DecimalCodec(LogicalCodec):
    """A decimal number, as the bytes of its unscaled value."""

    expected = "a decimal number"

    def __init__(self, raw: Codec, precision: int, scale: int) -> None:
        super().__init__(raw)
        self.precision = precision
        self.scale = scale
        digits = min(precision, MAX_PREC)
        self.read_unscaled = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Rounded]).multiply
        exact = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation])
        self._scaled = exact.quantize  # raises where digits would be lost or are too many
        self._shifted = exact.multiply
        self.unit = Decimal((0, (1,), -scale))
        self.units = Decimal((0, (1,), scale))
        self._size = raw.size if isinstance(raw, FixedCodec) else None

    def made(self, raw: Any) -> Decimal:
        """Make a number of at most so many digits."""
        if not raw:
            raise broken("no bytes are no decimal number")
        try:
            return self.read_unscaled(int.from_bytes(raw, "big", signed=True), self.unit)
        except Rounded:
            raise broken(f"the number has more than {self.precision} digits") from None

    def unmade(self, value: Any) -> Any:
        """Make the bytes; nothing is rounded."""
        if type(value) is Decimal and self.precision <= _USUAL:
            try:
                unscaled = int(self._shifted(self._scaled(value, self.unit), self.units))
                return unscaled.to_bytes(self._size or (unscaled.bit_length() + 8) // 8, "big", signed=True)
            except (DecimalException, ValueError, OverflowError):
                pass  # and say below what is wrong
        number = Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(number, Decimal):
            return number
        unscaled = self._unscaled(number)
        if self._too_long(unscaled):
            raise broken(f"{shown(number)} has more than {self.precision} digits at scale {self.scale}")
        size = self._size or (abs(unscaled).bit_length() + 8) // 8
        try:
            return unscaled.to_bytes(size, "big", signed=True)
        except OverflowError:
            raise broken(f"{shown(number)} does not fit {size} bytes") from None

    def fits(self, value: Any) -> bool:
        """Whether it is a decimal number, or raw bytes."""
        return isinstance(value, Decimal) or self.raw.fits(value)

    def _unscaled(self, number: Decimal) -> int:
        sign, digits, exponent = number.as_tuple()
        if not isinstance(exponent, int):
            raise broken(f"{number} is no number that a decimal can hold")
        shift = exponent + self.scale
        if shift < 0 and any(digits[shift:]):
            raise broken(f"{shown(number)} has more than {self.scale} digits after the point")
        if any(digits) and len(digits) + shift > self.precision + len(digits):
            raise broken(f"{shown(number)} has more than {self.precision} digits at scale {self.scale}")
        whole: int = int("".join(map(str, digits[: len(digits) + min(shift, 0)])) or "0") * (10 ** max(shift, 0))
        return -whole if sign else whole

    def _too_long(self, unscaled: int) -> bool:
        """Count digits without making powers that the number itself does not pay for."""
        bits = unscaled.bit_length()
        if bits < self.precision * _BITS_PER_DIGIT:
            return False
        return bits > self.precision * _BITS_PER_DIGIT + 1 or abs(unscaled) >= 10**self.precision
