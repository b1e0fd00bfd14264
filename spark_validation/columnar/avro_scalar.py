"""Reference implementation of Avro validation, one record at a time; also used for few records.

Rules, in byte order: an integer is read in full before its value is checked; a string's bytes must be present before
its text is checked; the depth of a container is checked before its first byte is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.limits import Limits
from contractlog.spark_validation.columnar.program import Kind, Place
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES

__all__ = ["Broken", "ScalarWalk"]

_UINT32: Final = 2**32
_UINT64: Final = 2**64
_MORE: Final = 0x80

Collect = Callable[[Place, int, int], None]
"""Callback that gets where a value starts and the integer read there."""


class Broken(Exception):
    """The record cannot be read any further: outcome, place in the schema, and position."""

    def __init__(self, code: Outcome, place: Place, at: int) -> None:
        super().__init__(code.name)
        self.code = code
        self.place = place
        self.at = at


class ScalarWalk:
    """Walks one record from ``pos`` to ``end``; each method advances ``pos`` past the bytes that it reads."""

    __slots__ = ("collect", "data", "end", "limits", "pos")

    def __init__(self, data: bytes | memoryview, limits: Limits, collect: Collect) -> None:
        self.data = data
        self.limits = limits
        self.collect = collect
        self.pos = 0
        self.end = len(data)

    def walk(self, place: Place) -> None:
        """Read one value.

        Raises:
            Broken: the first rule that is violated.
        """
        if place.node.kind is Kind.UNION:
            place = self.branch(place)
        if not place.node.empty:
            _READERS[place.node.kind](self, place)

    def varint(self, place: Place, longest: int) -> int:
        """Read a zigzag integer of at most ``longest`` bytes."""
        start = pos = self.pos
        raw = shift = 0
        while True:
            if pos >= self.end:
                raise Broken(Outcome.TRUNCATED, place, start)
            byte = self.data[pos]
            pos += 1
            raw |= (byte & ~_MORE) << shift
            shift += 7
            if byte < _MORE:
                break
            if pos - start == longest:
                raise Broken(Outcome.BAD_VARINT, place, start)
        if longest == INT_BYTES and raw >= _UINT32:
            raise Broken(Outcome.INT_OUT_OF_RANGE, place, start)
        if raw >= _UINT64:
            raise Broken(Outcome.BAD_VARINT, place, start)
        self.pos = pos
        return (raw >> 1) ^ -(raw & 1)

    def take(self, place: Place, size: int) -> int:
        """Skip ``size`` bytes, which must be present; return the position of the first."""
        start = self.pos
        if size > self.end - start:
            raise Broken(Outcome.TRUNCATED, place, start)
        self.pos = start + size
        return start

    def length(self, place: Place) -> int:
        """Read the length of a string or a block, whose bytes must be present."""
        start = self.pos
        length = self.varint(place, LONG_BYTES)
        if not 0 <= length <= self.limits.length:
            raise Broken(Outcome.BAD_LENGTH, place, start)
        if length > self.end - self.pos:
            raise Broken(Outcome.TRUNCATED, place, start)
        return length

    def read_boolean(self, place: Place) -> None:
        """Read a boolean: one byte, 0 or 1; any other byte is true unless ``strict_booleans`` is set."""
        start = self.take(place, 1)
        if self.limits.strict_booleans and self.data[start] > 1:
            raise Broken(Outcome.BAD_BOOLEAN, place, start)
        self.collect(place, start, int(self.data[start] != 0))

    def read_int(self, place: Place) -> None:
        """Read an int: 32 bits in at most five bytes."""
        start = self.pos
        self.collect(place, start, self.varint(place, INT_BYTES))

    def read_long(self, place: Place) -> None:
        """Read a long: 64 bits in at most ten bytes."""
        start = self.pos
        self.collect(place, start, self.varint(place, LONG_BYTES))

    def read_fixed(self, place: Place) -> None:
        """Read a float, double or fixed value, whose size is set by the schema."""
        self.collect(place, self.take(place, place.node.size), place.node.size)

    def read_bytes(self, place: Place) -> None:
        """Read bytes: a length, then that many bytes."""
        length = self.length(place)
        self.collect(place, self.take(place, length), length)

    def read_string(self, place: Place) -> None:
        """Read a string: bytes that are UTF-8, without surrogates and in shortest form."""
        length = self.length(place)
        start = self.take(place, length)
        try:
            str(self.data[start : start + length], "utf-8")
        except UnicodeDecodeError:
            raise Broken(Outcome.BAD_UTF8, place, start) from None
        self.collect(place, start, length)

    def read_enum(self, place: Place) -> None:
        """Read an enum: the index of one of its symbols."""
        start = self.pos
        index = self.varint(place, INT_BYTES)
        if not 0 <= index < len(place.node.symbols):
            raise Broken(Outcome.BAD_ENUM_INDEX, place, start)
        self.collect(place, start, index)

    def branch(self, place: Place) -> Place:
        """Read the branch index of a union and return the place of that branch; its value comes next."""
        start = self.pos
        index = self.varint(place, INT_BYTES)
        if not 0 <= index < len(place.node.children):
            raise Broken(Outcome.BAD_UNION_INDEX, place, start)
        return place.child(index)

    def read_record(self, place: Place) -> None:
        """Read the fields of a record in order."""
        self.open(place)
        for index in range(len(place.node.children)):
            self.walk(place.child(index))

    def read_blocks(self, place: Place) -> None:
        """Read an array or a map: blocks of items, ended by a block without items."""
        self.open(place)
        self.rest_of_blocks(place, 0)

    def rest_of_blocks(self, place: Place, empties: int) -> None:
        """Read the remaining blocks; ``empties`` is the number of items without bytes counted so far."""
        while True:
            count, stop = self.block_header(place)
            if not count:
                return
            if self.items_are_empty(place):
                empties += count
                if empties > self.limits.items:
                    raise Broken(Outcome.TOO_MANY_ITEMS, place, self.pos)
            else:
                self.read_items(place, count)
            if stop not in (None, self.pos):
                raise Broken(Outcome.BAD_LENGTH, place, self.pos)

    def block_header(self, place: Place) -> tuple[int, int | None]:
        """Read a block's item count and, if the count is negative, the position of its end (else None)."""
        count = self.varint(place, LONG_BYTES)
        stop = None
        if count < 0:
            count = -count
            size = self.length(place)
            stop = self.pos + size
        if count > self.end - self.pos and not self.items_are_empty(place):
            raise Broken(Outcome.TRUNCATED, place, self.pos)
        return count, stop

    @staticmethod
    def items_are_empty(place: Place) -> bool:
        """Return true if items take no bytes, so that only the count says how many there are."""
        return place.node.children[-1].empty and place.node.kind is Kind.ARRAY

    def read_items(self, place: Place, count: int) -> None:
        """Read ``count`` items of a block."""
        steps = [place.child(index) for index in range(len(place.node.children))]
        for _ in range(count):
            for step in steps:
                self.walk(step)

    def open(self, place: Place) -> None:
        """Enter a container, unless it exceeds the depth limit."""
        if place.depth > self.limits.depth:
            raise Broken(Outcome.TOO_DEEP, place, self.pos)


_READERS: Final[Mapping[Kind, Callable[[ScalarWalk, Place], None]]] = MappingProxyType(
    {
        Kind.BOOLEAN: ScalarWalk.read_boolean,
        Kind.INT: ScalarWalk.read_int,
        Kind.LONG: ScalarWalk.read_long,
        Kind.FLOAT: ScalarWalk.read_fixed,
        Kind.DOUBLE: ScalarWalk.read_fixed,
        Kind.BYTES: ScalarWalk.read_bytes,
        Kind.STRING: ScalarWalk.read_string,
        Kind.FIXED: ScalarWalk.read_fixed,
        Kind.ENUM: ScalarWalk.read_enum,
        Kind.ARRAY: ScalarWalk.read_blocks,
        Kind.MAP: ScalarWalk.read_blocks,
        Kind.RECORD: ScalarWalk.read_record,
    }
)
