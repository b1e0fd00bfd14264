"""Schema resolution: readers of what a writer schema wrote as a reader schema wants it, as in Java.

Fields are matched by name, else by the reader's aliases; missing ones take the reader's default; numbers and strings
are promoted; a symbol that the reader lacks becomes its enum's default. Records are matched by structure, whatever
their names; enums and fixeds by name. What cannot be resolved fails when a record contains it, not before.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.nodes import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    Union,
    short_name,
)
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source
from contractlog.serdes.avro.codecs import HINT, RECORD_COST, Codec, Reader
from contractlog.serdes.avro.containers import ArrayReader, MapReader
from contractlog.serdes.avro.defaults import NO_VALUE, default_of, room_of_default
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.interpret import Builder, with_logical_type
from contractlog.serdes.avro.logical import LogicalCodec
from contractlog.serdes.avro.resolved import (
    Converted,
    Mismatch,
    NamedRecord,
    RecordReader,
    SymbolReader,
    Unreadable,
    WriterUnion,
)

__all__ = ["Resolver"]

_FLOAT: Final = struct.Struct("<f")


class Resolver:
    """Builder of the readers of pairs of nodes; one per pair of records, so that types may be recursive."""

    def __init__(self, writer: Schema, reader: Schema, *, named_records: bool = False) -> None:
        self._writer = writer
        self._reader = reader
        self._named_records = named_records
        self._written = Builder(writer, logical=False)
        self._wanted = Builder(reader, named_records=named_records)
        self._records: dict[tuple[str, str], RecordReader] = {}
        self._followed: dict[tuple[str, str], bool] = {}

    def reader(self) -> Reader:
        """Return the reader of a whole record."""
        return self._pair(self._writer.root, self._reader.root)

    def _pair(self, written: Node, wanted: Node) -> Reader:
        writer, reader = self._writer.resolve(written), self._reader.resolve(wanted)
        if isinstance(writer, Union):
            return WriterUnion([self._pair(branch, reader) for branch in writer.branches])
        if isinstance(reader, Union):
            return self._reader_union(writer, reader)
        return self._plain_pair(writer, reader)

    def _plain_pair(self, writer: Node, reader: Node) -> Reader:  # noqa: PLR0911 -- one line per type
        match writer, reader:
            case Primitive(), Primitive():
                return self._primitives(writer, reader)
            case Record(), Record():
                return self._record(writer, reader)
            case Array(), Array():
                array = ArrayReader()
                array.items = self._pair(writer.items, reader.items)
                return array
            case Map(), Map():
                entries = MapReader()
                entries.values = self._pair(writer.values, reader.values)
                return entries
            case Enum(), Enum() if _same_name(writer, reader):
                return SymbolReader(self._written.codec(writer), reader)
            case Fixed(), Fixed() if writer.size == reader.size and _same_name(writer, reader):
                return _logical(reader, self._written.codec(writer))
        return Unreadable(f"{_called(writer)} was written, and cannot be read as {_called(reader)}")

    def _primitives(self, writer: Primitive, reader: Primitive) -> Reader:
        raw = self._written.codec(writer)
        if writer.type == reader.type:
            return _logical(reader, raw)
        promoted = _PROMOTIONS.get((writer.type, reader.type))
        if promoted is None:
            return Unreadable(f"{_called(writer)} was written, and cannot be read as {_called(reader)}")
        return _logical(reader, raw, promoted)

    def _reader_union(self, writer: Node, reader: Union) -> Reader:
        branch = self._branch(writer, reader)
        if branch is None:
            return Unreadable(f"{_called(writer)} was written, and no branch of the reader's union takes it")
        chosen = self._plain_pair(writer, branch)
        return NamedRecord(branch.name, chosen) if self._named_records and isinstance(branch, Record) else chosen

    def _branch(self, writer: Node, reader: Union) -> Node | None:
        """Return the branch to read with, if any: one of the same type, else one to promote to.

        Records are matched by name, then by structure.
        """
        branches = [self._reader.resolve(branch) for branch in reader.branches]
        same = [branch for branch in branches if branch.kind == writer.kind]
        if isinstance(writer, Named):
            named = [branch for branch in same if isinstance(branch, Named) and _same_name(writer, branch)]
            exact = [branch for branch in named if branch.name == writer.name or writer.name in branch.aliases]
            structural = [branch for branch in same if isinstance(branch, Record)]
            if isinstance(writer, Record) and not exact:
                following: list[Named] = [branch for branch in structural if self._follows(writer, branch)]
                named = [branch for branch in named if branch in following] or following or named
            return next(iter(exact or named or structural), None)
        if same:
            return same[0]
        return next((branch for branch in branches if _promotes(writer, branch)), None)

    def _follows(self, writer: Record, reader: Record) -> bool:
        """Return whether a record can be read as another by structure.

        Inside its fields only types, names and the presence of fields are compared.
        """
        key = (writer.name, reader.name)
        if key not in self._followed:
            self._followed[key] = True  # assumed while the pair is open, as in Java
            self._followed[key] = all(
                field.has_default if written is None else self._resembles(written.type, field.type)
                for field, written in ((field, _written(writer, field)) for field in reader.fields)
            )
        return self._followed[key]

    def _resembles(self, written: Node, wanted: Node) -> bool:
        writer, reader = self._writer.resolve(written), self._reader.resolve(wanted)
        match writer, reader:
            case Union(), _:
                return True
            case _, Union():
                return self._branch(writer, reader) is not None
            case Record(), Record():
                return all(field.has_default or _written(writer, field) is not None for field in reader.fields)
            case Fixed(), Fixed():
                return writer.size == reader.size and _same_name(writer, reader)
            case Enum(), Enum():
                return _same_name(writer, reader)
        return writer.kind == reader.kind or _promotes(writer, reader)

    def _record(self, writer: Record, reader: Record) -> Reader:
        key = (writer.name, reader.name)
        known = self._records.get(key)
        if known is not None:
            return known
        record = self._records[key] = RecordReader()
        by_name = {field.name: field for field in reader.fields}
        by_alias = {alias: field for field in reader.fields for alias in field.aliases}
        found: set[str] = set()
        steps: list[tuple[str, str | None, Reader]] = []
        names = {field.name for field in writer.fields}
        for field in writer.fields:
            target = by_name.get(field.name) or by_alias.get(field.name)
            if target is None or target.name in found or (target.name in names and target.name != field.name):
                steps.append((field.name, None, self._written.codec(field.type)))
            else:
                found.add(target.name)
                steps.append((field.name, target.name, self._pair(field.type, target.type)))
        absent = [field for field in reader.fields if field.name not in found]
        record.tie(
            [field.name for field in reader.fields], steps, [(field.name, self._default(field)) for field in absent]
        )
        record.empty = all(step[2].empty for step in steps)
        if record.empty:
            made = sum(RECORD_COST + room_of_default(self._reader, field) for field in absent)
            record.cost = RECORD_COST + made + sum(step[2].cost for step in steps)
        return record

    def _default(self, field: Field) -> Callable[[], Any]:
        """Return a function that makes the default as the reader would have read it, a new value each time."""
        if not field.has_default:
            reason = f"the writer has no field {field.name}, and the reader gives it no default"
            return lambda: _raise(Mismatch(reason))
        made = default_of(self._reader, field)
        codec = self._wanted.codec(field.type)

        def default() -> Any:
            out = Output()
            try:
                codec.write(out, made(), _DEPTH_OF_DEFAULTS)
                return codec.read(Source(bytes(out)), _DEPTH_OF_DEFAULTS)
            except Failure as failure:
                told = "" if failure.outcome is None else f": {failure.reason.removesuffix(HINT)}"
                raise Mismatch(f"{NO_VALUE}{told}") from None

        return default


def _logical(wanted: Node, raw: Codec, convert: Callable[[Any], Any] | None = None) -> Reader:
    """Return a reader of raw values as the reader's logical type, whatever the writer's was."""
    reader: Reader = raw if convert is None else Converted(raw, convert)
    logical = with_logical_type(wanted, raw)
    return Converted(reader, logical.made) if isinstance(logical, LogicalCodec) else reader


def _same_name(writer: Named, reader: Named) -> bool:
    return (
        short_name(writer.name) == short_name(reader.name)
        or writer.name in reader.aliases
        or short_name(writer.name) in map(short_name, reader.aliases)
    )


def _written(writer: Record, field: Field) -> Field | None:
    """Return the writer's field that a reader's field is read from, if any."""
    names = (field.name, *field.aliases)
    return min((one for one in writer.fields if one.name in names), key=lambda one: names.index(one.name), default=None)


def _promotes(writer: Node, reader: Node) -> bool:
    return isinstance(writer, Primitive) and isinstance(reader, Primitive) and (writer.type, reader.type) in _PROMOTIONS


def _called(node: Node) -> str:
    return f"{node.kind.lower()} {node.name}" if isinstance(node, Named) else node.kind.lower()


def _as_float(number: float) -> float:
    """Round to single precision, as Java's float does."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    return rounded


def _as_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failure(Outcome.BAD_UTF8, "bytes that are to be read as a string are no UTF-8") from None


def _raise(failure: Failure) -> Any:
    raise failure


_PROMOTIONS: Final[Mapping[tuple[str, str], Callable[[Any], Any]]] = {
    ("int", "long"): int,
    ("int", "float"): _as_float,
    ("int", "double"): float,
    ("long", "float"): _as_float,
    ("long", "double"): float,
    ("float", "double"): float,
    ("string", "bytes"): str.encode,
    ("bytes", "string"): _as_text,
}
_DEPTH_OF_DEFAULTS: Final = 128
