"""JSON Schemas as elements of ODCS and back: a custom property has the keywords without a member."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.avro_elements import TAGS
from contractlog.contracts.odcs.custom_properties import custom_entries, read_custom
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.specification import BLOCKS
from contractlog.contracts.odcs.validator import SCALARS

__all__ = ["build_json_schema", "describe_json_schema"]

KEYWORDS: Final = "jsonSchemaKeywords"  #: custom property with keywords that have no member
TYPE: Final = "jsonSchemaType"  #: custom property with a ``type`` that is no single name; null if there is none
REQUIRED: Final = "jsonSchemaRequired"  #: custom property with a ``required`` that says more than which properties are
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_FORMATS: Final = {"date": "date", "date-time": "timestamp", "time": "time"}
_OPTION_TYPES: Final = ("string", "number", "integer", "object", "array")
_ANNOTATIONS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "title": ("businessName", lambda value: isinstance(value, str)),
    "description": ("description", lambda value: isinstance(value, str)),
    TAGS: ("tags", lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value)),
    "deprecated": ("deprecated", lambda value: isinstance(value, bool)),
}
_UNWRAPPED: Final = "jsonSchemaUnwrapped"
#: keywords for logical types of people's contracts
_DEFAULTS: Final[Mapping[str, dict[str, Any]]] = {
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timestamp": {"type": "string", "format": "date-time"},
    "vector": {"type": "array", "items": {"type": "number"}},
    "map": {"type": "object"},
}


def describe_json_schema(schema: Any) -> dict[str, Any]:
    """Return the schema object of a JSON Schema; one that is no object is its property ``value``."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return {"name": "value", "logicalType": "object"} | {
            "properties": [{"name": "value"} | _describe(schema)],
            **custom_entries({_UNWRAPPED: True}),
        }
    return {"name": "value"} | _describe(schema, is_root=True)


def _describe(schema: Any, *, is_root: bool = False) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {"logicalType": "object", **custom_entries({"jsonSchema": schema})}
    keywords = dict(schema)
    kind = keywords.pop("type", None)
    element, custom = _describe_type(kind, keywords, has_type="type" in schema)
    for keyword, (member, admits) in _ANNOTATIONS.items():
        if keyword in keywords and admits(keywords[keyword]):
            element[member] = keywords.pop(keyword)
    if is_root:
        del element["physicalType"]
    else:
        values = keywords.get("additionalProperties")
        if kind == "object" and isinstance(values, dict) and "properties" not in keywords:
            element["logicalType"] = "map"
        _take_values(element, keywords)
        _take_options(element, keywords)
    _take_inner(element, keywords, custom)
    return element | custom_entries(custom | ({KEYWORDS: keywords} if keywords else {}))


