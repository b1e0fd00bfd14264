"""Inline constraints of a JSON schema: ``confluent:rules`` of its objects and properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.errors import RuleError
from contractlog.serdes.json_schema.field_rules import JsonAlternatives, list_properties, narrow_type
from contractlog.serdes.json_schema.reference_resolver import Subschema, list_subschemas
from contractlog.serdes.json_schema.schema_preparation import prepare_parsed
from contractlog.serdes.rules.inline_rules import Constraints, ValidationRule, read_validation_rules

__all__ = ["json_constraints"]

_MAX_DEPTH: Final = 200  #: of subschemas within each other, references included
_Applicable = Iterator[tuple[ValidationRule, Any, Any, str]]


def json_constraints(parsed: ParsedSchema) -> Constraints | None:
    """Return the constraints of a schema by value; None if neither it nor a dependency has any.

    Those of an object are about the object, those of a property about its value, unless it is null or missing.
    """
    finder = prepare_parsed(parsed).violation_finder
    if not any(
        read_validation_rules(at.node) for uri, text in finder.texts.items() for at in list_subschemas(uri, text)
    ):
        return None
    return _ConstraintWalk(JsonAlternatives(finder)).list_constraints


class _ConstraintWalk:
    def __init__(self, alternatives: JsonAlternatives) -> None:
        self._alternatives = alternatives

    def list_constraints(self, value: Any) -> _Applicable:
        """Yield the constraints that apply to a value and its parts."""
        return self._visit(self._alternatives.root, value, "$", 0)

    def _visit(self, at: Subschema, value: Any, path: str, depth: int) -> _Applicable:
        if value is None or not isinstance(at.node, dict):
            return
        if depth > _MAX_DEPTH:
            raise RuleError(f"the schema is nested more than {_MAX_DEPTH} levels deep for a value at {path}")
        at = narrow_type(at, value)
        matching = list(self._alternatives.list_matching(at, value))
        for inner in matching:
            yield from self._visit(inner, value, path, depth + 1)
        target = None if matching else self._alternatives.resolve(at)
        if target is not None:
            yield from self._visit(target, value, path, depth + 1)
        elif isinstance(value, Mapping):
            yield from self._visit_object(at, value, path, depth)
        elif isinstance(value, (list, tuple)) and isinstance(at.node.get("items"), dict):
            inner = at.child("items")
            for position, item in enumerate(value):
                yield from self._visit(inner, item, f"{path}[{position}]", depth + 1)

    def _visit_object(self, at: Subschema, value: Mapping[str, Any], path: str, depth: int) -> _Applicable:
        for rule in read_validation_rules(at.node):
            yield rule, at.node, value, path
        for name, inner in list_properties(at):
            member = value.get(name)
            if member is None:
                continue
            for rule in read_validation_rules(inner.node):
                yield rule, inner.node, member, f"{path}.{name}"
            yield from self._visit(inner, member, f"{path}.{name}", depth + 1)
