"""An Avro schema as the checks of lint rules see it: its subject, its types, its fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Field,
    Map,
    Primitive,
    Record,
    TypeName,
    Union,
    is_null,
)

__all__ = ["AvroDocument", "is_plain", "walk_types"]


@dataclass(frozen=True, slots=True)
class AvroDocument:
    """A schema with its subject."""

    schema: AvroSchema
    subject: str

    def resolve(self, node: AvroType) -> AvroType:
        """Return the definition of a type name; the name itself if another file defines it."""
        return self.schema.types.get(node.name, node) if isinstance(node, TypeName) else node

    def values_of(self, field: Field) -> list[AvroType]:
        """Return the types of a field's values besides null; none if a misplaced logical type is reported."""
        if "logicalType" in field.props:
            return []
        branches = field.type.branches if isinstance(field.type, Union) else (field.type,)
        return [self.resolve(branch) for branch in branches if not is_null(branch)]


def walk_types(schema: AvroSchema) -> Iterator[AvroType | Field]:
    """Yield every type and field of a schema text, in its order."""
    pending: list[AvroType | Field] = [schema.root]
    while pending:
        node = pending.pop()
        yield node
        match node:
            case Field(type=inner) | Array(items=inner) | Map(values=inner):
                pending.append(inner)
            case Record(fields=inner):
                pending.extend(reversed(inner))
            case Union(branches=inner):
                pending.extend(reversed(inner))
            case _:
                pass


def is_plain(node: AvroType, *types: str) -> bool:
    """Return True for a primitive of one of the types without a logical type."""
    return isinstance(node, Primitive) and node.type in types and node.logical_type is None
