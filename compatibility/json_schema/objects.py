"""Differences of JSON Schema objects: required and listed properties, other properties, limits."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from contractlog.compatibility.json_schema.bounds import largest, smallest
from contractlog.compatibility.json_schema.models import Model, object_model
from contractlog.compatibility.json_schema.nodes import Always, Empty, Never, Node, Object, Reference, Tokens
from contractlog.compatibility.json_schema.pairs import Ask, Below, Difference, Item, Pairs, Rule
from contractlog.compatibility.json_schema.permissions import permission

__all__ = ["objects"]

_COMPILING: Final = 10  #: steps for compiling a pattern


def objects(pairs: Pairs, original: Object, update: Object) -> Rule:
    """Compare all object keywords, in the order of the reference implementation."""
    yield from _required(original, update)
    yield from _properties(pairs, original, update)
    yield from _dependencies(original, update)
    words = ("additionalProperties", "additionalProperties")
    yield from permission("ADDITIONAL_PROPERTIES", words, original.additional, update.additional)
    words = ("unevaluatedProperties", "unevaluatedProperties")
    yield from permission("UNEVALUATED_PROPERTIES", words, original.unevaluated, update.unevaluated)
    yield from largest("MAX_PROPERTIES", "maxProperties", original.max_properties, update.max_properties)
    yield from smallest("MIN_PROPERTIES", "minProperties", original.min_properties, update.min_properties)


def _required(original: Object, update: Object) -> Rule:
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
            yield Difference("REQUIRED_ATTRIBUTE_REMOVED", path, ("required", before[name]), before=name)
        else:
            has_default = has_default_value(update.properties[name])
            kind = "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED" if has_default else "REQUIRED_ATTRIBUTE_ADDED"
            yield Difference(kind, path, reader=("required", after[name]), after=name)


def _properties(pairs: Pairs, original: Object, update: Object) -> Rule:
    """Compare the properties on both sides, and the others with the other side's content model."""
    pairs.step(1 + (len(original.properties) + len(update.properties)) // 8)
    for name, schema in original.properties.items():
        path: Tokens = ("properties", name)
        if name not in update.properties:
            yield from _removed(pairs, schema, update, path)
        elif (other := update.properties[name]) is not schema and other != schema:
            yield Below(schema, other, path, path, path)
    for name, schema in update.properties.items():
        if name not in original.properties:
            yield from _added(pairs, original, update, name, schema)


def _removed(pairs: Pairs, schema: Node, update: Object, path: Tokens) -> Rule:
    name = str(path[1])
    model = _model(pairs, update, name)
    if model is Model.OPEN:
        yield Difference("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", path, path, before=name)
    elif isinstance(model, Model):
        never = isinstance(schema.resolved(), Never)
        kind = "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED" if never else "PROPERTY_REMOVED_FROM_CLOSED"
        yield Difference(f"{kind}_CONTENT_MODEL", path, path, before=name)
    else:
        covered = yield from _partly(Below(schema, model[0], path, path, model[1]))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield Difference(f"PROPERTY_REMOVED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, path, model[1], before=name)


def _added(pairs: Pairs, original: Object, update: Object, name: str, schema: Node) -> Rule:
    path: Tokens = ("properties", name)
    model = _model(pairs, original, name)
    demand = _demand(update, name, schema)
    if model is Model.OPEN:
        nothing = demand == "OPTIONAL_PROPERTY" and isinstance(schema.resolved(), (Empty, Always))
        kind = "PROPERTY_WITH_EMPTY_SCHEMA" if nothing else demand
        yield Difference(f"{kind}_ADDED_TO_OPEN_CONTENT_MODEL", path, reader=path, after=name)
        return
    if not isinstance(model, Model):
        covered = yield from _partly(Below(model[0], schema, path, model[1], path))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield Difference(f"PROPERTY_ADDED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, model[1], path, after=name)
    yield Difference(f"{demand}_ADDED_TO_UNOPEN_CONTENT_MODEL", path, reader=path, after=name)


def _partly(below: Below) -> Generator[Item, bool, bool]:
    """Compare with the schema of the content model; its differences count, too."""
    covered = yield Ask(below.original, below.update)
    yield below
    return covered


def _demand(update: Object, name: str, schema: Node) -> str:
    if name not in update.required:
        return "OPTIONAL_PROPERTY"
    return "REQUIRED_PROPERTY_WITH_DEFAULT" if has_default_value(schema) else "REQUIRED_PROPERTY"


def has_default_value(node: Node) -> bool:
    """Return True if a schema, or a reference to it, has a default."""
    if isinstance(node, Reference) and any(one.default is not None for one in node.chain()):
        return True
    return node.resolved().default is not None


def _model(pairs: Pairs, node: Object, name: str) -> tuple[Node, Tokens] | Model:
    new = sum(pattern not in pairs.patterns for pattern in node.pattern_properties)
    pairs.step(1 + len(node.pattern_properties) + new * _COMPILING)
    return object_model(node, name, pairs.patterns)


def _dependencies(original: Object, update: Object) -> Rule:
    """Compare dependent properties and dependent schemas."""
    yield from _dependent_names(original, update)
    before, after = original.schema_dependencies, update.schema_dependencies
    for name in (*before, *(name for name in after if name not in before)):
        path: Tokens = ("dependencies", name)
        writer, reader = _dependency(original, "schemas", name), _dependency(update, "schemas", name)
        if name not in after:
            yield Difference("DEPENDENCY_SCHEMA_REMOVED", path, writer, before=name)
        elif name not in before:
            yield Difference("DEPENDENCY_SCHEMA_ADDED", path, reader=reader, after=name)
        else:
            yield Below(before[name], after[name], path, writer, reader)


def _dependent_names(original: Object, update: Object) -> Rule:
    before, after = original.property_dependencies, update.property_dependencies
    for name in (*before, *(name for name in after if name not in before)):
        path: Tokens = ("dependencies", name)
        writer, reader = _dependency(original, "names", name), _dependency(update, "names", name)
        old, new = (", ".join(sorted(side.get(name, ()))) for side in (before, after))
        if name not in after:
            yield Difference("DEPENDENCY_ARRAY_REMOVED", path, writer, before=old)
        elif name not in before:
            yield Difference("DEPENDENCY_ARRAY_ADDED", path, reader=reader, after=new)
        elif before[name] != after[name]:
            change = (
                "EXTENDED" if before[name] < after[name] else "NARROWED" if before[name] > after[name] else "CHANGED"
            )
            yield Difference(f"DEPENDENCY_ARRAY_{change}", path, writer, reader, old, new)


def _dependency(node: Object, what: str, name: str) -> Tokens:
    return node.words.get(what, "dependencies"), name
