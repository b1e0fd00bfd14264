"""Avro compatibility checks: one function for each kind of reader and writer pair.

The rules are those of the reference implementation: names compare without namespace, or by an alias of the reader;
numbers widen; strings and bytes read each other; a default fills in for a missing field; logical types are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from contractlog.compatibility.avro import finding_texts
from contractlog.compatibility.avro.interned_shapes import ShapeBuilder
from contractlog.compatibility.avro.reading_rules import READABLE_PRIMITIVES, reads_definition, reads_symbols
from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Record,
    Union,
    short_name,
)
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.pair_walk import STEP_LIMIT, CausedFinding, SubPair, Walk
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["compare_avro"]

CheckResults = Iterator[Finding | SubPair[AvroType] | CausedFinding[AvroType]]


def compare_avro(
    reader: AvroSchema, writer: AvroSchema, steps: StepBudget | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield every reason why the reader cannot read the writer; comparisons may share ``steps``."""
    comparison = _Comparison(reader, writer)
    walk = Walk[AvroType](comparison.checks, comparison.same, limit, shared=steps)
    return walk.findings(reader.resolve(reader.root), writer.resolve(writer.root))


class _Comparison:
    """The two schemas of a comparison, whose type tables resolve names during the walk."""

    def __init__(self, reader: AvroSchema, writer: AvroSchema) -> None:
        self.reader = reader
        self.writer = writer
        memo = Memo()
        self.shapes = ShapeBuilder(reader, memo), ShapeBuilder(writer, memo)
        self.indexes: dict[Union, dict[tuple[str, str], list[AvroType]]] = {}

    def same(self, reader: AvroType, writer: AvroType) -> bool:
        """Return True if both types have the same shape, and it is known to read itself."""
        if reader.kind != writer.kind:
            return False
        reader_shapes, writer_shapes = self.shapes
        shape = reader_shapes.shape(reader)
        return shape is not None and shape.reads_itself and shape is writer_shapes.shape(writer)

    def sub_pair(self, reader: AvroType, writer: AvroType, *tokens: str | int) -> SubPair[AvroType]:
        return SubPair(self.reader.resolve(reader), self.writer.resolve(writer), tokens)

    def checks(self, walk: Walk[AvroType], reader: AvroType, writer: AvroType) -> CheckResults:  # noqa: PLR0911 - one for each kind of pair
        """Select the check for a pair of types."""
        match reader, writer:
            case _, Union():
                return self.check_writer_branches(reader, writer)
            case Union(), _:
                return self.check_reader_branch(walk, reader, writer)
            case Record(), Record():
                return self.check_record(walk, reader, writer)
            case Enum(), Enum():
                return self.check_enum(walk, reader, writer)
            case Fixed(), Fixed():
                return self.check_fixed(walk, reader, writer)
            case Array(), Array():
                return iter((self.sub_pair(reader.items, writer.items, "items"),))
            case Map(), Map():
                return iter((self.sub_pair(reader.values, writer.values, "values"),))
            case _:
                return check_kinds(walk, reader, writer)

    def check_writer_branches(self, reader: AvroType, writer: Union) -> CheckResults:
        """Require every branch of the writer to be readable; paths name a branch by its index."""
        for index, branch in enumerate(writer.branches):
            yield self.sub_pair(reader, branch, index)

    def check_reader_branch(self, walk: Walk[AvroType], reader: Union, writer: AvroType) -> CheckResults:
        """Require one branch of the reader to read the writer's type."""
        if walk.reads_one(lambda: self.candidate_branches(reader, writer), writer):
            return
        finding = finding_texts.union_branch_missing_finding(walk.path(), reader, writer)
        same_kind = next(
            (branch for branch in self.candidate_branches(reader, writer) if branch.kind == writer.kind), None
        )
        yield finding if same_kind is None else CausedFinding(finding, self.sub_pair(same_kind, writer))

    def candidate_branches(self, reader: Union, writer: AvroType) -> Iterator[AvroType]:
        """Return the reader branches that may match, through an index instead of a scan per writer."""
        index = self.indexes.get(reader)
        if index is None:
            index = self.indexes[reader] = {}
            for branch in map(self.reader.resolve, reader.branches):
                for key in _branch_keys(branch):
                    index.setdefault(key, []).append(branch)
        if isinstance(writer, NamedType):
            by_name, by_alias = ("name", short_name(writer.name)), ("alias", writer.name)
            likely = chain(index.get(by_name, ()), index.get(by_alias, ()))
        else:
            likely = chain(index.get(("", ""), ()))
        return filter(lambda branch: _may_read(branch, writer), likely)

    def check_record(self, walk: Walk[AvroType], reader: Record, writer: Record) -> CheckResults:
        """Require a matching name, and for each reader field one matching writer field or a default."""
        yield from check_names(walk, reader, writer)
        writer_fields = {field.name: field for field in writer.fields}
        for index, field in enumerate(reader.fields):
            matches = [
                writer_fields[name] for name in dict.fromkeys((field.name, *field.aliases)) if name in writer_fields
            ]
            if len(matches) > 1:
                yield finding_texts.field_ambiguous_finding(walk.path("fields", index), field, writer, matches)
            elif matches:
                yield self.sub_pair(field.type, matches[0].type, "fields", index, "type")
            elif not field.has_default:
                yield self.missing_default_finding(walk, index, field, writer)

    def missing_default_finding(self, walk: Walk[AvroType], index: int, field: Field, writer: Record) -> Finding:
        """Return the finding for a missing field without a default.

        If the field's type is an enum with its own default, the reference implementation's message is about the type
        instead.
        """
        node = self.reader.resolve(field.type)
        by_type = isinstance(node, Enum) and node.default is not None
        path = walk.path("fields", index, "type") if by_type else walk.path("fields", index)
        return finding_texts.field_default_missing_finding(path, field, node, writer, by_type=by_type)

    def check_enum(self, walk: Walk[AvroType], reader: Enum, writer: Enum) -> CheckResults:
        """Require a matching name, and the reader to have every symbol or a default."""
        yield from check_names(walk, reader, writer)
        if not reads_symbols(reader.symbols, writer.symbols, has_default=reader.default is not None):
            unknown = set(writer.symbols).difference(reader.symbols)
            yield finding_texts.enum_symbols_missing_finding(walk.path("symbols"), reader, writer, sorted(unknown))

    def check_fixed(self, walk: Walk[AvroType], reader: Fixed, writer: Fixed) -> CheckResults:
        """Require a matching name and the same size."""
        yield from check_names(walk, reader, writer)
        if reader.size != writer.size:
            yield finding_texts.fixed_size_changed_finding(walk.path("size"), reader, writer)


