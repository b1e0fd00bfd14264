"""Vocabulary of JSON Schema: its drafts, and its keywords by the kind of their values.

The only place that lists keywords: whatever visits, compares or hashes the parts of a schema takes them from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from referencing import Specification
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

__all__ = [
    "ANNOTATION_KEYWORDS",
    "ASSERTING_KEYWORDS",
    "CLOSING_KEYWORDS",
    "COMBINING_KEYWORDS",
    "CONDITIONAL_KEYWORDS",
    "COUNT_KEYWORDS",
    "DATA_KEYWORDS",
    "DEFINITION_KEYWORDS",
    "DRAFTS",
    "DYNAMIC_REFERENCES",
    "EXCLUSIVE_LIMIT_KEYWORDS",
    "IDENTITY_KEYWORDS",
    "IGNORED_KEYWORDS",
    "ITEM_KEYWORDS",
    "KEYWORDS",
    "KEYWORDS_BY_TYPE",
    "KEYWORDS_NEXT_TO_REF",
    "PERMITTING_KEYWORDS",
    "REFERENCE_KEYWORDS",
    "SAME_VALUE_KEYWORDS",
    "SCHEMA_KEYWORDS",
    "SCHEMA_LIST_KEYWORDS",
    "SCHEMA_MAP_KEYWORDS",
    "TYPES",
    "Draft",
    "detect_draft",
    "is_meta_schema_uri",
    "list_subschemas",
    "swap_definition_keywords",
]


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of JSON Schema."""

    name: str
    uri: str  #: value of ``$schema``, without an empty fragment
    specification: Specification[Any]
    id_keyword: str = "$id"
    up_to_7: bool = False  #: the keywords next to a ``$ref`` do not validate; ``$id`` may be an anchor
    has_prefix_items: bool = (
        False  #: ``prefixItems`` lists items by position, and ``items`` is the schema of the others
    )


DRAFTS: Final = (
    Draft("draft-04", "http://json-schema.org/draft-04/schema", DRAFT4, "id", up_to_7=True),
    Draft("draft-06", "http://json-schema.org/draft-06/schema", DRAFT6, up_to_7=True),
    Draft("draft-07", "http://json-schema.org/draft-07/schema", DRAFT7, up_to_7=True),
    Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", DRAFT201909),
    Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", DRAFT202012, has_prefix_items=True),
)
_DEFAULT_DRAFT: Final = DRAFTS[2]
_DRAFTS_BY_URI: Final = {draft.uri.partition(":")[2]: draft for draft in DRAFTS}

TYPES: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})

