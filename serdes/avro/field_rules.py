"""Application of rules to the fields of Avro values.

A walk is prepared for each set of tags that rules have. It enters only the parts of a schema that have a field with one
of them, and copies the records that it changes, so that a caller's value stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from contractlog.compatibility.avro.types import Array, AvroSchema, AvroType, Map, Record, Union, list_inner_types
from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.tags import read_tags
from contractlog.serdes.avro.avro_schema import avro_schema_of
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder
from contractlog.serdes.avro.interpreter.containers import UnionCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.errors import RuleConditionError
from contractlog.serdes.rules.context import FieldType, RuleContext
from contractlog.serdes.rules.executors import FieldTransform
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.tags import TagPaths

__all__ = ["UnionBranches", "avro_field_rules"]

_MAX_DEPTH: Final = 128  #: of values when the branch of a union is chosen
_MAX_WALKS: Final = 100  #: cached walks of a schema
_Tags: TypeAlias = frozenset[str]
_Walk: TypeAlias = Callable[[RuleContext, Any, FieldTransform], Any]


def avro_field_rules(parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
    """Return the application of rules to the fields of a schema.

    Args:
        parsed: the schema.
        metadata: its metadata, which may have tags by path.
    """
    schema = avro_schema_of(parsed)
    inline = {
        f"{record.name}.{field.name}": set(tags)
        for record in _list_records(schema)
        for field in record.fields
        if (tags := read_tags(field.props))
    }
    walks = _Walks(schema, inline, TagPaths({} if metadata is None else metadata.tags))
    return FieldRules(walks.transform, inline)


class UnionBranches:
    """Choice of the branch of a union that a value belongs to, which is the one that would be written."""

    def __init__(self, schema: AvroSchema, union: Union) -> None:
        codec = CodecBuilder(schema).codec(union)
        if not isinstance(codec, UnionCodec):
            raise TypeError(f"a union is expected, not {union.kind}")
        self._codec = codec

    def find_branch(self, value: Any) -> tuple[int | None, Any]:
        """Return the position of a value's branch, if any, and the value without the branch's name."""
        named = self._codec.find_named_branch(value)
        if named is not None:
            return named, value[1]
        if self._codec.non_null_index is not None:
            return (self._codec.non_null_index if value is not None else 1 - self._codec.non_null_index), value
        out = OutputBuffer()
        try:
            self._codec.write(out, value, _MAX_DEPTH)
        except (CodecFailure, RecursionError):
            return None, value
        return ByteCursor(bytes(out)).read_int(), value

    def fits(self, index: int, value: Any) -> bool:
        """Return true if a value fits a branch."""
        return self._codec.branches[index].fits(value)


@dataclass(frozen=True, slots=True)
class _FieldWalk:
    """A field to visit."""

    name: str
    full_name: str
    type: FieldType
    tags: set[str]  #: inline
    walk: _Walk


class _Walks:
    """The walks of a schema, by the tags of rules; an empty set stands for rules that apply to all fields."""

    def __init__(self, schema: AvroSchema, inline: Mapping[str, set[str]], paths: TagPaths) -> None:
        self._schema = schema
        self._inline = inline
        self._paths = paths
        self._walks: BoundedCache[_Tags, _Preparation] = BoundedCache(_MAX_WALKS)

    def transform(self, ctx: RuleContext, field_transform: FieldTransform, message: Any) -> Any:
        """Apply a function to the fields of a value that have a tag of the rule, and return the new value.

        Raises:
            RuleConditionError: the rule is a condition, and the function returned False for a field.
        """
        tags = frozenset(ctx.rule.tags or ())
        prepared = self._walks.get(tags)
        if prepared is None:
            prepared = self._walks.put(tags, _Preparation(self._schema, tags, self._inline, self._paths))
        walk = prepared.root
        return message if walk is None else walk(ctx, message, field_transform)


class _Preparation:
    """Preparation of the walk for rules with some tags."""

    def __init__(
        self,
        schema: AvroSchema,
        tags: _Tags,
        inline: Mapping[str, set[str]],
        paths: TagPaths,
    ) -> None:
        self._schema = schema
        self._tags = tags
        self._inline = inline
        self._paths = paths
        self._relevant = self._find_relevant_records()
        self._records: dict[str, list[_FieldWalk]] = {}
        self.root = self._prepare(schema.root, applies=False)  #: None: no field has one of the tags

    def _applies(self, full_name: str) -> bool:
        """Return true if the rule applies to a field."""
        return not self._tags or not self._tags.isdisjoint(
            self._inline.get(full_name, set()) | self._paths.find(full_name)
        )

    def _find_relevant_records(self) -> set[str]:
        """Return the records that have a field to which the rule applies, directly or further inside."""
        enclosing: dict[str, set[str]] = {}  # of each record, those with a field of its type
        pending: list[str] = []
        for record in _list_records(self._schema):
            for field in record.fields:
                for node in self._list_parts(field.type):
                    if isinstance(node, Record):
                        enclosing.setdefault(node.name, set()).add(record.name)
                    elif self._applies(f"{record.name}.{field.name}"):
                        pending.append(record.name)
        relevant: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in relevant:
                relevant.add(name)
                pending.extend(enclosing.get(name, ()))
        return relevant

    def _list_parts(self, node: AvroType) -> Iterator[AvroType]:
        """Yield the records and the scalar types of a field's type."""
        node = self._schema.resolve(node)
        inner = list_inner_types(node)
        if not inner:
            yield node
        for part in inner:
            yield from self._list_parts(part)

    def _is_relevant(self, node: AvroType, relevant: set[str], *, applies: bool) -> bool:
        node = self._schema.resolve(node)
        if isinstance(node, Record):
            return node.name in relevant
        inner = list_inner_types(node)
        return any(self._is_relevant(part, relevant, applies=applies) for part in inner) if inner else applies

    def _prepare(self, node: AvroType, *, applies: bool) -> _Walk | None:
        node = self._schema.resolve(node)
        if not self._is_relevant(node, self._relevant, applies=applies):
            return None
        if isinstance(node, Record):
            return _record_walk(self._prepare_fields(node))
        if isinstance(node, Union):
            walks = [self._prepare(branch, applies=applies) for branch in node.branches]
            return _union_walk(UnionBranches(self._schema, node), walks)
        if isinstance(node, Array):
            return _array_walk(self._prepare(node.items, applies=applies))
        if isinstance(node, Map):
            return _map_walk(self._prepare(node.values, applies=applies))
        return _leaf_walk(_field_type(node))

    def _prepare_fields(self, record: Record) -> list[_FieldWalk]:
        """Return the fields to visit; the list is filled later if the record is inside itself."""
        fields = self._records.get(record.name)
        if fields is None:
            fields = self._records[record.name] = []
            for field in record.fields:
                full_name = f"{record.name}.{field.name}"
                walk = self._prepare(field.type, applies=self._applies(full_name))
                if walk is not None:
                    kind = _field_type(self._schema.resolve(field.type))
                    fields.append(_FieldWalk(field.name, full_name, kind, self._inline.get(full_name, set()), walk))
        return fields


