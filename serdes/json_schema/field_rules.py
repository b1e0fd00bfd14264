"""Application of rules to the properties of JSON values, whose names are paths, as in ``$.order.id``.

The walk follows ``properties``, ``items``, ``$ref`` and the alternatives that a value matches. It copies the objects
that it changes, so that a caller's value stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.tags import read_tags
from contractlog.serdes.errors import RuleConditionError, RuleError
from contractlog.serdes.json_schema.reference_resolver import Subschema, list_subschemas
from contractlog.serdes.json_schema.schema_preparation import prepare_parsed
from contractlog.serdes.json_schema.violation_finder import ViolationFinder
from contractlog.serdes.rules.context import FieldType, RuleContext
from contractlog.serdes.rules.executors import FieldTransform
from contractlog.serdes.rules.field_rules import FieldRules, has_rule_tag

__all__ = ["JsonAlternatives", "json_field_rules", "list_properties", "narrow_type"]

_MAX_DEPTH: Final = 200  #: of subschemas within each other, references included
_ROOT_PATH: Final = "$"
_ALTERNATIVES: Final = ("allOf", "oneOf", "anyOf")
_TYPES: Final = {
    "array": FieldType.ARRAY,
    "string": FieldType.STRING,
    "integer": FieldType.INT,
    "number": FieldType.DOUBLE,
    "boolean": FieldType.BOOLEAN,
    "null": FieldType.NULL,
}
_LEAVES: Final = frozenset({FieldType.ENUM, FieldType.STRING, FieldType.INT, FieldType.DOUBLE, FieldType.BOOLEAN})
_IS_OF_TYPE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, (list, tuple)),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or _is_whole(value)),
    "number": lambda value: not isinstance(value, bool) and isinstance(value, (int, float)),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def json_field_rules(parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
    """Return the application of rules to the properties of a schema.

    Args:
        parsed: the schema.
        metadata: its metadata, which may have tags by path.
    """
    return FieldRules(_PropertyWalk(prepare_parsed(parsed).violation_finder, metadata).transform, None)


class JsonAlternatives:
    """The parts of a schema that apply to a value."""

    def __init__(self, finder: ViolationFinder) -> None:
        self._finder = finder
        self.root = self._finder.root

    def resolve(self, at: Subschema) -> Subschema | None:
        """Return the target of a schema's ``$ref``; None if it has none."""
        return self._finder.resolve_reference(at) if "$ref" in at.node else None

    def list_matching(self, at: Subschema, value: Any) -> Iterator[Subschema]:
        """Yield all of ``allOf``, else the first match of ``oneOf``, else every match of ``anyOf``."""
        for keyword in _ALTERNATIVES:
            alternatives = at.node.get(keyword)
            if not isinstance(alternatives, list):
                continue
            for index in range(len(alternatives)):
                inner = at.child(keyword, index)
                if keyword == "allOf" or self._admits(inner, value):
                    yield inner
                    if keyword == "oneOf":
                        break
            return

    def _admits(self, at: Subschema, value: Any) -> bool:
        validator = self._finder.find_part(at)
        if validator is None:
            raise RuleError(f"the schema at {at.pointer} is too large to find the alternative that a value matches")
        try:
            return validator.is_valid(value)
        except (ValueError, TypeError):
            return False


class _PropertyWalk:
    """Walk through values along a schema."""

    def __init__(self, finder: ViolationFinder, metadata: Metadata | None) -> None:
        self._alternatives = JsonAlternatives(finder)
        inline = (
            tag for uri, text in finder.texts.items() for at in list_subschemas(uri, text) for tag in read_tags(at.node)
        )
        paths = {} if metadata is None else metadata.tags
        self._tags = {*inline, *(tag for tags in paths.values() for tag in tags)}  #: all tags of the schema

    def transform(self, ctx: RuleContext, field_transform: FieldTransform, message: Any) -> Any:
        """Apply a function to the properties of a value that have a tag of the rule, and return the new value.

        Raises:
            RuleConditionError: the rule is a condition, and the function returned False for a property.
        """
        tags = set(ctx.rule.tags or ())
        if tags and tags.isdisjoint(self._tags):
            return message
        return _Visit(self._alternatives, ctx, field_transform).visit(self._alternatives.root, _ROOT_PATH, message)


