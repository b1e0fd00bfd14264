"""Analysis of a tree of codecs before code generation: size, height, and records that are used twice."""

from __future__ import annotations

from collections import Counter
from typing import Final

from contractlog.serdes.avro.interpreter.codecs import ValueReader
from contractlog.serdes.avro.interpreter.containers import ArrayReader, MapReader, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.resolved_readers import (
    ConvertedReader,
    NamedRecordReader,
    RecordReader,
    WriterUnionReader,
)

__all__ = ["MAX_FIELDS", "CodecGraph", "NotGenerated", "find_max_size"]

MAX_FIELDS: Final = 500  #: schemas with more fields are interpreted
_MAX_NODES: Final = 5_000
_ITEM_OWNERS: Final = (ArrayReader, MapReader, UnionCodec, WriterUnionReader)
_VALUES_PER_BYTE: Final = 2  #: an item of an array may be a union whose branch takes no further byte
_LEVEL_CODECS: Final = (RecordCodec, RecordReader, ArrayReader, MapReader)


class NotGenerated(Exception):
    """No code is generated for this schema; it is interpreted."""


class CodecGraph:
    """A codec and those below it; recursive types have no height."""

    def __init__(self, root: ValueReader) -> None:
        self._uses: Counter[int] = Counter({id(root): 1})
        self._heights: dict[int, int] = {}
        self.recursive = False
        self._analyze(root)
        self.height = None if self.recursive else self._heights[id(root)]

    def is_shared(self, node: ValueReader) -> bool:
        """Return whether a record is used in several places, and so needs a function of its own."""
        return self._uses[id(node)] > 1

    def _analyze(self, root: ValueReader) -> None:
        """Count uses and heights, without recursion."""
        fields = 0
        open_: set[int] = set()
        pending: list[tuple[ValueReader, bool]] = [(root, False)]
        while pending:
            node, left = pending.pop()
            below = child_codecs(node)
            if left:
                open_.discard(id(node))
                top = max((self._heights.get(id(part), 0) for part in below), default=0)
                self._heights[id(node)] = top + isinstance(node, _LEVEL_CODECS)
            elif id(node) not in self._heights and id(node) not in open_:
                open_.add(id(node))
                fields += len(below) if isinstance(node, RecordCodec | RecordReader) else 0
                if fields > MAX_FIELDS or len(self._uses) > _MAX_NODES:
                    raise NotGenerated
                pending.append((node, True))
                for part in reversed(below):
                    self._uses[id(part)] += 1
                    self.recursive |= id(part) in open_
                    pending.append((part, False))


def child_codecs(node: ValueReader) -> list[ValueReader]:  # noqa: PLR0911 -- one line per class
    """Return the codecs that a codec consists of."""
    match node:
        case RecordCodec():
            return [field.codec for field in node.fields]
        case RecordReader():
            return [reader for _, _, reader in node.steps]
        case ArrayReader():
            return [node.items]
        case MapReader():
            return [node.values]
        case UnionCodec() | WriterUnionReader():
            return list(node.branches)
        case NamedRecordReader():
            return [node.record]
        case ConvertedReader() | LogicalCodec():
            return [node.raw]
    return []


def find_max_size(root: ValueReader, max_items: int) -> int | None:
    """Return the size of the longest body that surely brings no more items than allowed, beside its bytes.

    None: a body of any size; -1: none. Every item of an array, entry of a map and branch of a union takes at least a
    byte, apart from those inside it.
    """
    totals: dict[int, int] = {}
    highest = 0
    visited: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        below = child_codecs(node)
        if isinstance(node, _ITEM_OWNERS):
            bare = isinstance(node, ArrayReader)  # whose items without bytes are interpreted
            counts = (_count_extra_items(part, totals) + (0 if bare else part.surplus) for part in below)
            highest = max([highest, *counts])
        pending += below
    left = max_items - _count_extra_items(root, totals) - root.surplus
    if left < 0:
        return -1
    return left // (highest * _VALUES_PER_BYTE) if highest else None


def _count_extra_items(node: ValueReader, totals: dict[int, int]) -> int:
    """Return the items that a record and its fields that are records count beside their bytes."""
    if isinstance(node, NamedRecordReader):
        return _count_extra_items(node.record, totals)
    if not isinstance(node, RecordCodec | RecordReader):
        return 0
    total = totals.get(id(node))
    if total is None:
        totals[id(node)] = 0  # a record that directly contains itself is never read
        total = node.extra_items + sum(_count_extra_items(part, totals) for part in child_codecs(node))
        totals[id(node)] = total
    return total
