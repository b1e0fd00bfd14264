"""Decimals and UUIDs: conversions from and to raw values, and the rules that raw values may break.

Values have the types that Python users expect, as with fastavro: ``Decimal``, ``UUID``, and those of ``times.py``.
Raw values may be written as well. A valid record is never rejected.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from binascii import unhexlify
from decimal import (
    MAX_EMAX,
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

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer
from contractlog.serdes.avro.interpreter.codecs import LENIENT_HINT, Codec, FixedCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure, describe_value

__all__ = [
    "MAX_DIGITS",
    "DecimalCodec",
    "FixedUuidCodec",
    "LogicalCodec",
    "UuidCodec",
    "rule_failure",
    "uuid_from_text",
]

MAX_DIGITS: Final = 10_000  #: most digits of a decimal, whatever its precision; converting them takes milliseconds
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_UUID_LENGTH: Final = 36
_UUID_BYTES: Final = 16
_BYTES_PER_DIGIT: Final = 0.4152410119
_SHORT_BYTES: Final = 64  #: bytes whose conversion to a number takes negligible time


class LogicalCodec(Codec):
    """A codec around the codec of the raw values."""

    accepts: str = ""  #: for messages: the Python types that are accepted

    def __init__(self, raw: Codec) -> None:
        self.raw = raw
        self.empty = raw.empty
        self.names = raw.names

    @abstractmethod
    def to_logical(self, raw: Any) -> Any:
        """Return the logical value of a raw value; raise ``CodecFailure`` if the raw value breaks a rule."""

    @abstractmethod
    def to_raw(self, value: Any) -> Any:
        """Return the raw value, or raise ``CodecFailure``."""

    def to_raw_leniently(self, value: Any) -> Any:
        """Return the raw value of one that breaks a rule, as other clients do."""
        return value

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the logical value of the next raw value."""
        return self.to_logical(self.raw.read(source, depth))

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the raw value's bytes."""
        raw = self.to_raw(value)
        try:
            self.raw.write(out, raw, depth)
        except CodecFailure as failure:
            if raw is value and not self.raw.fits(value):
                hint = LENIENT_HINT if failure.reason.endswith(LENIENT_HINT) else ""
                was = f"{describe_value(value)} ({type(value).__name__})"
                raise CodecFailure(
                    failure.outcome, f"{self.expected}: {self.accepts} expected, not {was}{hint}"
                ) from None
            raise


def rule_failure(reason: str) -> CodecFailure:
    """Return the failure for a value that breaks a rule of its logical type."""
    return CodecFailure(Outcome.LOGICAL_TYPE, reason)


_new: Final = object.__new__
_from_bytes: Final = int.from_bytes  # big-endian, unsigned
_UNKNOWN: Final = SafeUUID.unknown
_set_int: Final = UUID.__dict__["int"].__set__
_set_is_safe: Final = UUID.__dict__["is_safe"].__set__


def uuid_from_bytes(data: bytes) -> UUID:
    """Return the UUID of sixteen bytes; faster than its constructor, which goes through text."""
    uuid = _new(UUID)
    _set_int(uuid, _from_bytes(data))
    _set_is_safe(uuid, _UNKNOWN)
    return uuid


def uuid_from_text(text: bytes) -> UUID:
    """Return the UUID of a string in the form with hyphens; raise ``ValueError`` for other strings."""
    data = unhexlify(text.replace(b"-", b""))
    if len(text) != _UUID_LENGTH or text[8:24:5] != b"----" or len(data) != _UUID_BYTES:
        raise ValueError
    uuid = _new(UUID)
    _set_int(uuid, _from_bytes(data))
    _set_is_safe(uuid, _UNKNOWN)
    return uuid


class UuidCodec(LogicalCodec):
    """A UUID as a string of 36 characters."""

    expected = "a UUID"
    accepts = "UUID or str"

    def to_logical(self, raw: Any) -> UUID:
        """Return the UUID of its text."""
        try:
            return uuid_from_text(raw.encode())
        except ValueError:
            raise rule_failure(f"{describe_value(raw)} is no UUID") from None

    def to_raw(self, value: Any) -> Any:
        """Return the text, which must already be a UUID."""
        if type(value) is UUID:
            digits = f"{value.int:032x}"
            return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        if isinstance(value, UUID):
            return str(value)
        if isinstance(value, str) and not _UUID.fullmatch(value):
            raise rule_failure(f"{describe_value(value)} is no UUID{LENIENT_HINT}")
        return value

    def fits(self, value: Any) -> bool:
        """Return whether the value is a UUID or a string."""
        return isinstance(value, UUID | str)


