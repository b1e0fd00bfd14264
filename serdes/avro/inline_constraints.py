"""Inline constraints of an Avro schema: ``confluent:rules`` of its records and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.types import Array, AvroType, Map, Primitive, Record, Union
from contractlog.compatibility.field_paths import join_path
from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.avro.avro_schema import avro_schema_of
from contractlog.serdes.avro.field_rules import UnionBranches
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.inline_rules import Constraints, ValidationRule, read_validation_rules

__all__ = ["avro_constraints"]

_MAX_DEPTH: Final = 128
_Applicable = Iterator[tuple[ValidationRule, Any, Any, str]]


def avro_constraints(parsed: ParsedSchema) -> Constraints | None:
    """Return the constraints of a schema by value; None if it has none.

    The constraints of a record are about the record, those of a field about its value, unless it is null or missing.
    """
    walk = _ConstraintWalk(parsed)
    return walk.list_constraints if walk.has_constraints else None


class _ConstraintWalk:
    def __init__(self, parsed: ParsedSchema) -> None:
        self._schema = avro_schema_of(parsed)
        records = [node for node in self._schema.types.values() if isinstance(node, Record)]
        self._of_records = {record.name: read_validation_rules(record.props) for record in records}
        self._of_fields = {
            (record.name, field.name): read_validation_rules(field.props)
            for record in records
            for field in record.fields
        }
        self.has_constraints = any(self._of_records.values()) or any(self._of_fields.values())
        self._unions: dict[int, UnionBranches] = {}

    def list_constraints(self, value: Any) -> _Applicable:
        """Yield the constraints that apply to a value and its parts."""
        return self._visit(self._schema.root, value, "", 0)

    def _visit(self, node: AvroType, value: Any, path: str, depth: int) -> _Applicable:
        node = self._schema.resolve(node)
        if value is None or isinstance(node, Primitive):
            return
        if depth > _MAX_DEPTH:
            raise RuleError(f"the value is nested more than {_MAX_DEPTH} levels deep at {path}")
        if isinstance(node, Union):
            index, bare = self._branches(node).find_branch(value)
            if index is not None:
                yield from self._visit(node.branches[index], bare, path, depth)
        elif isinstance(node, Record) and isinstance(value, Mapping):
            yield from self._visit_record(node, value, path, depth)
        elif isinstance(node, Array) and isinstance(value, (list, tuple)):
            for position, item in enumerate(value):
                yield from self._visit(node.items, item, f"{path}[{position}]", depth + 1)
        elif isinstance(node, Map) and isinstance(value, Mapping):
            for key, entry in value.items():
                yield from self._visit(node.values, entry, f'{path}["{key}"]', depth + 1)

    def _visit_record(self, record: Record, value: Mapping[str, Any], path: str, depth: int) -> _Applicable:
        for rule in self._of_records[record.name]:
            yield rule, record, value, path
        for field in record.fields:
            member = value.get(field.name)
            if member is None:
                continue
            inner = join_path(path, field.name)
            for rule in self._of_fields[record.name, field.name]:
                yield rule, field.type, member, inner
            yield from self._visit(field.type, member, inner, depth + 1)

    def _branches(self, union: Union) -> UnionBranches:
        branches = self._unions.get(id(union))
        if branches is None:
            branches = self._unions[id(union)] = UnionBranches(self._schema, union)
        return branches
