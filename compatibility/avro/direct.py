"""Fast check of one pair of Avro schemas, directly on their trees and with only a list of pairs.

The rules are those of ``checks.py``. Of a reader union only the likeliest branch is followed, and the first failing
pair ends the check, so False is inconclusive and ``checks.py`` decides. True is proven: every visited pair holds if its
sub-pairs hold, and those were visited, too. So recursive types need no repeated passes here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contractlog.compatibility.avro.checks import READS
from contractlog.compatibility.avro.nodes import (
    MISSING,
    Array,
    Enum,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    TypeName,
    Union,
    short_name,
)

__all__ = ["follows"]

_LIMIT: Final = 50_000  #: steps; a larger pair is left to the checks with shared budgets

Types = Mapping[str, Named]
Pairs = list[tuple[Node, Node]]  #: pairs of a reader type and a writer type to visit


def follows(reader: Schema, writer: Schema, *, limit: int = _LIMIT) -> bool:
    """Return True if one visit of each pair of types proves that the reader reads the writer."""
    look = _Look(reader.types, writer.types, limit, [(reader.root, writer.root)])
    while look.waiting:
        if not look.holds(*look.waiting.pop()) or look.left < 0:
            return False
    return True


@dataclass(slots=True)
class _Look:
    """State of one check: visited and pending pairs."""

    mine: Types
    theirs: Types
    left: int
    waiting: Pairs
    met: set[tuple[str, str]] = field(default_factory=set)

    def holds(self, own: Node, other: Node) -> bool:
        """Check a pair, provided that its sub-pairs hold; these are added to the pending ones."""
        self.left -= 1
        if isinstance(other, Union):
            self.waiting.extend([(own, branch) for branch in _written(own, other)])
            return True
        if isinstance(own, Union):
            self.left -= len(own.branches)
            branch = _branch(own.branches, other, self.mine)
            return branch is not None and self.holds(branch, other)
        if not isinstance(own, (TypeName, Named)):
            return _unnamed_follows(own, other, self.waiting)
        return isinstance(other, (TypeName, Named)) and self.named(own.name, other.name)

    def named(self, mine: str, theirs: str) -> bool:
        """Check two definitions; each pair of names is visited once."""
        if (mine, theirs) in self.met:
            return True
        self.met.add((mine, theirs))
        own, other = self.mine[mine], self.theirs[theirs]
        self.left -= _weight(own) + _weight(other)
        return _named_follows(own, other, self.waiting)


def _written(own: Node, other: Union) -> Sequence[Node]:
    """Return the writer's branches, except primitives that the reader's union has as well."""
    if not isinstance(own, Union):
        return other.branches
    known = {branch.type for branch in own.branches if isinstance(branch, Primitive)}
    return [branch for branch in other.branches if not (isinstance(branch, Primitive) and branch.type in known)]


def _unnamed_follows(own: Node, other: Node, waiting: Pairs) -> bool:
    if isinstance(own, Primitive):
        return isinstance(other, Primitive) and _reads(own.type, other.type)
    if isinstance(own, Array) and isinstance(other, Array):
        waiting.append((own.items, other.items))
        return True
    if isinstance(own, Map) and isinstance(other, Map):
        waiting.append((own.values, other.values))
        return True
    return False


def _reads(kind: str, written: str) -> bool:
    return kind == written or written in READS.get(kind, ())


def _named_follows(own: Named, other: Named, waiting: Pairs) -> bool:
    """Check two definitions, except for the types of their fields, which become pending pairs."""
    if type(own) is not type(other) or not _is_known(own, other.name):
        return False
    if isinstance(own, Record) and isinstance(other, Record):
        return _fields_follow(own, other, waiting)
    if isinstance(own, Enum) and isinstance(other, Enum):
        return own.default is not None or set(own.symbols).issuperset(other.symbols)
    return isinstance(own, Fixed) and isinstance(other, Fixed) and own.size == other.size


def _fields_follow(own: Record, other: Record, waiting: Pairs) -> bool:
    written = {member.name: member.type for member in other.fields}
    for member in own.fields:
        kind = written.get(member.name)
        if member.aliases:
            kinds = [written[name] for name in {member.name, *member.aliases} if name in written]
            if len(kinds) > 1:
                return False
            kind = kinds[0] if kinds else None
        if kind is None:
            if member.default is MISSING:
                return False
        elif not (isinstance(kind, Primitive) and isinstance(member.type, Primitive) and kind.type == member.type.type):
            waiting.append((member.type, kind))
    return True


def _branch(branches: Sequence[Node], other: Node, types: Types) -> Node | None:
    """Return the likeliest branch for the writer's type: the same type, else one that may read it."""
    if isinstance(other, Primitive):
        primitives = [branch for branch in branches if isinstance(branch, Primitive)]
        same = [branch for branch in primitives if branch.type == other.type]
        return next(iter(same or [branch for branch in primitives if _reads(branch.type, other.type)]), None)
    if isinstance(other, (TypeName, Named)):
        named = [types[branch.name] for branch in branches if isinstance(branch, (TypeName, Named))]
        same_name = [branch for branch in named if branch.name == other.name]
        return next(iter(same_name or [branch for branch in named if _is_known(branch, other.name)]), None)
    return next((branch for branch in branches if type(branch) is type(other)), None)


def _is_known(own: Named, name: str) -> bool:
    """Return True if the reader's type has this name: apart from the namespace, or as an alias."""
    return own.name == name or short_name(own.name) == short_name(name) or name in own.aliases


def _weight(node: Named) -> int:
    return len(node.fields) if isinstance(node, Record) else len(node.symbols) if isinstance(node, Enum) else 1