def _leaf_walk(kind: FieldType) -> _Walk:
    def walk(ctx: RuleContext, value: Any, field_transform: FieldTransform) -> Any:
        field = ctx.current_field()
        if field is None:
            return value
        field.field_type = kind
        result = field_transform(ctx, field, value)
        if ctx.rule.kind != "CONDITION":
            return result
        if result is False:
            raise RuleConditionError(ctx.rule)
        return value

    return walk


def _record_walk(fields: list[_FieldWalk]) -> _Walk:
    def walk(ctx: RuleContext, value: Any, field_transform: FieldTransform) -> Any:
        if not isinstance(value, Mapping):
            return value
        is_condition = ctx.rule.kind == "CONDITION"
        record: Any = value if is_condition else dict(value)
        for field in fields:
            if field.name not in record:
                continue
            ctx.enter_field(record, field.full_name, field.name, field.type, field.tags)
            try:
                new = field.walk(ctx, record[field.name], field_transform)
            finally:
                ctx.exit_field()
            if not is_condition:
                record[field.name] = new
        return record

    return walk


def _array_walk(items: _Walk | None) -> _Walk:
    def walk(ctx: RuleContext, value: Any, field_transform: FieldTransform) -> Any:
        if items is None or not isinstance(value, (list, tuple)):
            return value
        return [items(ctx, item, field_transform) for item in value]

    return walk


def _map_walk(values: _Walk | None) -> _Walk:
    def walk(ctx: RuleContext, value: Any, field_transform: FieldTransform) -> Any:
        if values is None or not isinstance(value, Mapping):
            return value
        return {key: values(ctx, entry, field_transform) for key, entry in value.items()}

    return walk


def _union_walk(branches: UnionBranches, walks: list[_Walk | None]) -> _Walk:
    def walk(ctx: RuleContext, value: Any, field_transform: FieldTransform) -> Any:
        index, bare = branches.find_branch(value)
        branch_walk = None if index is None else walks[index]
        if index is None or branch_walk is None:
            return value
        new = branch_walk(ctx, bare, field_transform)
        is_named = bare is not value
        return (value[0], new) if is_named and branches.fits(index, new) else new

    return walk


def _list_records(schema: AvroSchema) -> Iterator[Record]:
    return (node for node in schema.types.values() if isinstance(node, Record))


def _field_type(node: AvroType) -> FieldType:
    return FieldType.COMBINED if isinstance(node, Union) else FieldType[node.kind]
