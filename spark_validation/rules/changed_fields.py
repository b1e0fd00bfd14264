"""Fields that transforms change after a condition has passed, so that audits cannot check it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from contractlog.compatibility import formats
from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.tags import EntityType
from contractlog.contracts.rules.language.expressions import Identifier, Index, Literal, Select, walk_expression
from contractlog.contracts.rules.language.type_checker import TypedExpression
from contractlog.contracts.rules.language.value_types import ValueKind, ValueType

__all__ = ["find_changed_fields", "find_read_fields"]

_FIELD_TRANSFORMS: Final = frozenset({"CEL_FIELD", "ENCRYPT"})  #: types of rules that change tagged fields only
_WHOLE: Final = frozenset({ValueKind.RECORD, ValueKind.MAP, ValueKind.DYN})


def find_changed_fields(rule: Rule, schema: RegisteredSchema, referenced: Mapping[str, str]) -> frozenset[str] | None:
    """Return the names of the fields that a transform may change; None if it may change any."""
    if rule.type not in _FIELD_TRANSFORMS or not rule.tags:
        return None
    wanted = set(rule.tags)
    names: set[str] = set()
    if schema.metadata is not None:
        names.update(path.rpartition(".")[2] for path, tags in schema.metadata.tags.items() if wanted & set(tags))
    for text in (schema.text, *referenced.values()):
        try:
            entities = formats.list_inline_tags(schema.type, text)
        except InvalidSchema:
            return None
        for entity, tags in entities.items():
            if wanted.isdisjoint(tags):
                continue
            if entity.type is EntityType.RECORD:
                return None
            names.add(entity.path.rpartition(".")[2])
    return None if any(set("*?\\") & set(name) for name in names) else frozenset(names)


def find_read_fields(expressions: Iterable[TypedExpression]) -> frozenset[str] | None:
    """Return the names of the fields that expressions read; None if they may read any."""
    names: set[str] = set()
    for typed in expressions:
        for node in walk_expression(typed.root):
            if isinstance(node, Select):
                names.add(node.field)
                continue
            if isinstance(node, Index):
                if not isinstance(node.index, Literal):
                    return None
                names.add(str(node.index.value))
                continue
            if (isinstance(node, Identifier) and node is typed.root) or any(
                _has_fields(typed.types[id(child)]) for child in node.children
            ):
                return None
    return frozenset(names)


def _has_fields(value_type: ValueType) -> bool:
    return value_type.kind in _WHOLE or any(map(_has_fields, value_type.parameters))
