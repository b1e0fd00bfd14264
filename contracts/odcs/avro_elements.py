"""Avro schemas as elements of ODCS, without loss: custom properties have what ODCS cannot say.

A record has ``properties``, an array ``items`` and a map ``map``. A union of null and a type is that type, not
required; any other union is an object of the physical type ``union``, whose properties are its branches.
``avro_schema.py`` turns elements into schemas again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contractlog.contracts.odcs.custom_properties import custom_entries

__all__ = ["FIELD_MEMBERS", "LOGICAL_TYPES", "PRIMITIVES", "TAGS", "TYPE_MEMBERS", "describe_avro"]

TAGS: Final = "confluent:tags"
PRIMITIVES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "null": ("string", {}),
    "boolean": ("boolean", {}),
    "int": ("integer", {"format": "i32"}),
    "long": ("integer", {"format": "i64"}),
    "float": ("number", {"format": "f32"}),
    "double": ("number", {"format": "f64"}),
    "bytes": ("string", {"format": "binary"}),
    "string": ("string", {}),
    "fixed": ("string", {"format": "binary"}),
    "enum": ("string", {}),
}
"""The logical type of ODCS, and its options, by type of Avro."""

LOGICAL_TYPES: Final[Mapping[tuple[str, str], tuple[str, Mapping[str, Any]]]] = {
    ("bytes", "decimal"): ("number", {}),
    ("fixed", "decimal"): ("number", {}),
    ("string", "uuid"): ("string", {"format": "uuid"}),
    ("int", "date"): ("date", {}),
    ("int", "time-millis"): ("time", {}),
    ("long", "time-micros"): ("time", {}),
    **{("long", f"timestamp-{unit}"): ("timestamp", {"timezone": True}) for unit in ("millis", "micros", "nanos")},
    **{
        ("long", f"local-timestamp-{unit}"): ("timestamp", {"timezone": False})
        for unit in ("millis", "micros", "nanos")
    },
}
"""The logical type of ODCS, and its options, by type and logical type of Avro."""

TYPE_MEMBERS: Final[Mapping[str, str]] = {
    "name": "avroName",
    "namespace": "namespace",
    "doc": "avroDoc",
    "aliases": "avroTypeAliases",
    "logicalType": "avroLogicalType",
    "precision": "precision",
    "scale": "scale",
    "size": "avroSize",
    "symbols": "values",
    "default": "avroEnumDefault",
}
"""Custom properties for members of a type; all others are together in ``avroTypeProperties``."""

FIELD_MEMBERS: Final[Mapping[str, str]] = {"default": "avroDefault", "aliases": "avroAliases", "order": "avroOrder"}
"""Custom properties for members of a field; all others are together in ``avroProperties``."""


def describe_avro(schema: Any) -> dict[str, Any]:
    """Return the schema object of an Avro schema; one that is no record is its property ``value``."""
    if not _is_record(schema) or schema["type"] != "record":
        return {"name": "value", "logicalType": "object"} | {
            "properties": [{"name": "value"} | _describe_slot(schema)],
            **custom_entries({"avroUnwrapped": True}),
        }
    members = dict(schema)
    name = members.pop("name").rpartition(".")[2]
    custom = {} if name == schema["name"] else {"avroName": schema["name"]}
    described = {"name": name, "logicalType": "object"}
    described |= _take_annotations(members)
    return (
        described
        | {"properties": [_describe_field(field) for field in members.pop("fields")]}
        | custom_entries(custom | _gather(members, TYPE_MEMBERS, "avroTypeProperties"))
    )


def _is_record(schema: Any) -> bool:
    """Return whether a type is a record whose fields can be properties."""
    return (
        isinstance(schema, dict)
        and schema.get("type") in ("record", "error")
        and isinstance(schema.get("name"), str)
        and isinstance(schema.get("fields"), list)
        and all(
            isinstance(each, dict) and isinstance(each.get("name"), str) and "type" in each for each in schema["fields"]
        )
    )


def _take_annotations(members: dict[str, Any]) -> dict[str, Any]:
    """Remove documentation and tags from members, and return them as members of ODCS."""
    taken = {}
    if isinstance(members.get("doc"), str):
        taken["description"] = members.pop("doc")
    tags = members.get(TAGS)
    if isinstance(tags, list) and tags and all(isinstance(tag, str) for tag in tags):
        taken["tags"] = members.pop(TAGS)
    return taken


def _gather(members: Mapping[str, Any], names: Mapping[str, str], rest: str) -> dict[str, Any]:
    """Return members by the names of their custom properties, without the type."""
    gathered = {names[name]: value for name, value in members.items() if name in names}
    others = {name: value for name, value in members.items() if name not in names and name not in ("type", "fields")}
    return gathered | ({rest: others} if others else {})


def _describe_field(field: Mapping[str, Any]) -> dict[str, Any]:
    members = dict(field)
    described = {"name": members.pop("name")} | _take_annotations(members)
    kind = members.pop("type")
    slot = _describe_slot(kind)
    if slot.pop("required", True) is False:
        described["required"] = False
        if kind[0] == "null" and "default" not in members:
            slot.setdefault("customProperties", []).append({"property": "avroNoDefault", "value": True})
        elif kind[0] == "null" and members["default"] is None:
            del members["default"]
    else:
        described["required"] = True
    own = custom_entries(_gather(members, FIELD_MEMBERS, "avroProperties")).get("customProperties", [])
    custom = [*slot.pop("customProperties", []), *own]
    return described | slot | ({"customProperties": custom} if custom else {})


def _describe_slot(kind: Any) -> dict[str, Any]:
    """Return the element of a type that may be in a union with null; then it has ``required: false``."""
    if isinstance(kind, list) and len(kind) == 2 and kind.count("null") == 1:  # noqa: PLR2004 - null and a type
        inner = kind[1 - kind.index("null")]
        if not isinstance(inner, list):
            element = _describe_type(inner)
            if kind[1] == "null":
                element.setdefault("customProperties", []).append({"property": "avroNullLast", "value": True})
            return {"required": False} | element
    return _describe_type(kind)


def _describe_type(kind: Any) -> dict[str, Any]:
    if isinstance(kind, str):
        if kind in PRIMITIVES:
            return _describe_scalar(kind, {})
        return {"logicalType": "object", "physicalType": kind, **custom_entries({"avroReference": kind})}
    if isinstance(kind, list):
        branches = [{"name": _label(branch)} | _describe_type(branch) for branch in kind]
        return {"logicalType": "object", "physicalType": "union", "properties": branches}
    if isinstance(kind, dict) and isinstance(kind.get("type"), str):
        element = _describe_object(dict(kind))
        if element is not None:
            return element
    return {"logicalType": "object", "physicalType": "avro", **custom_entries({"avroType": kind})}


def _describe_object(members: dict[str, Any]) -> dict[str, Any] | None:
    """Return the element of a type that is an object with ``type``; None if it has an unusual form."""
    name = members["type"]
    inner: dict[str, Any] = {}
    if _is_record(members):
        inner = {"logicalType": "object", "physicalType": name}
        inner["properties"] = [_describe_field(field) for field in members["fields"]]
    elif name == "array" and "items" in members:
        inner = {"logicalType": "array", "physicalType": name, "items": _describe_slot(members.pop("items"))}
    elif name == "map" and "values" in members:
        value = _describe_slot(members.pop("values"))
        inner = {"logicalType": "map", "physicalType": name, "map": {"key": {"logicalType": "string"}, "value": value}}
    elif name in PRIMITIVES:
        inner = _describe_scalar(name, members)
    else:
        return None
    if "fields" in members and "properties" not in inner:
        return None
    return inner | custom_entries(_gather(members, TYPE_MEMBERS, "avroTypeProperties"))


def _describe_scalar(name: str, members: dict[str, Any]) -> dict[str, Any]:
    logical = members.get("logicalType")
    key = (name, logical if isinstance(logical, str) else "")
    logical_type, options = LOGICAL_TYPES.get(key, PRIMITIVES[name])
    element: dict[str, Any] = {"logicalType": logical_type, "physicalType": name}
    if options:
        element["logicalTypeOptions"] = dict(options)
    if name == "enum" and _are_symbols(members.get("symbols")):
        element["enum"] = [{"value": symbol} for symbol in members.pop("symbols")]
    return element


def _are_symbols(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        return False
    return len(set(value)) == len(value)


def _label(branch: Any) -> str:
    """Return the name of a branch of a union, for people."""
    if isinstance(branch, dict):
        branch = branch.get("name", branch.get("type"))
    return branch if isinstance(branch, str) else "branch"
