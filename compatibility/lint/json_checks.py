"""Checks of JSON schemas, one function for each rule of ``json_rules.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.parser import JsonSchema, find_meta_schema_error
from contractlog.compatibility.json_schema.reference_resolver import find_at_pointer
from contractlog.compatibility.json_schema.vocabulary import (
    ANNOTATION_KEYWORDS,
    ASSERTING_KEYWORDS,
    CLOSING_KEYWORDS,
    COMBINING_KEYWORDS,
    CONDITIONAL_KEYWORDS,
    DATA_KEYWORDS,
    DEFINITION_KEYWORDS,
    DRAFTS,
    EXCLUSIVE_LIMIT_KEYWORDS,
    IDENTITY_KEYWORDS,
    IGNORED_KEYWORDS,
    ITEM_KEYWORDS,
    KEYWORDS,
    KEYWORDS_BY_TYPE,
    REFERENCE_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    is_meta_schema_uri,
    list_subschemas,
    swap_definition_keywords,
)
from contractlog.compatibility.json_text import Number, canonical_value, join_pointer
from contractlog.compatibility.lint.name_conventions import (
    deviating_names,
    find_close_name,
    join_names,
    list_similar_names,
    names_date,
    names_instant,
    names_money,
    names_uuid,
)
from contractlog.compatibility.lint.rule import Problem, RemoveItems, SetMember

__all__ = ["JsonDocument", "SchemaVisit", "walk_schemas"]

Problems = Iterator[Problem]

_FORMATS: Final = (
    *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"),
    *("uri", "uri-reference", "uri-template", "iri", "iri-reference", "uuid", "json-pointer", "relative-json-pointer"),
    "regex",
)
_OPENAPI_FORMATS: Final = frozenset({"int32", "int64", "float", "double", "byte", "binary", "password", "decimal"})
#: not keywords, but read by OpenAPI and code generators
_OPENAPI_KEYWORDS: Final = frozenset({"discriminator", "example", "externalDocs", "nullable", "xml"})
_BOUNDS: Final = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_LIMITS: Final = ("minimum", "maximum", *EXCLUSIVE_LIMIT_KEYWORDS)
_SUBSCHEMA_KEYWORDS: Final = SCHEMA_KEYWORDS | SCHEMA_LIST_KEYWORDS | SCHEMA_MAP_KEYWORDS | {"items"}
_PARTIAL_KEYWORDS: Final = frozenset(
    {*SAME_VALUE_KEYWORDS, "contains", "dependencies", "dependentSchemas", "propertyNames"}
)
#: keywords by which a schema takes properties or types from elsewhere
_INDIRECT_KEYWORDS: Final = frozenset({*SAME_VALUE_KEYWORDS, *REFERENCE_KEYWORDS})
_EFFECTIVE_KEYWORDS: Final = (ASSERTING_KEYWORDS | _SUBSCHEMA_KEYWORDS) - frozenset(DEFINITION_KEYWORDS)
_SIMPLE_KEYWORDS: Final = ANNOTATION_KEYWORDS | {
    *DATA_KEYWORDS,
    "type",
    "properties",
    "required",
    "additionalProperties",
}
_VALUE_KEYWORDS: Final = frozenset({"enum", "const"})
_TEXT_LIMITS: Final = _VALUE_KEYWORDS | {"format", "pattern"}
#: the keywords whose misspelling matters
_MISSPELLED: Final = sorted(KEYWORDS - IDENTITY_KEYWORDS - ANNOTATION_KEYWORDS - {"default"})
_FRAGMENT: Final = re.compile(r'#(/[^"\\]*)"')
_ANCHOR: Final = re.compile(r"[\^$]|\\[AZzbB]|\A\.\*")
_MOST_BRANCHES: Final = 20  #: of a ``oneOf`` that are compared with each other
_MOST_STEPS: Final = 10  #: references in a row that are followed
_DEFAULT_DRAFT: Final = DRAFTS[2]


@dataclass(frozen=True, slots=True)
class SchemaVisit:
    """A schema within a text."""

    at: str
    value: dict[str, Any]
    keyword: str = ""  #: the keyword that contains it; empty for the root
    name: str = ""  #: its name if it is that of a property
    partial: bool = False  #: adds to another schema of the same value, or tests it


@dataclass(frozen=True)
class JsonDocument:
    """A schema with its subject, its text and all its parts."""

    schema: JsonSchema
    subject: str
    text: str
    visits: Sequence[SchemaVisit] = field(repr=False)

    @cached_property
    def mixins(self) -> frozenset[str]:
        """The pointers of definitions that an ``allOf`` combines with others."""
        references = (visit.value.get("$ref") for visit in self.visits if visit.keyword == "allOf")
        targets = (self.follow(reference) for reference in references if isinstance(reference, str))
        return frozenset(target[0] for target in targets if target is not None)

    @property
    def root(self) -> dict[str, Any]:
        """The outermost schema; empty if it is true or false."""
        return self.schema.value if isinstance(self.schema.value, dict) else {}

    def follow(self, reference: str) -> tuple[str, Any] | None:
        """Return pointer and contents of a reference within the text."""
        for candidate in (reference, *swap_definition_keywords(reference)):
            target = find_at_pointer(self.schema.value, unquote(candidate[1:])) if candidate[:1] == "#" else None
            if target is not None:
                return target
        return None

    def resolve(self, schema: Any) -> dict[str, Any] | None:
        """Return the schema that a ``$ref`` leads to, the schema itself without one, None if it is unknown."""
        for _ in range(_MOST_STEPS):
            if not isinstance(schema, dict):
                return None
            reference = schema.get("$ref")
            if reference is None:
                return schema
            target = self.follow(reference) if isinstance(reference, str) else None
            schema = None if target is None else target[1]
        return None


def walk_schemas(root: Any) -> Iterator[SchemaVisit]:
    """Yield every schema of a text that is an object, in its order."""
    pending = [SchemaVisit("", root)] if isinstance(root, dict) else []
    while pending:
        visit = pending.pop()
        yield visit
        inner: list[SchemaVisit] = []
        for keyword, body in visit.value.items():
            if keyword not in _SUBSCHEMA_KEYWORDS:
                continue
            partial = keyword in _PARTIAL_KEYWORDS or (visit.partial and keyword not in DEFINITION_KEYWORDS)
            for tokens, schema in list_subschemas(keyword, body):
                if isinstance(schema, dict):
                    name = str(tokens[-1]) if keyword == "properties" else ""
                    inner.append(SchemaVisit(join_pointer(visit.at, *tokens), schema, keyword, name, partial))
        pending.extend(reversed(inner))


def _types(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)]


def _members(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _items(schema: dict[str, Any], keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Number():
            return "integer" if value.decimal == value.decimal.to_integral_value() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _has_type(value: Any, types: Sequence[str]) -> bool:
    kind = _type_of(value)
    return kind in types or (kind == "integer" and "number" in types)


def check_draft(document: JsonDocument, _: SchemaVisit) -> Problems:
    if "$schema" in document.root:
        return
    newer = {*IGNORED_KEYWORDS[_DEFAULT_DRAFT.name], "$defs", "$anchor", "$dynamicRef"}
    uses_newer = any(f'"{keyword}"' in document.text for keyword in newer)
    change = SetMember("", "$schema", f'"{_DEFAULT_DRAFT.uri}#"', after=None)
    yield Problem(
        "",
        'the schema does not say which draft of JSON Schema it follows; add "$schema" (without it, draft 7 is assumed)',
        () if uses_newer else (change,),
    )


def check_known_draft(_: JsonDocument, visit: SchemaVisit) -> Problems:
    uri = visit.value["$schema"]
    if not visit.at and isinstance(uri, str) and not is_meta_schema_uri(uri.removesuffix("#")):
        yield Problem(
            "/$schema",
            f"`{uri}` is not the URI of a supported draft, so draft 7 is assumed; the newest is `{DRAFTS[-1].uri}`",
        )


def check_id(document: JsonDocument, _: SchemaVisit) -> Problems:
    keyword = document.schema.draft.id_keyword
    if keyword not in document.root:
        yield Problem("", f'the schema has no "{keyword}", so other schemas can refer to it only by a file name')


def check_description(document: JsonDocument, _: SchemaVisit) -> Problems:
    if not ({"title", "description"} & document.root.keys()):
        yield Problem("", 'the schema has neither "title" nor "description"; say in a sentence what a document is')


def check_required_descriptions(_: JsonDocument, visit: SchemaVisit) -> Problems:
    properties = _members(visit.value, "properties")
    required = [name for name in _items(visit.value, "required") if isinstance(name, str) and name in properties]
    missing = [
        name
        for name in required
        if isinstance(properties[name], dict) and not ({"title", "description", "$ref"} & properties[name].keys())
    ]
    if missing and not visit.partial:
        yield Problem(
            join_pointer(visit.at, "properties", missing[0]),
            f'"description" is missing on {len(missing):,} of {len(required):,} required properties: '
            f"{join_names(missing)}; state unit, origin, and the meaning of null",
        )


def check_content_model(document: JsonDocument, visit: SchemaVisit) -> Problems:
    schema = visit.value
    if visit.partial or _INDIRECT_KEYWORDS & schema.keys() or not _members(schema, "properties"):
        return
    if any(keyword in schema for keyword in CLOSING_KEYWORDS) or visit.at in document.mixins:
        return
    yield Problem(
        visit.at,
        'other properties are allowed, but nothing says that this is meant: set "additionalProperties" to false to '
        "reject misspelled ones, or to true",
    )


def check_type(document: JsonDocument, visit: SchemaVisit) -> Problems:
    schema = visit.value
    if visit.partial or "type" in schema or (_VALUE_KEYWORDS | _INDIRECT_KEYWORDS) & schema.keys():
        return
    keywords = {kind: keywords & schema.keys() for kind, keywords in KEYWORDS_BY_TYPE.items()}
    kind = next((kind for kind, used in keywords.items() if used), None)
    if kind is not None and visit.at not in document.mixins:
        yield Problem(
            visit.at,
            f'without "type": "{kind}", any value of another type is valid, whatever is said of '
            f"{join_names(sorted(keywords[kind]))}; add it",
        )
    elif visit.name and schema and not (schema.keys() - ANNOTATION_KEYWORDS - DATA_KEYWORDS):
        yield Problem(visit.at, f'the property `{visit.name}` has no "type": any value is valid')


def check_format(_: JsonDocument, visit: SchemaVisit) -> Problems:
    name = visit.value["format"]
    if isinstance(name, str) and name not in _FORMATS and name not in _OPENAPI_FORMATS:
        close = find_close_name(name, _FORMATS)
        remedy = f"`{close}` may be meant" if close else "add a pattern if values are to be checked"
        yield Problem(f"{visit.at}/format", f"`{name}` is no format of JSON Schema, so validators ignore it; {remedy}")


def check_keyword_type(_: JsonDocument, visit: SchemaVisit) -> Problems:
    types = {"number" if kind == "integer" else kind for kind in _types(visit.value)}
    by_type = {**KEYWORDS_BY_TYPE, "string": KEYWORDS_BY_TYPE["string"] | _string_formats(visit.value)}
    for kind, keywords in by_type.items():
        useless = sorted(keywords & visit.value.keys()) if types and kind not in types else []
        if useless:
            yield Problem(
                join_pointer(visit.at, useless[0]),
                f"{join_names(useless)}: no effect, as it concerns values of the type {kind}, "
                f'but "type" is {" or ".join(_types(visit.value))}; remove it or correct the type',
            )


def _string_formats(schema: dict[str, Any]) -> frozenset[str]:
    return frozenset({"format"} if schema.get("format") in _FORMATS else ())


def check_keyword_draft(document: JsonDocument, visit: SchemaVisit) -> Problems:
    draft = document.schema.draft
    for keyword in IGNORED_KEYWORDS[draft.name] & visit.value.keys():
        yield Problem(
            join_pointer(visit.at, keyword),
            f'"{keyword}" is no keyword of {draft.name} and has no effect; use another keyword, or another "$schema"',
        )
    foreign = "$id" if draft.id_keyword == "id" else "id"
    if isinstance(visit.value.get(foreign), str) and not visit.at:
        yield Problem(f"/{foreign}", f'in {draft.name} the identifier of a schema is "{draft.id_keyword}"; rename it')


def check_keyword_name(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for keyword in visit.value.keys() - KEYWORDS - _OPENAPI_KEYWORDS:
        close = find_close_name(keyword, _MISSPELLED) if keyword.isidentifier() else None
        if close is not None and close not in visit.value:
            yield Problem(
                join_pointer(visit.at, keyword), f'"{keyword}" is no keyword and has no effect; "{close}" may be meant'
            )


def check_nullable(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if visit.value["nullable"] is True:
        yield Problem(
            f"{visit.at}/nullable",
            '"nullable" belongs to OpenAPI and has no effect in JSON Schema, so null is rejected; add "null" to "type"',
        )


def check_reference_siblings(document: JsonDocument, visit: SchemaVisit) -> Problems:
    siblings = sorted(_EFFECTIVE_KEYWORDS & visit.value.keys() - {"$ref"})
    if document.schema.draft.up_to_7 and siblings and isinstance(visit.value["$ref"], str):
        yield Problem(
            join_pointer(visit.at, siblings[0]),
            f'up to draft 7, keywords beside "$ref" have no effect: {join_names(siblings)}; put the reference and the '
            'rest into an "allOf"',
        )


def check_reference(document: JsonDocument, visit: SchemaVisit) -> Problems:
    reference = visit.value["$ref"]
    is_local = isinstance(reference, str) and reference.startswith("#/") and not document.schema.inner_ids
    if is_local and document.follow(reference) is None:
        yield Problem(f"{visit.at}/$ref", f"`{reference}` does not exist; correct the reference or add a definition")


def check_pattern(_: JsonDocument, visit: SchemaVisit) -> Problems:
    pattern = visit.value["pattern"]
    if isinstance(pattern, str) and not _ANCHOR.search(pattern):
        yield Problem(
            f"{visit.at}/pattern",
            "the pattern has neither ^ nor $, so any text that contains a match is valid; write "
            "^…$ if the whole value is meant",
        )


def check_integer_bounds(_: JsonDocument, visit: SchemaVisit) -> Problems:
    integers = {
        name: schema
        for name, schema in _members(visit.value, "properties").items()
        if isinstance(schema, dict) and "integer" in _types(schema)
    }
    unbounded = [
        name
        for name, schema in integers.items()
        if not (_VALUE_KEYWORDS.union(_LIMITS) & schema.keys()) and schema.get("format") not in {"int32", "int64"}
    ]
    if unbounded and not visit.partial:
        yield Problem(
            join_pointer(visit.at, "properties", unbounded[0]),
            f"{len(unbounded):,} of {len(integers):,} integers have no bounds: {join_names(unbounded)}; readers with "
            '32 or 64 bits cannot hold every value; set "minimum" and "maximum"',
        )


def check_money(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if visit.name and "number" in _types(visit.value) and names_money(visit.name) and "multipleOf" not in visit.value:
        yield Problem(
            visit.at,
            f"the amount of money `{visit.name}` is a number, which most readers round; use an integer of the smallest "
            'unit or a string with a pattern, or at least state the unit by "multipleOf": 0.01',
        )


def check_instant(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if _is_any_text(visit.value) and (names_instant(visit.name) or names_date(visit.name)):
        kind = "date" if names_date(visit.name) else "date-time"
        yield Problem(visit.at, f'the point in time `{visit.name}` may be any text; add "format": "{kind}"')


def check_uuid(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if _is_any_text(visit.value) and names_uuid(visit.name):
        yield Problem(visit.at, f'`{visit.name}` may be any text; add "format": "uuid"')


def _is_any_text(schema: dict[str, Any]) -> bool:
    return "string" in _types(schema) and not _TEXT_LIMITS & schema.keys()


def check_items(_: JsonDocument, visit: SchemaVisit) -> Problems:
    limits = {*ITEM_KEYWORDS, "contains", *_VALUE_KEYWORDS, *_INDIRECT_KEYWORDS}
    if "array" in _types(visit.value) and not visit.partial and not limits & visit.value.keys():
        yield Problem(visit.at, 'the array may hold anything; add "items" with the schema of an item')


def check_enum_types(_: JsonDocument, visit: SchemaVisit) -> Problems:
    kinds = {"number" if kind == "integer" else kind for kind in map(_type_of, _items(visit.value, "enum"))} - {"null"}
    if len(kinds) > 1:
        yield Problem(
            f"{visit.at}/enum",
            f"the enum mixes {' and '.join(sorted(kinds))}, for which many languages have no type; use one type",
        )


def check_value_types(_: JsonDocument, visit: SchemaVisit) -> Problems:
    types = _types(visit.value)
    if not types:
        return
    values: list[tuple[tuple[str | int, ...], Any]]
    values = [(("enum", index), value) for index, value in enumerate(_items(visit.value, "enum"))]
    values += [(("const",), visit.value["const"])] if "const" in visit.value else []
    wrong = [(tokens, value) for tokens, value in values if not _has_type(value, types)]
    if wrong:
        tokens, value = wrong[0]
        yield Problem(
            join_pointer(visit.at, *tokens),
            f'a value of the type {_type_of(value)} can never be valid, as "type" is {" or ".join(types)}; '
            "remove the value or correct the type",
        )


def check_repeated_values(_: JsonDocument, visit: SchemaVisit) -> Problems:
    seen = set[str]()
    repeated: list[int] = []
    for index, value in enumerate(_items(visit.value, "enum")):
        text = canonical_value(value)
        if text in seen:
            repeated.append(index)
        seen.add(text)
    if repeated:
        yield Problem(
            join_pointer(visit.at, "enum", repeated[0]),
            "the enum has a value twice; remove the second one",
            (RemoveItems(f"{visit.at}/enum", indexes=tuple(repeated)),),
        )


def check_default(_: JsonDocument, visit: SchemaVisit) -> Problems:
    default, types = visit.value["default"], _types(visit.value)
    values = {canonical_value(value) for value in _items(visit.value, "enum")}
    if (types and not _has_type(default, types)) or (values and canonical_value(default) not in values):
        yield Problem(f"{visit.at}/default", "the default is not a valid value of its own schema")


def check_bounds(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for least, most in _BOUNDS:
        lower, upper = visit.value.get(least), visit.value.get(most)
        if isinstance(lower, Number) and isinstance(upper, Number) and lower.decimal > upper.decimal:
            yield Problem(
                f"{visit.at}/{most}",
                f'no value is valid: "{most}" {upper.text} is less than "{least}" {lower.text}',
            )


def check_unknown_required(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for index, name in _unknown_required(visit):
        if visit.value.get("additionalProperties") is not False:
            close = find_close_name(name, list(visit.value["properties"]))
            remedy = f"`{close}` may be meant" if close else "describe it, so that its values are checked"
            yield Problem(
                join_pointer(visit.at, "required", index), f'`{name}` is required but not in "properties"; {remedy}'
            )


def check_impossible_required(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for index, name in _unknown_required(visit):
        if visit.value.get("additionalProperties") is False:
            yield Problem(
                join_pointer(visit.at, "required", index),
                f'no object is valid: `{name}` is required, but it is not in "properties" and others are rejected',
            )


def _unknown_required(visit: SchemaVisit) -> Iterator[tuple[int, str]]:
    properties = _members(visit.value, "properties")
    if visit.partial or not properties or (_INDIRECT_KEYWORDS | {"patternProperties"}) & visit.value.keys():
        return
    for index, name in enumerate(_items(visit.value, "required")):
        if isinstance(name, str) and name not in properties:
            yield index, name


def check_one_of(document: JsonDocument, visit: SchemaVisit) -> Problems:
    branches = [document.resolve(branch) for branch in _items(visit.value, "oneOf")[:_MOST_BRANCHES]]
    for (first, schema), (second, other) in combinations(enumerate(branches), 2):
        if schema is not None and other is not None and _may_overlap(document, schema, other):
            yield Problem(
                join_pointer(visit.at, "oneOf", second),
                f'a value may be valid under branches {first + 1} and {second + 1} of the "oneOf", which rejects it; '
                'give each branch a required property with its own "const"',
            )
            return


def _may_overlap(document: JsonDocument, first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if two schemas of types and properties seem to share a value; False if unsure."""
    if not all(_types(schema) and schema.keys() <= _SIMPLE_KEYWORDS for schema in (first, second)):
        return False
    if _are_disjoint(first, second):
        return False
    if {*_types(first), *_types(second)} != {"object"}:
        return True
    properties, other_properties = _members(first, "properties"), _members(second, "properties")
    if not (properties and other_properties):
        return False
    required, other_required = (
        {name for name in _items(schema, "required") if isinstance(name, str)} for schema in (first, second)
    )
    if _rejects_any(second, required) or _rejects_any(first, other_required):
        return False
    inner = (
        (document.resolve(properties.get(name)), document.resolve(other_properties.get(name)))
        for name in required & other_required
    )
    return not any(a is None or b is None or _are_disjoint(a, b) for a, b in inner)