# Keywords whose value is a schema, a list of schemas, or a map of schemas by name; ``items`` is one of the first two.
SCHEMA_KEYWORDS: Final = frozenset({
    "additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
SCHEMA_LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_MAP_KEYWORDS: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

# The same keywords by the value that their schemas apply to.
COMBINING_KEYWORDS: Final = ("allOf", "anyOf", "oneOf")
CONDITIONAL_KEYWORDS: Final = ("then", "else")  #: without an ``if`` they have no effect
SAME_VALUE_KEYWORDS: Final = (*COMBINING_KEYWORDS, "not", "if", *CONDITIONAL_KEYWORDS)
ITEM_KEYWORDS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems")
CLOSING_KEYWORDS: Final = ("additionalProperties", "unevaluatedProperties")
DEFINITION_KEYWORDS: Final = ("$defs", "definitions")

# Keywords without subschemas.
DYNAMIC_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")  #: their target depends on where they occur
REFERENCE_KEYWORDS: Final = ("$ref", *DYNAMIC_REFERENCES)
IDENTITY_KEYWORDS: Final = frozenset({"$schema", "$id", "id"})
DATA_KEYWORDS: Final = frozenset({"enum", "const", "default", "examples"})  #: a ``$ref`` in them is plain data
ANNOTATION_KEYWORDS: Final = frozenset(
    {"title", "description", "$comment", "examples", "readOnly", "writeOnly", "deprecated", "$schema"}
)
#: the older parser of the reference implementation reads only these next to a ``$ref``
KEYWORDS_NEXT_TO_REF: Final = IDENTITY_KEYWORDS | {"$ref", "title", "description", "readOnly", "writeOnly"}
COUNT_KEYWORDS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
EXCLUSIVE_LIMIT_KEYWORDS: Final = ("exclusiveMaximum", "exclusiveMinimum")
ASSERTING_KEYWORDS: Final = frozenset({
    *REFERENCE_KEYWORDS, *COUNT_KEYWORDS, *EXCLUSIVE_LIMIT_KEYWORDS, "const", "dependentRequired", "enum", "format",
    "maxContains", "maximum", "minContains", "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
})  # fmt: skip
#: every keyword of a draft; all others are annotations of their authors
KEYWORDS: Final = (
    SCHEMA_KEYWORDS | SCHEMA_LIST_KEYWORDS | SCHEMA_MAP_KEYWORDS | ASSERTING_KEYWORDS | ANNOTATION_KEYWORDS
    | IDENTITY_KEYWORDS | DATA_KEYWORDS
    | {"items", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
    | {"contentEncoding", "contentMediaType", "contentSchema"}
)  # fmt: skip

#: type -> the keywords that are about its values
KEYWORDS_BY_TYPE: Final[Mapping[str, frozenset[str]]] = {
    "object": frozenset({
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "maxProperties",
        "minProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    }),
    "array": frozenset({
        "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "maxItems", "minItems",
        "uniqueItems", "maxContains", "minContains",
    }),
    "number": frozenset({"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"}),
    "string": frozenset({"maxLength", "minLength", "pattern"}),
}  # fmt: skip
_KEYWORDS_SINCE_2019: Final = frozenset(
    {"dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "maxContains", "minContains"}
)
#: draft -> keywords that it ignores
IGNORED_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "draft-04": _KEYWORDS_SINCE_2019 | {"prefixItems", "propertyNames", "contains", "const", "if"},
    "draft-06": _KEYWORDS_SINCE_2019 | {"prefixItems", "if"},
    "draft-07": _KEYWORDS_SINCE_2019 | {"prefixItems"},
    "2019-09": frozenset({"prefixItems", "dependencies"}),
    "2020-12": frozenset({"additionalItems", "dependencies"}),
}
#: keywords that the reference implementation drops since 2019-09 if they permit everything
PERMITTING_KEYWORDS: Final[tuple[tuple[str, Any], ...]] = (("properties", {}), ("patternProperties", {}))

_DEFINITION_PREFIXES: Final = ("#/definitions/", "#/$defs/")


def detect_draft(value: Any) -> Draft:
    """Return the draft that ``$schema`` names; draft 7 if it is absent or unknown."""
    uri = value.get("$schema") if isinstance(value, dict) else None
    if not isinstance(uri, str):
        return _DEFAULT_DRAFT
    return _DRAFTS_BY_URI.get(uri.removesuffix("#").partition(":")[2], _DEFAULT_DRAFT)


def is_meta_schema_uri(uri: str) -> bool:
    """Return True if a URI without fragment is that of a draft's meta-schema."""
    return uri.partition(":")[2] in _DRAFTS_BY_URI


def swap_definition_keywords(reference: str) -> Iterator[str]:
    """Yield the reference with ``definitions`` and ``$defs`` exchanged: either name finds the other."""
    for prefix, replacement in (_DEFINITION_PREFIXES, _DEFINITION_PREFIXES[::-1]):
        if prefix in reference:
            yield reference.replace(prefix, replacement, 1)


def list_subschemas(keyword: str, body: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the schemas in the value of a keyword, each with its pointer tokens from the keyword on."""
    if keyword in SCHEMA_KEYWORDS or (keyword == "items" and not isinstance(body, list)):
        if isinstance(body, (dict, bool)):
            yield (keyword,), body
    elif (keyword in SCHEMA_LIST_KEYWORDS or keyword == "items") and isinstance(body, list):
        yield from (((keyword, index), schema) for index, schema in enumerate(body) if isinstance(schema, (dict, bool)))
    elif keyword in SCHEMA_MAP_KEYWORDS and isinstance(body, dict):
        yield from (((keyword, name), schema) for name, schema in body.items() if isinstance(schema, (dict, bool)))
