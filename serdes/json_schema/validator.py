"""JSON schemas prepared for validation; nothing is fetched, and the matching of patterns is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.addresses import urljoin
from contractlog.compatibility.json_schema.parse import JsonSchema, draft_of
from contractlog.compatibility.json_text import plain, pointer, read
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.compatibility.terminal_text import escape_line
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.fault import NOT_VALID
from contractlog.serdes.json_schema.faults import Faults
from contractlog.serdes.json_schema.texts import Texts

__all__ = [
    "BACKTRACKING",
    "NOT_VALID",
    "Prepared",
    "documents",
    "prepare",
    "prepared",
    "shortened",
    "title",
    "tree",
]

_VALIDATORS: Final[Mapping[str, tuple[type[jsonschema_rs.Validator], int]]] = {
    "draft-04": (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft4),
    "draft-06": (jsonschema_rs.Draft6Validator, jsonschema_rs.Draft6),
    "draft-07": (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7),
    "2019-09": (jsonschema_rs.Draft201909Validator, jsonschema_rs.Draft201909),
    "2020-12": (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012),
}
_RELATIVE: Final = "json-schema:///"  # base URI of schemas without an absolute id
_LONGEST: Final = 200
_LONGEST_REASON: Final = 2 * _LONGEST  #: a message and a path
BACKTRACKING: Final = 100_000  #: most steps of a pattern that cannot be matched in linear time


@dataclass(frozen=True, slots=True)
class Prepared:
    """A schema that documents can be validated against."""

    contents: Any  #: its text as a tree that names the draft
    validator: jsonschema_rs.Validator
    resolver: jsonschema_rs.Resolver  #: resolves its references
    faults: Faults  #: finds violations


def prepare(
    schema: JsonSchema,
    referenced: Mapping[str, str],
    *,
    formats: bool = False,
    backtracking: int = BACKTRACKING,
    mask: str | None = None,
) -> Prepared:
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
    base, contents, resources = documents(schema, referenced)
    try:
        registry = jsonschema_rs.Registry([(base, contents), *resources.items()], draft=number)
        options: dict[str, Any] = {
            "offline": True,
            "validate_formats": formats,
            "mask": mask,
            "pattern_options": jsonschema_rs.FancyRegexOptions(backtrack_limit=backtracking),
        }
        validator = kind(contents, registry=registry, **options)
        faults = Faults(
            validator,
            lambda: Texts(base, contents, resources),
            lambda alone: kind(alone, **options),
            lambda uri, text: jsonschema_rs.validator_map_for(text, registry=registry, base_uri=uri, **options),
        )
        return Prepared(contents, validator, registry.resolver(base), faults)
    except jsonschema_rs.ValidationError as problem:  # of the schema itself under its draft's meta-schema
        at = f", at `{pointer('', *problem.instance_path)}`" if problem.instance_path else ""
        raise _not_usable(f"{shortened(problem.message)}{at}") from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as problem:
        raise _not_usable(str(problem)) from None


def documents(schema: JsonSchema, referenced: Mapping[str, str]) -> tuple[str, Any, dict[str, Any]]:
    """Return the base URI, the schema as a tree, and its dependencies by each form of their names."""
    contents = _prepared(plain(schema.value), schema.draft.uri)
    named = contents.get("id" if schema.draft.name == "draft-04" else "$id") if isinstance(contents, dict) else None
    base = named if isinstance(named, str) and ":" in named else _RELATIVE
    resources: dict[str, Any] = {}
    for name, text in referenced.items():
        value = read(text)
        resources |= dict.fromkeys((name, urljoin(base, name)), _prepared(plain(value), draft_of(value).uri))
    return base, contents, resources


def prepared(parsed: ParsedSchema, *, formats: bool = False) -> Prepared:
    """Prepare a parsed schema for a serializer; ``formats`` asserts ``format``.

    Raises:
        InvalidSchema: documents cannot be validated against it.
    """
    return prepare(tree(parsed), parsed.referenced, formats=formats)


def shortened(message: str) -> str:
    """Return the beginning of a message, which may be as long as a document."""
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"


def _not_usable(reason: str) -> InvalidSchema:
    """Return the error with a bounded reason in one line, whatever the schema contains."""
    reason = escape_line(reason)
    reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
    return InvalidSchema(f"validators cannot use the schema: {reason}", reason=reason)


def title(parsed: ParsedSchema) -> str | None:
    """Return a schema's title, which is used as the record's name."""
    value = tree(parsed).value
    named = value.get("title") if isinstance(value, dict) else None
    return named if isinstance(named, str) else None


def tree(parsed: ParsedSchema) -> JsonSchema:
    """Return the tree of a JSON schema; raise ``SerializationError`` for other types."""
    if parsed.type is not SchemaType.JSON:
        raise SerializationError(reason=f"a JSON schema is expected, not {parsed.type}")
    schema: JsonSchema = parsed.root
    return schema


def _prepared(contents: Any, draft: str) -> Any:
    """Name the draft, and make ``definitions`` and ``$defs`` of the root available under either name."""
    if not isinstance(contents, dict):
        return contents
    for one, other in (("definitions", "$defs"), ("$defs", "definitions")):
        if one in contents and other not in contents:
            contents = {**contents, other: contents[one]}
            break
    return {**contents, "$schema": draft}
