"""The table of schema formats, and the functions that select one by the type of a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro.schema_format import AVRO_FORMAT
from contractlog.compatibility.common_check_catalogue import COMMON_CHECKS, DATA_UNREADABLE, LATEST_VERSION_UNKNOWN
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_positions import add_position
from contractlog.compatibility.json_schema.check_catalogue import JSON_SCHEMA_NONCONFORMING
from contractlog.compatibility.json_schema.schema_format import JSON_FORMAT
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.reference_names import SchemaNames
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.schema_format import SchemaFormat
from contractlog.compatibility.search_terms import Term, limit_terms, list_metadata_terms
from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded
from contractlog.compatibility.tags import Entity, TagsByEntity

__all__ = [
    "ALLOWED_CHECKS",
    "CATALOGUE",
    "FORMATS",
    "OPTIONAL_CHECKS",
    "allows_comments",
    "are_equivalent",
    "build_shape",
    "compare_schemas",
    "edit_tags",
    "extract_terms",
    "find_nonconformity",
    "find_warnings",
    "format_schema",
    "list_inline_tags",
    "list_names",
    "list_top_level_fields",
    "omit_shared_definitions",
    "parse_schema",
    "passes_fast_check",
    "reads_all_versions",
    "repeats_definitions",
    "select_breaking",
    "strip_annotations",
    "supported_types",
]

#: A format is one line here; the API lists the formats in reverse.
FORMATS: Final[dict[SchemaType, SchemaFormat]] = {
    SchemaType.AVRO: AVRO_FORMAT,
    SchemaType.JSON: JSON_FORMAT,
}
#: every id that a finding can carry, with its meaning
CATALOGUE: Final = {
    check.id: check for check in (*chain.from_iterable(entry.checks for entry in FORMATS.values()), *COMMON_CHECKS)
}
#: checks whose findings break nothing under a policy; every other check breaks
ALLOWED_CHECKS: Final[Mapping[Policy, frozenset[str]]] = {
    policy: frozenset[str]().union(*(entry.allowed_checks[policy] for entry in FORMATS.values())) for policy in Policy
}
#: checks whose findings a registry admits under at least one policy, or does not look for
OPTIONAL_CHECKS: Final = frozenset[str](
    {DATA_UNREADABLE.id, LATEST_VERSION_UNKNOWN.id, JSON_SCHEMA_NONCONFORMING.id}
).union(*ALLOWED_CHECKS.values())
_NO_DEPENDENCIES: Final[Mapping[str, str]] = MappingProxyType({})
_NO_TAGS: Final[TagsByEntity] = MappingProxyType({})


def supported_types() -> tuple[SchemaType, ...]:
    """Return the supported schema types, in the order of the API."""
    return tuple(reversed(FORMATS))


def parse_schema(
    draft: SchemaDraft, referenced: Mapping[str, str] = _NO_DEPENDENCIES, *, strict: bool = True
) -> ParsedSchema:
    """Parse a draft.

    Args:
        draft: the submitted schema; its references are resolved only through ``referenced``.
        referenced: name -> text of every direct and indirect dependency; a schema follows its own dependencies.
        strict: apply the rules for new schemas (names, defaults); stored schemas are parsed without them.

    Raises:
        InvalidSchema: the text is not a valid schema of its type; if the position is known, ``at`` is a JSON Pointer
            into the text, and ``line`` and ``column`` locate it in the text as submitted.
    """
    schema_format = FORMATS.get(draft.type)
    if schema_format is None:
        raise InvalidSchema(f"Invalid schema type {draft.type}")
    try:
        return schema_format.parse(draft, referenced, strict=strict)
    except InvalidSchema as problem:
        raise add_position(problem, draft.text, comments=schema_format.allows_comments) from None


def compare_schemas(
    reader: ParsedSchema, writer: ParsedSchema, policy: Policy = Policy.STRICT, steps: StepBudget | None = None
) -> Iterator[Finding]:
    """Yield every difference that a policy may count as breaking; both schemas have the same type.

    A comparison has its own limit; ``steps`` is the budget shared by many comparisons. Exhausting either yields a
    finding.
    """
    return FORMATS[reader.type].compare(reader, writer, policy, steps)


def find_warnings(reader: ParsedSchema, writer: ParsedSchema, steps: StepBudget | None = None) -> Iterator[Finding]:
    """Yield differences that break only if their check is requested; both schemas have the same type."""
    return FORMATS[reader.type].find_warnings(reader, writer, steps)


def select_breaking(
    findings: Iterable[Finding], policy: Policy, additional_checks: frozenset[str] = frozenset()
) -> tuple[Finding, ...]:
    """Return the findings that break: those that the policy does not allow, and ``additional_checks``."""
    allowed = ALLOWED_CHECKS[policy] - additional_checks
    return tuple(finding for finding in findings if finding.check not in allowed)


def passes_fast_check(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Return True if a fast check shows that comparing would yield nothing; False is inconclusive."""
    return reader.type is writer.type and FORMATS[reader.type].passes_fast_check(reader, writer)


