"""Analysis of a tree of codecs before code generation: size, height, and records that are used twice."""

from __future__ import annotations

from collections import Counter
from typing import Final

from contractlog.serdes.avro.codecs import Reader
from contractlog.serdes.avro.containers import ArrayReader, MapReader, RecordCodec
from contractlog.serdes.avro.logical import LogicalCodec
from contractlog.serdes.avro.resolved import Converted, NamedRecord, RecordReader, WriterUnion
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["MAX_FIELDS", "Graph", "Unfit"]

MAX_FIELDS: Final = 500  #: schemas with more fields are interpreted
_MAX_NODES: Final = 5_000


class Unfit(Exception):
    """No code is generated for this schema; it is interpreted."""


class Graph:
    """A codec and those below it; recursive types have no height."""

    def __init__(self, root: Reader) -> None:
        self._uses: Counter[int] = Counter({id(root): 1})
        self._heights: dict[int, int] = {}
        self.recursive = False
        self._walk(root)
        self.height = None if self.recursive else self._heights[id(root)]

    def is_shared(self, node: Reader) -> bool:
        """Return whether a record is used in several places, and so needs a function of its own."""
        return self._uses[id(node)] > 1

    def _walk(self, root: Reader) -> None:
        """Count uses and heights, without recursion."""
        fields = 0
        open_: set[int] = set()
        pending: list[tuple[Reader, bool]] = [(root, False)]
        while pending:
            node, left = pending.pop()
            below = parts(node)
            if left:
                open_.discard(id(node))
                top = max((self._heights.get(id(part), 0) for part in below), default=0)
                self._heights[id(node)] = top + isinstance(node, _OPENED)
            elif id(node) not in self._heights and id(node) not in open_:
                open_.add(id(node))
                fields += len(below) if isinstance(node, RecordCodec | RecordReader) else 0
                if fields > MAX_FIELDS or len(self._uses) > _MAX_NODES:
                    raise Unfit
                pending.append((node, True))
                for part in reversed(below):
                    self._uses[id(part)] += 1
                    self.recursive |= id(part) in open_
                    pending.append((part, False))


_OPENED: Final = (RecordCodec, RecordReader, ArrayReader, MapReader)


def parts(node: Reader) -> list[Reader]:  # noqa: PLR0911 -- one line per class
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
        case UnionCodec() | WriterUnion():
            return list(node.branches)
        case NamedRecord():
            return [node.record]
        case Converted() | LogicalCodec():
            return [node.raw]
    return []
