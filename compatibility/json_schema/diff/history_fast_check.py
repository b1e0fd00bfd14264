"""Fast check of a JSON Schema reader against many writers, for long histories.

It uses the engine of ``comparison.py`` and caches final verdicts in the memo. Two objects are compared property by
property, as in the detailed comparison, each together with the other keywords of the objects. So whatever a thousand
versions have in common is compared once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.json_schema.check_catalogue import allowed_kinds
from contractlog.compatibility.json_schema.diff.comparison import create_walk
from contractlog.compatibility.json_schema.diff.pair_walk import PairWalk
from contractlog.compatibility.json_schema.nodes import ObjectNode, SchemaNode
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.pair_walk import STEP_LIMIT
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["JsonHistoryCheck", "JsonShape", "intern_shape"]

_MAX_CACHED_PAIRS: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A property of an object, compared by identity."""

    name: str
    node: SchemaNode
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class JsonShape:
    """A whole schema, compared by identity; an object is split into a frame and its properties."""

    node: SchemaNode
    frame: SchemaNode  #: everything but the properties; the whole schema if not an object
    members: frozenset[Property] = frozenset()
    names: frozenset[str] = frozenset()


def intern_shape(root: SchemaNode, memo: Memo) -> JsonShape:
    """Return the interned shape of a tree."""
    node = root.resolve()
    shape: JsonShape | None = memo.shapes.get(node)
    return shape or memo.shapes.put(node, _create_shape(node, memo))


def _create_shape(node: SchemaNode, memo: Memo) -> JsonShape:
    if not isinstance(node, ObjectNode):
        return JsonShape(node, node)
    required, shapes = frozenset(node.required), memo.shapes
    frame_node = replace(node, properties={}, required=tuple(sorted(required.difference(node.properties))))
    frame = shapes.get(("frame", frame_node)) or shapes.put(("frame", frame_node), frame_node)
    members = []
    for name, schema in node.properties.items():
        key = (name, schema.digest, name in required)
        members.append(shapes.get(key) or shapes.put(key, Property(name, schema, name in required)))
    return JsonShape(node, frame, frozenset(members), frozenset(node.properties))


PropertyVariants = frozenset[Property]


class _WriterGroup(NamedTuple):
    """Writers that share a frame."""

    nodes: tuple[SchemaNode, ...]
    frame: SchemaNode
    variants: Mapping[str, PropertyVariants]  #: property name -> its variants
    common: frozenset[str]  #: the properties that every writer has


class JsonHistoryCheck:
    """One fast check; the memo carries final verdicts over to the next."""

    def __init__(self, policy: Policy, memo: Memo, steps: StepBudget) -> None:
        self._policy = policy
        self._memo = memo
        self._steps = steps
        self._pairs = self._cached_walk()

    def reads_all(self, reader: JsonShape, writers: frozenset[JsonShape]) -> bool:
        """Return True if no difference from any of the writers breaks.

        Raises:
            StepBudgetExceeded: the check takes too many steps.
        """
        key = (self._policy, reader, writers)
        verdict = self._memo.verdicts.get(key)
        if verdict is None:
            reads_every_group = all(self._reads_group(reader, group) for group in self._groups(writers))
            verdict = self._memo.verdicts.put(key, reads_every_group, 1 + len(writers))
        return verdict

    def _cached_walk(self) -> PairWalk:
        """Return the cached walk of this policy, with its final verdicts unless they are too many."""
        key = ("walk", self._policy)
        pairs: PairWalk | None = self._memo.merged.get(key)
        if pairs is None:
            pairs = self._memo.merged.put(key, create_walk(allowed_kinds(self._policy), STEP_LIMIT))
        pairs.trim(_MAX_CACHED_PAIRS)
        return pairs

    def _groups(self, writers: frozenset[JsonShape]) -> list[_WriterGroup]:
        key = ("groups", writers)
        merged: list[_WriterGroup] | None = self._memo.merged.get(key)
        if merged is None:
            groups = defaultdict[SchemaNode, list[JsonShape]](list)
            for writer in writers:
                groups[writer.frame].append(writer)
            merged = [_group_writers(frame, shapes) for frame, shapes in groups.items()]
            weight = len(writers) + sum(len(variants) for group in merged for variants in group.variants.values())
            self._steps.take(weight)
            self._memo.merged.put(key, merged, weight)
        return merged

    def _reads_group(self, reader: JsonShape, writers: _WriterGroup) -> bool:
        writer_frame, reader_frame = writers.frame, reader.frame
        if not (isinstance(writer_frame, ObjectNode) and isinstance(reader_frame, ObjectNode)):
            return all(self._compatible(node, reader.node) for node in writers.nodes)
        properties = {member.name: member for member in reader.members}
        self._steps.take(len(properties))
        return (
            self._compatible(writer_frame, reader_frame)
            and all(
                self._reads_variants(writer_frame, variants, reader_frame, properties.get(name))
                for name, variants in writers.variants.items()
            )
            and all(
                self._reads_property(writer_frame, None, reader_frame, member)
                for name, member in properties.items()
                if name not in writers.common
            )
        )

    def _reads_variants(
        self, before: ObjectNode, variants: PropertyVariants, after: ObjectNode, new: Property | None
    ) -> bool:
        """Return True if a property, or its absence, is compatible with all variants of the writers."""
        if new in variants and len(variants) == 1:
            return True
        key = (self._policy, before.digest, variants, after.digest, new)
        verdict = self._memo.verdicts.get(key)
        if verdict is None:
            reads = all(self._reads_property(before, old, after, new) for old in variants if old is not new)
            verdict = self._memo.verdicts.put(key, reads, 1 + len(variants))
        return verdict

    def _reads_property(
        self, before: ObjectNode, old: Property | None, after: ObjectNode, new: Property | None
    ) -> bool:
        if old is not None and new is not None and old.required == new.required:
            return self._compatible(old.node, new.node)
        key = (self._policy, before.digest, old, after.digest, new)
        verdict = self._memo.verdicts.get(key)
        if verdict is None:
            verdict = self._memo.verdicts.put(
                key, self._compatible(_add_property(before, old), _add_property(after, new))
            )
        return verdict

    def _compatible(self, original: SchemaNode, update: SchemaNode) -> bool:
        self._pairs.steps, self._pairs.limit = 0, min(STEP_LIMIT, self._steps.left)
        try:
            return self._pairs.compatible(original, update)
        finally:
            self._steps.take(1 + self._pairs.steps)


def _group_writers(frame: SchemaNode, shapes: list[JsonShape]) -> _WriterGroup:
    variants = defaultdict[str, list[Property]](list)
    for member in frozenset[Property]().union(*[shape.members for shape in shapes]):
        variants[member.name].append(member)
    return _WriterGroup(
        tuple([shape.node for shape in shapes]),
        frame,
        {name: frozenset(members) for name, members in variants.items()},
        frozenset.intersection(*[shape.names for shape in shapes]),
    )


def _add_property(frame: ObjectNode, member: Property | None) -> ObjectNode:
    """Return a frame with only this property."""
    if member is None:
        return frame
    required = (*frame.required, member.name) if member.required else frame.required
    return replace(frame, properties={member.name: member.node}, required=required)
