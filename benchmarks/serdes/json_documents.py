"""JSON form of the shapes: the JSON Schema of an Avro schema, and the document of a value."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

__all__ = ["create_document", "create_json_schema"]

SIMPLE_TYPES: Final[dict[str, dict[str, Any]]] = {
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "int": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "long": {"type": "integer"},
    "float": {"type": "number"},
    "double": {"type": "number"},
    "string": {"type": "string"},
    "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
    "timestamp-millis": {"type": "string", "format": "date-time", "minLength": 20},
    "date": {"type": "string", "format": "date", "minLength": 10},
    "decimal": {"type": "string", "pattern": "^-?[0-9]+[.][0-9]{2}$"},
}


def create_json_schema(schema: Any) -> dict[str, Any]:
    """Return the JSON Schema of an Avro schema: closed objects, required fields, unions as anyOf."""
    definitions: dict[str, Any] = {}
    _convert_type(schema, definitions)
    root: dict[str, Any] = definitions.pop(schema["name"])
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": schema["name"]}
    return head | root | ({"definitions": definitions} if definitions else {})


def _convert_type(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, list):
        return {"anyOf": [_convert_type(branch, definitions) for branch in schema]}
    name = schema if isinstance(schema, str) else schema.get("logicalType")
    if name in SIMPLE_TYPES:
        return SIMPLE_TYPES[name]
    if isinstance(schema, str):
        return {"$ref": f"#/definitions/{name}"}
    return _convert_complex_type(schema, definitions)


def _convert_complex_type(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    match schema["type"]:
        case "array":
            return {"type": "array", "items": _convert_type(schema["items"], definitions)}
        case "map":
            return {"type": "object", "additionalProperties": _convert_type(schema["values"], definitions)}
        case "enum":
            return {"enum": schema["symbols"]}
    definitions[schema["name"]] = {
        "type": "object",
        "additionalProperties": False,
        "required": [field["name"] for field in schema["fields"] if "default" not in field],
        "properties": {field["name"]: _convert_type(field["type"], definitions) for field in schema["fields"]},
    }
    return {"$ref": f"#/definitions/{schema['name']}"}


def create_document(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, dict):
        return {key: create_document(item) for key, item in value.items()}
    if isinstance(value, list):
        return [create_document(item) for item in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    return value
