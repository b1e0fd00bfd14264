"""JSON schemas prepared for validation; nothing is fetched, and the matching of patterns is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.urls import urljoin
from contractlog.compatibility.json_schema.vocabulary import detect_draft
from contractlog.compatibility.json_text import join_pointer, parse_json, to_plain_numbers
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.branch_cost import (
    MAX_BRANCHES,
    MIN_REFERENCES,
    count_references,
    has_too_many_branches,
)
from contractlog.serdes.json_schema.content_keyword_removal import remove_content_keywords
from contractlog.serdes.json_schema.reference_resolver import SchemaTexts
from contractlog.serdes.json_schema.violation_finder import NOT_VALID, ViolationFinder

__all__ = [
    "MAX_BACKTRACKING",
    "NOT_VALID",
    "PreparedSchema",
    "collect_documents",
    "find_title",
    "json_schema_of",
    "prepare_parsed",
    "prepare_schema",
    "shorten_message",
]

_VALIDATORS: Final[Mapping[str, tuple[type[jsonschema_rs.Validator], int]]] = {
    "draft-04": (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft4),
    "draft-06": (jsonschema_rs.Draft6Validator, jsonschema_rs.Draft6),
    "draft-07": (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7),
    "2019-09": (jsonschema_rs.Draft201909Validator, jsonschema_rs.Draft201909),
    "2020-12": (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012),
}
_DEFAULT_BASE_URI: Final = "json-schema:///"  # base URI of schemas without an absolute id
_MAX_MESSAGE: Final = 200
_MAX_REASON: Final = 2 * _MAX_MESSAGE  #: a message and a path
MAX_BACKTRACKING: Final = 100_000  #: most steps of a pattern that cannot be matched in linear time


@dataclass(frozen=True, slots=True)
class PreparedSchema:
    """A schema that documents can be validated against."""

    contents: Any  #: its text as a tree that names the draft
    validator: jsonschema_rs.Validator
    resolver: jsonschema_rs.Resolver  #: resolves its references
    violation_finder: ViolationFinder  #: finds violations


def prepare_schema(
    schema: JsonSchema,
    referenced: Mapping[str, str],
    *,
    formats: bool = False,
    backtracking: int = MAX_BACKTRACKING,
    mask: str | None = None,
) -> PreparedSchema:
    """Prepare a schema.

    Args:
        schema: the schema.
        referenced: the texts of its dependencies, by the names of its references.
        formats: whether ``format`` is asserted; clients do not.
        backtracking: most steps of a pattern that cannot be matched in linear time.
        mask: replaces values in messages.

    Raises:
        InvalidSchema: documents cannot be validated against it.
    """
    kind, number = _VALIDATORS[schema.draft.name]
    base, contents, resources = collect_documents(schema, referenced)
    if count_references(contents, *resources.values()) >= MIN_REFERENCES and has_too_many_branches(
        SchemaTexts(base, contents, resources)
    ):
        raise _unusable_schema(f"for one value, more than {MAX_BRANCHES:,} branches would have to be evaluated")
    try:
        registry = jsonschema_rs.Registry([(base, contents), *resources.items()], draft=number)
        options: dict[str, Any] = {
            "offline": True,
            "validate_formats": formats,
            "mask": mask,
            "pattern_options": jsonschema_rs.FancyRegexOptions(backtrack_limit=backtracking),
        }
        validator = kind(contents, registry=registry, **options)
        faults = ViolationFinder(
            validator,
            lambda: SchemaTexts(base, contents, resources),
            lambda alone: kind(alone, **options),
            lambda uri, text: jsonschema_rs.validator_map_for(text, registry=registry, base_uri=uri, **options),
        )
        return PreparedSchema(contents, validator, registry.resolver(base), faults)
    except jsonschema_rs.ValidationError as problem:  # of the schema itself under its draft's meta-schema
        at = f", at `{join_pointer('', *problem.instance_path)}`" if problem.instance_path else ""
        raise _unusable_schema(f"{shorten_message(problem.message)}{at}") from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as problem:
        raise _unusable_schema(str(problem)) from None


def collect_documents(schema: JsonSchema, referenced: Mapping[str, str]) -> tuple[str, Any, dict[str, Any]]:
    """Return the base URI, the schema as a tree, and its dependencies by each form of their names."""
    contents = _prepare_contents(to_plain_numbers(schema.value), schema.draft.uri)
    schema_id = contents.get(schema.draft.id_keyword) if isinstance(contents, dict) else None
    base = schema_id if isinstance(schema_id, str) and ":" in schema_id else _DEFAULT_BASE_URI
    resources: dict[str, Any] = {}
    for name, text in referenced.items():
        value = parse_json(text)
        resources |= dict.fromkeys(
            (name, urljoin(base, name)), _prepare_contents(to_plain_numbers(value), detect_draft(value).uri)
        )
    return base, contents, resources


def prepare_parsed(parsed: ParsedSchema, *, formats: bool = False) -> PreparedSchema:
    """Prepare a parsed schema for a serializer; ``formats`` asserts ``format``.

    Raises:
        InvalidSchema: documents cannot be validated against it.
    """
    return prepare_schema(json_schema_of(parsed), parsed.referenced, formats=formats)


def shorten_message(message: str) -> str:
    """Return the beginning of a message, which may be as long as a document."""
    return truncate(message, _MAX_MESSAGE)


def _unusable_schema(reason: str) -> InvalidSchema:
    """Return the error with a bounded reason in one line, whatever the schema contains."""
    reason = truncate(escape_line(reason), _MAX_REASON)
    return InvalidSchema(f"validators cannot use the schema: {reason}", reason=reason)


def find_title(parsed: ParsedSchema) -> str | None:
    """Return a schema's title, which is used as the record's name."""
    value = json_schema_of(parsed).value
    value_title = value.get("title") if isinstance(value, dict) else None
    return value_title if isinstance(value_title, str) else None


def json_schema_of(parsed: ParsedSchema) -> JsonSchema:
    """Return the tree of a JSON schema; raise ``SerializationError`` for other types."""
    if parsed.type is not SchemaType.JSON:
        raise SerializationError(reason=f"a JSON schema is expected, not {parsed.type}")
    schema: JsonSchema = parsed.root
    return schema


def _prepare_contents(contents: Any, draft: str) -> Any:
    """Remove content keywords, name the draft, and give the root both ``definitions`` and ``$defs``."""
    contents = remove_content_keywords(contents)
    if not isinstance(contents, dict):
        return contents
    for name, alias in (("definitions", "$defs"), ("$defs", "definitions")):
        if name in contents and alias not in contents:
            contents = {**contents, alias: contents[name]}
            break
    return {**contents, "$schema": draft}
