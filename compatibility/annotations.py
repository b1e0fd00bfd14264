"""Removal of annotations: the parts of a schema that no reader acts on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.json_text import format_decimal, parse_json, write_json
from contractlog.compatibility.schema import ParsedSchema, SchemaType

__all__ = ["strip_annotations"]

_AVRO_MEANINGFUL: Final = frozenset(
    {"type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default", "order"}
    | {"logicalType", "precision", "scale"}
)
_JSON_ANNOTATIONS: Final = frozenset(
    {"title", "description", "$comment", "examples", "readOnly", "writeOnly", "deprecated", "$schema"}
)
_JSON_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_JSON_DATA: Final = frozenset({"enum", "const", "default"})


def strip_annotations(parsed: ParsedSchema) -> str:
    """Return the text of a schema and its references without annotations, with sorted keys.

    Schemas with equal essences read each other in both directions and have the same meaning.
    """
    strip = _STRIPPERS[parsed.type]
    texts = {"": parsed.normalized, **parsed.referenced}
    comments = parsed.type is SchemaType.AVRO
    stripped = {name: strip(parse_json(text, comments=comments)) for name, text in texts.items()}
    return write_json(stripped, lambda number: format_decimal(number.decimal), sort_keys=True)


def _strip_avro(value: Any) -> Any:
    match value:
        case dict():
            members = {key: member for key, member in value.items() if key in _AVRO_MEANINGFUL}
            stripped = {
                key: _strip_avro(members[key]) for key in ("type", "items", "values", "fields") if key in members
            }
            return members | stripped
        case list():
            return [_strip_avro(item) for item in value]
        case _:
            return value


def _strip_json(value: Any) -> Any:
    match value:
        case dict():
            return {key: _strip_member(key, member) for key, member in value.items() if key not in _JSON_ANNOTATIONS}
        case list():
            return [_strip_json(item) for item in value]
        case _:
            return value


def _strip_member(key: str, value: Any) -> Any:
    if key in _JSON_DATA:
        return value
    if key in _JSON_MAPS and isinstance(value, dict):
        return {name: _strip_json(member) for name, member in value.items()}
    return _strip_json(value)


_STRIPPERS: Final[Mapping[SchemaType, Callable[[Any], Any]]] = {
    SchemaType.AVRO: _strip_avro,
    SchemaType.JSON: _strip_json,
}
