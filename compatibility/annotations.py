"""Removal of annotations: the parts of a schema that no reader acts on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.json_text import figure, read, write
from contractlog.compatibility.schema import ParsedSchema, SchemaType

__all__ = ["essence"]

_AVRO_READ: Final = frozenset(
    {"type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default", "order"}
    | {"logicalType", "precision", "scale"}
)
_JSON_SAID: Final = frozenset(
    {"title", "description", "$comment", "examples", "readOnly", "writeOnly", "deprecated", "$schema"}
)
_JSON_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_JSON_DATA: Final = frozenset({"enum", "const", "default"})


def essence(parsed: ParsedSchema) -> str:
    """Return the text of a schema and its references without annotations, with sorted keys.

    Schemas with equal essences read each other in both directions and have the same meaning.
    """
    strip = _STRIPPED[parsed.type]
    texts = {"": parsed.normalized, **parsed.referenced}
    comments = parsed.type is SchemaType.AVRO
    stripped = {name: strip(read(text, comments=comments)) for name, text in texts.items()}
    return write(stripped, lambda number: figure(number.decimal), sort_keys=True)


def _avro(value: Any) -> Any:
    match value:
        case dict():
            kept = {word: member for word, member in value.items() if word in _AVRO_READ}
            parts = {word: _avro(kept[word]) for word in ("type", "items", "values", "fields") if word in kept}
            return kept | parts
        case list():
            return [_avro(item) for item in value]
        case _:
            return value


def _json(value: Any) -> Any:
    match value:
        case dict():
            return {word: _member(word, member) for word, member in value.items() if word not in _JSON_SAID}
        case list():
            return [_json(item) for item in value]
        case _:
            return value


def _member(word: str, value: Any) -> Any:
    if word in _JSON_DATA:
        return value
    if word in _JSON_MAPS and isinstance(value, dict):
        return {name: _json(member) for name, member in value.items()}
    return _json(value)


_STRIPPED: Final[Mapping[SchemaType, Callable[[Any], Any]]] = {SchemaType.AVRO: _avro, SchemaType.JSON: _json}
