"""Fast check of an Avro reader against many writers, for long histories.

It works on shapes and returns only True or False; ``checks.py`` has the same rules and lists the reasons. A set of
writers is merged: fields of the same name are combined, so whatever a thousand versions have in common is checked once.

Recursion is resolved as in ``pair_walk.py``: open pairs count as readable, and a True that depends on an open pair is
cached only after that pair has turned out to be readable. A False is final, because assumptions can only add readable
pairs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

from contractlog.compatibility.avro.interned_shapes import AvroShape, FieldShape
from contractlog.compatibility.avro.reading_rules import READABLE_PRIMITIVES, reads_name, reads_symbols
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["MergedWritersCheck"]

Writers = frozenset[AvroShape]
Pair = tuple[AvroShape, Writers]

_MAX_DEPTH: Final = 150
_NO_OPEN_PAIR: Final = 1 << 30  #: deeper than any open pair
_READABLE_KINDS: Final = {
    kind.upper(): frozenset((kind.upper(), *(narrower.upper() for narrower in READABLE_PRIMITIVES.get(kind, ()))))
    for kind in ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
}  #: primitive -> the primitives that it reads


class _MergedWriters(NamedTuple):
    """A set of writer records, merged."""

    writers: Writers
    types: dict[str, Writers]  #: types by field name
    in_every_writer: frozenset[str]  #: the fields that every writer has
    kinds: frozenset[str]
    names: frozenset[str]


class MergedWritersCheck:
    """One fast check; the memo carries final verdicts over to the next."""

    def __init__(self, memo: Memo, steps: StepBudget) -> None:
        self._memo = memo
        self._steps = steps
        self._open: dict[Pair, int] = {}
        self._assumed: dict[Pair, int] = {}  #: readable if open pairs are -> outermost of these so far
        self._outermost = _NO_OPEN_PAIR  #: depth of the outermost open pair that the current one depends on

    def reads_all(self, reader: AvroShape, writers: Writers) -> bool:
        """Return True if the reader reads whatever any of the writers wrote.

        Raises:
            StepBudgetExceeded: the check takes too many steps.
            RecursionError: the types are nested too deep.
        """
        return self._reads(reader, writers)

    def _reads(self, reader: AvroShape, writers: Writers) -> bool:
        pair = (reader, writers)
        verdict = self._memo.verdicts.get(pair)
        if verdict is not None:
            return verdict
        if pair in self._open:
            self._outermost = min(self._outermost, self._open[pair])
            return True
        if pair in self._assumed:
            self._outermost = min(self._outermost, next(reversed(self._assumed.values())))
            return True
        depth = len(self._open)
        if depth > _MAX_DEPTH:
            raise RecursionError
        self._steps.take(1 + len(writers))
        self._open[pair] = depth
        before, self._outermost = self._outermost, _NO_OPEN_PAIR
        assumed = len(self._assumed)
        reads = self._check(reader, writers)
        del self._open[pair]
        if reads and self._outermost < depth:
            outermost = min(self._outermost, next(reversed(self._assumed.values()), _NO_OPEN_PAIR))
            self._assumed[pair] = outermost
            self._outermost = min(before, outermost)
            return True
        while len(self._assumed) > assumed:
            inner, _ = self._assumed.popitem()
            if reads:
                self._memo.verdicts.put(inner, reads, 1 + len(inner[1]))
        self._outermost = before
        return self._memo.verdicts.put(pair, reads, 1 + len(writers))

    def _check(self, reader: AvroShape, writers: Writers) -> bool:
        if len(writers) == 1 and reader.reads_itself and reader in writers:
            return True
        if reader.kind == "RECORD":
            return self._record_reads(reader, writers)
        writers = _expand_unions(writers)
        match reader.kind:
            case "UNION":
                reads = all(self._branch_reads(reader, writer) for writer in writers)
            case "ARRAY" | "MAP":
                reads = not writers or self._parts_read(reader, writers)
            case "ENUM":
                reads = all(
                    _names_match(reader, writer)
                    and reads_symbols(reader.symbols, writer.symbols, has_default=reader.has_default)
                    for writer in writers
                )
            case "FIXED":
                reads = all(_names_match(reader, writer) and writer.symbols == reader.symbols for writer in writers)
            case kind:
                reads = _READABLE_KINDS[kind].issuperset([writer.kind for writer in writers])
        return reads

    def _parts_read(self, reader: AvroShape, writers: Writers) -> bool:
        return all(writer.kind == reader.kind for writer in writers) and self._reads(
            reader.parts[0], frozenset([writer.parts[0] for writer in writers])
        )

    def _branch_reads(self, reader: AvroShape, writer: AvroShape) -> bool:
        return any(
            (branch is writer and branch.reads_itself) or self._reads(branch, frozenset((writer,)))
            for branch in self._candidates(reader, writer)
        )

    def _candidates(self, reader: AvroShape, writer: AvroShape) -> list[AvroShape]:
        """Return the reader branches that may match, through an index instead of a scan per writer."""
        index = self._memo.merged.get(reader)
        if index is None:
            self._steps.take(len(reader.parts))
            index = defaultdict(list)
            for branch in reader.parts:
                for key in (branch.short, *branch.aliases) if branch.name else ("",):
                    index[key].append(branch)
            self._memo.merged.put(reader, index, 1 + len(reader.parts))
        if not writer.name:
            return [
                branch
                for branch in index.get("", ())
                if writer.kind in _READABLE_KINDS.get(branch.kind, (branch.kind,))
            ]
        names = dict.fromkeys((writer.short, writer.name))
        likely = dict.fromkeys(branch for name in names for branch in index.get(name, ()))
        self._steps.take(len(likely))
        return [branch for branch in likely if _names_match(branch, writer)]

    def _record_reads(self, reader: AvroShape, writers: Writers) -> bool:
        merged = self._merge_writers(writers)
        if not merged.kinds <= {"RECORD"} or not all(
            name.rpartition(".")[2] == reader.short or name in reader.aliases for name in merged.names
        ):
            return False
        self._steps.take(len(reader.fields))
        return all(self._field_reads(field, merged) for field in reader.fields)

    def _field_reads(self, field: FieldShape, merged: _MergedWriters) -> bool:
        if field.aliases:
            return self._aliased_field_reads(field, merged.writers)
        if field.name not in merged.in_every_writer and not field.has_default:
            return False
        types = merged.types.get(field.name)
        return (
            types is None
            or (len(types) == 1 and field.type in types and field.type.reads_itself)
            or self._reads(field.type, types)
        )

    def _aliased_field_reads(self, field: FieldShape, writers: Writers) -> bool:
        """Check that each writer has the field under exactly one name, or under none if there is a default."""
        names = frozenset((field.name, *field.aliases))
        types = set[AvroShape]()
        self._steps.take(len(writers))
        for writer in writers:
            matches = [member.type for member in writer.fields if member.name in names]
            if len(matches) > 1 or (not matches and not field.has_default):
                return False
            types.update(matches)
        return not types or self._reads(field.type, frozenset(types))

    def _merge_writers(self, writers: Writers) -> _MergedWriters:
        cached = self._memo.merged.get(writers)
        if cached is None and len(writers) == 1:
            (writer,) = writers
            if writer.kind == "RECORD":
                self._steps.take(len(writer.fields))
                types = {member.name: frozenset((member.type,)) for member in writer.fields}
                alone = _MergedWriters(writers, types, writer.names, frozenset(("RECORD",)), frozenset((writer.name,)))
                self._memo.merged.put(writers, alone, 1 + len(types))
                return alone
        if cached is None:
            records = _expand_unions(writers)
            members = frozenset[FieldShape]().union(*[writer.members for writer in records])
            self._steps.take(len(members))
            by_name: dict[str, list[AvroShape]] = defaultdict(list)
            for member in members:
                by_name[member.name].append(member.type)
            cached = _MergedWriters(
                records,
                {name: frozenset(shapes) for name, shapes in by_name.items()},
                frozenset.intersection(*[writer.names for writer in records]) if records else frozenset(),
                frozenset([writer.kind for writer in records]),
                frozenset([writer.name for writer in records]),
            )
            self._memo.merged.put(writers, cached, len(writers) + len(members))
        merged: _MergedWriters = cached
        return merged


def _expand_unions(writers: Writers) -> Writers:
    """Replace unions by their branches, each of which may be written."""
    unions = [writer for writer in writers if writer.kind == "UNION"]
    if not unions:
        return writers
    return writers.difference(unions).union(*[union.parts for union in unions])


def _names_match(reader: AvroShape, writer: AvroShape) -> bool:
    return reader.kind == writer.kind and reads_name(reader.short, reader.aliases, writer.short, writer.name)
