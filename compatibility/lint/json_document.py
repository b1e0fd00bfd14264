"""A JSON schema as the checks of lint rules see it: subject, text, and a visit for each part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.reference_resolver import find_at_pointer
from contractlog.compatibility.json_schema.vocabulary import (
    DEFINITION_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    list_subschemas,
    swap_definition_keywords,
)
from contractlog.compatibility.json_text import Number, join_pointer

__all__ = [
    "SUBSCHEMA_KEYWORDS",
    "JsonDocument",
    "SchemaVisit",
    "has_type",
    "list_at",
    "list_types",
    "object_at",
    "type_of",
    "walk_schemas",
]

SUBSCHEMA_KEYWORDS: Final = SCHEMA_KEYWORDS | SCHEMA_LIST_KEYWORDS | SCHEMA_MAP_KEYWORDS | {"items"}
_PARTIAL_KEYWORDS: Final = frozenset(
    {*SAME_VALUE_KEYWORDS, "contains", "dependencies", "dependentSchemas", "propertyNames"}
)
_MAX_REFERENCE_CHAIN: Final = 10  #: references in a row that are followed


@dataclass(frozen=True, slots=True)
class SchemaVisit:
    """A schema within a schema text."""

    at: str
    value: dict[str, Any]
    keyword: str = ""  #: the keyword that contains it; empty for the root
    name: str = ""  #: its name if it is that of a property
    partial: bool = False  #: adds to another schema of the same value, or tests it


@dataclass(frozen=True)
class JsonDocument:
    """A schema with its subject, its text and all its parts."""

    schema: JsonSchema
    subject: str
    text: str
    visits: Sequence[SchemaVisit] = field(repr=False)

    @cached_property
    def mixins(self) -> frozenset[str]:
        """The pointers of definitions that an ``allOf`` combines with others."""
        references = (visit.value.get("$ref") for visit in self.visits if visit.keyword == "allOf")
        targets = (self.follow(reference) for reference in references if isinstance(reference, str))
        return frozenset(target[0] for target in targets if target is not None)

    @property
    def root(self) -> dict[str, Any]:
        """The outermost schema; empty if it is true or false."""
        return self.schema.value if isinstance(self.schema.value, dict) else {}

    def follow(self, reference: str) -> tuple[str, Any] | None:
        """Return pointer and contents of a reference within the text."""
        for candidate in (reference, *swap_definition_keywords(reference)):
            target = find_at_pointer(self.schema.value, unquote(candidate[1:])) if candidate[:1] == "#" else None
            if target is not None:
                return target
        return None

    def resolve(self, schema: Any) -> dict[str, Any] | None:
        """Return the schema that a ``$ref`` leads to, the schema itself without one, None if it is unknown."""
        for _ in range(_MAX_REFERENCE_CHAIN):
            if not isinstance(schema, dict):
                return None
            reference = schema.get("$ref")
            if reference is None:
                return schema
            target = self.follow(reference) if isinstance(reference, str) else None
            schema = None if target is None else target[1]
        return None


def walk_schemas(root: Any) -> Iterator[SchemaVisit]:
    """Yield every schema of a schema text that is an object, in its order."""
    pending = [SchemaVisit("", root)] if isinstance(root, dict) else []
    while pending:
        visit = pending.pop()
        yield visit
        inner: list[SchemaVisit] = []
        for keyword, body in visit.value.items():
            if keyword not in SUBSCHEMA_KEYWORDS:
                continue
            partial = keyword in _PARTIAL_KEYWORDS or (visit.partial and keyword not in DEFINITION_KEYWORDS)
            for tokens, schema in list_subschemas(keyword, body):
                if isinstance(schema, dict):
                    name = str(tokens[-1]) if keyword == "properties" else ""
                    inner.append(SchemaVisit(join_pointer(visit.at, *tokens), schema, keyword, name, partial))
        pending.extend(reversed(inner))


def list_types(schema: dict[str, Any]) -> list[str]:
    """Return the names in ``type``."""
    kind = schema.get("type")
    return [each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)]


def object_at(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """Return the value of a keyword if it is an object, else an empty one."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def list_at(schema: dict[str, Any], keyword: str) -> list[Any]:
    """Return the value of a keyword if it is an array, else an empty one."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def type_of(value: Any) -> str:
    """Return the type of a value; 1.0 is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Number():
            return "integer" if value.decimal == value.decimal.to_integral_value() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def has_type(value: Any, types: Sequence[str]) -> bool:
    """Return True if a value has one of the types."""
    kind = type_of(value)
    return kind in types or (kind == "integer" and "number" in types)