class FixedUuidCodec(LogicalCodec):
    """A UUID as its sixteen bytes."""

    expected = "a UUID"
    accepts = "UUID, str or bytes"

    def to_logical(self, raw: Any) -> UUID:
        """Return the UUID of sixteen bytes; any bytes are valid."""
        return uuid_from_bytes(raw)

    def to_raw(self, value: Any) -> Any:
        """Return the bytes; a string must be a UUID."""
        if isinstance(value, str):
            if not _UUID.fullmatch(value):
                raise rule_failure(f"{describe_value(value)} is no UUID")
            return UUID(value).bytes
        return value.bytes if isinstance(value, UUID) else value

    def fits(self, value: Any) -> bool:
        """Return whether the value is a UUID or raw bytes."""
        return isinstance(value, UUID) or self.raw.fits(value)


class DecimalCodec(LogicalCodec):
    """A decimal number, encoded as the bytes of its unscaled value.

    A number is only converted if it has no more digits than its precision and ``MAX_DIGITS`` allow: the time of a
    conversion grows with the square of the digits.
    """

    expected = "a decimal"
    accepts = "Decimal or int"

    def __init__(self, raw: Codec, precision: int, scale: int) -> None:
        super().__init__(raw)
        self.precision = precision
        self.scale = scale
        self.digits = digits = min(precision, MAX_DIGITS)
        self.longest = max(
            _SHORT_BYTES, int(digits * _BYTES_PER_DIGIT) + 1
        )  #: most bytes that are converted without a check
        self._power: int = 10**digits
        self.read_unscaled = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Rounded]).multiply
        exact = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation])
        self._quantize = exact.quantize  # raises if digits would be lost or are too many
        self._multiply = exact.multiply
        self.unit = Decimal((0, (1,), -scale))
        self.units = Decimal((0, (1,), scale))
        self._size = raw.size if isinstance(raw, FixedCodec) else None

    def to_logical(self, raw: Any) -> Decimal:
        """Return the number; one with more than ``digits`` digits fails."""
        return self.read_unscaled(self._parse_unscaled(raw), self.unit)

    def to_raw(self, value: Any) -> Any:
        """Return the bytes; nothing is rounded, and raw bytes must already be a valid number."""
        if type(value) is Decimal:
            try:
                unscaled = int(self._multiply(self._quantize(value, self.unit), self.units))
                return unscaled.to_bytes(self._size or (unscaled.bit_length() + 8) // 8, "big", signed=True)
            except (DecimalException, ValueError, OverflowError):
                pass  # the checks below find the reason
        if isinstance(value, int) and not isinstance(value, bool):
            if abs(value) >= self._power:
                raise self._too_many_digits(value)
            value = Decimal(value)
        if not isinstance(value, Decimal):
            if self.raw.fits(value):
                self._check_raw(value.tobytes() if isinstance(value, memoryview) else value)
            return value
        unscaled = self._to_unscaled(value)
        size = self._size or (unscaled.bit_length() + 8) // 8
        try:
            return unscaled.to_bytes(size, "big", signed=True)
        except OverflowError:
            raise rule_failure(f"{describe_value(value)} does not fit {size} bytes") from None

    def fits(self, value: Any) -> bool:
        """Return whether the value is a decimal number or raw bytes."""
        return isinstance(value, Decimal) or self.raw.fits(value)

    def _parse_unscaled(self, raw: bytes | bytearray) -> int:
        """Return the unscaled number of some bytes."""
        if not raw:
            raise rule_failure("an empty value is not a decimal number")
        unscaled = int.from_bytes(raw, "big", signed=True)
        if abs(unscaled) >= self._power:
            raise rule_failure(f"the number has more than {self.digits} digits")
        return unscaled

    def _check_raw(self, raw: bytes | bytearray) -> None:
        try:
            self._parse_unscaled(raw)
        except CodecFailure as failure:
            raise rule_failure(f"{failure.reason}{LENIENT_HINT}") from None

    def _to_unscaled(self, number: Decimal) -> int:
        if not number.is_finite():
            raise rule_failure(f"{describe_value(number)} is not a number that a decimal can represent")
        if number and number.adjusted() + self.scale >= self.digits:
            raise self._too_many_digits(number)
        try:
            return int(self._multiply(self._quantize(number, self.unit), self.units))
        except DecimalException:
            raise rule_failure(f"{describe_value(number)} has more than {self.scale} digits after the point") from None

    def _too_many_digits(self, number: Decimal | int) -> CodecFailure:
        return rule_failure(f"{describe_value(number)} has more than {self.digits} digits at scale {self.scale}")
