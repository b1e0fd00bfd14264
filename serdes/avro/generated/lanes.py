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

from contractlog.serdes.avro.generated import Otherwise

__all__ = ["FEWEST", "INTS", "LONGS", "Lane", "decode_numbers", "decode_pieces", "encode_numbers"]

FEWEST: Final = 16  #: numbers; a loop is faster for fewer
_MOST: Final = 512  #: most numbers in one large integer
_STEPS: Final = (32, 8)  #: numbers that one regular expression matches

_HALVES: Final = (0x0FFF_FFFF, 0x00FF_FFFF_F000_0000, 4)
_QUARTERS: Final = (0x3FFF, 0x0FFF_C000, 2)
_EIGHTHS: Final = (0x7F, 0x3F80, 1)


class Lane:
    """Constants and operations for lanes of one width.

    Args:
        size: bytes of a lane.
        most: bytes of the longest number.
        bits: range of its numbers, in bits; longer ones are rejected.
    """

    def __init__(self, size: int, most: int, bits: int) -> None:
        self.size, self.most = size, most
        self._bits = 8 * size
        self._first = 1 << bits - 1
        self._number = min(self._bits, 64)  # bits of a number, zig-zag encoded or not
        self._ones = self._lanes(1)
        self._even = self._lanes((1 << self._number) - 2)
        self._positive = self._lanes((1 << self._number - 1) - 1)
        self._sevens = self._every(0x7F, 8)
        self._eights = self._every(0x80, 8)
        spread = [_HALVES] * (size >= 8) + [_QUARTERS, _EIGHTHS]  # noqa: PLR2004 -- halves of 32 bits
        widths = [64] * (size >= 8) + [32, 16]  # noqa: PLR2004
        self._spread = tuple(
            (self._every(keep, width), self._every(move, width), shift)
            for (keep, move, shift), width in zip(spread, widths, strict=True)
        )
        distances = [8, *(1 << power for power in range(3, self._bits.bit_length() - 1))]
        self._smear = tuple((shift, self._lanes((1 << self._bits - shift) - 1)) for shift in distances)
        low = (1 << 7 * min(size, 8)) - 1  # the payload of half a lane of 16 bytes, or of a whole lane of other sizes
        self._low, self._high = self._lanes(low), self._lanes(0xFF << 56)
        self._upper = self._lanes(0x3FFF << 56) if size > 8 else 0  # noqa: PLR2004
        self._beyond = self._lanes((1 << self._bits) - (1 << bits)) if bits < 7 * most else 0
        self._unfit = self._lanes((1 << self._bits) - 1 - low)
        self._letter = "i" if size == 4 else "q"  # noqa: PLR2004 -- bytes of an int

    def encode(self, values: Sequence[int]) -> bytes | None:
        """Return the bytes of numbers, or None if one is too long for this lane."""
        count = len(values)
        if not -self._first <= values[0] < self._first:
            return None
        try:
            packed = struct.pack(f"<{count}{self._letter}", *values)
        except struct.error:
            return None
        if self.size > self._number // 8:
            packed = _widened(packed, count)
        number = int.from_bytes(packed, "little")
        sign = number >> self._number - 1 & self._ones
        number = number << 1 & self._even
        if sign:
            number ^= (sign << self._number) - sign
        if self.size > self._number // 8:
            number = number & self._low | (number & self._high) << 8
        elif number & self._unfit:
            return None
        for keep, move, shift in self._spread:
            number = number & keep | (number & move) << shift
        width = self._bits * count
        more = number + ((1 << width) - 1 & self._sevens) & self._eights  # set in each byte that is not zero
        more = more >> 8 & self._smear[0][1]
        for shift, mask in self._smear[1:]:
            more |= more >> shift & mask
        lanes = (number | more).to_bytes(width // 8, "little")
        between = lanes.split(bytes(self.size))  # at the zeros: no other lane with its padding has so many zero bytes
        return b"\0".join([part.translate(None, b"\0") for part in between])

    def find(self, data: bytes, at: int, count: int) -> tuple[bytes, int, int]:
        """Return lanes of the numbers at a position, the position after them, and how many numbers are left.

        It ends before a number that is too long for this lane, and may leave a few numbers at the end.
        """
        found: list[bytes] = []
        for step in _STEPS:
            pattern, layout = _layout(self.size, self.most, step)
            while count >= step:
                match = pattern.match(data, at)
                if match is None:
                    break
                found.append(layout.pack(*match.groups()))
                at = match.end()
                count -= step
        return b"".join(found), at, count

    def decode(self, lanes: bytes) -> Sequence[int]:
        """Return the numbers of lanes.

        Raises:
            Otherwise: a number is out of its range.
        """
        number = int.from_bytes(lanes, "little") & self._sevens
        for keep, move, shift in reversed(self._spread):
            number = number & keep | number >> shift & move
        if self.size > self._number // 8:
            number = number & self._low | number >> 8 & self._upper
        if number & self._beyond:
            raise Otherwise
        sign = number & self._ones
        number = number >> 1 & self._positive
        if sign:
            number ^= (sign << self._number) - sign
        count = len(lanes) * 8 // self._number
        numbers = struct.unpack(f"<{count}{self._letter}", number.to_bytes(len(lanes), "little"))
        return numbers[:: self._bits // self._number]

    def _lanes(self, pattern: int) -> int:
        return self._every(pattern, self._bits)

    def _every(self, pattern: int, width: int) -> int:
        """Repeat a pattern of ``width`` bits over all lanes."""
        return pattern * (((1 << self._bits * _MOST) - 1) // ((1 << width) - 1))


def _widened(packed: bytes, count: int) -> bytes:
    """Copy numbers of 8 bytes into lanes of 16."""
    wide = bytearray(16 * count)
    for place in range(8):
        wide[place::16] = packed[place::8]
    return bytes(wide)


@lru_cache(None)
def _layout(size: int, most: int, count: int) -> tuple[re.Pattern[bytes], struct.Struct]:
    """Return the pattern that matches ``count`` numbers, and the layout that packs them into lanes."""
    number = rb"([\x80-\xff]{0,%d}+[\x00-\x7f])" % (most - 1)
    return re.compile(number * count), struct.Struct(f"{size}s" * count)


_WIDE: Final = Lane(16, 10, 64)
LONGS: Final = (Lane(4, 4, 28), Lane(8, 8, 56), _WIDE)  #: lanes for numbers of 64 bits, the narrowest first
INTS: Final = (LONGS[0], Lane(8, 5, 32))  #: lanes for numbers of 32 bits


def encode_numbers(values: Sequence[int]) -> bytes:
    """Return the bytes of numbers of 64 bits.

    Raises:
        Otherwise: a number has more bits.
    """
    if len(values) > _MOST:
        return b"".join([encode_numbers(values[at : at + _MOST]) for at in range(0, len(values), _MOST)])
    for lane in LONGS:
        encoded = lane.encode(values)
        if encoded is not None:
            return encoded
    raise Otherwise


def decode_numbers(data: bytes, at: int, count: int, lanes: Sequence[Lane]) -> tuple[list[Any], int, int]:
    """Read most of ``count`` numbers; return them, the position after them, and how many are left.

    Raises:
        Otherwise: a number is out of its range.
    """
    numbers: list[Any] = []
    for lane in lanes:
        found, at, count = lane.find(data, at, count)
        size = lane.size * _MOST
        for first in range(0, len(found), size):
            numbers += lane.decode(found[first : first + size])
        if count < _STEPS[-1]:
            break
    return numbers, at, count


def decode_pieces(pieces: Sequence[bytes], lanes: Sequence[Lane]) -> Sequence[int]:
    """Return the numbers of pieces of bytes, each of one number no longer than the widest lane.

    Raises:
        Otherwise: a number is out of its range.
    """
    longest = max(map(len, pieces), default=0)
    lane = next(lane for lane in lanes if longest <= lane.most)
    numbers: list[int] = []
    for at in range(0, len(pieces), _MOST):
        part = pieces[at : at + _MOST]
        numbers += lane.decode(struct.pack(f"{lane.size}s" * len(part), *part))
    return numbers
