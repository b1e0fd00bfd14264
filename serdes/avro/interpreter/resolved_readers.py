"""Readers of a writer schema's bytes as a reader schema's values; built by ``resolver.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from contractlog.compatibility.avro.types import Enum
from contractlog.compatibility.field_paths import join_path
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor
from contractlog.serdes.avro.interpreter.codecs import Codec, ValueReader
from contractlog.serdes.avro.interpreter.containers import list_branch_readers, open_level
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.errors import ReaderMismatch

__all__ = [
    "ConvertedReader",
    "NamedRecordReader",
    "RecordReader",
    "SchemaMismatch",
    "SymbolReader",
    "UnreadableReader",
    "WriterUnionReader",
    "require_readable",
]


class SchemaMismatch(CodecFailure):
    """The reader schema cannot read what the writer schema wrote here; the bytes are valid."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, reason)


class UnreadableReader(ValueReader):
    """A type that the reader cannot read; it fails when a record contains it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Raise ``SchemaMismatch``."""
        del source, depth
        raise SchemaMismatch(self.reason)


class NamedRecordReader(ValueReader):
    """A record of a union, read as ``(name, record)``; it delegates, as its record may not be linked yet."""

    def __init__(self, name: str, record: ValueReader) -> None:
        self.name = name
        self.record = record

    def read(self, source: ByteCursor, depth: int) -> tuple[str, Any]:
        """Return the record's name and the record."""
        return self.name, self.record.read(source, depth)

    @property
    def empty(self) -> bool:  # type: ignore[override]
        """True if the record may take no bytes at all."""
        return self.record.empty

    @property
    def cost(self) -> int:  # type: ignore[override]
        """The record's cost if it takes no bytes."""
        return self.record.cost

    @property
    def weight(self) -> int:  # type: ignore[override]
        """The record's cost without defaults if it takes no bytes."""
        return self.record.weight

    @property
    def surplus(self) -> int:  # type: ignore[override]
        """The record's surplus if it takes no bytes."""
        return self.record.surplus


class ConvertedReader(ValueReader):
    """A value converted from a raw one, by a promotion or the reader's logical type."""

    def __init__(self, raw: ValueReader, convert: Callable[[Any], Any]) -> None:
        self.raw = raw
        self.convert = convert
        self.empty = raw.empty

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the converted value."""
        return self.convert(self.raw.read(source, depth))


class WriterUnionReader(ValueReader):
    """The value of a writer's union; each branch has its own reader."""

    def __init__(self, branches: Sequence[ValueReader]) -> None:
        self.branches = branches
        self._readers = list_branch_readers(branches)

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the value of the branch that the bytes select."""
        index = source.read_int()
        if not 0 <= index < len(self.branches):
            raise CodecFailure(Outcome.BAD_UNION_INDEX, f"branch {index} of a union that has {len(self.branches)}")
        return self._readers[index].read(source, depth)


class SymbolReader(ValueReader):
    """A symbol as the reader's enum has it."""

    def __init__(self, writer_codec: Codec, reader_enum: Enum) -> None:
        self.writer_codec = writer_codec
        self.reader_enum = reader_enum

    def read(self, source: ByteCursor, depth: int) -> str:
        """Return the symbol, or the default of the reader's enum."""
        return self.resolve(self.writer_codec.read(source, depth))

    def resolve(self, symbol: str) -> str:
        """Return a writer's symbol as the reader's enum has it, or raise ``SchemaMismatch``."""
        if symbol in self.reader_enum.symbols:
            return symbol
        if self.reader_enum.default is None:
            enum_name = self.reader_enum.name
            raise SchemaMismatch(f"the reader's enum {enum_name} has neither the symbol {symbol} nor a default")
        return self.reader_enum.default


class RecordReader(ValueReader):
    """Fields in the writer's order, those of the reader under its names, and the reader's defaults."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.steps: list[tuple[str, str | None, ValueReader]] = []  # writer's name, reader's name, its reader
        self.missing: list[tuple[str, Callable[[], Any]]] = []

    def link(
        self,
        names: list[str],
        steps: list[tuple[str, str | None, ValueReader]],
        missing: list[tuple[str, Callable[[], Any]]],
    ) -> None:
        """Set the fields, which may refer back to this record."""
        self.names, self.steps, self.missing = names, steps, missing

    def read(self, source: ByteCursor, depth: int) -> dict[str, Any]:
        """Return the fields in the reader's order."""
        depth = open_level(depth)
        if self.extra_items:
            source.spend(self.extra_items)
        read: dict[str, Any] = {}
        name = ""
        try:
            for name, target, reader in self.steps:  # noqa: B007 -- where it failed
                value = reader.read(source, depth)
                if target is not None:
                    read[target] = value
            for name, default in self.missing:
                read[name] = default()
        except CodecFailure as failure:
            failure.add_step(name)
            raise
        return {name: read[name] for name in self.names}


def require_readable(reader: ValueReader) -> None:
    """Check that some record may be readable.

    Unions, arrays and maps are not searched, as a record may not use the unreadable part.

    Raises:
        ReaderMismatch: no record is readable.
    """
    waiting: list[tuple[str, ValueReader]] = [("", reader)]
    visited: set[int] = set()
    while waiting:
        path, node = waiting.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, UnreadableReader):
            raise ReaderMismatch(reason=node.reason, field=path)
        if isinstance(node, NamedRecordReader):
            waiting.append((path, node.record))
        if isinstance(node, RecordReader):
            _check_defaults(path, node)
            waiting += [(join_path(path, name), inner) for name, _, inner in reversed(node.steps)]


def _check_defaults(path: str, record: RecordReader) -> None:
    for name, default in record.missing:
        try:
            default()
        except CodecFailure as failure:
            raise ReaderMismatch(reason=failure.reason, field=join_path(path, name)) from None
