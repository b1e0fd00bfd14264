"""Codecs of compound types: records, arrays and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source, put_long
from contractlog.serdes.avro.codecs import Codec, NullCodec, Reader, StringCodec, misfit
from contractlog.serdes.avro.failure import Failure, Key

__all__ = [
    "BRANCH_HINT",
    "ArrayCodec",
    "ArrayReader",
    "FieldCodec",
    "MapCodec",
    "MapReader",
    "RecordCodec",
    "opened",
]

BRANCH_HINT: Final = "-type"  #: the member by which a dict may name its record type
_KEY: Final = StringCodec()
_UNREAD: Final = Key("")


def opened(depth: int) -> int:
    """Return how many more levels may be opened inside a record, array or map.

    Raises:
        Failure: this level is over the limit.
    """
    if depth <= 0:
        raise Failure(Outcome.TOO_DEEP, "records, arrays and maps are nested deeper than the limit")
    return depth - 1


class ArrayReader(Reader):
    """Decoder of items in blocks, each preceded by its number of items."""

    def __init__(self) -> None:
        self.items: Reader = NullCodec()  # set later, when the codecs are linked

    def read(self, source: Source, depth: int) -> list[Any]:
        """Return the items."""
        depth = opened(depth)
        items = self.items
        values: list[Any] = []
        while True:
            count, stop = source.block(empty=items.cost if items.empty else 0)
            if not count:
                return values
            try:
                for _ in range(count):
                    values.append(items.read(source, depth))  # noqa: PERF401 -- len(values) locates a failure
            except Failure as failure:
                failure.inside(len(values))
                raise
            source.ends_at(stop)


class ArrayCodec(ArrayReader, Codec):
    """Codec of a list."""

    names = ("array",)
    expected = "a list"
    items: Codec

    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the items in one block."""
        if not self.fits(value):
            raise misfit(self, value)
        depth = opened(depth)
        if value:
            put_long(out, len(value))
        index = 0
        try:
            for index, item in enumerate(value):  # noqa: B007 -- where it failed
                self.items.write(out, item, depth)
        except Failure as failure:
            failure.inside(index)
            raise
        out.append(0)

    def fits(self, value: Any) -> bool:
        """Return whether the value is a list or another sequence, but not text or bytes."""
        return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


class MapReader(Reader):
    """Decoder of entries in blocks, each preceded by its number of entries."""

    def __init__(self) -> None:
        self.values: Reader = NullCodec()  # set later, when the codecs are linked

    def read(self, source: Source, depth: int) -> dict[str, Any]:
        """Return the entries; the last of several entries with the same key wins."""
        depth = opened(depth)
        entries: dict[str, Any] = {}
        while True:
            count, stop = source.block(empty=0)
            if not count:
                return entries
            step = _UNREAD
            try:
                for _ in range(count):
                    step = _UNREAD
                    key = _KEY.read(source, depth)
                    step = Key(key)
                    entries[key] = self.values.read(source, depth)
            except Failure as failure:
                failure.inside(step)
                raise
            source.ends_at(stop)


class MapCodec(MapReader, Codec):
    """Codec of a dict with string keys."""

    names = ("map",)
    expected = "a dict with string keys"
    values: Codec

    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the entries in one block."""
        if not isinstance(value, Mapping):
            raise misfit(self, value)
        depth = opened(depth)
        if value:
            put_long(out, len(value))
        for key, entry in value.items():
            try:
                _KEY.write(out, key, depth)
                self.values.write(out, entry, depth)
            except Failure as failure:
                failure.inside(Key(str(key)))
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

    def tie(self, fields: Sequence[FieldCodec]) -> None:
        """Set the fields, which may refer back to this record."""
        self.fields = tuple(fields)
        self._pairs = tuple((field.name, field.codec) for field in self.fields)

    def read(self, source: Source, depth: int) -> dict[str, Any]:
        """Return the fields in the schema's order."""
        depth = opened(depth)
        record: dict[str, Any] = {}
        name = ""
        try:
            for name, codec in self._pairs:
                record[name] = codec.read(source, depth)
        except Failure as failure:
            failure.inside(name)
            raise
        return record

    def write(self, out: Output, value: Any, depth: int) -> None:
        """Append the fields; a missing field is written as its default, or as null if its type allows null."""
        if not isinstance(value, Mapping):
            raise misfit(self, value)
        depth = opened(depth)
        name = ""
        try:
            for field in self.fields:
                name = field.name
                if name in value:
                    field.codec.write(out, value[name], depth)
                elif field.default is not None:
                    field.codec.write(out, field.default(), depth)
                else:
                    raise Failure(Outcome.SCHEMA_VIOLATION, "the field has no value and no default")  # noqa: TRY301
        except Failure as failure:
            failure.inside(name)
            raise

    def fits(self, value: Any) -> bool:
        """Return whether the value is a mapping with all required fields that names no other record type."""
        return (
            isinstance(value, Mapping)
            and value.get(BRANCH_HINT, self.names[0]) in self.names
            and all(field.default is not None or field.name in value for field in self.fields)
        )

    def shared(self, value: Mapping[str, Any]) -> int:
        """Return how many of the record's fields a mapping has."""
        return sum(field.name in value for field in self.fields)
