"""The codecs of values with parts: records, arrays and maps."""

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

BRANCH_HINT: Final = "-type"  #: the member by which a dict may say which record it is
_KEY: Final = StringCodec()
_UNREAD: Final = Key("")


def opened(depth: int) -> int:
    """Return how many more levels may be opened inside a record, array or map."""
    if depth <= 0:
        raise Failure(Outcome.TOO_DEEP, "records, arrays and maps are nested deeper than the limit")
    return depth - 1


class ArrayReader(Reader):
    """Items in blocks, each block after the number of its items."""

    def __init__(self) -> None:
        self.items: Reader = NullCodec()  # set when the schema's nodes are tied together

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
                    values.append(items.read(source, depth))  # noqa: PERF401 -- what was read says where it failed
            except Failure as failure:
                failure.inside(len(values))
                raise
            source.ends_at(stop)


class ArrayCodec(ArrayReader, Codec):
    """A list."""

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
        """Whether it is a list or another sequence, but no text and no bytes."""
        return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


class MapReader(Reader):
    """Entries in blocks, each block after the number of its entries."""

    def __init__(self) -> None:
        self.values: Reader = NullCodec()  # set when the schema's nodes are tied together

    def read(self, source: Source, depth: int) -> dict[str, Any]:
        """Return the entries; of entries with the same key the last one stays."""
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
    """A dict with string keys."""

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
        """Whether it is a mapping with string keys."""
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


@dataclass(slots=True)
class FieldCodec:
    """A field of a record: how it is read and written, and what stands for it when it is missing."""

    name: str
    codec: Codec
    default: Callable[[], Any] | None = None  #: None when a value has to be given


class RecordCodec(Codec):
    """A dict with the record's fields; further members are left out, as other clients do."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.expected = f"a dict with the fields of {names[0]}"
        self.fields: Sequence[FieldCodec] = ()  # set when the schema's nodes are tied together
        self._pairs: tuple[tuple[str, Codec], ...] = ()

    def tie(self, fields: Sequence[FieldCodec]) -> None:
        """Take the fields, which may lead back to this record."""
        self.fields = tuple(fields)
        self._pairs = tuple((field.name, field.codec) for field in self.fields)

    def read(self, source: Source, depth: int) -> dict[str, Any]:
        """Return the fields in their order."""
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
        """Append the fields; a missing one takes its default, or null where its type has that."""
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
        """Whether it is a mapping, not marked as another record, that has every field without a default."""
        return (
            isinstance(value, Mapping)
            and value.get(BRANCH_HINT, self.names[0]) in self.names
            and all(field.default is not None or field.name in value for field in self.fields)
        )

    def shared(self, value: Mapping[str, Any]) -> int:
        """How many of the record's fields a mapping has."""
        return sum(field.name in value for field in self.fields)
