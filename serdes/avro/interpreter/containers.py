"""Codecs of compound types: records, arrays and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer, put_long
from contractlog.serdes.avro.interpreter.codecs import Codec, NullCodec, StringCodec, ValueReader, make_misfit
from contractlog.serdes.avro.interpreter.failure import CodecFailure, MapKey

__all__ = [
    "BRANCH_HINT",
    "ArrayCodec",
    "ArrayReader",
    "FieldCodec",
    "MapCodec",
    "MapReader",
    "RecordCodec",
    "open_level",
]

BRANCH_HINT: Final = "-type"  #: the member by which a dict may name its record type
_KEY_CODEC: Final = StringCodec()
_UNKNOWN_KEY: Final = MapKey("")


def open_level(depth: int) -> int:
    """Return how many more levels may be opened inside a record, array or map.

    Raises:
        Failure: this level is over the limit.
    """
    if depth <= 0:
        raise CodecFailure(Outcome.TOO_DEEP, "records, arrays and maps are nested deeper than the limit")
    return depth - 1


class ArrayReader(ValueReader):
    """Decoder of items in blocks, each preceded by its number of items."""

    def __init__(self) -> None:
        self.items: ValueReader = NullCodec()  # set later, when the codecs are linked

    def read(self, source: ByteCursor, depth: int) -> list[Any]:
        """Return the items."""
        depth = open_level(depth)
        items = self.items
        values: list[Any] = []
        while True:
            count, stop = source.read_block_header(empty=items.cost if items.empty else 0)
            if not count:
                return values
            try:
                for _ in range(count):
                    values.append(items.read(source, depth))  # noqa: PERF401 -- len(values) locates a failure
            except CodecFailure as failure:
                failure.add_step(len(values))
                raise
            source.check_block_end(stop)


class ArrayCodec(ArrayReader, Codec):
    """Codec of a list."""

    names = ("array",)
    expected = "a list"
    items: Codec

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the items in one block."""
        if not self.fits(value):
            raise make_misfit(self, value)
        depth = open_level(depth)
        if value:
            put_long(out, len(value))
        index = 0
        try:
            for index, item in enumerate(value):  # noqa: B007 -- where it failed
                self.items.write(out, item, depth)
        except CodecFailure as failure:
            failure.add_step(index)
            raise
        out.append(0)

    def fits(self, value: Any) -> bool:
        """Return whether the value is a list or another sequence, but not text or bytes."""
        return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


class MapReader(ValueReader):
    """Decoder of entries in blocks, each preceded by its number of entries."""

    def __init__(self) -> None:
        self.values: ValueReader = NullCodec()  # set later, when the codecs are linked

    def read(self, source: ByteCursor, depth: int) -> dict[str, Any]:
        """Return the entries; the last of several entries with the same key wins."""
        depth = open_level(depth)
        entries: dict[str, Any] = {}
        while True:
            count, stop = source.read_block_header(empty=0)
            if not count:
                return entries
            step = _UNKNOWN_KEY
            try:
                for _ in range(count):
                    step = _UNKNOWN_KEY
                    key = _KEY_CODEC.read(source, depth)
                    step = MapKey(key)
                    entries[key] = self.values.read(source, depth)
            except CodecFailure as failure:
                failure.add_step(step)
                raise
            source.check_block_end(stop)


class MapCodec(MapReader, Codec):
    """Codec of a dict with string keys."""

    names = ("map",)
    expected = "a dict with string keys"
    values: Codec

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the entries in one block."""
        if not isinstance(value, Mapping):
            raise make_misfit(self, value)
        depth = open_level(depth)
        if value:
            put_long(out, len(value))
        for key, entry in value.items():
            try:
                _KEY_CODEC.write(out, key, depth)
                self.values.write(out, entry, depth)
            except CodecFailure as failure:
                failure.add_step(MapKey(str(key)))
                raise
        out.append(0)

    def fits(self, value: Any) -> bool:
        """Return whether the value is a mapping with string keys."""
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


@dataclass(slots=True)
class FieldCodec:
    """A field of a record: its codec, and the default of a missing value."""

    name: str
    codec: Codec
    default: Callable[[], Any] | None = None  #: None: a value is required


class RecordCodec(Codec):
    """Codec of a dict with the record's fields; surplus members are ignored, as in other clients."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.expected = f"a dict with the fields of {names[0]}"
        self.fields: Sequence[FieldCodec] = ()  # set later, when the codecs are linked
        self._pairs: tuple[tuple[str, Codec], ...] = ()

    def link(self, fields: Sequence[FieldCodec]) -> None:
        """Set the fields, which may refer back to this record."""
        self.fields = tuple(fields)
        self._pairs = tuple((field.name, field.codec) for field in self.fields)

    def read(self, source: ByteCursor, depth: int) -> dict[str, Any]:
        """Return the fields in the schema's order."""
        depth = open_level(depth)
        record: dict[str, Any] = {}
        name = ""
        try:
            for name, codec in self._pairs:
                record[name] = codec.read(source, depth)
        except CodecFailure as failure:
            failure.add_step(name)
            raise
        return record

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the fields; a missing field is written as its default, or as null if its type allows null."""
        if not isinstance(value, Mapping):
            raise make_misfit(self, value)
        depth = open_level(depth)
        name = ""
        try:
            for field in self.fields:
                name = field.name
                if name in value:
                    field.codec.write(out, value[name], depth)
                elif field.default is not None:
                    field.codec.write(out, field.default(), depth)
                else:
                    raise CodecFailure(Outcome.SCHEMA_VIOLATION, "the field has no value and no default")  # noqa: TRY301
        except CodecFailure as failure:
            failure.add_step(name)
            raise

    def fits(self, value: Any) -> bool:
        """Return whether the value is a mapping with all required fields that names no other record type."""
        return (
            isinstance(value, Mapping)
            and value.get(BRANCH_HINT, self.names[0]) in self.names
            and all(field.default is not None or field.name in value for field in self.fields)
        )

    def count_given_fields(self, value: Mapping[str, Any]) -> int:
        """Return how many of the record's fields a mapping has."""
        return sum(field.name in value for field in self.fields)
