"""Avro's binary primitives: a cursor over untrusted bytes, and the encoding of integers and bytes."""

from __future__ import annotations

from typing import Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits

__all__ = ["INT_RANGE", "LONG_RANGE", "ByteCursor", "OutputBuffer", "put_bytes", "put_long"]

INT_RANGE: Final = (-(2**31), 2**31 - 1)
LONG_RANGE: Final = (-(2**63), 2**63 - 1)

_MORE: Final = 0x80  # the continuation bit of a varint's byte
_INT_BYTES: Final = 5
_LONG_BYTES: Final = 10


class ByteCursor:
    """A cursor over a record's bytes that checks every length before it uses it."""

    __slots__ = ("at", "data", "empty_items", "end", "limits")

    def __init__(self, data: bytes, limits: Limits = DEFAULT_LIMITS) -> None:
        self.data = data
        self.at = 0
        self.end = len(data)
        self.limits = limits
        self.empty_items = limits.max_empty_items  # what is left of the allowance for values without bytes

    def read_byte(self) -> int:
        """Read one byte."""
        if self.at >= self.end:
            raise self._truncation_failure(1)
        self.at += 1
        return self.data[self.at - 1]

    def read_bytes(self, length: int) -> bytes:
        """Read ``length`` bytes."""
        start = self.at
        if length > self.end - start:
            raise self._truncation_failure(length)
        self.at = start + length
        return self.data[start : self.at]

    def read_int(self) -> int:
        """Read a zig-zag integer of 32 bits."""
        if self.at < self.end and (first := self.data[self.at]) < _MORE:
            self.at += 1
            return (first >> 1) ^ -(first & 1)
        raw = self._varint(_INT_BYTES)
        if raw >> 32:
            raise CodecFailure(Outcome.INT_OUT_OF_RANGE, f"{(raw >> 1) ^ -(raw & 1)} does not fit 32 bits")
        return (raw >> 1) ^ -(raw & 1)

    def read_long(self) -> int:
        """Read a zig-zag integer of 64 bits."""
        if self.at < self.end and (first := self.data[self.at]) < _MORE:
            self.at += 1
            return (first >> 1) ^ -(first & 1)
        raw = self._varint(_LONG_BYTES)
        if raw >> 64:
            raise CodecFailure(Outcome.BAD_VARINT, "a variable-length number overflows 64 bits")
        return (raw >> 1) ^ -(raw & 1)

    def read_length(self) -> int:
        """Read the length of a string or of bytes."""
        length = self.read_long()
        if length < 0:
            raise CodecFailure(Outcome.BAD_LENGTH, f"the length is negative: {length}")
        if length > self.limits.max_length:
            raise CodecFailure(Outcome.BAD_LENGTH, f"the length {length} is over the limit of {self.limits.max_length}")
        return length

    def read_block_header(self, *, empty: int) -> tuple[int, int | None]:
        """Read the header of a block of an array or map.

        Args:
            empty: the cost of an item that may take no bytes at all, so that the input's length does not bound the
                number of items; 0 for other items.

        Returns:
            The number of items, 0 at the end of the array or map, and the position where the block ends if its header
            has a size.
        """
        count = self.read_long()
        stop = None
        if count < 0:
            count = -count
            size = self.read_length()
            if size > self.end - self.at:
                raise self._truncation_failure(size)
            stop = self.at + size
        if empty:
            self.spend(count * empty)
        elif count > self.end - self.at:
            raise self._truncation_failure(count)
        return count, stop

    def spend(self, cost: int) -> None:
        """Count items that the input's length does not bound."""
        self.empty_items -= cost
        if self.empty_items < 0:
            raise CodecFailure(
                Outcome.TOO_MANY_ITEMS,
                f"values that take no bytes, and those of defaults, count for more than {self.limits.max_empty_items}",
            )

    def check_block_end(self, stop: int | None) -> None:
        """Check that a block that was read ends where its header says, if the header has a size."""
        if stop is not None and stop != self.at:
            raise CodecFailure(Outcome.BAD_LENGTH, f"a block ends {self.at - stop:+d} bytes from where its size says")

    def _varint(self, max_bytes: int) -> int:
        raw = 0
        for index in range(max_bytes):
            byte = self.read_byte()
            raw |= (byte & 0x7F) << (7 * index)
            if byte < _MORE:
                return raw
        raise CodecFailure(Outcome.BAD_VARINT, f"a variable-length number is longer than {max_bytes} bytes")

    def _truncation_failure(self, expected: int) -> CodecFailure:
        left = self.end - self.at
        return CodecFailure(Outcome.TRUNCATED, f"{expected} byte{'s' * (expected != 1)} expected and {left} left")


class OutputBuffer(bytearray):
    """The encoded bytes of a value while it is being written."""

    trials: int = 10_000  #: how many more record branches of unions may be tried


def put_long(out: bytearray, number: int) -> None:
    """Append a zig-zag integer; ints and longs of equal value have equal bytes."""
    raw = (number << 1) ^ (number >> 63)
    while raw >= _MORE:
        out.append((raw & 0x7F) | _MORE)
        raw >>= 7
    out.append(raw)


def put_bytes(out: bytearray, data: bytes | bytearray | memoryview) -> None:
    """Append bytes preceded by their length; a memoryview is measured in bytes, whatever its items are."""
    if isinstance(data, memoryview):
        data = data.tobytes()
    put_long(out, len(data))
    out += data
