"""Content models of objects and arrays for unlisted members: open, closed or partially open."""

from __future__ import annotations

from enum import Enum
from typing import Final

import jsonschema_rs

from contractlog.compatibility.json_schema.nodes import Always, Array, Never, Node, Object, Tokens

__all__ = ["Model", "Patterns", "array_model", "object_model"]

_BACKTRACKING: Final = 100_000
_LONGEST_PATTERN: Final = 1_000


class Model(Enum):
    """A content model without a schema for unlisted members."""

    OPEN = "open"
    CLOSED = "closed"


class Patterns:
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

    def finds(self, pattern: str, name: str) -> bool:
        """Return True if a regular expression matches in a name; an unusable one never does."""
        if pattern not in self._compiled:
            self._compiled[pattern] = _compiled(pattern)
        validator = self._compiled[pattern]
        try:
            return validator is not None and validator.is_valid(name)
        except (ValueError, jsonschema_rs.ValidationError):
            return False


def object_model(node: Object, name: str, patterns: Patterns) -> tuple[Node, Tokens] | Model:
    """Return the schema for an unlisted property and the tokens to it, or the content model."""
    for pattern, schema in node.pattern_properties.items():
        if patterns.finds(pattern, name):
            return schema, ("patternProperties", pattern)
    if node.pattern_properties and _permits(node.additional) and _permits(node.unevaluated):
        return Model.CLOSED
    return _model(node.additional, "additionalProperties", node.unevaluated, "unevaluatedProperties")


def array_model(node: Array) -> tuple[Node, Tokens] | Model:
    """Return the schema for unlisted items and the tokens to it, or the content model.

    Without a list of items, the keyword for additional items has no effect.
    """
    additional = node.additional if node.listed is not None else None
    return _model(additional, node.words.get("additional", "additionalItems"), node.unevaluated, "unevaluatedItems")


def _model(additional: Node | None, word: str, unevaluated: Node | None, later: str) -> tuple[Node, Tokens] | Model:
    if isinstance(additional, Never):
        return Model.CLOSED
    if additional is not None and not isinstance(additional, Always):
        return additional, (word,)
    if _permits(unevaluated):
        return Model.OPEN
    return Model.CLOSED if unevaluated is None or isinstance(unevaluated, Never) else (unevaluated, (later,))


def _permits(node: Node | None) -> bool:
    return node is None or isinstance(node, Always)


def _compiled(pattern: str) -> jsonschema_rs.Validator | None:
    if len(pattern) > _LONGEST_PATTERN:
        return None
    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKING)):
        try:
            return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options, offline=True)
        except (ValueError, jsonschema_rs.ValidationError):
            continue
    return None
