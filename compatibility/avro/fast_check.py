"""Fast check of one pair of Avro schemas, directly on their trees and with only a list of pairs.

The rules are those of ``checks.py``. Of a reader union only the likeliest branch is followed, and the first failing
pair ends the check, so False is inconclusive and ``checks.py`` decides. True is proven: every visited pair holds if its
sub-pairs hold, and those were visited, too. So recursive types need no repeated passes here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contractlog.compatibility.avro.reading_rules import READABLE_PRIMITIVES, reads_definition, reads_symbols
from contractlog.compatibility.avro.types import (
    MISSING,
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
)

__all__ = ["is_readable"]

_STEP_LIMIT: Final = 50_000  #: steps; a larger pair is left to the checks with shared budgets

Types = Mapping[str, NamedType]
Pairs = list[tuple[AvroType, AvroType]]  #: pairs of a reader type and a writer type to visit


def is_readable(reader: AvroSchema, writer: AvroSchema, *, limit: int = _STEP_LIMIT) -> bool:
    """Return True if one visit of each pair of types proves that the reader reads the writer."""
    pair_check = _PairCheck(reader.types, writer.types, limit, [(reader.root, writer.root)])
    while pair_check.pending:
        if not pair_check.check_pair(*pair_check.pending.pop()) or pair_check.steps_left < 0:
            return False
    return True


@dataclass(slots=True)
class _PairCheck:
    """State of one check: visited and pending pairs."""

    reader_types: Types
    writer_types: Types
    steps_left: int
    pending: Pairs
    visited: set[tuple[str, str]] = field(default_factory=set)

    def check_pair(self, reader: AvroType, writer: AvroType) -> bool:
        """Check a pair, provided that its sub-pairs hold; these are added to the pending ones."""
        self.steps_left -= 1
        if isinstance(writer, Union):
            self.pending.extend([(reader, branch) for branch in _branches_to_check(reader, writer)])
            return True
        if isinstance(reader, Union):
            self.steps_left -= len(reader.branches)
            branch = _likeliest_branch(reader.branches, writer, self.reader_types)
            return branch is not None and self.check_pair(branch, writer)
        if not isinstance(reader, (TypeName, NamedType)):
            return _check_unnamed(reader, writer, self.pending)
        return isinstance(writer, (TypeName, NamedType)) and self.check_named(reader.name, writer.name)

    def check_named(self, reader_name: str, writer_name: str) -> bool:
        """Check two definitions; each pair of names is visited once."""
        if (reader_name, writer_name) in self.visited:
            return True
        self.visited.add((reader_name, writer_name))
        reader, writer = self.reader_types[reader_name], self.writer_types[writer_name]
        self.steps_left -= _count_steps(reader) + _count_steps(writer)
        return _check_named(reader, writer, self.pending)


def _branches_to_check(reader: AvroType, writer: Union) -> Sequence[AvroType]:
    """Return the writer's branches, except primitives that the reader's union has as well."""
    if not isinstance(reader, Union):
        return writer.branches
    reader_primitives = {branch.type for branch in reader.branches if isinstance(branch, Primitive)}
    return [
        branch for branch in writer.branches if not (isinstance(branch, Primitive) and branch.type in reader_primitives)
    ]


def _check_unnamed(reader: AvroType, writer: AvroType, pending: Pairs) -> bool:
    if isinstance(reader, Primitive):
        return isinstance(writer, Primitive) and _reads_primitive(reader.type, writer.type)
    if isinstance(reader, Array) and isinstance(writer, Array):
        pending.append((reader.items, writer.items))
        return True
    if isinstance(reader, Map) and isinstance(writer, Map):
        pending.append((reader.values, writer.values))
        return True
    return False


def _reads_primitive(reader_type: str, writer_type: str) -> bool:
    return reader_type == writer_type or writer_type in READABLE_PRIMITIVES.get(reader_type, ())


def _check_named(reader: NamedType, writer: NamedType, pending: Pairs) -> bool:
    """Check two definitions, except for the types of their fields, which become pending pairs."""
    if type(reader) is not type(writer) or not reads_definition(reader, writer.name):
        return False
    if isinstance(reader, Record) and isinstance(writer, Record):
        return _check_fields(reader, writer, pending)
    if isinstance(reader, Enum) and isinstance(writer, Enum):
        return reads_symbols(reader.symbols, writer.symbols, has_default=reader.default is not None)
    return isinstance(reader, Fixed) and isinstance(writer, Fixed) and reader.size == writer.size


def _check_fields(reader: Record, writer: Record, pending: Pairs) -> bool:
    writer_types = {member.name: member.type for member in writer.fields}
    for member in reader.fields:
        writer_type = writer_types.get(member.name)
        if member.aliases:
            matches = [writer_types[name] for name in {member.name, *member.aliases} if name in writer_types]
            if len(matches) > 1:
                return False
            writer_type = matches[0] if matches else None
        if writer_type is None:
            if member.default is MISSING:
                return False
        elif not (
            isinstance(writer_type, Primitive)
            and isinstance(member.type, Primitive)
            and writer_type.type == member.type.type
        ):
            pending.append((member.type, writer_type))
    return True


def _likeliest_branch(branches: Sequence[AvroType], writer: AvroType, types: Types) -> AvroType | None:
    """Return the likeliest branch for the writer's type: the same type, else one that may read it."""
    if isinstance(writer, Primitive):
        primitives = [branch for branch in branches if isinstance(branch, Primitive)]
        same = [branch for branch in primitives if branch.type == writer.type]
        return next(iter(same or [branch for branch in primitives if _reads_primitive(branch.type, writer.type)]), None)
    if isinstance(writer, (TypeName, NamedType)):
        named = [types[branch.name] for branch in branches if isinstance(branch, (TypeName, NamedType))]
        same_name = [branch for branch in named if branch.name == writer.name]
        return next(iter(same_name or [branch for branch in named if reads_definition(branch, writer.name)]), None)
    return next((branch for branch in branches if type(branch) is type(writer)), None)


def _count_steps(node: NamedType) -> int:
    return len(node.fields) if isinstance(node, Record) else len(node.symbols) if isinstance(node, Enum) else 1
