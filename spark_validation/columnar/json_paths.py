"""Places of values in JSON documents, by their schema: named members, other members, and items.

``tags{}`` is any member that the schema does not name. Documents with many keys thus have few fields, and the fields
are the same as those of an Avro map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import jsonschema_rs

__all__ = ["JsonValuePath", "root_path"]

_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ONE: Final = ("if", "then", "else")
_MOST_SCHEMAS: Final = 1000  # applying to one value

ResolvableSchema = tuple[dict[str, Any], jsonschema_rs.Resolver]
"""A schema and the resolver of its references."""


class JsonValuePath:
    """A path of the value, with all schemas that may apply to it."""

    __slots__ = ("_item", "_members", "_named", "_other", "_schemas", "depth", "field", "is_time")

    def __init__(self, path: str, depth: int, schemas: Iterable[ResolvableSchema]) -> None:
        self.field = path
        self.depth = depth  #: number of objects and arrays that enclose the value
        self._schemas = list(_applicable_schemas(schemas))
        self.is_time = any(schema.get("format") == "date-time" for schema, _ in self._schemas)
        self._named = {name for schema, _ in self._schemas for name in _dict_member(schema, "properties")}
        self._members: dict[str, JsonValuePath] = {}
        self._item: JsonValuePath | None = None
        self._other: JsonValuePath | None = None

    def member(self, name: str) -> JsonValuePath:
        """Return the place of an object's member."""
        known = self._members.get(name)
        if known is not None:
            return known
        if name in self._named:
            path = f"{self.field}.{name}" if self.field else name
            made = self._members[name] = JsonValuePath(path, self.depth + 1, self._under("properties", name))
            return made
        if self._other is None:
            words = ("additionalProperties", "unevaluatedProperties")
            found = [(schema[word], resolver) for schema, resolver in self._schemas for word in words if word in schema]
            found += [
                (value, resolver)
                for schema, resolver in self._schemas
                for value in _dict_member(schema, "patternProperties").values()
            ]
            self._other = JsonValuePath(f"{self.field}{{}}", self.depth + 1, found)
        return self._other

    def item(self) -> JsonValuePath:
        """Return the place of an array's items."""
        if self._item is None:
            found: list[tuple[Any, jsonschema_rs.Resolver]] = []
            for schema, resolver in self._schemas:
                for word in ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"):
                    value = schema.get(word)
                    found += [(inner, resolver) for inner in (value if isinstance(value, list) else [value])]
            self._item = JsonValuePath(f"{self.field}[]", self.depth + 1, found)
        return self._item

    def path_of(self, steps: Sequence[str | int]) -> str:
        """Return the path of a value below this place."""
        place = self
        for step in steps:
            place = place.item() if isinstance(step, int) else place.member(step)
        return place.field

    def _under(self, word: str, name: str) -> Iterator[ResolvableSchema]:
        for schema, resolver in self._schemas:
            members = _dict_member(schema, word)
            if name in members:
                yield members[name], resolver


def root_path(schema: Any, resolver: jsonschema_rs.Resolver) -> JsonValuePath:
    """Return the place of a whole document."""
    return JsonValuePath("", 0, [(schema, resolver)])


def _dict_member(schema: dict[str, Any], word: str) -> dict[str, Any]:
    value = schema.get(word)
    return value if isinstance(value, dict) else {}


def _applicable_schemas(schemas: Iterable[ResolvableSchema]) -> Iterator[ResolvableSchema]:
    """Yield the schemas and all others that apply to the same value; each ``$ref`` is followed once."""
    waiting: list[tuple[Any, jsonschema_rs.Resolver]] = list(schemas)
    referred: set[tuple[str, str]] = set()
    for _ in range(_MOST_SCHEMAS):
        if not waiting:
            return
        schema, resolver = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield schema, resolver
        reference = schema.get("$ref")
        if isinstance(reference, str) and (resolver.base_uri, reference) not in referred:
            referred.add((resolver.base_uri, reference))
            try:
                found = resolver.lookup(reference)
            except jsonschema_rs.ReferencingError:
                continue
            waiting.append((found.contents, found.resolver))
        for word in _SAME_VALUE:
            inner = schema.get(word)
            waiting += [(one, resolver) for one in inner] if isinstance(inner, list) else []
        waiting += [(schema[word], resolver) for word in _SAME_VALUE_ONE if word in schema]
