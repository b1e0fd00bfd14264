"""Reference implementation of Avro validation, one record at a time; also used for few records.

Rules, in byte order: an integer is read in full before its value is checked; a string's bytes must be present before
its text is checked; the depth of a container is checked before its first byte is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_compiled_schema import AvroKind, ValuePath
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES

__all__ = ["RecordWalk", "RuleViolated"]

_UINT32: Final = 2**32
_UINT64: Final = 2**64
_MORE: Final = 0x80

Collect = Callable[[ValuePath, int, int], None]
"""Callback that gets where a value starts and the integer read there."""


class RuleViolated(Exception):
    """The record cannot be read any further: outcome, path of the value, and position."""

    def __init__(self, code: Outcome, path: ValuePath, at: int) -> None:
        super().__init__(code.name)
        self.code = code
        self.path = path
        self.at = at


class RecordWalk:
    """Walks one record from ``pos`` to ``end``; each method advances ``pos`` past the bytes that it reads."""

    __slots__ = ("allowance", "collect", "data", "end", "limits", "pos", "row")

    def __init__(
        self,
        data: bytes | memoryview,
        limits: ValidationLimits,
        collect: Collect,
        allowance: NDArray[np.int64] | None = None,
    ) -> None:
        self.data = data
        self.limits = limits
        self.collect = collect
        self.allowance = np.array([limits.items]) if allowance is None else allowance  # by record: items left
        self.row = 0
        self.pos = 0
        self.end = len(data)

    def walk(self, path: ValuePath) -> None:
        """Read one value.

        Raises:
            RuleViolated: the first rule that is violated.
        """
        while path.node.kind is AvroKind.UNION:  # nested only in the resolution of two schemas
            path = self.branch(path)
        node = path.node
        if node.kind is AvroKind.NULL:
            self.collect(path, self.pos, 0)
        elif not node.empty or self.is_too_deep(path):
            _READERS[node.kind](self, path)

    def varint(self, path: ValuePath, max_bytes: int) -> int:
        """Read a zigzag integer of at most ``max_bytes`` bytes."""
        start = pos = self.pos
        raw = shift = 0
        while True:
            if pos >= self.end:
                raise RuleViolated(Outcome.TRUNCATED, path, start)
            byte = self.data[pos]
            pos += 1
            raw |= (byte & ~_MORE) << shift
            shift += 7
            if byte < _MORE:
                break
            if pos - start == max_bytes:
                raise RuleViolated(Outcome.BAD_VARINT, path, start)
        if max_bytes == INT_BYTES and raw >= _UINT32:
            raise RuleViolated(Outcome.INT_OUT_OF_RANGE, path, start)
        if raw >= _UINT64:
            raise RuleViolated(Outcome.BAD_VARINT, path, start)
        self.pos = pos
        return (raw >> 1) ^ -(raw & 1)

    def take(self, path: ValuePath, size: int) -> int:
        """Skip ``size`` bytes, which must be present; return the position of the first."""
        start = self.pos
        if size > self.end - start:
            raise RuleViolated(Outcome.TRUNCATED, path, start)
        self.pos = start + size
        return start

    def length(self, path: ValuePath) -> int:
        """Read the length of a string or a block, whose bytes must be present."""
        start = self.pos
        length = self.varint(path, LONG_BYTES)
        if not 0 <= length <= self.limits.length:
            raise RuleViolated(Outcome.BAD_LENGTH, path, start)
        if length > self.end - self.pos:
            raise RuleViolated(Outcome.TRUNCATED, path, start)
        return length

    def read_boolean(self, path: ValuePath) -> None:
        """Read a boolean: one byte, 0 or 1; any other byte is true unless ``strict_booleans`` is set."""
        start = self.take(path, 1)
        if self.limits.strict_booleans and self.data[start] > 1:
            raise RuleViolated(Outcome.BAD_BOOLEAN, path, start)
        self.collect(path, start, int(self.data[start] != 0))

    def read_int(self, path: ValuePath) -> None:
        """Read an int: 32 bits in at most five bytes."""
        start = self.pos
        self.collect(path, start, self.varint(path, INT_BYTES))

    def read_long(self, path: ValuePath) -> None:
        """Read a long: 64 bits in at most ten bytes."""
        start = self.pos
        self.collect(path, start, self.varint(path, LONG_BYTES))

    def read_fixed(self, path: ValuePath) -> None:
        """Read a float, double or fixed value, whose size is set by the schema."""
        self.collect(path, self.take(path, path.node.size), path.node.size)

    def read_bytes(self, path: ValuePath) -> None:
        """Read bytes: a length, then that many bytes."""
        length = self.length(path)
        self.collect(path, self.take(path, length), length)

    def read_string(self, path: ValuePath) -> None:
        """Read a string: bytes that are UTF-8, without surrogates and in shortest form."""
        length = self.length(path)
        start = self.take(path, length)
        try:
            str(self.data[start : start + length], "utf-8")
        except UnicodeDecodeError:
            raise RuleViolated(Outcome.BAD_UTF8, path, start) from None
        self.collect(path, start, length)

    def read_enum(self, path: ValuePath) -> None:
        """Read an enum: the index of one of its symbols."""
        start = self.pos
        index = self.varint(path, INT_BYTES)
        if not 0 <= index < len(path.node.symbols):
            raise RuleViolated(Outcome.BAD_ENUM_INDEX, path, start)
        self.collect(path, start, index)

    def branch(self, path: ValuePath) -> ValuePath:
        """Read the branch index of a union and return the path of that branch; its value comes next."""
        start = self.pos
        index = self.varint(path, INT_BYTES)
        if not 0 <= index < len(path.node.children):
            raise RuleViolated(Outcome.BAD_UNION_INDEX, path, start)
        branch = path.child(index)
        if branch.node.surplus:
            self.spend(branch, branch.node.surplus)
        return branch

    def read_record(self, path: ValuePath) -> None:
        """Read the fields of a record in order."""
        self.open(path)
        if path.node.extra_items:
            self.spend(path, path.node.extra_items)
        for index in range(len(path.node.children)):
            self.walk(path.child(index))

    def read_blocks(self, path: ValuePath) -> None:
        """Read an array or a map: blocks of items, ended by a block without items."""
        self.open(path)
        self.rest_of_blocks(path)

    def rest_of_blocks(self, path: ValuePath) -> None:
        """Read the remaining blocks."""
        while True:
            count, stop = self.block_header(path)
            if not count:
                return
            if self.items_are_empty(path):
                self.spend(path, count * path.node.children[-1].cost)
                self.walk_empty(path.child(0))
            else:
                if path.node.children[-1].surplus:  # values of a map
                    self.spend(path, count * path.node.children[-1].surplus)
                self.read_items(path, count)
            if stop not in (None, self.pos):
                raise RuleViolated(Outcome.BAD_LENGTH, path, self.pos)

    def block_header(self, path: ValuePath) -> tuple[int, int | None]:
        """Read a block's item count and, if the count is negative, the position of its end (else None)."""
        count = self.varint(path, LONG_BYTES)
        stop = None
        if count < 0:
            count = -count
            size = self.length(path)
            stop = self.pos + size
        if count > self.end - self.pos and not self.items_are_empty(path):
            raise RuleViolated(Outcome.TRUNCATED, path, self.pos)
        return count, stop

    @staticmethod
    def items_are_empty(path: ValuePath) -> bool:
        """Return true if items take no bytes, so that only the count says how many there are."""
        return path.node.children[-1].empty and path.node.kind is AvroKind.ARRAY

    def read_items(self, path: ValuePath, count: int) -> None:
        """Read ``count`` items of a block."""
        steps = [path.child(index) for index in range(len(path.node.children))]
        for _ in range(count):
            for step in steps:
                self.walk(step)

    def walk_empty(self, path: ValuePath) -> None:
        """Check the depth of an item without bytes, of which nothing is collected."""
        if self.is_too_deep(path):
            self.walk(path)

    def is_too_deep(self, path: ValuePath) -> bool:
        """Return whether a value without bytes has records beyond the depth limit."""
        return path.depth - 1 + path.node.levels > self.limits.depth and path.node.empty

    def spend(self, path: ValuePath, cost: int) -> None:
        """Count the cost of items without bytes."""
        left = int(self.allowance[self.row]) - cost
        if left < 0:
            raise RuleViolated(Outcome.TOO_MANY_ITEMS, path, self.pos)
        self.allowance[self.row] = left

    def open(self, path: ValuePath) -> None:
        """Enter a container, unless it exceeds the depth limit."""
        if path.depth > self.limits.depth:
            raise RuleViolated(Outcome.TOO_DEEP, path, self.pos)


_READERS: Final[Mapping[AvroKind, Callable[[RecordWalk, ValuePath], None]]] = MappingProxyType(
    {
        AvroKind.BOOLEAN: RecordWalk.read_boolean,
        AvroKind.INT: RecordWalk.read_int,
        AvroKind.LONG: RecordWalk.read_long,
        AvroKind.FLOAT: RecordWalk.read_fixed,
        AvroKind.DOUBLE: RecordWalk.read_fixed,
        AvroKind.BYTES: RecordWalk.read_bytes,
        AvroKind.STRING: RecordWalk.read_string,
        AvroKind.FIXED: RecordWalk.read_fixed,
        AvroKind.ENUM: RecordWalk.read_enum,
        AvroKind.ARRAY: RecordWalk.read_blocks,
        AvroKind.MAP: RecordWalk.read_blocks,
        AvroKind.RECORD: RecordWalk.read_record,
    }
)
