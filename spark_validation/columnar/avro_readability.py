"""Avro records read with another schema: of many records at once, without building values.

The resolution of the two schemas, as the deserializers have it, is compiled for the walkers: a value that the proposed
schema cannot read becomes a node at which every record fails. A record that reaches none of them can be read. Where
only the value decides, as for bytes that are to be read as a string, the deserializer reads the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.avro import types as avro
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.avro_schema import avro_schema_of
from contractlog.serdes.avro.interpreter.codecs import Codec, ValueReader
from contractlog.serdes.avro.interpreter.containers import ArrayReader, MapReader
from contractlog.serdes.avro.interpreter.decimal_and_uuid import (
    MAX_DIGITS,
    DecimalCodec,
    FixedUuidCodec,
    LogicalCodec,
    UuidCodec,
)
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader
from contractlog.serdes.avro.interpreter.logical_types import wrap_logical_type
from contractlog.serdes.avro.interpreter.resolved_readers import (
    ConvertedReader,
    RecordReader,
    SymbolReader,
    UnreadableReader,
    WriterUnionReader,
)
from contractlog.serdes.avro.interpreter.resolver import Resolver
from contractlog.serdes.avro.interpreter.times import DateCodec, TimeCodec, TimestampCodec
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.errors import DecodeError, ReaderMismatch, SerializationError
from contractlog.spark_validation.columnar.avro_compiled_schema import (
    AvroKind,
    CompiledNode,
    CompiledSchema,
    make_node,
    mark_empty,
)
from contractlog.spark_validation.columnar.avro_vectorized_walk import MAX_ROWS_ONE_BY_ONE, VectorizedWalk
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.read_failures import MISMATCH, ReadFailures, UnreadableCause

__all__ = ["AvroReadability"]

_ANY_VALUE: Final = (FixedUuidCodec, DateCodec, TimestampCodec)  #: logical types without a rule
_Pair = tuple[avro.AvroType, ValueReader | None]
"""A type of the writer and its reader; None: values are read as they were written."""


class AvroReadability:
    """Reads records of one schema with another.

    Args:
        writer: the schema of the records.
        reader: the proposed schema.
        limits: bounds on how much of a record is processed.
        scalar_rows: up to this many records are walked one by one.
    """

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema,
        limits: ValidationLimits,
        *,
        scalar_rows: int = MAX_ROWS_ONE_BY_ONE,
    ) -> None:
        bounds = Limits(
            max_depth=limits.depth,
            max_length=limits.length,
            max_empty_items=limits.items,
            strict_booleans=limits.strict_booleans,
        )
        self._decoder = AvroReader(writer, reader, limits=bounds)
        self._interpreter = InterpretedReader(writer, reader, limits=bounds)
        self._limits = limits
        self._scalar_rows = scalar_rows
        self._resolution = _Resolution(avro_schema_of(writer))
        self._compiled: CompiledSchema | None = None
        if not avro.is_bytes_schema(avro_schema_of(writer)):
            root = self._resolution.compile(Resolver(avro_schema_of(writer), avro_schema_of(reader)).reader())
            self._compiled = CompiledSchema.of(root, limits.paths)

    def read(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        conforming: NDArray[np.bool_],
    ) -> ReadFailures:
        """Return the records that cannot be read; of those that do not conform, the value decides."""
        unreadable = ReadFailures.none(starts.size)
        open_rows = ~conforming if self._compiled is not None else np.ones(starts.size, np.bool_)
        if self._compiled is not None and conforming.any():
            tally = BatchTally(data, starts.size, self._limits, columns=False)
            rows = np.flatnonzero(conforming)
            VectorizedWalk(tally, self._scalar_rows).run(self._compiled.root, Cursors(rows, starts[rows], ends[rows]))
            for number, path in enumerate(tally.paths):
                failed = np.flatnonzero((tally.where == number) & (tally.codes != Outcome.CONFORMS))
                reason = self._resolution.reasons.get(path.node)
                if reason is None:
                    open_rows[failed] = True
                else:
                    cause = UnreadableCause(MISMATCH, path.field, "", reason)
                    unreadable.add_all(failed, cause)
        for row in np.flatnonzero(open_rows).tolist():
            self._read_one(unreadable, row, data[starts[row] : ends[row]].tobytes())
        return unreadable

    def _read_one(self, unreadable: ReadFailures, row: int, body: bytes) -> None:
        try:
            self._decoder.decode(body)
        except ReaderMismatch as error:
            unreadable.add(row, UnreadableCause(MISMATCH, error.field, "", error.reason))
        except DecodeError as error:
            code = Outcome.LOGICAL_TYPE if error.outcome is None else error.outcome
            unreadable.add(row, UnreadableCause.of(code, error.field), error.reason)

    def locate(self, body: bytes) -> str:
        """Return the path of the first value that cannot be read.

        It has positions, unless it leads through a map, whose keys are data.
        """
        try:
            self._interpreter.decode(body)
        except SerializationError as error:
            return error.where if "{" not in error.where else error.field
        return ""


class _Resolution:
    """Compiler of the resolution of two schemas to nodes; one node per pair of named types."""

    def __init__(self, writer: avro.AvroSchema) -> None:
        self._writer = writer
        self._named: dict[tuple[str, int], CompiledNode] = {}
        self._nodes: list[CompiledNode] = []
        self._pending: list[tuple[CompiledNode, Sequence[_Pair], list[CompiledNode]]] = []
        self.reasons: dict[CompiledNode, str] = {}  #: of nodes at which no record can be read

    def compile(self, reader: ValueReader) -> CompiledNode:
        """Return the root node."""
        root = self._node(self._writer.root, reader)
        while self._pending:
            node, pairs, last = self._pending.pop()
            node.children += [*(self._node(*pair) for pair in pairs), *last]
        mark_empty(self._nodes)
        return root

    def _node(self, writer_type: avro.AvroType, value_reader: ValueReader | None) -> CompiledNode:
        writer = self._writer.resolve(writer_type)
        reader = None if isinstance(value_reader, Codec) else value_reader
        key = (writer.name, 0 if reader is None else id(reader)) if isinstance(writer, avro.NamedType) else None
        if key is not None and key in self._named:
            return self._named[key]
        if isinstance(reader, UnreadableReader):
            return self._failing_node(writer, reader.reason)
        if isinstance(reader, ConvertedReader) and not _is_surely_readable(writer, reader):
            return self._failing_node(writer)
        if isinstance(reader, SymbolReader) and isinstance(writer, avro.Enum):
            return self._enum_node(writer, reader)
        node = make_node(writer)
        node.logical = None  # whether a record conforms is known already
        self._nodes.append(node)
        if key is not None:
            self._named[key] = node
        last: list[CompiledNode] = []
        if isinstance(writer, avro.Map):
            node.children.append(CompiledNode(AvroKind.STRING, writer.at))
        if isinstance(reader, RecordReader):
            node.extra_items = reader.extra_items + (reader.cost if reader.empty else 0)
            missing = _find_missing_default(reader)
            if missing is not None:
                node.names += missing[:1]
                last.append(self._failing_node(writer, missing[1]))
        self._pending.append((node, list(_list_children(writer, reader)), last))
        return node

    def _failing_node(self, writer: avro.AvroType, reason: str | None = None) -> CompiledNode:
        """Return a node at which every record fails: a union without branches.

        Without a reason, the value decides whether the record can be read.
        """
        node = CompiledNode(AvroKind.UNION, writer.at)
        self._nodes.append(node)
        if reason is not None:
            self.reasons[node] = reason
        return node

    def _enum_node(self, writer: avro.Enum, reader: SymbolReader) -> CompiledNode:
        """Return a node with a branch for each symbol: their indexes are encoded alike."""
        key = (writer.name, id(reader.reader_enum))
        if key in self._named:
            return self._named[key]
        node = self._named[key] = CompiledNode(AvroKind.UNION, writer.at)
        self._nodes.append(node)
        for symbol in writer.symbols:
            try:
                reader.resolve(symbol)
            except CodecFailure as failure:
                node.children.append(self._failing_node(writer, failure.reason))
            else:
                self._nodes.append(readable := CompiledNode(AvroKind.NULL, writer.at))
                node.children.append(readable)
        return node


def _list_children(writer: avro.AvroType, reader: ValueReader | None) -> Iterator[_Pair]:
    """Yield the fields, branches, items or values of a writer's type with their readers."""
    match writer:
        case avro.Record():
            readers = [step[2] for step in reader.steps] if isinstance(reader, RecordReader) else None
            for index, field in enumerate(writer.fields):
                yield field.type, None if readers is None else readers[index]
        case avro.Union():
            branches = reader.branches if isinstance(reader, WriterUnionReader) else None
            for index, branch in enumerate(writer.branches):
                yield branch, None if branches is None else branches[index]
        case avro.Array():
            yield writer.items, reader.items if isinstance(reader, ArrayReader) else None
        case avro.Map():
            yield writer.values, reader.values if isinstance(reader, MapReader) else None


