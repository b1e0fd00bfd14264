"""Differences of JSON Schema objects: required and listed properties, other properties, limits."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.json_schema.diff.pair_walk import KeywordDifference, NodePair, PairWalk, Rule
from contractlog.compatibility.json_schema.diff.scalars import compare_limit
from contractlog.compatibility.json_schema.diff.unlisted_members import (
    ContentModel,
    compare_additional_members,
    compare_partially_open,
    compare_removed_member,
    resolve_object_model,
)
from contractlog.compatibility.json_schema.nodes import (
    AlwaysNode,
    EmptyNode,
    ObjectNode,
    ReferenceNode,
    SchemaNode,
    Tokens,
)

__all__ = ["compare_objects"]

_COMPILE_STEPS: Final = 10  #: steps for compiling a pattern


def compare_objects(pairs: PairWalk, original: ObjectNode, update: ObjectNode) -> Rule:
    """Compare all object keywords, in the order of the reference implementation."""
    yield from _compare_required(original, update)
    yield from _compare_properties(pairs, original, update)
    yield from _compare_dependencies(original, update)
    keywords = ("additionalProperties", "additionalProperties")
    yield from compare_additional_members("ADDITIONAL_PROPERTIES", keywords, original.additional, update.additional)
    keywords = ("unevaluatedProperties", "unevaluatedProperties")
    yield from compare_additional_members("UNEVALUATED_PROPERTIES", keywords, original.unevaluated, update.unevaluated)
    yield from compare_limit("MAX_PROPERTIES", "maxProperties", original.max_properties, update.max_properties)
    yield from compare_limit("MIN_PROPERTIES", "minProperties", original.min_properties, update.min_properties)


def _compare_required(original: ObjectNode, update: ObjectNode) -> Rule:
    """Compare whether the properties declared on both sides are required."""
    if original.required == update.required:
        return
    before = {name: index for index, name in enumerate(original.required)}
    after = {name: index for index, name in enumerate(update.required)}
    for name in original.properties:
        if name not in update.properties or (name in before) == (name in after):
            continue
        path: Tokens = ("required", name)
        if name in before:
            yield KeywordDifference("REQUIRED_ATTRIBUTE_REMOVED", path, ("required", before[name]), before=name)
        else:
            has_default = declares_default(update.properties[name])
            kind = "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED" if has_default else "REQUIRED_ATTRIBUTE_ADDED"
            yield KeywordDifference(kind, path, reader=("required", after[name]), after=name)


def _compare_properties(pairs: PairWalk, original: ObjectNode, update: ObjectNode) -> Rule:
    """Compare the properties on both sides, and the others with the other side's content model."""
    pairs.step(1 + (len(original.properties) + len(update.properties)) // 8)
    for name, schema in original.properties.items():
        path: Tokens = ("properties", name)
        if name not in update.properties:
            yield from compare_removed_member("PROPERTY", schema, _resolve_model(pairs, update, name), path, path)
        elif (reader_schema := update.properties[name]) is not schema and reader_schema != schema:
            yield NodePair(schema, reader_schema, path, path, path)
    for name, schema in update.properties.items():
        if name not in original.properties:
            yield from _compare_added_property(pairs, original, update, name, schema)


def _compare_added_property(
    pairs: PairWalk, original: ObjectNode, update: ObjectNode, name: str, schema: SchemaNode
) -> Rule:
    path: Tokens = ("properties", name)
    model = _resolve_model(pairs, original, name)
    added_kind = _added_property_kind(update, name, schema)
    if model is ContentModel.OPEN:
        accepts_everything = added_kind == "OPTIONAL_PROPERTY" and isinstance(schema.resolve(), (EmptyNode, AlwaysNode))
        kind = "PROPERTY_WITH_EMPTY_SCHEMA" if accepts_everything else added_kind
        yield KeywordDifference(f"{kind}_ADDED_TO_OPEN_CONTENT_MODEL", path, reader=path, after=name)
        return
    if not isinstance(model, ContentModel):
        covered = yield from compare_partially_open(NodePair(model[0], schema, path, model[1], path))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield KeywordDifference(
            f"PROPERTY_ADDED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, model[1], path, after=name
        )
    yield KeywordDifference(f"{added_kind}_ADDED_TO_UNOPEN_CONTENT_MODEL", path, reader=path, after=name)


def _added_property_kind(update: ObjectNode, name: str, schema: SchemaNode) -> str:
    if name not in update.required:
        return "OPTIONAL_PROPERTY"
    return "REQUIRED_PROPERTY_WITH_DEFAULT" if declares_default(schema) else "REQUIRED_PROPERTY"


def declares_default(node: SchemaNode) -> bool:
    """Return True if a schema, or a reference to it, has a default."""
    if isinstance(node, ReferenceNode) and any(reference.default is not None for reference in node.chain()):
        return True
    return node.resolve().default is not None


def _resolve_model(pairs: PairWalk, node: ObjectNode, name: str) -> tuple[SchemaNode, Tokens] | ContentModel:
    new_patterns = sum(pattern not in pairs.patterns for pattern in node.pattern_properties)
    pairs.step(1 + len(node.pattern_properties) + new_patterns * _COMPILE_STEPS)
    return resolve_object_model(node, name, pairs.patterns)


def _compare_dependencies(original: ObjectNode, update: ObjectNode) -> Rule:
    """Compare dependent properties and dependent schemas."""
    yield from _compare_dependent_names(original, update)
    before, after = original.schema_dependencies, update.schema_dependencies
    for name in (*before, *(name for name in after if name not in before)):
        path: Tokens = ("dependencies", name)
        writer, reader = _dependency_path(original, "schemas", name), _dependency_path(update, "schemas", name)
        if name not in after:
            yield KeywordDifference("DEPENDENCY_SCHEMA_REMOVED", path, writer, before=name)
        elif name not in before:
            yield KeywordDifference("DEPENDENCY_SCHEMA_ADDED", path, reader=reader, after=name)
        else:
            yield NodePair(before[name], after[name], path, writer, reader)


def _compare_dependent_names(original: ObjectNode, update: ObjectNode) -> Rule:
    before, after = original.property_dependencies, update.property_dependencies
    for name in (*before, *(name for name in after if name not in before)):
        path: Tokens = ("dependencies", name)
        writer, reader = _dependency_path(original, "names", name), _dependency_path(update, "names", name)
        old, new = (", ".join(sorted(side.get(name, ()))) for side in (before, after))
        if name not in after:
            yield KeywordDifference("DEPENDENCY_ARRAY_REMOVED", path, writer, before=old)
        elif name not in before:
            yield KeywordDifference("DEPENDENCY_ARRAY_ADDED", path, reader=reader, after=new)
        elif before[name] != after[name]:
            change = (
                "EXTENDED" if before[name] < after[name] else "NARROWED" if before[name] > after[name] else "CHANGED"
            )
            yield KeywordDifference(f"DEPENDENCY_ARRAY_{change}", path, writer, reader, old, new)


def _dependency_path(node: ObjectNode, value_type: str, name: str) -> Tokens:
    return node.keyword_names.get(value_type, "dependencies"), name
