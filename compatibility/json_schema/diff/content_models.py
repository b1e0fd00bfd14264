"""Content models of objects and arrays for unlisted members: open, closed or partially open."""

from __future__ import annotations

from enum import Enum
from typing import Final

import jsonschema_rs

from contractlog.compatibility.json_schema.nodes import AlwaysNode, ArrayNode, NeverNode, ObjectNode, SchemaNode, Tokens

__all__ = ["ContentModel", "PatternCache", "resolve_array_model", "resolve_object_model"]

_BACKTRACK_LIMIT: Final = 100_000
_MAX_PATTERN_LENGTH: Final = 1_000


class ContentModel(Enum):
    """A content model without a schema for unlisted members."""

    OPEN = "open"
    CLOSED = "closed"


class PatternCache:
    """Cache of compiled regular expressions for one comparison.

    It has no fixed size: a global cache would, and a schema with one pattern more than that would have each pattern
    compiled again for each name.
    """

    def __init__(self) -> None:
        self._compiled: dict[str, jsonschema_rs.Validator | None] = {}

    def __len__(self) -> int:
        return len(self._compiled)

    def __contains__(self, pattern: str) -> bool:
        return pattern in self._compiled

    def clear(self) -> None:
        """Remove all patterns."""
        self._compiled.clear()

    def matches(self, pattern: str, name: str) -> bool:
        """Return True if a regular expression matches in a name; an unusable one never does."""
        if pattern not in self._compiled:
            self._compiled[pattern] = _compile_pattern(pattern)
        validator = self._compiled[pattern]
        try:
            return validator is not None and validator.is_valid(name)
        except (ValueError, jsonschema_rs.ValidationError):
            return False


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


def _compile_pattern(pattern: str) -> jsonschema_rs.Validator | None:
    if len(pattern) > _MAX_PATTERN_LENGTH:
        return None
    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)):
        try:
            return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options, offline=True)
        except (ValueError, jsonschema_rs.ValidationError):
            continue
    return None
