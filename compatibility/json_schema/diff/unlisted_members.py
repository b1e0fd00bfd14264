"""Comparison of what is permitted for unlisted members: properties and items that a schema omits.

A schema has an open content model if it permits any unlisted member, a closed one if it permits none, and a partially
open one if unlisted members must be valid under a schema.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum

from contractlog.compatibility.json_schema.diff.pair_walk import (
    CompatibilityQuery,
    KeywordDifference,
    NodePair,
    PatternCache,
    Rule,
    RuleItem,
)
from contractlog.compatibility.json_schema.nodes import AlwaysNode, ArrayNode, NeverNode, ObjectNode, SchemaNode, Tokens

__all__ = [
    "ContentModel",
    "compare_additional_members",
    "compare_partially_open",
    "compare_removed_member",
    "resolve_array_model",
    "resolve_object_model",
]


class ContentModel(Enum):
    """Content model that needs no schema for unlisted members; a partially open one has a schema instead."""

    OPEN = "open"
    CLOSED = "closed"


def resolve_object_model(
    node: ObjectNode, name: str, patterns: PatternCache
) -> tuple[SchemaNode, Tokens] | ContentModel:
    """Return the schema for an unlisted property and the tokens to it, or the content model."""
    for pattern, schema in node.pattern_properties.items():
        if patterns.matches(pattern, name):
            return schema, ("patternProperties", pattern)
    if node.pattern_properties and _permits_all(node.additional) and _permits_all(node.unevaluated):
        return ContentModel.CLOSED
    return _resolve_model(node.additional, "additionalProperties", node.unevaluated, "unevaluatedProperties")


def resolve_array_model(node: ArrayNode) -> tuple[SchemaNode, Tokens] | ContentModel:
    """Return the schema for unlisted items and the tokens to it, or the content model.

    Without a list of items, the keyword for additional items has no effect.
    """
    additional = node.additional if node.listed is not None else None
    return _resolve_model(
        additional, node.keyword_names.get("additional", "additionalItems"), node.unevaluated, "unevaluatedItems"
    )


def _resolve_model(
    additional: SchemaNode | None, keyword: str, unevaluated: SchemaNode | None, unevaluated_keyword: str
) -> tuple[SchemaNode, Tokens] | ContentModel:
    if isinstance(additional, NeverNode):
        return ContentModel.CLOSED
    if additional is not None and not isinstance(additional, AlwaysNode):
        return additional, (keyword,)
    if _permits_all(unevaluated):
        return ContentModel.OPEN
    return (
        ContentModel.CLOSED
        if unevaluated is None or isinstance(unevaluated, NeverNode)
        else (unevaluated, (unevaluated_keyword,))
    )


def _permits_all(node: SchemaNode | None) -> bool:
    return node is None or isinstance(node, AlwaysNode)


def compare_partially_open(pair: NodePair) -> Generator[RuleItem, bool, bool]:
    """Compare a member with the schema of unlisted members; return whether that covers the member.

    The differences between the two schemas are reported, too.
    """
    covered = yield CompatibilityQuery(pair.original, pair.update)
    yield pair
    return covered


def compare_removed_member(
    prefix: str, schema: SchemaNode, model: tuple[SchemaNode, Tokens] | ContentModel, path: Tokens, writer: Tokens
) -> Rule:
    """Compare a member that only the writer lists with the reader's content model.

    Args:
        prefix: prefix of the kinds of differences.
        schema: the writer's schema of the member.
        model: the reader's content model.
        path: the member's path in messages.
        writer: tokens to the member in the writer's schema.
    """
    name = str(path[1])
    if model is ContentModel.OPEN:
        yield KeywordDifference(f"{prefix}_REMOVED_FROM_OPEN_CONTENT_MODEL", path, writer, before=name)
    elif isinstance(model, ContentModel):
        never = "_WITH_FALSE" if isinstance(schema.resolve(), NeverNode) else ""
        yield KeywordDifference(f"{prefix}{never}_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, writer, before=name)
    else:
        covered = yield from compare_partially_open(NodePair(schema, model[0], path, writer, model[1]))
        kind = f"{prefix}_REMOVED_{'IS' if covered else 'NOT'}_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
        yield KeywordDifference(kind, path, writer, model[1], before=name)


def compare_additional_members(
    kind: str, keywords: tuple[str, str], original: SchemaNode | None, update: SchemaNode | None
) -> Rule:
    """Compare whether unlisted members are permitted, and their schema.

    Args:
        kind: prefix of the kinds of differences.
        keywords: the keyword in the original and in the update.
        original: the writer's schema for unlisted members.
        update: the reader's schema for unlisted members.
    """
    path: Tokens = (path_keyword(kind),)
    writer: Tokens = () if original is None else (keywords[0],)
    reader: Tokens = () if update is None else (keywords[1],)
    if isinstance(original, NeverNode) is not isinstance(update, NeverNode):
        change = "ADDED" if isinstance(original, NeverNode) else "REMOVED"
        yield KeywordDifference(f"{kind}_{change}", path, writer, reader)
        return
    before, after = _schema_or_none(original), _schema_or_none(update)
    if before is None and after is not None:
        yield KeywordDifference(f"{kind}_NARROWED", path, writer, reader)
    elif before is not None and after is None:
        yield KeywordDifference(f"{kind}_EXTENDED", path, writer, reader)
    elif before is not None and after is not None:
        yield NodePair(before, after, path, writer, reader)


def path_keyword(kind: str) -> str:
    """Return the keyword used in paths: ``ADDITIONAL_ITEMS`` is ``additionalItems``."""
    first, second = kind.lower().split("_")
    return first + second.title()


def _schema_or_none(node: SchemaNode | None) -> SchemaNode | None:
    return None if isinstance(node, (AlwaysNode, NeverNode)) else node