def _rejects_any(schema: dict[str, Any], names: set[str]) -> bool:
    return schema.get("additionalProperties", True) is not True and not names <= _members(schema, "properties").keys()


def _are_disjoint(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if types or values have nothing in common, or if other keywords may keep them apart."""
    values, other_values = _allowed_values(first), _allowed_values(second)
    if values is not None and other_values is not None:
        return values.isdisjoint(other_values)
    types, other_types = (
        {"number" if kind == "integer" else kind for kind in _types(each)} for each in (first, second)
    )
    if types and other_types and types.isdisjoint(other_types):
        return True
    if values is not None or other_values is not None:
        return False
    return not all(schema.keys() <= _SIMPLE_KEYWORDS for schema in (first, second))


def _allowed_values(schema: dict[str, Any]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({canonical_value(schema["const"])})
    return frozenset(map(canonical_value, _items(schema, "enum"))) if "enum" in schema else None


def check_unused_definitions(document: JsonDocument, _: SchemaVisit) -> Problems:
    if not _EFFECTIVE_KEYWORDS & document.root.keys():
        return  # a library of definitions for other schemas
    used = {unquote(match) for match in _FRAGMENT.findall(document.text)}
    used = {"/".join(pointer.split("/")[:3]) for pointer in used}
    for keyword in DEFINITION_KEYWORDS:
        for name, definition in _members(document.root, keyword).items():
            pointers = {pointer[1:] for pointer in swap_definition_keywords("#" + join_pointer("", keyword, name))}
            has_id = isinstance(definition, dict) and any(
                key == "id" or (key.startswith("$") and key != "$ref") for key in definition
            )
            if not has_id and not ({join_pointer("", keyword, name)} | pointers) & used:
                yield Problem(
                    join_pointer("", keyword, name), f"nothing refers to the definition `{name}`; use it or remove it"
                )


def check_property_case(document: JsonDocument, _: SchemaVisit) -> Problems:
    properties = [visit for visit in document.visits if visit.name]
    case, deviating = deviating_names({visit.name: None for visit in properties})
    wrong = frozenset(deviating)
    yield from (
        Problem(visit.at, f"the property `{visit.name}` is not named in {case}, as the others of this schema are")
        for visit in properties
        if visit.name in wrong and not visit.partial and len(properties) > 1
    )


def check_similar_properties(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for first, second in list_similar_names(_members(visit.value, "properties")):
        yield Problem(
            join_pointer(visit.at, "properties", second),
            f"the properties `{first}` and `{second}` differ only in case or separators: Spark and SQL engines take "
            "them for one column; rename one",
        )


def check_key(document: JsonDocument, _: SchemaVisit) -> Problems:
    if document.subject.endswith("-key") and {"object", "array"} & {*_types(document.root)}:
        yield Problem(
            "",
            "the key is an object or array: equal keys may have different bytes (order, spaces), go to different "
            "partitions and escape compaction; use a string",
        )


def check_conditional(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for keyword in CONDITIONAL_KEYWORDS:
        if keyword in visit.value and "if" not in visit.value:
            yield Problem(f"{visit.at}/{keyword}", f'"{keyword}" has no effect without "if"')


def check_single_branch(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for keyword in COMBINING_KEYWORDS[1:]:
        if len(_items(visit.value, keyword)) == 1:
            yield Problem(f"{visit.at}/{keyword}", f'"{keyword}" of a single schema is the same as the schema itself')


def check_validity(document: JsonDocument, _: SchemaVisit) -> Problems:
    error = find_meta_schema_error(document.schema, {})
    if error is not None:
        yield Problem(error.at, f"{error.message}; validators reject the whole schema")