def _find_missing_default(reader: RecordReader) -> tuple[str, str] | None:
    """Return the first field that the writer lacks and that has no usable default, with the reason."""
    for name, default in reader.missing:
        try:
            default()
        except CodecFailure as failure:
            return name, failure.reason
    return None


def _is_surely_readable(writer: avro.AvroType, reader: ConvertedReader) -> bool:
    """Return whether every value that conforms to the writer's schema can be converted."""
    value_reader: ValueReader = reader
    while isinstance(value_reader, ConvertedReader):
        codec = getattr(value_reader.convert, "__self__", None)
        if not isinstance(codec, LogicalCodec):  # a promotion, of which only that to a string can fail
            if isinstance(writer, avro.Primitive) and writer.type == "bytes":
                return False
        elif not isinstance(codec, _ANY_VALUE) and not _has_same_rule(writer, codec):
            return False
        value_reader = value_reader.raw
    return True


def _has_same_rule(writer: avro.AvroType, codec: LogicalCodec) -> bool:
    """Return whether the writer's own logical type has the rule of the reader's."""
    match wrap_logical_type(writer, codec.raw), codec:
        case UuidCodec(), UuidCodec():
            return True
        case TimeCodec() as own, TimeCodec():
            return own.per_second == codec.per_second
        case DecimalCodec() as own, DecimalCodec():
            return own.precision <= min(codec.precision, MAX_DIGITS)
    return False
