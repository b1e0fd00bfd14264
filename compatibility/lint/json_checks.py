"""Checks of JSON schemas, for ``json_rules.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.parser import find_meta_schema_error
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
    is_meta_schema_uri,
    swap_definition_keywords,
)
from contractlog.compatibility.json_text import Number, canonical_value, join_pointer
from contractlog.compatibility.lint.json_document import (
    SUBSCHEMA_KEYWORDS,
    JsonDocument,
    SchemaVisit,
    has_type,
    list_at,
    list_types,
    object_at,
    type_of,
)
from contractlog.compatibility.lint.name_words import (
    deviating_names,
    find_close_name,
    is_date_name,
    is_instant_name,
    is_money_name,
    is_uuid_name,
    join_names,
    list_similar_names,
)
from contractlog.compatibility.lint.rule import Problem, RemoveItems, SetMember

__all__: list[str] = []  # only the table of rules imports the checks; its rows say what they report

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
#: keywords by which a schema takes properties or types from elsewhere
_INDIRECT_KEYWORDS: Final = frozenset({*SAME_VALUE_KEYWORDS, *REFERENCE_KEYWORDS})
_EFFECTIVE_KEYWORDS: Final = (ASSERTING_KEYWORDS | SUBSCHEMA_KEYWORDS) - frozenset(DEFINITION_KEYWORDS)
_VALUE_KEYWORDS: Final = frozenset({"enum", "const"})
_TEXT_LIMITS: Final = _VALUE_KEYWORDS | {"format", "pattern"}
#: the keywords whose misspelling matters
_MISSPELLED: Final = sorted(KEYWORDS - IDENTITY_KEYWORDS - ANNOTATION_KEYWORDS - {"default"})
_FRAGMENT: Final = re.compile(r'#(/[^"\\]*)"')
_ANCHOR: Final = re.compile(r"[\^$]|\\[AZzbB]|\A\.\*")
_DEFAULT_DRAFT: Final = DRAFTS[2]


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
    properties = object_at(visit.value, "properties")
    required = [name for name in list_at(visit.value, "required") if isinstance(name, str) and name in properties]
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
    if visit.partial or _INDIRECT_KEYWORDS & schema.keys() or not object_at(schema, "properties"):
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
            f"any value that is not of the type {kind} is valid, as {join_names(sorted(keywords[kind]))} say nothing "
            f'about it; add "type": "{kind}"',
        )
    elif visit.name and schema and not (schema.keys() - ANNOTATION_KEYWORDS - DATA_KEYWORDS):
        yield Problem(visit.at, f'the property `{visit.name}` has no "type": any value is valid')


def check_format(_: JsonDocument, visit: SchemaVisit) -> Problems:
    name = visit.value["format"]
    if isinstance(name, str) and name not in _FORMATS and name not in _OPENAPI_FORMATS:
        close = find_close_name(name, _FORMATS)
        remedy = f"`{close}` may be meant" if close else "add a pattern if values are to be checked"
        yield Problem(
            f"{visit.at}/format", f"`{name}` is not a format of JSON Schema, so validators ignore it; {remedy}"
        )


def check_keyword_type(_: JsonDocument, visit: SchemaVisit) -> Problems:
    types = {"number" if kind == "integer" else kind for kind in list_types(visit.value)}
    by_type = {**KEYWORDS_BY_TYPE, "string": KEYWORDS_BY_TYPE["string"] | _string_formats(visit.value)}
    for kind, keywords in by_type.items():
        useless = sorted(keywords & visit.value.keys()) if types and kind not in types else []
        if useless:
            yield Problem(
                join_pointer(visit.at, useless[0]),
                f"{join_names(useless)}: no effect, as it concerns values of the type {kind}, "
                f'but "type" is {" or ".join(list_types(visit.value))}; remove it or correct the type',
            )


def _string_formats(schema: dict[str, Any]) -> frozenset[str]:
    return frozenset({"format"} if schema.get("format") in _FORMATS else ())


def check_keyword_draft(document: JsonDocument, visit: SchemaVisit) -> Problems:
    draft = document.schema.draft
    for keyword in IGNORED_KEYWORDS[draft.name] & visit.value.keys():
        yield Problem(
            join_pointer(visit.at, keyword),
            f'"{keyword}" is not a keyword of {draft.name}, so it has no effect; use another one, or another "$schema"',
        )
    foreign = "$id" if draft.id_keyword == "id" else "id"
    if isinstance(visit.value.get(foreign), str) and not visit.at:
        yield Problem(f"/{foreign}", f'in {draft.name} the identifier of a schema is "{draft.id_keyword}"; rename it')


def check_keyword_name(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for keyword in visit.value.keys() - KEYWORDS - _OPENAPI_KEYWORDS:
        close = find_close_name(keyword, _MISSPELLED) if keyword.isidentifier() else None
        if close is not None and close not in visit.value:
            yield Problem(
                join_pointer(visit.at, keyword),
                f'"{keyword}" is not a keyword and has no effect; "{close}" may be meant',
            )


def check_nullable(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if visit.value["nullable"] is True:
        types = list_types(visit.value)
        remedy = "remove it" if not types or "null" in types else 'so null is rejected; add "null" to "type"'
        yield Problem(
            f"{visit.at}/nullable", f'"nullable" belongs to OpenAPI and has no effect in JSON Schema; {remedy}'
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
        for name, schema in object_at(visit.value, "properties").items()
        if isinstance(schema, dict) and "integer" in list_types(schema)
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
    if (
        visit.name
        and "number" in list_types(visit.value)
        and is_money_name(visit.name)
        and "multipleOf" not in visit.value
    ):
        yield Problem(
            visit.at,
            f"the amount of money `{visit.name}` is a number, which most readers round; use an integer of the smallest "
            'unit or a string with a pattern, or at least state the unit by "multipleOf": 0.01',
        )


def check_instant(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if _is_any_text(visit.value) and (is_instant_name(visit.name) or is_date_name(visit.name)):
        kind = "date" if is_date_name(visit.name) else "date-time"
        yield Problem(visit.at, f'the point in time `{visit.name}` may be any text; add "format": "{kind}"')


def check_uuid(_: JsonDocument, visit: SchemaVisit) -> Problems:
    if _is_any_text(visit.value) and is_uuid_name(visit.name):
        yield Problem(visit.at, f'`{visit.name}` may be any text; add "format": "uuid"')


def _is_any_text(schema: dict[str, Any]) -> bool:
    return "string" in list_types(schema) and not _TEXT_LIMITS & schema.keys()


def check_items(_: JsonDocument, visit: SchemaVisit) -> Problems:
    limits = {*ITEM_KEYWORDS, "contains", *_VALUE_KEYWORDS, *_INDIRECT_KEYWORDS}
    if "array" in list_types(visit.value) and not visit.partial and not limits & visit.value.keys():
        yield Problem(visit.at, 'the array may hold anything; add "items" with the schema of an item')


def check_enum_types(_: JsonDocument, visit: SchemaVisit) -> Problems:
    kinds = {"number" if kind == "integer" else kind for kind in map(type_of, list_at(visit.value, "enum"))} - {"null"}
    if len(kinds) > 1:
        yield Problem(
            f"{visit.at}/enum",
            f"the enum mixes {' and '.join(sorted(kinds))}, for which many languages have no type; use one type",
        )


def check_value_types(_: JsonDocument, visit: SchemaVisit) -> Problems:
    types = list_types(visit.value)
    if not types:
        return
    values: list[tuple[tuple[str | int, ...], Any]]
    values = [(("enum", index), value) for index, value in enumerate(list_at(visit.value, "enum"))]
    values += [(("const",), visit.value["const"])] if "const" in visit.value else []
    wrong = [(tokens, value) for tokens, value in values if not has_type(value, types)]
    if wrong:
        tokens, value = wrong[0]
        yield Problem(
            join_pointer(visit.at, *tokens),
            f'a value of the type {type_of(value)} can never be valid, as "type" is {" or ".join(types)}; '
            "remove the value or correct the type",
        )


def check_repeated_values(_: JsonDocument, visit: SchemaVisit) -> Problems:
    seen = set[str]()
    repeated: list[int] = []
    for index, value in enumerate(list_at(visit.value, "enum")):
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
    default, types = visit.value["default"], list_types(visit.value)
    values = {canonical_value(value) for value in list_at(visit.value, "enum")}
    if (types and not has_type(default, types)) or (values and canonical_value(default) not in values):
        yield Problem(f"{visit.at}/default", "the default is not a valid value of its own schema")


def check_bounds(_: JsonDocument, visit: SchemaVisit) -> Problems:
    for minimum, maximum in _BOUNDS:
        lower, upper = visit.value.get(minimum), visit.value.get(maximum)
        if isinstance(lower, Number) and isinstance(upper, Number) and lower.decimal > upper.decimal:
            yield Problem(
                f"{visit.at}/{maximum}",
                f'no value is valid: "{maximum}" {upper.text} is less than "{minimum}" {lower.text}',
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
    properties = object_at(visit.value, "properties")
    if visit.partial or not properties or (_INDIRECT_KEYWORDS | {"patternProperties"}) & visit.value.keys():
        return
    for index, name in enumerate(list_at(visit.value, "required")):
        if isinstance(name, str) and name not in properties:
            yield index, name


def check_unused_definitions(document: JsonDocument, _: SchemaVisit) -> Problems:
    if not _EFFECTIVE_KEYWORDS & document.root.keys():
        return  # a library of definitions for other schemas
    used = {unquote(match) for match in _FRAGMENT.findall(document.text)}
    used = {"/".join(pointer.split("/")[:3]) for pointer in used}
    for keyword in DEFINITION_KEYWORDS:
        for name, definition in object_at(document.root, keyword).items():
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
    for first, second in list_similar_names(object_at(visit.value, "properties")):
        yield Problem(
            join_pointer(visit.at, "properties", second),
            f"the properties `{first}` and `{second}` differ only in case or separators, which people confuse and SQL "
            "engines may not tell apart; rename one",
        )


def check_key(document: JsonDocument, _: SchemaVisit) -> Problems:
    if document.subject.endswith("-key") and {"object", "array"} & {*list_types(document.root)}:
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
        if len(list_at(visit.value, keyword)) == 1:
            yield Problem(f"{visit.at}/{keyword}", f'"{keyword}" of a single schema is the same as the schema itself')


def check_validity(document: JsonDocument, _: SchemaVisit) -> Problems:
    error = find_meta_schema_error(document.schema, {})
    if error is not None:
        yield Problem(error.at, f"{error.message}; validators reject the whole schema")
