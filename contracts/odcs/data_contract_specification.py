"""Contracts of the Data Contract Specification, which ended with version 1.2, as contracts of ODCS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.custom_properties import custom_entries
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.specification import BLOCKS, LATEST, SERVERS
from contractlog.contracts.odcs.validator import SCALARS, is_number

__all__ = ["convert_specification", "is_specification"]

_VERSION: Final = "dataContractSpecification"
_MAX_REFERENCES: Final = 10  #: from a definition to the next
_MAX_DEPTH: Final = 24
_MAX_ELEMENTS: Final = 20_000  #: definitions may be used many times
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("string", "text", "varchar", "bytes", "null"), "string"),
    **dict.fromkeys(("number", "decimal", "numeric", "float", "double"), "number"),
    **dict.fromkeys(("int", "integer", "long", "bigint"), "integer"),
    **dict.fromkeys(("timestamp", "timestamp_tz", "timestamp_ntz"), "timestamp"),
    **dict.fromkeys(("object", "record", "struct"), "object"),
    "boolean": "boolean",
    "date": "date",
    "time": "time",
    "array": "array",
    "map": "map",
}
_FORMATS: Final = {"float": "f32", "double": "f64", "long": "i64", "bigint": "i64", "int": "i32", "integer": "i32"}
_FIELD: Final = {"title": "businessName", "description": "description", "required": "required", "unique": "unique",
                 "primaryKey": "primaryKey", "primary": "primaryKey", "classification": "classification",
                 "tags": "tags", "examples": "examples", "quality": "quality"}  # fmt: skip
_MODEL: Final = {
    "title": "businessName",
    "description": "description",
    "type": "physicalType",
    "tags": "tags",
    "quality": "quality",
}
_INFO: Final = {"title": "name", "version": "version", "status": "status"}
#: members of service levels with the value, in this order, and their unit
_LEVELS: Final = {"percentage": "percent", "threshold": "", "period": "", "interval": "", "cron": "", "time": ""}


def is_specification(document: Mapping[str, Any]) -> bool:
    """Return whether a document is of the Data Contract Specification."""
    return _VERSION in document


def convert_specification(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[ContractFinding]]:
    """Return the contract in ODCS, and a finding for each member that only a custom property can say."""
    converter = _Converter(document)
    return converter.convert(), converter.findings


class _Converter:
    """Converts a document, and gathers what ODCS cannot say."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._elements = 0
        self.findings: list[ContractFinding] = []

    def convert(self) -> dict[str, Any]:
        """Return the contract."""
        document = dict(self._document)
        info = _mapping(document.pop("info", None))
        terms = _mapping(document.pop("terms", None))
        contract: dict[str, Any] = {"apiVersion": LATEST, "kind": "DataContract", "id": document.pop("id", "contract")}
        contract |= {"version": "1.0.0"} | _rename(info, _INFO)
        if isinstance(contract["version"], int | float):
            contract["version"] = str(contract["version"])
        if isinstance(info.get("owner"), str):
            contract["team"] = {"name": info.pop("owner")}
        description = _rename(info, {"description": "purpose"}) | _rename(
            terms, dict.fromkeys(("usage", "limitations"))
        )
        if description:
            contract["description"] = description
        contact = _mapping(info.pop("contact", None))
        if contact:
            channel = str(contact.get("name") or contact.get("email") or contact.get("url"))
            email = {"url": f"mailto:{contact['email']}"} if "email" in contact else {}
            contract["support"] = [{"channel": channel} | email | _rename(contact, {"url": "url"})]
            info |= {f"contact.{name}": each for name, each in contact.items() if name not in ("name", "email")}
        contract |= _rename(document, {"tags": "tags"})
        topic = self._convert_servers(contract, _mapping(document.pop("servers", None)))
        schemas = self._convert_models(_mapping(document.pop("models", None)), topic)
        if schemas:
            contract["schema"] = schemas
        levels = list(self._convert_levels(_mapping(document.pop("servicelevels", None))))
        if levels:
            contract["slaProperties"] = levels
        document.pop("definitions", None)
        document.pop(_VERSION)
        rest = document | {f"info.{name}": value for name, value in info.items()}
        rest |= {f"terms.{name}": value for name, value in terms.items()}
        return contract | self._keep(rest, ())

    def _convert_servers(self, contract: dict[str, Any], servers: Mapping[str, Any]) -> str:
        """Add the servers, and return the topic of the first one that names one."""
        topic = ""
        converted = []
        for name, value in servers.items():
            server = dict(_mapping(value))
            kind = server.pop("type", "custom")
            kind = kind if isinstance(kind, str) and kind in SERVERS else "custom"
            topic = topic or str(server.get("topic", ""))
            members = {**BLOCKS["server"].members, **SERVERS[kind]}
            entry = {"server": name, "type": kind}
            entry |= {each: server.pop(each) for each in list(server) if each in members}
            converted.append(entry | self._keep(server, ("servers", name)))
        if converted:
            contract["servers"] = converted
        return topic

    def _convert_models(self, models: Mapping[str, Any], topic: str) -> list[dict[str, Any]]:
        schemas = []
        for name, value in models.items():
            model, path = dict(_mapping(value)), ("models", name)
            schema: dict[str, Any] = {"name": name, "physicalName": topic if topic and len(models) == 1 else name}
            schema |= {"logicalType": "object"} | _rename(model, _MODEL)
            fields = _mapping(model.pop("fields", None))
            schema["properties"] = self._convert_fields(fields, (*path, "fields"), 0)
            schemas.append(schema | self._keep(model, path))
        return schemas

    def _convert_fields(self, fields: Mapping[str, Any], path: DocumentPath, depth: int) -> list[dict[str, Any]]:
        return [{"name": name} | self._convert_field(each, (*path, name), depth) for name, each in fields.items()]

    def _convert_field(self, value: Any, path: DocumentPath, depth: int) -> dict[str, Any]:
        """Return the element of a field."""
        self._elements += 1
        if depth > _MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            problem = (
                f"is nested deeper than {_MAX_DEPTH}" if depth > _MAX_DEPTH else f"is beyond {_MAX_ELEMENTS:,} fields"
            )
            if self._elements <= _MAX_ELEMENTS + 1:
                self.findings.append(ContractFinding(path, ContractCheck.VALUE, problem))
            return {"logicalType": "string"}
        field = self._resolve(_mapping(value), path)
        kind = str(field.pop("type", "object" if "fields" in field else "string")).lower()
        element: dict[str, Any] = {"logicalType": _TYPES.get(kind, "string")}
        if kind not in _TYPES:
            element["physicalType"] = kind
        element |= _rename(field, _FIELD)
        if "example" in field:
            element.setdefault("examples", []).append(field.pop("example"))
        if isinstance(field.get("enum"), list) and field["enum"]:
            element["enum"] = [{"value": each} for each in field.pop("enum")]
        if isinstance(field.get("references"), str) and SCALARS["reference"][1](field["references"], 2):
            element["relationships"] = [{"type": "foreignKey", "to": field.pop("references")}]
        self._add_options(element, field, kind)
        if element["logicalType"] == "object":
            element["properties"] = self._convert_fields(
                _mapping(field.pop("fields", None)), (*path, "fields"), depth + 1
            )
        if element["logicalType"] == "array":
            element["items"] = self._convert_field(field.pop("items", {}), (*path, "items"), depth + 1)
        if element["logicalType"] == "map":
            inner = {"key": field.pop("keys", {}), "value": field.pop("values", {})}
            element["map"] = {
                name: self._convert_field(each, (*path, f"{name}s"), depth + 1) for name, each in inner.items()
            }
        return element | self._keep(field, path)

    def _add_options(self, element: dict[str, Any], field: dict[str, Any], kind: str) -> None:
        block = BLOCKS.get(f"options:{element['logicalType']}")
        options = {}
        for name, member in block.members.items() if block is not None else ():
            if name in field and member.kind in SCALARS and SCALARS[member.kind][1](field[name], 2):
                options[name] = field.pop(name)
        if element["logicalType"] in ("number", "integer") and kind in _FORMATS:
            options["format"] = _FORMATS[kind]
        if kind == "timestamp_ntz":
            options["timezone"] = False
        if options:
            element["logicalTypeOptions"] = options

    def _resolve(self, field: Mapping[str, Any], path: DocumentPath) -> dict[str, Any]:
        """Return a field with the members of the definitions that it refers to."""
        definitions = _mapping(self._document.get("definitions"))
        merged = dict(field)
        for _ in range(_MAX_REFERENCES):
            reference = merged.pop("$ref", None)
            if reference is None:
                return merged
            name = reference.removeprefix("#/definitions/") if isinstance(reference, str) else ""
            definition = _mapping(definitions.get(name))
            if not definition:
                self.findings.append(
                    ContractFinding(path, ContractCheck.VALUE, f"refers to no definition: {reference}")
                )
                return merged
            merged = {**definition, **merged}
        self.findings.append(ContractFinding(path, ContractCheck.VALUE, "refers to definitions without end"))
        return merged

    def _convert_levels(self, levels: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for name, value in levels.items():
            level, path = dict(_mapping(value)), ("servicelevels", name)
            entry: dict[str, Any] = {"property": name}
            for member, unit in _LEVELS.items():
                if member in level:
                    entry |= _split_duration(level.pop(member), unit)
                    break
            entry.setdefault("value", None)
            yield entry | _rename(level, {"description": "description"}) | self._keep(level, path)

    def _keep(self, members: Mapping[str, Any], path: DocumentPath) -> dict[str, Any]:
        """Return members as custom properties, and report each."""
        for name in members:
            message = "has no equal in ODCS: kept as a custom property"
            self.findings.append(ContractFinding((*path, name), ContractCheck.KEPT, message, Severity.NOTE))
        return custom_entries(members)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _rename(members: dict[str, Any], names: Mapping[str, str | None]) -> dict[str, Any]:
    """Remove members, and return them by other names."""
    return {new or name: members.pop(name) for name, new in names.items() if name in members}


def _split_duration(value: Any, unit: str) -> dict[str, Any]:
    """Return value and unit of a service level, such as ``25h`` or ``99.9%``."""
    if is_number(value):
        return {"value": value} | ({"unit": unit} if unit else {})
    text = str(value)
    if unit == "percent" and re.fullmatch(r"\d+(\.\d+)?%", text):
        return {"value": float(text[:-1]), "unit": unit}
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return {"value": text}
    return {"value": float(parts[1]) if "." in parts[1] else int(parts[1]), "unit": parts[2]}
