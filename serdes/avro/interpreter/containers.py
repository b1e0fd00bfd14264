"""Codecs of compound types: records, arrays, maps and unions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer, put_long
from contractlog.serdes.avro.interpreter.codecs import Codec, NullCodec, StringCodec, ValueReader, make_misfit
from contractlog.serdes.avro.interpreter.failure import CodecFailure, MapKey, describe_value

__all__ = [
    "BRANCH_HINT",
    "ArrayCodec",
    "ArrayReader",
    "FieldCodec",
    "MapCodec",
    "MapReader",
    "RecordCodec",
    "UnionCodec",
    "list_branch_readers",
    "open_level",
]

BRANCH_HINT: Final = "-type"  #: the member by which a dict may name its record type
_KEY_CODEC: Final = StringCodec()
_UNKNOWN_KEY: Final = MapKey("")


def open_level(depth: int) -> int:
    """Return how many more levels may be opened inside a record, array or map.

    Raises:
        CodecFailure: this level is over the limit.
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
            if self.values.surplus:
                source.spend(count * self.values.surplus)
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
        if self.extra_items:
            source.spend(self.extra_items)
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


class _CountingReader(ValueReader):
    """A branch whose values take no bytes; it counts their fields."""

    def __init__(self, branch: ValueReader) -> None:
        self._branch = branch

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the value of the branch."""
        source.spend(self._branch.surplus)
        return self._branch.read(source, depth)


def list_branch_readers(branches: Sequence[ValueReader]) -> list[ValueReader]:
    """Return the readers of a union's branches.

    A record that is not linked yet contains the union, so its values take bytes.
    """
    return [_CountingReader(branch) if branch.surplus else branch for branch in branches]


class UnionCodec(Codec):
    """A value of one of several types, preceded by the position of its branch.

    A value may name its branch, as ``("com.example.Card", {...})`` or by the member ``-type``; else the first branch
    that fits is used, and of several records the one with most of its fields given.
    """

    def __init__(self, *, named_records: bool = False) -> None:
        self.branches: Sequence[Codec] = ()  # set later, when the codecs are linked
        self._readers: Sequence[ValueReader] = ()
        self.named_records = named_records
        self.non_null_index: int | None = None  # of a union of null and one other type, that type's position

    def link(self, branches: Sequence[Codec]) -> None:
        """Set the branches, which may refer back to this union."""
        self.branches = tuple(branches)
        self._readers = list_branch_readers(branches)
        nulls = [index for index, branch in enumerate(self.branches) if isinstance(branch, NullCodec)]
        if len(self.branches) == 2 and len(nulls) == 1:  # noqa: PLR2004
            self.non_null_index = 1 - nulls[0]
        self.expected = "one of " + ", ".join(branch.names[0] for branch in self.branches)

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the value of the branch that the bytes select."""
        index = source.read_int()
        if not 0 <= index < len(self.branches):
            raise CodecFailure(Outcome.BAD_UNION_INDEX, f"branch {index} of a union that has {len(self.branches)}")
        value = self._readers[index].read(source, depth)
        if not self.named_records:
            return value
        branch = self.branches[index]
        return (branch.names[0], value) if isinstance(branch, RecordCodec) else value

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the branch's position and its value."""
        index, value = self._choose_branch(out, value, depth)
        if index is None:
            self._write_closest(out, value, depth)
            return
        put_long(out, index)
        self.branches[index].write(out, value, depth)

    def fits(self, value: Any) -> bool:
        """Return whether the value fits any branch."""
        return self.find_named_branch(value) is not None or any(branch.fits(value) for branch in self.branches)

    def find_closest_records(self, value: Mapping[str, Any]) -> list[int]:
        """Return the positions of the records that a mapping fits, those with most of its fields first."""
        fitting = [(index, branch) for index, branch in enumerate(self.branches) if branch.fits(value)]
        records = [
            (index, branch.count_given_fields(value)) for index, branch in fitting if isinstance(branch, RecordCodec)
        ]
        if len(records) < len(fitting):
            return []  # a map fits as well
        return [index for index, _ in sorted(records, key=lambda record: -record[1])]

    def _write_closest(self, out: OutputBuffer, value: Mapping[str, Any], depth: int) -> None:
        """Append the value as the record that accepts it and has most of its fields given."""
        start, closest = len(out), self.find_closest_records(value)
        for index in closest:
            put_long(out, index)
            try:
                self.branches[index].write(out, value, depth)
            except CodecFailure as failure:
                self._count_trial(out, value, failure)
                del out[start:]
            else:
                return
        self.branches[min(closest)].write(out, value, depth)  # raises the reason

    def _count_trial(self, out: OutputBuffer, value: Any, failure: CodecFailure) -> None:
        out.trials -= 1
        if failure.outcome is None:
            raise failure
        if out.trials < 0:
            reason = f"too many records fit; name the branch of {describe_value(value)} by {BRANCH_HINT!r}"
            raise CodecFailure(None, reason) from None

    def _choose_branch(self, out: OutputBuffer, value: Any, depth: int) -> tuple[int | None, Any]:
        """Return a branch's position and the value; the position is None if several records are to be tried."""
        named = self.find_named_branch(value)
        if named is not None:
            return named, value[1]
        if self.non_null_index is not None:
            return (self.non_null_index if value is not None else 1 - self.non_null_index), value
        fitting = [index for index, branch in enumerate(self.branches) if branch.fits(value)]
        if not fitting:
            raise make_misfit(self, value)
        if len(fitting) == 1:
            return fitting[0], value
        if all(isinstance(self.branches[index], RecordCodec) for index in fitting):
            return None, value
        return self._find_best_branch(out, fitting, value, depth), value

    def find_named_branch(self, value: Any) -> int | None:
        """Return the position of the branch that a tuple names, if any."""
        if not isinstance(value, tuple) or len(value) != 2:  # noqa: PLR2004
            return None
        return next((index for index, branch in enumerate(self.branches) if value[0] in branch.names), None)

    def _find_best_branch(self, out: OutputBuffer, fitting: list[int], value: Any, depth: int) -> int:
        if not isinstance(value, Mapping):
            return self._prefer_double(fitting)
        best, most_fields = fitting[0], -1
        for index in fitting:
            branch = self.branches[index]
            if not self._can_write(branch, out, value, depth):
                continue
            if not isinstance(branch, RecordCodec):
                return index
            if branch.count_given_fields(value) > most_fields:
                best, most_fields = index, branch.count_given_fields(value)
        return best

    def _prefer_double(self, fitting: list[int]) -> int:
        """Prefer double to float, as Python's floats are doubles."""
        first = fitting[0]
        if self.branches[first].names[0] != "float":
            return first
        return next((index for index in fitting if self.branches[index].names[0] == "double"), first)

    def _can_write(self, branch: Codec, out: OutputBuffer, value: Any, depth: int) -> bool:
        start = len(out)
        try:
            branch.write(out, value, depth)
        except CodecFailure as failure:
            self._count_trial(out, value, failure)
            return False
        else:
            return True
        finally:
            del out[start:]