def _describe_type(kind: Any, keywords: Mapping[str, Any], *, has_type: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the logical and the physical type, and what they do not say."""
    if isinstance(kind, str) and kind in _TYPES:
        logical = _FORMATS.get(str(keywords.get("format")), kind) if kind == "string" else kind
        return {"logicalType": "string" if kind == "null" else logical, "physicalType": kind}, {}
    names = [each for each in kind if each in _TYPES and each != "null"] if isinstance(kind, list) else []
    if len(names) == 1:
        logical = names[0]
    else:
        logical = "array" if "items" in keywords and "properties" not in keywords else "object"
    return {"logicalType": logical}, {TYPE: kind if has_type else None}


def _take_values(element: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Move ``enum`` and ``examples`` to an element."""
    values = keywords.get("enum")
    if isinstance(values, list) and values and not any(isinstance(each, dict | list) for each in values):
        texts = {repr(float(each) if type(each) is int and abs(each) < 1 << 53 else each) for each in values}
        if len(texts) == len(values):
            element["enum"] = [{"value": value} for value in keywords.pop("enum")]
    if isinstance(keywords.get("examples"), list):
        element["examples"] = keywords.pop("examples")


def _take_options(element: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Move the keywords to an element that are options of its logical type."""
    kind = element["logicalType"]
    options = {}
    for name, member in BLOCKS[f"options:{kind}"].members.items() if kind in _OPTION_TYPES else ():
        is_option = member.kind in SCALARS and name not in ("format", "required") and name in keywords
        if is_option and SCALARS[member.kind][1](keywords[name], 2):
            options[name] = keywords.pop(name)
    if options:
        element["logicalTypeOptions"] = options


def _take_inner(element: dict[str, Any], keywords: dict[str, Any], custom: dict[str, Any]) -> None:
    """Move the schemas of properties, items and values of a map to an element."""
    properties = keywords.get("properties")
    required = keywords.pop("required", None)
    names = required if isinstance(required, list) else []
    if element["logicalType"] == "array" and isinstance(keywords.get("items"), dict):
        element["items"] = _describe(keywords.pop("items"))
    elif element["logicalType"] == "object" and isinstance(properties, dict):
        inner = keywords.pop("properties")
        element["properties"] = [
            {"name": name, "required": name in names} | _describe(each) for name, each in inner.items()
        ]
    elif element["logicalType"] == "map":
        element["map"] = {"key": {"logicalType": "string"}, "value": _describe(keywords.pop("additionalProperties"))}
    derived = [each["name"] for each in element.get("properties", ()) if each["required"]]
    if required is not None and (
        not derived or not isinstance(required, list) or sorted(map(str, required)) != sorted(derived)
    ):
        custom[REQUIRED] = required


def build_json_schema(element: Mapping[str, Any], path: DocumentPath = ()) -> tuple[Any, list[ContractFinding]]:
    """Return the JSON Schema of a valid schema object, and what it cannot say.

    Args:
        element: the schema object.
        path: its path in the contract.
    """
    findings: list[ContractFinding] = []
    properties = element.get("properties") or []
    if read_custom(element).get(_UNWRAPPED) is True and len(properties) == 1:
        return _build(properties[0], (*path, "properties", 0), findings), findings
    return _build({"logicalType": "object", **element}, path, findings), findings


def _build(element: Mapping[str, Any], path: DocumentPath, findings: list[ContractFinding]) -> Any:
    custom = read_custom(element)
    if "jsonSchema" in custom:
        return custom["jsonSchema"]
    kind, physical = element.get("logicalType"), element.get("physicalType")
    schema: dict[str, Any] = {}
    if TYPE in custom:
        schema = {} if custom[TYPE] is None else {"type": custom[TYPE]}
    elif isinstance(physical, str) and physical in _TYPES:
        schema = {"type": physical}
    elif isinstance(kind, str):
        schema = dict(_DEFAULTS.get(kind, {"type": kind}))
    for keyword, (member, _) in _ANNOTATIONS.items():
        if member in element:
            schema[keyword] = element[member]
    if "enum" in element:
        schema["enum"] = [each.get("value") for each in element["enum"]]
    if "examples" in element:
        schema["examples"] = element["examples"]
    schema |= _build_options(element, path, findings)
    schema |= _build_inner(element, custom, path, findings)
    others = custom.get(KEYWORDS)
    return schema | (others if isinstance(others, dict) else {})


def _build_options(element: Mapping[str, Any], path: DocumentPath, findings: list[ContractFinding]) -> dict[str, Any]:
    kind = element.get("logicalType")
    options = element.get("logicalTypeOptions") or {}
    if kind in _OPTION_TYPES:
        return {name: value for name, value in options.items() if name != "format" or kind == "string"}
    for name in options:
        message = f"is not in the JSON Schema, which has no such keyword for a {kind}"
        findings.append(
            ContractFinding((*path, "logicalTypeOptions", name), ContractCheck.LOST, message, Severity.NOTE)
        )
    return {}


def _build_inner(
    element: Mapping[str, Any], custom: Mapping[str, Any], path: DocumentPath, findings: list[ContractFinding]
) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if "items" in element:
        schema["items"] = _build(element["items"], (*path, "items"), findings)
    if "map" in element:
        schema["additionalProperties"] = _build(element["map"]["value"], (*path, "map", "value"), findings)
    if "properties" in element:
        schema["properties"] = {
            each["name"]: _build(each, (*path, "properties", index), findings)
            for index, each in enumerate(element["properties"])
        }
    required = [each["name"] for each in element.get("properties", ()) if each.get("required") is True]
    if REQUIRED in custom:
        schema["required"] = custom[REQUIRED]
        names = custom[REQUIRED] if isinstance(custom[REQUIRED], list) else []
        for index, each in enumerate(element.get("properties", ())):
            if (each["name"] in names) != (each.get("required") is True):
                message = f"is not what {REQUIRED} says, which counts"
                at = (*path, "properties", index, "required")
                findings.append(ContractFinding(at, ContractCheck.LOST, message, Severity.WARNING))
    elif required:
        schema["required"] = required
    return schema