def are_equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if a lookup with one schema finds the other.

    They are equivalent if they have the same text and references, or if one is the other with all references inlined.

    Raises:
        InvalidSchema: one of them with all dependencies inlined is too large.
    """
    if first.type is not second.type:
        return False
    first_references, second_references = set(first.references), set(second.references)
    if first_references == second_references:
        return first.normalized == second.normalized
    return not (first_references and second_references) and FORMATS[first.type].is_same_inlined(first, second)


def format_schema(parsed: ParsedSchema, name: str) -> str | None:
    """Return the text in an alternative format of its type; None if the type has no format of this name.

    Raises:
        InvalidSchema: the text with all dependencies inlined is too long.
    """
    render = FORMATS[parsed.type].renderings.get(name)
    return None if render is None else render(parsed)


def strip_annotations(parsed: ParsedSchema) -> Mapping[str, str]:
    """Return the texts of a schema and its references without what no reader acts on, by name.

    Schemas for which these are equal read each other in both directions and have the same meaning.
    """
    strip = FORMATS[parsed.type].strip_annotations
    return {name: strip(text) for name, text in (("", parsed.normalized), *parsed.referenced.items())}


def allows_comments(schema_type: SchemaType) -> bool:
    """Return True if schemas of a type may have JavaScript's comments."""
    return schema_type in FORMATS and FORMATS[schema_type].allows_comments


def list_names(schema_type: SchemaType, text: str) -> SchemaNames:
    """Return the names in a schema text by which schemas refer to each other; none if the text is invalid."""
    return FORMATS[schema_type].list_names(text) if schema_type in FORMATS else SchemaNames()


def repeats_definitions(schema_type: SchemaType) -> bool:
    """Return whether texts of a format may have definitions that their references have, too."""
    return schema_type in FORMATS and FORMATS[schema_type].omit_shared_definitions is not None


def omit_shared_definitions(draft: SchemaDraft, referenced: Mapping[str, str]) -> str:
    """Return the text of a valid schema with names in place of definitions that its references have, too.

    Registries write a type that is nested in a referenced one at its first use. The result has the same canonical text.

    Args:
        draft: the schema.
        referenced: name -> text of every dependency.
    """
    omit = FORMATS[draft.type].omit_shared_definitions if draft.type in FORMATS else None
    text = draft.text if omit is None else omit(draft.text, referenced)
    if text != draft.text:
        try:
            before, after = (
                parse_schema(each, referenced, strict=False) for each in (draft, replace(draft, text=text))
            )
        except InvalidSchema:
            return draft.text
        if before.canonical != after.canonical:
            return draft.text
    return text


def list_top_level_fields(parsed: ParsedSchema) -> tuple[str, ...]:
    """Return the names of the fields or properties at the root of a schema, in order."""
    return FORMATS[parsed.type].list_top_level_fields(parsed)


def list_inline_tags(schema_type: SchemaType, text: str) -> Mapping[Entity, tuple[str, ...]]:
    """Return the tags of each record, object, field and property that has any."""
    return FORMATS[schema_type].list_tags(text) if schema_type in FORMATS else {}


def edit_tags(schema_type: SchemaType, text: str, add: TagsByEntity = _NO_TAGS, remove: TagsByEntity = _NO_TAGS) -> str:
    """Return a schema text with tags added, then others removed.

    Apart from whitespace nothing else changes.

    Raises:
        InvalidSchema: there is no such record or field, or the type has no tags.
    """
    edit = FORMATS[schema_type].edit_tags if schema_type in FORMATS else None
    if edit is None:
        raise InvalidSchema(f"Invalid schema type {schema_type}")
    return edit(text, add, remove)


def extract_terms(schema_type: SchemaType, text: str, metadata: Metadata | None = None) -> Iterator[Term]:
    """Yield the search terms of a schema without its references; repetitions of a term are limited.

    >>> terms = extract_terms(SchemaType.AVRO, '{"type":"array","items":"long"}')
    >>> [(term.kind.value, term.key, term.path) for term in terms]
    [('type', 'array', ''), ('type', 'long', '[]')]
    """
    metadata_terms = iter(()) if metadata is None else list_metadata_terms(metadata)
    own_terms = FORMATS[schema_type].extract_terms(text) if schema_type in FORMATS else ()
    return limit_terms(chain(metadata_terms, own_terms))


def build_shape(parsed: ParsedSchema, memo: Memo) -> tuple[SchemaType, Any] | None:
    """Return the type and shape: equal for schemas with the same findings; None if there is no shape."""
    shape = FORMATS[parsed.type].build_shape(parsed, memo)
    return None if shape is None else (parsed.type, shape)


def reads_all_versions(
    reader: tuple[SchemaType, Any],
    writers: Collection[tuple[SchemaType, Any]],
    policy: Policy,
    memo: Memo,
    steps: StepBudget,
) -> bool:
    """Return True if the reader reads all writers, decided on their shapes.

    True means that comparing would yield no breaking finding. False may also mean that it would take too long.
    """
    if not writers:
        return True
    schema_type, shape = reader
    types, shapes = zip(*writers, strict=True)
    if types.count(schema_type) < len(types):
        return False
    try:
        return FORMATS[schema_type].reads_all(shape, frozenset(shapes), policy, memo, steps)
    except (StepBudgetExceeded, RecursionError):
        return False


def find_nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return the reason why a schema is rejected by its meta-schema; None if it is not.

    The reference implementation's parser accepts such schemas. ``at`` is a JSON Pointer into the text.
    """
    return FORMATS[parsed.type].find_nonconformity(parsed)