class _Visit:
    """One walk through a value, for a rule."""

    def __init__(self, alternatives: JsonAlternatives, ctx: RuleContext, function: FieldTransform) -> None:
        self._alternatives = alternatives
        self._ctx = ctx
        self._function = function
        self._is_condition = ctx.rule.kind == "CONDITION"

    def visit(self, at: Subschema, path: str, value: Any, depth: int = 0) -> Any:
        """Return the new value of a part."""
        if value is None or not isinstance(at.node, dict):
            return value
        if depth > _MAX_DEPTH:
            raise RuleError(f"the schema is nested more than {_MAX_DEPTH} levels deep for a value at {path}")
        at = narrow_type(at, value)
        field = self._ctx.current_field()
        if field is not None:
            field.field_type = find_type(at.node)
        if any(isinstance(at.node.get(keyword), list) for keyword in _ALTERNATIVES):
            for inner in self._alternatives.list_matching(at, value):
                value = self.visit(inner, path, value, depth + 1)
            return self._visit_items(at, path, self._visit_properties(at, path, value, depth), depth)
        if "items" in at.node and isinstance(value, (list, tuple)):
            return self._visit_items(at, path, value, depth)
        target = self._alternatives.resolve(at)
        if target is not None:
            return self.visit(target, path, value, depth + 1)
        if find_type(at.node) is FieldType.RECORD:
            return self._visit_properties(at, path, value, depth)
        return self._apply(value)

    def _apply(self, value: Any) -> Any:
        """Apply the function to the current property if it is a leaf and has one of the tags."""
        field = self._ctx.current_field()
        if field is None or field.field_type not in _LEAVES or not has_rule_tag(self._ctx):
            return value
        result = self._function(self._ctx, field, value)
        if not self._is_condition:
            return result
        if result is False:
            raise RuleConditionError(self._ctx.rule)
        return value

    def _visit_properties(self, at: Subschema, path: str, value: Any, depth: int) -> Any:
        if not isinstance(value, Mapping):
            return value
        members: Any = value if self._is_condition else dict(value)
        for name, inner in list_properties(at):
            if members.get(name) is None:
                continue
            full_name = f"{path}.{name}"
            self._ctx.enter_field(members, full_name, name, find_type(inner.node), read_tags(inner.node))
            try:
                new = self.visit(inner, full_name, members[name], depth + 1)
            finally:
                self._ctx.exit_field()
            if not self._is_condition:
                members[name] = new
        return members

    def _visit_items(self, at: Subschema, path: str, value: Any, depth: int) -> Any:
        items = at.node.get("items")
        if not isinstance(items, dict) or not isinstance(value, (list, tuple)):
            return value
        inner = at.child("items")
        return [self.visit(inner, path, item, depth + 1) for item in value]


def list_properties(at: Subschema) -> Iterator[tuple[str, Subschema]]:
    """Yield the names and schemas of the declared properties."""
    properties = at.node.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        if isinstance(node, dict):
            yield name, at.child("properties", name)


def narrow_type(at: Subschema, value: Any) -> Subschema:
    """Return the schema with the first of its types that a value is of, if it has several."""
    types = at.node.get("type")
    if not isinstance(types, list):
        return at
    for name in types:
        if isinstance(name, str) and _IS_OF_TYPE.get(name, lambda _: False)(value):
            return Subschema(at.uri, at.steps, at.base, {**at.node, "type": name})
    return at


def find_type(node: Mapping[str, Any]) -> FieldType:
    """Return the type of the values of a schema."""
    if node.get("const") is not None or node.get("enum") is not None:
        return FieldType.ENUM
    name = node.get("type")
    if name == "object":
        return FieldType.RECORD if node.get("properties") else FieldType.MAP
    kind = _TYPES.get(name) if isinstance(name, str) else None
    if kind is not None:
        return kind
    return FieldType.NULL if node.get("properties") is None else FieldType.RECORD


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
