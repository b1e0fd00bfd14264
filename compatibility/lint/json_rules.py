"""Rules for JSON schemas: the table of ids, severities, meanings and examples."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.lint import json_checks as checks
from contractlog.compatibility.lint.duplicate_json_keys import check_duplicate_keys
from contractlog.compatibility.lint.one_of_overlap import check_one_of
from contractlog.compatibility.lint.rule import LintRule, Severity

__all__ = ["ANY_SCHEMA", "JSON_LINT_RULES", "ROOT_SCHEMA"]

ANY_SCHEMA: Final = "any schema"  #: kinds of nodes besides keywords and the text
ROOT_SCHEMA: Final = "root schema"


_NEWEST: Final = "https://json-schema.org/draft/2020-12/schema"
_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_NAME: Final = '"name": {"type": "string", "description": "…"}'


def _schema(members: str, draft: str = _NEWEST) -> str:
    return f'{{"$schema": "{draft}", "$id": "https://shop.example/order", "title": "Order", {members}}}'


def _object(properties: str, more: str = "", *, closed: bool = True, draft: str = _NEWEST) -> str:
    """Return the schema of an object, by default without additional properties."""
    members = ['"type": "object"', f'"properties": {{{properties}}}', more, '"additionalProperties": false' * closed]
    return _schema(", ".join(filter(None, members)), draft)


def _property(name: str, members: str) -> str:
    return _object(f'"{name}": {{{members}}}')


def _kind(members: str) -> str:
    """Return a branch of a ``oneOf``: an object with the property ``kind``."""
    properties = f'"properties": {{"kind": {{"description": "Kind of payment.", {members}}}}}'
    return f'{{"type": "object", {properties}, "required": ["kind"], "additionalProperties": false}}'


_ANY: Final = _kind('"type": "string"')
_CARD: Final = _kind('"const": "card"')
_CASH: Final = _kind('"const": "cash"')

JSON_LINT_RULES: Final = (
    LintRule(
        "LINT_JSON_DRAFT_MISSING",
        Severity.WARNING,
        "The schema does not name its draft",
        (ROOT_SCHEMA,),
        checks.check_draft,
        bad='{"$id": "https://shop.example/note", "title": "Note", "type": "string"}',
        at="",
        good=f'{{"$schema": "{_DRAFT_7}", "$id": "https://shop.example/note", "title": "Note", "type": "string"}}',
        fix='add the "$schema" of draft 7, which is assumed, unless a keyword belongs to a later draft',
    ),
    LintRule(
        "LINT_JSON_DRAFT_UNKNOWN",
        Severity.WARNING,
        "The schema names a draft that does not exist, so draft 7 is assumed",
        ("$schema",),
        checks.check_known_draft,
        bad=_schema('"type": "string"', "http://json-schema.org/schema"),
        at="/$schema",
        good=_schema('"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_SCHEMA_INVALID",
        Severity.ERROR,
        "The schema is rejected by the meta-schema of its draft",
        (ROOT_SCHEMA,),
        checks.check_validity,
        bad=_schema('"type": "text"'),
        at="/type",
        good=_schema('"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_ID_MISSING",
        Severity.NOTE,
        "The schema has no identifier",
        (ROOT_SCHEMA,),
        checks.check_id,
        bad=_schema('"type": "string"').replace('"$id": "https://shop.example/order", ', ""),
        at="",
        good=_schema('"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_DESCRIPTION_MISSING",
        Severity.NOTE,
        "The schema has neither title nor description",
        (ROOT_SCHEMA,),
        checks.check_description,
        bad=_schema('"type": "string"').replace('"title": "Order", ', ""),
        at="",
        good=_schema('"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_REQUIRED_DESCRIPTION_MISSING",
        Severity.NOTE,
        "Required properties have no description; one finding for each object",
        ("required",),
        checks.check_required_descriptions,
        bad=_object('"id": {"type": "string"}', '"required": ["id"]'),
        at="/properties/id",
        good=_object('"id": {"type": "string", "description": "Number of the order."}', '"required": ["id"]'),
    ),
    LintRule(
        "LINT_JSON_PROPERTY_NAME_CASE",
        Severity.WARNING,
        "The properties of a schema are named in several cases",
        (ROOT_SCHEMA,),
        checks.check_property_case,
        bad=_object('"shipTo": {"type": "string"}, "paidBy": {"type": "string"}, "paid_with": {"type": "string"}'),
        at="/properties/paid_with",
        good=_object('"shipTo": {"type": "string"}, "paidBy": {"type": "string"}, "paidWith": {"type": "string"}'),
    ),
    LintRule(
        "LINT_JSON_PROPERTY_NAMES_SIMILAR",
        Severity.WARNING,
        "Two properties of an object differ only in case or separators",
        ("properties",),
        checks.check_similar_properties,
        bad=_object('"postcode": {"type": "string"}, "post_code": {"type": "string"}'),
        at="/properties/post_code",
        good=_object('"postcode": {"type": "string"}, "old_postcode": {"type": "string"}'),
    ),
    LintRule(
        "LINT_JSON_TYPE_MISSING",
        Severity.WARNING,
        "A schema limits values of one type but does not require it, or a property has no type",
        (ANY_SCHEMA,),
        checks.check_type,
        bad=_property("name", '"minLength": 1'),
        at="/properties/name",
        good=_property("name", '"type": "string", "minLength": 1'),
    ),
    LintRule(
        "LINT_JSON_ADDITIONAL_PROPERTIES_UNDECIDED",
        Severity.NOTE,
        "An object does not say whether it allows other properties",
        ("properties",),
        checks.check_content_model,
        bad=_object('"name": {"type": "string"}', closed=False),
        at="",
        good=_property("name", '"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_REQUIRED_UNKNOWN",
        Severity.WARNING,
        "A required property is not described",
        ("required",),
        checks.check_unknown_required,
        bad=_object('"name": {"type": "string"}', '"required": ["nmae"], "additionalProperties": true', closed=False),
        at="/required/0",
        good=_object(_NAME, '"required": ["name"], "additionalProperties": true', closed=False),
    ),
    LintRule(
        "LINT_JSON_REQUIRED_IMPOSSIBLE",
        Severity.ERROR,
        "A required property is not allowed, so no object is valid",
        ("required",),
        checks.check_impossible_required,
        bad=_object('"name": {"type": "string"}', '"required": ["nmae"]'),
        at="/required/0",
        good=_object(_NAME, '"required": ["name"]'),
    ),
    LintRule(
        "LINT_JSON_ITEMS_MISSING",
        Severity.WARNING,
        "An array does not describe its items",
        ("type",),
        checks.check_items,
        bad=_property("lines", '"type": "array"'),
        at="/properties/lines",
        good=_property("lines", '"type": "array", "items": {"type": "string"}'),
    ),
    LintRule(
        "LINT_JSON_INTEGER_UNBOUNDED",
        Severity.NOTE,
        "Integers have no bounds; one finding for each object",
        ("properties",),
        checks.check_integer_bounds,
        bad=_property("pieces", '"type": "integer"'),
        at="/properties/pieces",
        good=_property("pieces", '"type": "integer", "minimum": 1, "maximum": 9999'),
    ),
    LintRule(
        "LINT_JSON_MONEY_NUMBER",
        Severity.WARNING,
        "An amount of money is a number, which rounds",
        ("type",),
        checks.check_money,
        bad=_property("unitPrice", '"type": "number"'),
        at="/properties/unitPrice",
        good=_property("unitPrice", '"type": "string", "pattern": "^[0-9]+\\\\.[0-9]{2}$"'),
    ),
    LintRule(
        "LINT_JSON_TIMESTAMP_FORMAT_MISSING",
        Severity.NOTE,
        "A point in time is a string without a format",
        ("type",),
        checks.check_instant,
        bad=_property("createdAt", '"type": "string"'),
        at="/properties/createdAt",
        good=_property("createdAt", '"type": "string", "format": "date-time"'),
    ),
    LintRule(
        "LINT_JSON_UUID_FORMAT_MISSING",
        Severity.NOTE,
        "A UUID is a string without a format",
        ("type",),
        checks.check_uuid,
        bad=_property("orderUuid", '"type": "string"'),
        at="/properties/orderUuid",
        good=_property("orderUuid", '"type": "string", "format": "uuid"'),
    ),
    LintRule(
        "LINT_JSON_FORMAT_UNKNOWN",
        Severity.WARNING,
        "A format does not exist, so nothing checks it",
        ("format",),
        checks.check_format,
        bad=_property("sent", '"type": "string", "format": "datetime"'),
        at="/properties/sent/format",
        good=_property("sent", '"type": "string", "format": "date-time"'),
    ),
    LintRule(
        "LINT_JSON_PATTERN_UNANCHORED",
        Severity.WARNING,
        "A pattern has no anchor, so any text that contains a match is valid",
        ("pattern",),
        checks.check_pattern,
        bad=_property("code", '"type": "string", "pattern": "[A-Z]{3}"'),
        at="/properties/code/pattern",
        good=_property("code", '"type": "string", "pattern": "^[A-Z]{3}$"'),
    ),
    LintRule(
        "LINT_JSON_ENUM_MIXED_TYPES",
        Severity.WARNING,
        "The values of an enum have several types",
        ("enum",),
        checks.check_enum_types,
        bad=_property("size", '"enum": ["S", "M", 42]'),
        at="/properties/size/enum",
        good=_property("size", '"enum": ["S", "M", "42"]'),
    ),
    LintRule(
        "LINT_JSON_ENUM_REPEATED",
        Severity.WARNING,
        "An enum has a value twice",
        ("enum",),
        checks.check_repeated_values,
        bad=_property("size", '"enum": ["S", "M", "S"]'),
        at="/properties/size/enum/2",
        good=_property("size", '"enum": ["S", "M"]'),
        fix="remove the second one",
    ),
    LintRule(
        "LINT_JSON_VALUE_IMPOSSIBLE",
        Severity.ERROR,
        "A value of enum or const does not have the type that is required",
        ("type",),
        checks.check_value_types,
        bad=_property("size", '"type": "string", "enum": ["S", "M", null]'),
        at="/properties/size/enum/2",
        good=_property("size", '"type": ["string", "null"], "enum": ["S", "M", null]'),
    ),
    LintRule(
        "LINT_JSON_BOUNDS_IMPOSSIBLE",
        Severity.ERROR,
        "A lower bound exceeds the upper one, so no value is valid",
        (ANY_SCHEMA,),
        checks.check_bounds,
        bad=_property("pieces", '"type": "integer", "minimum": 10, "maximum": 1'),
        at="/properties/pieces/maximum",
        good=_property("pieces", '"type": "integer", "minimum": 1, "maximum": 10'),
    ),
    LintRule(
        "LINT_JSON_DEFAULT_INVALID",
        Severity.WARNING,
        "A default is not valid under its own schema",
        ("default",),
        checks.check_default,
        bad=_property("giftWrap", '"type": "boolean", "default": "false"'),
        at="/properties/giftWrap/default",
        good=_property("giftWrap", '"type": "boolean", "default": false'),
    ),
    LintRule(
        "LINT_JSON_ONE_OF_AMBIGUOUS",
        Severity.WARNING,
        "A value may be valid under two branches of a oneOf, which rejects it",
        ("oneOf",),
        check_one_of,
        bad=_schema(f'"oneOf": [{_ANY}, {_ANY}]'),
        at="/oneOf/1",
        good=_schema(f'"oneOf": [{_CARD}, {_CASH}]'),
    ),
    LintRule(
        "LINT_JSON_COMBINATION_SINGLE",
        Severity.NOTE,
        "A oneOf or anyOf has a single branch",
        (ANY_SCHEMA,),
        checks.check_single_branch,
        bad=_property("note", '"oneOf": [{"type": "string"}]'),
        at="/properties/note/oneOf",
        good=_property("note", '"type": "string"'),
    ),
    LintRule(
        "LINT_JSON_REFERENCE_UNRESOLVED",
        Severity.ERROR,
        "A reference leads to a definition that the schema lacks",
        ("$ref",),
        checks.check_reference,
        bad=_schema('"$ref": "#/$defs/Order"'),
        at="/$ref",
        good=_schema('"$ref": "#/$defs/Order", "$defs": {"Order": {"type": "string"}}'),
    ),
    LintRule(
        "LINT_JSON_REFERENCE_SIBLINGS",
        Severity.ERROR,
        "Keywords are beside a reference, where drafts up to 7 ignore them",
        ("$ref",),
        checks.check_reference_siblings,
        bad=_object(
            '"to": {"$ref": "#/definitions/Name", "minLength": 1}',
            '"definitions": {"Name": {"type": "string"}}',
            draft=_DRAFT_7,
        ),
        at="/properties/to/minLength",
        good=_object(
            '"to": {"allOf": [{"$ref": "#/definitions/Name"}, {"minLength": 1}]}',
            '"definitions": {"Name": {"type": "string"}}',
            draft=_DRAFT_7,
        ),
    ),
    LintRule(
        "LINT_JSON_DEFINITION_UNUSED",
        Severity.WARNING,
        "Nothing refers to a definition",
        (ROOT_SCHEMA,),
        checks.check_unused_definitions,
        bad=_schema('"type": "string", "$defs": {"Name": {"type": "string"}}'),
        at="/$defs/Name",
        good=_schema('"$ref": "#/$defs/Name", "$defs": {"Name": {"type": "string"}}'),
    ),
    LintRule(
        "LINT_JSON_KEYWORD_UNKNOWN",
        Severity.ERROR,
        "A keyword seems to be misspelled, and has no effect",
        (ANY_SCHEMA,),
        checks.check_keyword_name,
        bad=_object('"name": {"type": "string"}', '"requred": ["name"]'),
        at="/requred",
        good=_object(_NAME, '"required": ["name"]'),
    ),
    LintRule(
        "LINT_JSON_KEYWORD_OF_OTHER_DRAFT",
        Severity.WARNING,
        "A keyword belongs to another draft, and has no effect",
        (ANY_SCHEMA,),
        checks.check_keyword_draft,
        bad=_schema('"type": "array", "prefixItems": [{"type": "string"}]', _DRAFT_7),
        at="/prefixItems",
        good=_schema('"type": "array", "prefixItems": [{"type": "string"}]'),
    ),
    LintRule(
        "LINT_JSON_KEYWORD_OF_OTHER_TYPE",
        Severity.WARNING,
        "A keyword applies to values of another type, and has no effect",
        ("type",),
        checks.check_keyword_type,
        bad=_property("pieces", '"type": "integer", "minimum": 1, "maxLength": 4'),
        at="/properties/pieces/maxLength",
        good=_property("pieces", '"type": "integer", "minimum": 1, "maximum": 9999'),
    ),
    LintRule(
        "LINT_JSON_CONDITION_MISSING",
        Severity.ERROR,
        "A then or else without an if has no effect",
        (ANY_SCHEMA,),
        checks.check_conditional,
        bad=_schema('"type": "string", "then": {"minLength": 1}'),
        at="/then",
        good=_schema('"type": "string", "if": {"pattern": "^[0-9]"}, "then": {"minLength": 1}'),
    ),
    LintRule(
        "LINT_JSON_NULLABLE",
        Severity.WARNING,
        "The keyword nullable of OpenAPI has no effect",
        ("nullable",),
        checks.check_nullable,
        bad=_property("note", '"type": "string", "nullable": true'),
        at="/properties/note/nullable",
        good=_property("note", '"type": ["string", "null"]'),
    ),
    LintRule(
        "LINT_JSON_KEY_COMPOSITE",
        Severity.WARNING,
        "The key of a topic is an object or array, whose bytes may differ for equal values",
        (ROOT_SCHEMA,),
        checks.check_key,
        bad=_property("name", '"type": "string"'),
        at="",
        good=_schema('"type": "string"'),
        subject="orders-key",
    ),
    LintRule(
        "LINT_JSON_MEMBER_REPEATED",
        Severity.ERROR,
        "An object has two members with the same name; only the last one counts",
        (str,),
        check_duplicate_keys,
        bad=_schema('"type": "string", "minLength": 1, "minLength": 2'),
        at="/minLength",
        good=_schema('"type": "string", "minLength": 2'),
    ),
)
