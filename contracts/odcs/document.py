"""Contracts as documents: made from a registered version, and turned into one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.contracts.odcs.avro_elements import describe_avro
from contractlog.contracts.odcs.avro_schema import build_avro
from contractlog.contracts.odcs.custom_properties import custom_entries, read_custom
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.json_schema import build_json_schema, describe_json_schema
from contractlog.contracts.odcs.specification import LATEST
from contractlog.contracts.odcs.validator import is_number

__all__ = [
    "SchemaOfContract",
    "build_contract",
    "build_schema",
    "find_topic",
    "list_schemas",
]

SCHEMA_TYPE: Final = "schemaType"  #: custom property of a schema object: AVRO or JSON
PART: Final = "recordPart"  #: custom property of a schema object: key, if it is not that of values
RULE_SET: Final = "confluentRuleSet"
METADATA: Final = "confluentMetadata"
SERVICE_LEVEL: Final = "sla."  #: begins the names of metadata properties with service levels
REFERENCES: Final = "confluentReferences"
_RULE: Final[dict[str, Any]] = dict.fromkeys(
    ("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure"), str
)
_RULES: Final = [_RULE | {"tags": [str], "params": {"*": str}, "disabled": bool}]
_SHAPES: Final[Mapping[str, Any]] = {
    RULE_SET: {"migrationRules": _RULES, "domainRules": _RULES, "encodingRules": _RULES, "enableAt": str},
    METADATA: {"tags": {"*": [str]}, "properties": {"*": str}, "sensitive": [str]},
    REFERENCES: [{"name": str, "subject": str, "version": int}],
}  #: forms of custom properties that are bodies of the API
_MEMBERS: Final = {"contract.id": "id", "contract.version": "version", "contract.status": "status", "domain": "domain"}
#: metadata properties that are members of a contract
_LEVEL: Final = re.compile(r"(-?\d+(?:\.\d+)?)(?: (\S+))?")


@dataclass(frozen=True, slots=True)
class SchemaOfContract:
    """A schema of a contract as it would be registered."""

    draft: SchemaDraft  #: with metadata and rules
    findings: tuple[ContractFinding, ...]  #: what the format of the schema cannot say


def list_schemas(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the schema objects of a contract."""
    schemas = document.get("schema")
    return [each for each in schemas if isinstance(each, dict)] if isinstance(schemas, list) else []


def find_topic(element: Mapping[str, Any]) -> str:
    """Return the topic of a schema object."""
    topic = element.get("physicalName") or element.get("name")
    return topic if isinstance(topic, str) else ""


def build_contract(
    topic: str, draft: SchemaDraft, *, part: str = "value", version: int | None = None
) -> tuple[dict[str, Any], list[ContractFinding]]:
    """Return the contract of a schema with its metadata and rules, and what is left out.

    Args:
        topic: the topic.
        draft: the schema.
        part: value or key.
        version: number of the version that is registered; None if it is not.
    """
    try:
        schema = json.loads(draft.text)
    except (ValueError, RecursionError):
        raise UsageError("the schema is not plain JSON: remove its comments, or flatten it") from None
    element = (describe_json_schema if draft.type is SchemaType.JSON else describe_avro)(schema)
    custom: dict[str, Any] = {SCHEMA_TYPE: draft.type.value} | ({PART: part} if part != "value" else {})
    if draft.references:
        custom[REFERENCES] = [reference.body() for reference in draft.references]
    if draft.rule_set is not None and draft.rule_set.body():
        custom[RULE_SET] = draft.rule_set.body()
    name = topic if element["name"] == "value" else element["name"]
    element |= {"name": name, "physicalName": topic, "physicalType": "topic"}
    document: dict[str, Any] = {"apiVersion": LATEST, "kind": "DataContract", "id": topic, "name": topic}
    document |= {
        "version": "1.0.0" if version is None else str(version),
        "status": "draft" if version is None else "active",
    }
    findings = _add_metadata(document, custom, draft.metadata or Metadata())
    element["customProperties"] = [*element.get("customProperties", []), *custom_entries(custom)["customProperties"]]
    return document | {"schema": [element]}, findings


def _add_metadata(document: dict[str, Any], custom: dict[str, Any], metadata: Metadata) -> list[ContractFinding]:
    """Add what metadata says: to members of the contract if there are any, else to a custom property."""
    rest: dict[str, str] = {}
    levels = []
    secret = sorted(metadata.properties.keys() & set(metadata.sensitive))
    for name, text in metadata.properties.items():
        level = _parse_level(name, text) if name.startswith(SERVICE_LEVEL) else None
        if name in secret:
            continue
        if level is not None:
            levels.append(level)
        elif name in _MEMBERS:
            document[_MEMBERS[name]] = text
        elif name == "owner":
            document["team"] = {"name": text}
        else:
            rest[name] = text
    if levels:
        document["slaProperties"] = levels
    body = Metadata(metadata.tags, rest, metadata.sensitive).body()
    if body:
        custom[METADATA] = body
    message = "is a sensitive property of the metadata, and left out"
    return [ContractFinding(("metadata", name), ContractCheck.LOST, message, Severity.WARNING) for name in secret]


