"""Avro compatibility checks: one function for each kind of reader and writer pair.

The rules are those of the reference implementation: names compare without namespace, or by an alias of the reader;
numbers widen; strings and bytes read each other; a default fills in for a missing field; logical types are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from contractlog.compatibility.avro import wording
from contractlog.compatibility.avro.nodes import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Record,
    Schema,
    Union,
    short_name,
)
from contractlog.compatibility.avro.shapes import Shaping
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.steps import Steps
from contractlog.compatibility.walk import STEP_LIMIT, Because, Into, Walk

__all__ = ["READS", "compare"]

READS: Final[Mapping[str, tuple[str, ...]]] = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "string": ("bytes",),
    "bytes": ("string",),
}  #: primitive -> the other primitives that it reads

Found = Iterator[Finding | Into[Node] | Because[Node]]


def compare(
    reader: Schema, writer: Schema, steps: Steps | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield every reason why the reader cannot read the writer; comparisons may share ``steps``."""
    comparison = _Comparison(reader, writer)
    walk = Walk[Node](comparison.checks, comparison.same, limit, shared=steps)
    return walk.findings(reader.resolve(reader.root), writer.resolve(writer.root))


class _Comparison:
    """The two schemas of a comparison, whose type tables resolve names during the walk."""

    def __init__(self, reader: Schema, writer: Schema) -> None:
        self.reader = reader
        self.writer = writer
        memo = Memo()
        self.shapes = Shaping(reader, memo), Shaping(writer, memo)
        self.indexes: dict[Union, dict[tuple[str, str], list[Node]]] = {}

    def same(self, reader: Node, writer: Node) -> bool:
        """Return True if both types have the same shape, and it is known to read itself."""
        if reader.kind != writer.kind:
            return False
        mine, theirs = self.shapes
        shape = mine.shape(reader)
        return shape is not None and shape.reads_itself and shape is theirs.shape(writer)

    def into(self, reader: Node, writer: Node, *tokens: str | int) -> Into[Node]:
        return Into(self.reader.resolve(reader), self.writer.resolve(writer), tokens)

    def checks(self, walk: Walk[Node], reader: Node, writer: Node) -> Found:  # noqa: PLR0911 - one for each kind of pair
        """Select the check for a pair of types."""
        match reader, writer:
            case _, Union():
                return self.branches(reader, writer)
            case Union(), _:
                return self.branch(walk, reader, writer)
            case Record(), Record():
                return self.record(walk, reader, writer)
            case Enum(), Enum():
                return self.enum(walk, reader, writer)
            case Fixed(), Fixed():
                return self.fixed(walk, reader, writer)
            case Array(), Array():
                return iter((self.into(reader.items, writer.items, "items"),))
            case Map(), Map():
                return iter((self.into(reader.values, writer.values, "values"),))
            case _:
                return kinds(walk, reader, writer)

    def branches(self, reader: Node, writer: Union) -> Found:
        """Require every branch of the writer to be readable; paths name a branch by its index."""
        for index, branch in enumerate(writer.branches):
            yield self.into(reader, branch, index)

    def branch(self, walk: Walk[Node], reader: Union, writer: Node) -> Found:
        """Require one branch of the reader to read the writer's type."""
        if walk.reads_one(lambda: self.candidates(reader, writer), writer):
            return
        finding = wording.union_branch_missing(walk.path(), reader, writer)
        meant = next((branch for branch in self.candidates(reader, writer) if branch.kind == writer.kind), None)
        yield finding if meant is None else Because(finding, self.into(meant, writer))

    def candidates(self, reader: Union, writer: Node) -> Iterator[Node]:
        """Return the reader branches that may match, through an index instead of a scan per writer."""
        index = self.indexes.get(reader)
        if index is None:
            index = self.indexes[reader] = {}
            for branch in map(self.reader.resolve, reader.branches):
                for key in _keys(branch):
                    index.setdefault(key, []).append(branch)
        if isinstance(writer, Named):
            by_name, by_alias = ("name", short_name(writer.name)), ("alias", writer.name)
            likely = chain(index.get(by_name, ()), index.get(by_alias, ()))
        else:
            likely = chain(index.get(("", ""), ()))
        return filter(lambda branch: _may_read(branch, writer), likely)

    def record(self, walk: Walk[Node], reader: Record, writer: Record) -> Found:
        """Require a matching name, and for each reader field one matching writer field or a default."""
        yield from names(walk, reader, writer)
        written = {field.name: field for field in writer.fields}
        for index, field in enumerate(reader.fields):
            matches = [written[name] for name in dict.fromkeys((field.name, *field.aliases)) if name in written]
            if len(matches) > 1:
                yield wording.field_ambiguous(walk.path("fields", index), field, writer, matches)
            elif matches:
                yield self.into(field.type, matches[0].type, "fields", index, "type")
            elif not field.has_default:
                yield self.unfilled(walk, index, field, writer)

    def unfilled(self, walk: Walk[Node], index: int, field: Field, writer: Record) -> Finding:
        """Return the finding for a missing field without a default.

        If the field's type is an enum with its own default, the reference implementation's message is about the type
        instead.
        """
        node = self.reader.resolve(field.type)
        by_type = isinstance(node, Enum) and node.default is not None
        path = walk.path("fields", index, "type") if by_type else walk.path("fields", index)
        return wording.field_default_missing(path, field, node, writer, by_type=by_type)

    def enum(self, walk: Walk[Node], reader: Enum, writer: Enum) -> Found:
        """Require a matching name, and the reader to have every symbol or a default."""
        yield from names(walk, reader, writer)
        unknown = set(writer.symbols).difference(reader.symbols)
        if unknown and reader.default is None:
            yield wording.enum_symbols_missing(walk.path("symbols"), reader, writer, sorted(unknown))

    def fixed(self, walk: Walk[Node], reader: Fixed, writer: Fixed) -> Found:
        """Require a matching name and the same size."""
        yield from names(walk, reader, writer)
        if reader.size != writer.size:
            yield wording.fixed_size_changed(walk.path("size"), reader, writer)


def names(walk: Walk[Node], reader: Named, writer: Named) -> Iterator[Finding]:
    """Require equal names apart from the namespace, or a reader alias with the writer's full name."""
    if not _names_match(reader, writer):
        yield wording.name_changed(walk.path("name"), reader, writer)


def kinds(walk: Walk[Node], reader: Node, writer: Node) -> Iterator[Finding]:
    """Require the same type, or a wider one in the reader."""
    if not _reads_kind(reader, writer):
        wider = [name for name, narrower in READS.items() if writer.kind.lower() in narrower]
        narrower = READS.get(reader.kind.lower(), ())
        yield wording.type_changed(walk.path(), reader, writer, wider, narrower)


def _reads_kind(reader: Node, writer: Node) -> bool:
    return reader.kind == writer.kind or writer.kind.lower() in READS.get(reader.kind.lower(), ())


def _may_read(reader: Node, writer: Node) -> bool:
    return _names_match(reader, writer) if isinstance(reader, Named) else _reads_kind(reader, writer)


def _names_match(reader: Node, writer: Node) -> bool:
    return (
        isinstance(reader, Named)
        and isinstance(writer, Named)
        and reader.kind == writer.kind
        and (short_name(reader.name) == short_name(writer.name) or writer.name in reader.aliases)
    )


def _keys(branch: Node) -> Iterator[tuple[str, str]]:
    """Yield the index keys of a union branch."""
    if not isinstance(branch, Named):
        yield "", ""
        return
    yield "name", short_name(branch.name)
    for alias in branch.aliases:
        yield "alias", alias
