"""Avro schemas from schema objects of ODCS, those that ``avro_elements.py`` wrote and those of people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.avro_elements import FIELD_MEMBERS, LOGICAL_TYPES, PRIMITIVES, TAGS, TYPE_MEMBERS
from contractlog.contracts.odcs.custom_properties import read_custom
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath

__all__ = ["build_avro"]

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_INTEGERS: Final = {"i64": "long", "u32": "long", "u64": "long", "i128": "long", "u128": "long"}
#: types for logical types of people's contracts
_DEFAULTS: Final[Mapping[str, Any]] = {
    "string": "string",
    "boolean": "boolean",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "int", "logicalType": "time-millis"},
    "timestamp": {"type": "long", "logicalType": "timestamp-millis"},
    "vector": {"type": "array", "items": "float"},
}
_ABSENT: Final = object()


class _Builder:
    """Builds a schema, and gathers what it cannot say."""

    def __init__(self) -> None:
        self.findings: list[ContractFinding] = []
        self.classifications: dict[str, str] = {}  #: of fields, by their full names
        self._names: set[str] = set()
        self._namespace = ""

    def build_root(self, element: Mapping[str, Any], path: DocumentPath) -> Any:
        """Return the schema of a schema object."""
        custom = read_custom(element)
        properties = element.get("properties") or []
        if custom.get("avroUnwrapped") is True and len(properties) == 1:
            return self._build_slot(properties[0], (*path, "properties", 0), "Value")
        own = custom.pop("avroName", None)
        name = own if isinstance(own, str) else self._make_name(str(element.get("name", "")))
        schema: dict[str, Any] = {"type": "record", "name": name}
        schema |= _annotations(element)
        return schema | self._build_record(element, custom, path, name)

    def _build_record(
        self, element: Mapping[str, Any], custom: dict[str, Any], path: DocumentPath, name: str
    ) -> dict[str, Any]:
        """Return fields and other members of a record; the namespace is that of records inside, too."""
        namespace = custom.get("namespace", self._namespace)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        outer, self._namespace = self._namespace, full.rpartition(".")[0]
        inner = (*path, "properties")
        fields = [
            self._build_field(each, (*inner, index), full) for index, each in enumerate(element.get("properties") or [])
        ]
        self._namespace = outer
        return _read_members(custom, TYPE_MEMBERS, "avroTypeProperties") | {"fields": fields}

    def _build_field(self, element: Mapping[str, Any], path: DocumentPath, parent: str) -> dict[str, Any]:
        custom = read_custom(element)
        name = element["name"]
        if "classification" in element:
            self.classifications[f"{parent}.{name}"] = element["classification"]
        kind = self._build_type(element, custom, path, f"{parent.rpartition('.')[2]}_{name}")
        field = {"name": name, "type": kind} | _annotations(element)
        if element.get("required") is not True and kind != "null" and not isinstance(kind, list):
            is_last = custom.get("avroNullLast") is True
            field["type"] = [kind, "null"] if is_last else ["null", kind]
            if not is_last and custom.get("avroNoDefault") is not True:
                field["default"] = None
        return field | _read_members(custom, FIELD_MEMBERS, "avroProperties")

    def _build_slot(self, element: Mapping[str, Any], path: DocumentPath, name: str) -> Any:
        """Return the type of items, of values of a map, or of a schema that is no record."""
        custom = read_custom(element)
        kind = self._build_type(element, custom, path, name)
        if element.get("required") is not False or isinstance(kind, list):
            return kind
        return [kind, "null"] if custom.get("avroNullLast") is True else ["null", kind]

    def _build_type(self, element: Mapping[str, Any], custom: dict[str, Any], path: DocumentPath, name: str) -> Any:
        """Return the type of an element without null."""
        physical = element.get("physicalType")
        if "avroType" in custom and physical == "avro":
            return custom["avroType"]
        if isinstance(custom.get("avroReference"), str):
            return custom["avroReference"]
        if physical == "union":
            branches = enumerate(element.get("properties") or [])
            inner = (*path, "properties")
            return [
                self._build_type(each, read_custom(each), (*inner, index), f"{name}_{index}")
                for index, each in branches
            ]
        self._note_losses(element, path)
        if isinstance(physical, str) and physical in PRIMITIVES:
            return self._build_scalar(physical, element, custom, path)
        return self._build_nested(element, custom, path, name)

    def _build_nested(self, element: Mapping[str, Any], custom: dict[str, Any], path: DocumentPath, name: str) -> Any:
        """Return the type of an element that may have others inside."""
        physical, logical = element.get("physicalType"), element.get("logicalType")
        members = _read_members(custom, TYPE_MEMBERS, "avroTypeProperties")
        if logical == "array" or "items" in element:
            items = self._build_slot(element.get("items") or {}, (*path, "items"), f"{name}_item")
            return {"type": "array", "items": items} | members
        if logical == "map":
            value = element.get("map", {}).get("value") or {}
            return {
                "type": "map",
                "values": self._build_slot(value, (*path, "map", "value"), f"{name}_value"),
            } | members
        if logical == "object" or "properties" in element:
            own = members.get("name")
            own = own if isinstance(own, str) else self._make_name(name)
            kind = physical if physical in ("record", "error") else "record"
            return {"type": kind, "name": own} | self._build_record(element, custom, path, own)
        return self._build_default(element, custom, path)

    def _build_scalar(
        self, physical: str, element: Mapping[str, Any], custom: dict[str, Any], path: DocumentPath
    ) -> Any:
        members = _read_members(custom, TYPE_MEMBERS, "avroTypeProperties")
        values = [each.get("value") for each in element.get("enum") or []]
        if physical == "enum" and values:
            members["symbols"] = values
        declared, _ = LOGICAL_TYPES.get((physical, str(members.get("logicalType"))), PRIMITIVES[physical])
        if element.get("logicalType", declared) != declared:
            message = f"is {element['logicalType']}, but the physical type {physical} is {declared}: the latter counts"
            finding = ContractFinding((*path, "logicalType"), ContractCheck.LOST, message, Severity.WARNING)
            self.findings.append(finding)
        return {"type": physical} | members if members else physical

    def _build_default(self, element: Mapping[str, Any], custom: dict[str, Any], path: DocumentPath) -> Any:
        """Return the type of an element of a contract that people wrote."""
        logical = element.get("logicalType", "string")
        options = element.get("logicalTypeOptions") or {}
        if logical == "number" and "precision" in custom:
            decimal = {"type": "bytes", "logicalType": "decimal", "precision": custom["precision"]}
            return decimal | {"scale": custom.get("scale", 0)}
        if logical == "number":
            return "float" if options.get("format") == "f32" else "double"
        if logical == "integer":
            return _INTEGERS.get(str(options.get("format")), "int")
        if logical == "timestamp" and options.get("timezone") is False:
            return {"type": "long", "logicalType": "local-timestamp-millis"}
        if logical == "string" and options.get("format") == "uuid":
            return {"type": "string", "logicalType": "uuid"}
        if element.get("enum"):
            self._note((*path, "enum"), "is not in the Avro schema: an enum of Avro has a name and symbols")
        return _DEFAULTS.get(str(logical), "string")

    def _note_losses(self, element: Mapping[str, Any], path: DocumentPath) -> None:
        options = element.get("logicalTypeOptions") or {}
        for name in options.keys() - {"format", "timezone", "defaultTimezone"}:
            self._note((*path, "logicalTypeOptions", name), "is not in the Avro schema; quality rules check it")

    def _note(self, path: DocumentPath, message: str) -> None:
        self.findings.append(ContractFinding(path, ContractCheck.LOST, message, Severity.NOTE))

    def _make_name(self, text: str) -> str:
        """Return a name of Avro that no other type of the schema has."""
        name = re.sub(r"\W", "_", text, flags=re.ASCII)
        name = name if _NAME.fullmatch(name) else f"_{name}"
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name


def build_avro(
    element: Mapping[str, Any], path: DocumentPath = ()
) -> tuple[Any, list[ContractFinding], dict[str, str]]:
    """Return the Avro schema of a valid schema object, what it cannot say, and classifications.

    Classifications are by the full name of a field.

    Args:
        element: the schema object.
        path: its path in the contract.
    """
    builder = _Builder()
    return builder.build_root(element, path), builder.findings, builder.classifications


def _annotations(element: Mapping[str, Any]) -> dict[str, Any]:
    members = {"doc": element.get("description", _ABSENT), TAGS: element.get("tags", _ABSENT)}
    return {name: value for name, value in members.items() if value is not _ABSENT}


def _read_members(custom: Mapping[str, Any], names: Mapping[str, str], rest: str) -> dict[str, Any]:
    """Return the members of a type or field that are in custom properties."""
    members = {name: custom[own] for name, own in names.items() if own in custom}
    others = custom.get(rest)
    return members | (others if isinstance(others, dict) else {})