def _parse_level(name: str, text: str) -> dict[str, Any] | None:
    """Return the service level of a metadata property; None if it has another form."""
    short = _LEVEL.fullmatch(text)
    if short is not None:
        value = float(short[1]) if "." in short[1] else int(short[1])
        unit = {"unit": short[2]} if short[2] else {}
        return {"property": name.removeprefix(SERVICE_LEVEL), "value": value} | unit
    try:
        level = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return level if isinstance(level, dict) and "property" in level and "value" in level else None


def build_schema(
    document: Mapping[str, Any], index: int = 0, schema_type: SchemaType | None = None
) -> SchemaOfContract:
    """Return a schema of a valid contract, with owner, service levels, classifications and rules.

    Args:
        document: the contract.
        index: of the schema object.
        schema_type: the format; None: that which the schema object names, or Avro.
    """
    element, path = document["schema"][index], ("schema", index)
    custom = read_custom(element)
    kind = schema_type or (SchemaType.JSON if custom.get(SCHEMA_TYPE) == SchemaType.JSON.value else SchemaType.AVRO)
    own = {SCHEMA_TYPE, PART, *_SHAPES}
    entries = [each for each in element.get("customProperties", ()) if each["property"] not in own]
    stripped = {**element, "customProperties": entries}
    classifications: dict[str, str] = {}
    if kind is SchemaType.JSON:
        schema, findings = build_json_schema(stripped, path)
    else:
        schema, findings, classifications = build_avro(stripped, path)
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    findings += _drop_misshapen(custom, path)
    references = tuple(map(Reference.from_body, custom.get(REFERENCES, ())))
    metadata = _read_metadata(document, custom, classifications)
    rule_set = RuleSet.from_body(custom[RULE_SET]) if RULE_SET in custom else None
    return SchemaOfContract(SchemaDraft(text, kind, references, metadata, rule_set), tuple(findings))


def _drop_misshapen(custom: dict[str, Any], path: DocumentPath) -> Iterator[ContractFinding]:
    """Remove custom properties of ours that do not have the form of the API, and yield a finding for each."""
    for name, shape in _SHAPES.items():
        if name in custom and not _has_shape(custom[name], shape):
            del custom[name]
            at = (*path, "customProperties")
            yield ContractFinding(at, ContractCheck.RULE, f"has a value of {name} that is not of the form of the API")


def _has_shape(value: Any, shape: Any) -> bool:
    """Return whether a value is of a type, or has members or items of the shapes of another value."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has_shape(each, shape[0]) for each in value)
    if isinstance(shape, dict) and "*" in shape:
        return isinstance(value, dict) and all(_has_shape(each, shape["*"]) for each in value.values())
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            name in shape and (each is None or _has_shape(each, shape[name])) for name, each in value.items()
        )
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


def _read_metadata(
    document: Mapping[str, Any], custom: Mapping[str, Any], classifications: Mapping[str, str]
) -> Metadata:
    """Return the metadata of a version that says what a contract says."""
    metadata = Metadata.from_body(custom.get(METADATA, {}))
    properties = dict(metadata.properties)
    properties |= {name: document[member] for name, member in _MEMBERS.items() if member in document}
    owner = _find_owner(document.get("team"))
    if owner:
        properties["owner"] = owner
    properties |= dict(_write_levels(document.get("slaProperties", ())))
    tags = {path: tuple(dict.fromkeys((*metadata.tags.get(path, ()), tag))) for path, tag in classifications.items()}
    return Metadata({**metadata.tags, **tags}, properties, metadata.sensitive)


def _find_owner(team: Any) -> str | None:
    """Return the name of a team; of a list of members, the user name of the owner."""
    if isinstance(team, dict):
        return team.get("name")
    members = [each for each in team or () if str(each.get("role", "")).lower() == "owner"]
    return members[0].get("username") if members else None


def _write_levels(levels: Any) -> Iterator[tuple[str, str]]:
    numbers: dict[str, int] = {}
    for level in levels:
        name = f"{SERVICE_LEVEL}{level['property']}"
        numbers[name] = numbers.get(name, 0) + 1
        text = f"{level['value']} {level.get('unit', '')}".rstrip()
        is_short = level.keys() <= {"property", "value", "unit"} and is_number(level["value"]) and numbers[name] == 1
        is_short = is_short and _parse_level(name, text) == level
        key = name if numbers[name] == 1 else f"{name}.{numbers[name]}"
        yield key, text if is_short else json.dumps(level, ensure_ascii=False)
