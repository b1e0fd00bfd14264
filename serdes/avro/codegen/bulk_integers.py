"""Bulk encoding and decoding of arrays of integers, each number in a lane of one large Python integer.

An operation on the large integer is one step for all numbers; a loop over them in Python takes several times as long
(``benchmarks/serdes/run.py --shapes numbers``). A lane has 4, 8 or 16 bytes, for numbers of at most 4, 8 or 10 bytes,
and is padded with zero bytes: the shortest form of a number has no zero byte, except that of the number 0.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from contractlog.serdes.avro.codegen import InterpreterNeeded

__all__ = [
    "INT_LANES",
    "LONG_LANES",
    "MIN_BULK_COUNT",
    "IntegerLane",
    "decode_numbers",
    "decode_pieces",
    "encode_numbers",
]

MIN_BULK_COUNT: Final = 16  #: numbers; a loop is faster for fewer
_MAX_LANES: Final = 512  #: most numbers in one large integer
_MATCH_COUNTS: Final = (32, 8)  #: numbers that one regular expression matches

_HALVES: Final = (0x0FFF_FFFF, 0x00FF_FFFF_F000_0000, 4)
_QUARTERS: Final = (0x3FFF, 0x0FFF_C000, 2)
_EIGHTHS: Final = (0x7F, 0x3F80, 1)


class IntegerLane:
    """Constants and operations for lanes of one width.

    Args:
        size: bytes of a lane.
        max_bytes: bytes of the longest number.
        bits: range of its numbers, in bits; longer ones are rejected.
    """

    def __init__(self, size: int, max_bytes: int, bits: int) -> None:
        self.size, self.max_bytes = size, max_bytes
        self._lane_bits = 8 * size
        self._value_limit = 1 << bits - 1
        self._number = min(self._lane_bits, 64)  # bits of a number, zig-zag encoded or not
        self._ones = self._repeat_per_lane(1)
        self._even = self._repeat_per_lane((1 << self._number) - 2)
        self._positive = self._repeat_per_lane((1 << self._number - 1) - 1)
        self._sevens = self._repeat(0x7F, 8)
        self._eights = self._repeat(0x80, 8)
        spread = [_HALVES] * (size >= 8) + [_QUARTERS, _EIGHTHS]  # noqa: PLR2004 -- halves of 32 bits
        widths = [64] * (size >= 8) + [32, 16]  # noqa: PLR2004
        self._spread = tuple(
            (self._repeat(keep, width), self._repeat(move, width), shift)
            for (keep, move, shift), width in zip(spread, widths, strict=True)
        )
        distances = [8, *(1 << power for power in range(3, self._lane_bits.bit_length() - 1))]
        self._smear = tuple((shift, self._repeat_per_lane((1 << self._lane_bits - shift) - 1)) for shift in distances)
        low = (1 << 7 * min(size, 8)) - 1  # the payload of half a lane of 16 bytes, or of a whole lane of other sizes
        self._low, self._high = self._repeat_per_lane(low), self._repeat_per_lane(0xFF << 56)
        self._upper = self._repeat_per_lane(0x3FFF << 56) if size > 8 else 0  # noqa: PLR2004
        self._out_of_range_bits = (
            self._repeat_per_lane((1 << self._lane_bits) - (1 << bits)) if bits < 7 * max_bytes else 0
        )
        self._excess_bits = self._repeat_per_lane((1 << self._lane_bits) - 1 - low)
        self._letter = "i" if size == 4 else "q"  # noqa: PLR2004 -- bytes of an int

    def encode(self, values: Sequence[int]) -> bytes | None:
        """Return the bytes of numbers, or None if one is too long for this lane."""
        count = len(values)
        if not -self._value_limit <= values[0] < self._value_limit:
            return None
        try:
            packed = struct.pack(f"<{count}{self._letter}", *values)
        except struct.error:
            return None
        if self.size > self._number // 8:
            packed = _widen(packed, count)
        number = int.from_bytes(packed, "little")
        sign = number >> self._number - 1 & self._ones
        number = number << 1 & self._even
        if sign:
            number ^= (sign << self._number) - sign
        if self.size > self._number // 8:
            number = number & self._low | (number & self._high) << 8
        elif number & self._excess_bits:
            return None
        for keep, move, shift in self._spread:
            number = number & keep | (number & move) << shift
        width = self._lane_bits * count
        more = number + ((1 << width) - 1 & self._sevens) & self._eights  # set in each byte that is not zero
        more = more >> 8 & self._smear[0][1]
        for shift, mask in self._smear[1:]:
            more |= more >> shift & mask
        lanes = (number | more).to_bytes(width // 8, "little")
        between = lanes.split(bytes(self.size))  # at the zeros: no other lane with its padding has so many zero bytes
        return b"\0".join([part.translate(None, b"\0") for part in between])

    def split_lanes(self, data: bytes, at: int, count: int) -> tuple[bytes, int, int]:
        """Return lanes of the numbers at a position, the position after them, and how many numbers are left.

        It ends before a number that is too long for this lane, and may leave a few numbers at the end.
        """
        lanes: list[bytes] = []
        for step in _MATCH_COUNTS:
            pattern, layout = _lane_layout(self.size, self.max_bytes, step)
            while count >= step:
                match = pattern.match(data, at)
                if match is None:
                    break
                lanes.append(layout.pack(*match.groups()))
                at = match.end()
                count -= step
        return b"".join(lanes), at, count

    def decode(self, lanes: bytes) -> Sequence[int]:
        """Return the numbers of lanes.

        Raises:
            InterpreterNeeded: a number is out of its range.
        """
        number = int.from_bytes(lanes, "little") & self._sevens
        for keep, move, shift in reversed(self._spread):
            number = number & keep | number >> shift & move
        if self.size > self._number // 8:
            number = number & self._low | number >> 8 & self._upper
        if number & self._out_of_range_bits:
            raise InterpreterNeeded
        sign = number & self._ones
        number = number >> 1 & self._positive
        if sign:
            number ^= (sign << self._number) - sign
        count = len(lanes) * 8 // self._number
        numbers = struct.unpack(f"<{count}{self._letter}", number.to_bytes(len(lanes), "little"))
        return numbers[:: self._lane_bits // self._number]

    def _repeat_per_lane(self, pattern: int) -> int:
        return self._repeat(pattern, self._lane_bits)

    def _repeat(self, pattern: int, width: int) -> int:
        """Repeat a pattern of ``width`` bits over all lanes."""
        return pattern * (((1 << self._lane_bits * _MAX_LANES) - 1) // ((1 << width) - 1))


def _widen(packed: bytes, count: int) -> bytes:
    """Copy numbers of 8 bytes into lanes of 16."""
    wide = bytearray(16 * count)
    for index in range(8):
        wide[index::16] = packed[index::8]
    return bytes(wide)


@lru_cache(None)
def _lane_layout(size: int, max_bytes: int, count: int) -> tuple[re.Pattern[bytes], struct.Struct]:
    """Return the pattern that matches ``count`` numbers, and the layout that packs them into lanes."""
    number = rb"([\x80-\xff]{0,%d}+[\x00-\x7f])" % (max_bytes - 1)
    return re.compile(number * count), struct.Struct(f"{size}s" * count)


_WIDE_LANE: Final = IntegerLane(16, 10, 64)
LONG_LANES: Final = (
    IntegerLane(4, 4, 28),
    IntegerLane(8, 8, 56),
    _WIDE_LANE,
)  #: lanes for numbers of 64 bits, the narrowest first
INT_LANES: Final = (LONG_LANES[0], IntegerLane(8, 5, 32))  #: lanes for numbers of 32 bits


def encode_numbers(values: Sequence[int]) -> bytes:
    """Return the bytes of numbers of 64 bits.

    Raises:
        InterpreterNeeded: a number has more bits.
    """
    if len(values) > _MAX_LANES:
        return b"".join([encode_numbers(values[at : at + _MAX_LANES]) for at in range(0, len(values), _MAX_LANES)])
    for lane in LONG_LANES:
        encoded = lane.encode(values)
        if encoded is not None:
            return encoded
    raise InterpreterNeeded


def decode_numbers(data: bytes, at: int, count: int, lanes: Sequence[IntegerLane]) -> tuple[list[Any], int, int]:
    """Read most of ``count`` numbers; return them, the position after them, and how many are left.

    Raises:
        InterpreterNeeded: a number is out of its range.
    """
    numbers: list[Any] = []
    for lane in lanes:
        encoded, at, count = lane.split_lanes(data, at, count)
        size = lane.size * _MAX_LANES
        for first in range(0, len(encoded), size):
            numbers += lane.decode(encoded[first : first + size])
        if count < _MATCH_COUNTS[-1]:
            break
    return numbers, at, count


def decode_pieces(pieces: Sequence[bytes], lanes: Sequence[IntegerLane]) -> Sequence[int]:
    """Return the numbers of pieces of bytes, each of one number no longer than the widest lane.

    Raises:
        InterpreterNeeded: a number is out of its range.
    """
    longest = max(map(len, pieces), default=0)
    lane = next(lane for lane in lanes if longest <= lane.max_bytes)
    numbers: list[int] = []
    for at in range(0, len(pieces), _MAX_LANES):
        part = pieces[at : at + _MAX_LANES]
        numbers += lane.decode(struct.pack(f"{lane.size}s" * len(part), *part))
    return numbers
