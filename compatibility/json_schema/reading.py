"""Fast check of a JSON Schema reader against many writers, for long histories.

It uses the engine of ``compare.py`` and caches final verdicts in the memo. Two objects are compared property by
property, as in the detailed comparison, each together with the other keywords of the objects. So whatever a thousand
versions have in common is compared once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from contractlog.compatibility.interning import Memo
from contractlog.compatibility.json_schema.compare import walk
from contractlog.compatibility.json_schema.nodes import Node, Object
from contractlog.compatibility.json_schema.pairs import LimitReached, Pairs
from contractlog.compatibility.policy import ADMITTED, Policy
from contractlog.compatibility.steps import Steps, StepsExceeded
from contractlog.compatibility.walk import STEP_LIMIT

__all__ = ["Reading", "Shape", "shape_of"]

_KEPT_PAIRS: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A property of an object, compared by identity."""

    name: str
    node: Node
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A whole schema, compared by identity; an object is split into a frame and its properties."""

    node: Node
    frame: Node  #: everything but the properties; the whole schema if not an object
    members: frozenset[Member] = frozenset()
    names: frozenset[str] = frozenset()


def shape_of(root: Node, memo: Memo) -> Shape:
    """Return the interned shape of a tree."""
    node = root.resolved()
    found: Shape | None = memo.shapes.held.get(node)
    return found or memo.shapes.put(node, _made(node, memo))


def _made(node: Node, memo: Memo) -> Shape:
    if not isinstance(node, Object):
        return Shape(node, node)
    required, shapes = frozenset(node.required), memo.shapes
    bare = replace(node, properties={}, required=tuple(sorted(required.difference(node.properties))))
    frame = shapes.held.get(("frame", bare)) or shapes.put(("frame", bare), bare)
    members = []
    for name, schema in node.properties.items():
        key = (name, schema.digest, name in required)
        members.append(shapes.held.get(key) or shapes.put(key, Member(name, schema, name in required)))
    return Shape(node, frame, frozenset(members), frozenset(node.properties))


Column = frozenset[Member]


class _Merged(NamedTuple):
    """Writers that share a frame."""

    nodes: tuple[Node, ...]
    frame: Node
    columns: Mapping[str, Column]  #: property name -> its variants
    always: frozenset[str]  #: the properties that every writer has


class Reading:
    """One fast check; the memo carries final verdicts over to the next."""

    def __init__(self, policy: Policy, memo: Memo, steps: Steps) -> None:
        self._policy = policy
        self._memo = memo
        self._steps = steps
        self._pairs = self._kept()

    def reads_all(self, reader: Shape, writers: frozenset[Shape]) -> bool:
        """Return True if no difference from any of the writers breaks.

        Raises:
            StepsExceeded: the check takes too many steps.
        """
        key = (self._policy, reader, writers)
        known = self._memo.verdicts.held.get(key)
        if known is None:
            reads = all(self._reads(reader, group) for group in self._groups(writers))
            known = self._memo.verdicts.put(key, reads, 1 + len(writers))
        return known

    def _kept(self) -> Pairs:
        """Return the cached walk of this policy, with its final verdicts unless they are too many."""
        key = ("walk", self._policy)
        pairs: Pairs | None = self._memo.merged.held.get(key)
        if pairs is None:
            admitted = {one.removeprefix("JSON_") for one in ADMITTED[self._policy]}
            pairs = self._memo.merged.put(key, walk(admitted, STEP_LIMIT))
        pairs.forget(_KEPT_PAIRS)
        return pairs

    def _groups(self, writers: frozenset[Shape]) -> list[_Merged]:
        key = ("groups", writers)
        found: list[_Merged] | None = self._memo.merged.held.get(key)
        if found is None:
            groups = defaultdict[Node, list[Shape]](list)
            for writer in writers:
                groups[writer.frame].append(writer)
            found = [_merged(frame, shapes) for frame, shapes in groups.items()]
            weight = len(writers) + sum(len(column) for group in found for column in group.columns.values())
            self._steps.take(weight)
            self._memo.merged.put(key, found, weight)
        return found

    def _reads(self, reader: Shape, writers: _Merged) -> bool:
        before, after = writers.frame, reader.frame
        if not (isinstance(before, Object) and isinstance(after, Object)):
            return all(self._compatible(node, reader.node) for node in writers.nodes)
        own = {member.name: member for member in reader.members}
        self._steps.take(len(own))
        return (
            self._compatible(before, after)
            and all(
                self._column_reads(before, column, after, own.get(name)) for name, column in writers.columns.items()
            )
            and all(
                self._member_reads(before, None, after, member)
                for name, member in own.items()
                if name not in writers.always
            )
        )

    def _column_reads(self, before: Object, column: Column, after: Object, new: Member | None) -> bool:
        """Return True if a property, or its absence, is compatible with all variants of the writers."""
        if new in column and len(column) == 1:
            return True
        key = (self._policy, before.digest, column, after.digest, new)
        known = self._memo.verdicts.held.get(key)
        if known is None:
            reads = all(self._member_reads(before, old, after, new) for old in column if old is not new)
            known = self._memo.verdicts.put(key, reads, 1 + len(column))
        return known

    def _member_reads(self, before: Object, old: Member | None, after: Object, new: Member | None) -> bool:
        if old is not None and new is not None and old.required == new.required:
            return self._compatible(old.node, new.node)
        key = (self._policy, before.digest, old, after.digest, new)
        known = self._memo.verdicts.held.get(key)
        if known is None:
            known = self._memo.verdicts.put(key, self._compatible(_with(before, old), _with(after, new)))
        return known

    def _compatible(self, original: Node, update: Node) -> bool:
        self._pairs.steps, self._pairs.limit = 0, min(STEP_LIMIT, self._steps.left)
        try:
            return self._pairs.compatible(original, update)
        except LimitReached:
            raise StepsExceeded from None
        finally:
            self._steps.take(1 + self._pairs.steps)


def _merged(frame: Node, shapes: list[Shape]) -> _Merged:
    columns = defaultdict[str, list[Member]](list)
    for member in frozenset[Member]().union(*[shape.members for shape in shapes]):
        columns[member.name].append(member)
    return _Merged(
        tuple([shape.node for shape in shapes]),
        frame,
        {name: frozenset(members) for name, members in columns.items()},
        frozenset.intersection(*[shape.names for shape in shapes]),
    )


def _with(frame: Object, member: Member | None) -> Object:
    """Return a frame with only this property."""
    if member is None:
        return frame
    required = (*frame.required, member.name) if member.required else frame.required
    return replace(frame, properties={member.name: member.node}, required=required)