def check_names(walk: Walk[AvroType], reader: NamedType, writer: NamedType) -> Iterator[Finding]:
    """Require equal names apart from the namespace, or a reader alias with the writer's full name."""
    if not _names_match(reader, writer):
        yield finding_texts.name_changed_finding(walk.path("name"), reader, writer)


def check_kinds(walk: Walk[AvroType], reader: AvroType, writer: AvroType) -> Iterator[Finding]:
    """Require the same type, or a wider one in the reader."""
    if not _kind_is_readable(reader, writer):
        wider = [name for name, narrower in READABLE_PRIMITIVES.items() if writer.kind.lower() in narrower]
        narrower = READABLE_PRIMITIVES.get(reader.kind.lower(), ())
        yield finding_texts.type_changed_finding(walk.path(), reader, writer, wider, narrower)


def _kind_is_readable(reader: AvroType, writer: AvroType) -> bool:
    return reader.kind == writer.kind or writer.kind.lower() in READABLE_PRIMITIVES.get(reader.kind.lower(), ())


def _may_read(reader: AvroType, writer: AvroType) -> bool:
    return _names_match(reader, writer) if isinstance(reader, NamedType) else _kind_is_readable(reader, writer)


def _names_match(reader: AvroType, writer: AvroType) -> bool:
    return (
        isinstance(reader, NamedType)
        and isinstance(writer, NamedType)
        and reader.kind == writer.kind
        and reads_definition(reader, writer.name)
    )


def _branch_keys(branch: AvroType) -> Iterator[tuple[str, str]]:
    """Yield the index keys of a union branch."""
    if not isinstance(branch, NamedType):
        yield "", ""
        return
    yield "name", short_name(branch.name)
    for alias in branch.aliases:
        yield "alias", alias
