"""Schema resolution: readers of what a writer schema wrote as a reader schema wants it, as in Java.

Fields are matched by name, else by the reader's aliases; missing ones take the reader's default; numbers and strings
are promoted; a symbol that the reader lacks becomes its enum's default. Records are matched by structure, whatever
their names; enums and fixeds by name. What cannot be resolved fails when a record contains it, not before.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.reading_rules import READABLE_PRIMITIVES, reads_definition
from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    Union,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder
from contractlog.serdes.avro.interpreter.codecs import LENIENT_HINT, RECORD_COST, Codec, ValueReader
from contractlog.serdes.avro.interpreter.containers import ArrayReader, MapReader
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.defaults import (
    INVALID_DEFAULT,
    count_default_items,
    default_cost,
    make_copier,
    make_default,
)
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.resolved_readers import (
    ConvertedReader,
    NamedRecordReader,
    RecordReader,
    SchemaMismatch,
    SymbolReader,
    UnreadableReader,
    WriterUnionReader,
)

__all__ = ["Resolver"]

_FLOAT: Final = struct.Struct("<f")


class Resolver:
    """Builder of the readers of pairs of nodes; one per pair of records, so that types may be recursive."""

    def __init__(self, writer: AvroSchema, reader: AvroSchema, *, named_records: bool = False) -> None:
        self._writer = writer
        self._reader = reader
        self._named_records = named_records
        self._writer_codecs = CodecBuilder(writer, logical=False)
        self._reader_codecs = CodecBuilder(reader, named_records=named_records)
        self._records: dict[tuple[str, str], RecordReader] = {}
        self._matching_records: dict[tuple[str, str], bool] = {}

    def reader(self) -> ValueReader:
        """Return the reader of a whole record."""
        return self._resolve_pair(self._writer.root, self._reader.root)

    def _resolve_pair(self, writer_type: AvroType, reader_type: AvroType) -> ValueReader:
        writer, reader = self._writer.resolve(writer_type), self._reader.resolve(reader_type)
        if isinstance(writer, Union):
            return WriterUnionReader([self._resolve_pair(branch, reader) for branch in writer.branches])
        if isinstance(reader, Union):
            return self._resolve_reader_union(writer, reader)
        return self._resolve_plain_pair(writer, reader)

    def _resolve_plain_pair(self, writer: AvroType, reader: AvroType) -> ValueReader:  # noqa: PLR0911 -- one line per type
        match writer, reader:
            case Primitive(), Primitive():
                return self._resolve_primitives(writer, reader)
            case Record(), Record():
                return self._resolve_record(writer, reader)
            case Array(), Array():
                array = ArrayReader()
                array.items = self._resolve_pair(writer.items, reader.items)
                return array
            case Map(), Map():
                entries = MapReader()
                entries.values = self._resolve_pair(writer.values, reader.values)
                return entries
            case Enum(), Enum() if reads_definition(reader, writer.name):
                return SymbolReader(self._writer_codecs.codec(writer), reader)
            case Fixed(), Fixed() if writer.size == reader.size and reads_definition(reader, writer.name):
                return self._make_logical_reader(reader, self._writer_codecs.codec(writer))
        return UnreadableReader(f"{_describe_node(writer)} was written, and cannot be read as {_describe_node(reader)}")

    def _resolve_primitives(self, writer: Primitive, reader: Primitive) -> ValueReader:
        raw = self._writer_codecs.codec(writer)
        if writer.type == reader.type:
            return self._make_logical_reader(reader, raw)
        promoted = _PROMOTIONS.get((writer.type, reader.type))
        if promoted is None:
            return UnreadableReader(
                f"{_describe_node(writer)} was written, and cannot be read as {_describe_node(reader)}"
            )
        return self._make_logical_reader(reader, raw, promoted)

    def _make_logical_reader(
        self, reader_type: AvroType, raw: Codec, convert: Callable[[Any], Any] | None = None
    ) -> ValueReader:
        """Return a reader of raw values as the reader's logical type, whatever the writer's was."""
        reader: ValueReader = raw if convert is None else ConvertedReader(raw, convert)
        logical = self._reader_codecs.add_logical_type(reader_type, raw)
        return ConvertedReader(reader, logical.to_logical) if isinstance(logical, LogicalCodec) else reader

    def _resolve_reader_union(self, writer: AvroType, reader: Union) -> ValueReader:
        branch = self._find_branch(writer, reader)
        if branch is None:
            return UnreadableReader(
                f"{_describe_node(writer)} was written, and no branch of the reader's union takes it"
            )
        chosen = self._resolve_plain_pair(writer, branch)
        return NamedRecordReader(branch.name, chosen) if self._named_records and isinstance(branch, Record) else chosen

    def _find_branch(self, writer: AvroType, reader: Union) -> AvroType | None:
        """Return the branch to read with, if any: one of the same type, else one to promote to.

        Records are matched by name, then by structure.
        """
        branches = [self._reader.resolve(branch) for branch in reader.branches]
        same = [branch for branch in branches if branch.kind == writer.kind]
        if isinstance(writer, NamedType):
            named = [
                branch for branch in same if isinstance(branch, NamedType) and reads_definition(branch, writer.name)
            ]
            exact = [branch for branch in named if branch.name == writer.name or writer.name in branch.aliases]
            structural = [branch for branch in same if isinstance(branch, Record)]
            if isinstance(writer, Record) and not exact:
                following: list[NamedType] = [
                    branch for branch in structural if self._matches_structure(writer, branch)
                ]
                named = [branch for branch in named if branch in following] or following or named
            return next(iter(exact or named or structural), None)
        if same:
            return same[0]
        return next((branch for branch in branches if _is_promotion(writer, branch)), None)

    def _matches_structure(self, writer: Record, reader: Record) -> bool:
        """Return whether a record can be read as another by structure.

        Inside its fields only types, names and the presence of fields are compared.
        """
        key = (writer.name, reader.name)
        if key not in self._matching_records:
            self._matching_records[key] = True  # assumed while the pair is open, as in Java
            self._matching_records[key] = all(
                field.has_default if writer_field is None else self._has_similar_type(writer_field.type, field.type)
                for field, writer_field in ((field, _find_writer_field(writer, field)) for field in reader.fields)
            )
        return self._matching_records[key]

    def _has_similar_type(self, writer_type: AvroType, reader_type: AvroType) -> bool:
        writer, reader = self._writer.resolve(writer_type), self._reader.resolve(reader_type)
        match writer, reader:
            case Union(), _:
                return True
            case _, Union():
                return self._find_branch(writer, reader) is not None
            case Record(), Record():
                return all(
                    field.has_default or _find_writer_field(writer, field) is not None for field in reader.fields
                )
            case Fixed(), Fixed():
                return writer.size == reader.size and reads_definition(reader, writer.name)
            case Enum(), Enum():
                return reads_definition(reader, writer.name)
        return writer.kind == reader.kind or _is_promotion(writer, reader)

    def _resolve_record(self, writer: Record, reader: Record) -> ValueReader:
        key = (writer.name, reader.name)
        existing = self._records.get(key)
        if existing is not None:
            return existing
        record = self._records[key] = RecordReader()
        by_name = {field.name: field for field in reader.fields}
        by_alias = {alias: field for field in reader.fields for alias in field.aliases}
        matched: set[str] = set()
        steps: list[tuple[str, str | None, ValueReader]] = []
        names = {field.name for field in writer.fields}
        for field in writer.fields:
            target = by_name.get(field.name) or by_alias.get(field.name)
            if target is None or target.name in matched or (target.name in names and target.name != field.name):
                steps.append((field.name, None, self._writer_codecs.codec(field.type)))
            else:
                matched.add(target.name)
                steps.append((field.name, target.name, self._resolve_pair(field.type, target.type)))
        absent = [field for field in reader.fields if field.name not in matched]
        record.link(
            [field.name for field in reader.fields],
            steps,
            [(field.name, self._make_reader_default(field)) for field in absent],
        )
        default_items = sum(count_default_items(self._reader, field) for field in absent)
        record.extra_items = default_items
        record.count_empty_fields([step[2] for step in steps])
        if record.empty:
            full_cost = sum(RECORD_COST + default_cost(self._reader, field) for field in absent)
            record.cost = RECORD_COST + full_cost - default_items + sum(step[2].cost for step in steps)
        return record

    def _make_reader_default(self, field: Field) -> Callable[[], Any]:
        """Return a function that makes the default as the reader would have read it, a new value each time."""
        if not field.has_default:
            reason = f"the writer has no field {field.name}, and the reader gives it no default"
            return lambda: _raise(SchemaMismatch(reason))
        make_raw_default = make_default(self._reader, field)
        codec = self._reader_codecs.codec(field.type)
        copy: Callable[[], Any] | None = None

        def default() -> Any:
            nonlocal copy
            if copy is None:
                out = OutputBuffer()
                try:
                    codec.write(out, make_raw_default(), _MAX_DEFAULT_DEPTH)
                    copy = make_copier(codec.read(ByteCursor(bytes(out)), _MAX_DEFAULT_DEPTH))
                except CodecFailure as failure:
                    detail = "" if failure.outcome is None else f": {failure.reason.removesuffix(LENIENT_HINT)}"
                    raise SchemaMismatch(f"{INVALID_DEFAULT}{detail}") from None
            return copy()

        return default


def _find_writer_field(writer: Record, field: Field) -> Field | None:
    """Return the writer's field that a reader's field is read from, if any."""
    names = (field.name, *field.aliases)
    return min(
        (candidate for candidate in writer.fields if candidate.name in names),
        key=lambda candidate: names.index(candidate.name),
        default=None,
    )


def _is_promotion(writer: AvroType, reader: AvroType) -> bool:
    return isinstance(writer, Primitive) and isinstance(reader, Primitive) and (writer.type, reader.type) in _PROMOTIONS


def _describe_node(node: AvroType) -> str:
    return f"{node.kind.lower()} {node.name}" if isinstance(node, NamedType) else node.kind.lower()


def _to_single(number: float) -> float:
    """Round to single precision, as Java's float does."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    return rounded


def _decode_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CodecFailure(Outcome.BAD_UTF8, "bytes that are to be read as a string are no UTF-8") from None


def _raise(failure: CodecFailure) -> Any:
    raise failure


_CONVERSIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "long": int,
    "float": _to_single,
    "double": float,
    "bytes": str.encode,
    "string": _decode_text,
}  #: primitive of the reader -> conversion of what is promoted to it
_PROMOTIONS: Final[Mapping[tuple[str, str], Callable[[Any], Any]]] = {
    (writer, reader): _CONVERSIONS[reader] for reader, writers in READABLE_PRIMITIVES.items() for writer in writers
}
_MAX_DEFAULT_DEPTH: Final = 128
