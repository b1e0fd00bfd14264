"""The shapes as JSON: the JSON Schema of an Avro schema, and the document of a value."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

__all__ = ["document", "json_schema"]

PLAIN: Final[dict[str, dict[str, Any]]] = {
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


def json_schema(schema: Any) -> dict[str, Any]:
    """Return the JSON Schema of an Avro schema: closed objects, required fields, unions as anyOf."""
    definitions: dict[str, Any] = {}
    _node(schema, definitions)
    root: dict[str, Any] = definitions.pop(schema["name"])
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": schema["name"]}
    return head | root | ({"definitions": definitions} if definitions else {})


def _node(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, list):
        return {"anyOf": [_node(branch, definitions) for branch in schema]}
    name = schema if isinstance(schema, str) else schema.get("logicalType")
    if name in PLAIN:
        return PLAIN[name]
    if isinstance(schema, str):
        return {"$ref": f"#/definitions/{name}"}
    return _composed(schema, definitions)


def _composed(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    match schema["type"]:
        case "array":
            return {"type": "array", "items": _node(schema["items"], definitions)}
        case "map":
            return {"type": "object", "additionalProperties": _node(schema["values"], definitions)}
        case "enum":
            return {"enum": schema["symbols"]}
    definitions[schema["name"]] = {
        "type": "object",
        "additionalProperties": False,
        "required": [each["name"] for each in schema["fields"] if "default" not in each],
        "properties": {each["name"]: _node(each["type"], definitions) for each in schema["fields"]},
    }
    return {"$ref": f"#/definitions/{schema['name']}"}


def document(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, dict):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list):
        return [document(item) for item in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    return value
