"""Dispatch of parsing and comparing to the formats; the only module that depends on all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from contractlog.compatibility.avro import format as avro
from contractlog.compatibility.avro import tags as avro_tags
from contractlog.compatibility.avro.canonical import write_inlined
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_positions import add_position
from contractlog.compatibility.json_schema import format as json_schema
from contractlog.compatibility.json_schema import tags as json_tags
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps, StepsExceeded

__all__ = [
    "SchemaFormat",
    "ShapedFormat",
    "are_equivalent",
    "build_shape",
    "compare_schemas",
    "find_nonconformity",
    "find_warnings",
    "format_schema",
    "list_inline_tags",
    "list_top_level_fields",
    "parse_schema",
    "passes_fast_check",
    "reads_all_versions",
    "supported_types",
]


class SchemaFormat(Protocol):
    """Interface of a schema format: parsing a text and comparing two parsed schemas."""

    def parse(self, draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
        """Parse a draft, or raise ``InvalidSchema`` with the position."""

    def check(
        self, reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: Steps | None = None
    ) -> Iterator[Finding]:
        """Yield every difference that a policy may count as breaking."""

    def find_warnings(
        self, reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None
    ) -> Iterator[Finding]:
        """Yield the differences that break compatibility only if their check is requested."""

    def equivalent(self, first: ParsedSchema, second: ParsedSchema) -> bool:
        """Return True if a lookup with one schema finds the other, even though their texts may differ."""


class ShapedFormat(Protocol):
    """Optional interface of a schema format: a fast check against many versions."""

    def shape(self, parsed: ParsedSchema, memo: Memo) -> Any:
        """Return an interned object that holds what findings depend on; None if there is none."""

    def reads_all(self, reader: Any, writers: frozenset[Any], policy: Policy, memo: Memo, steps: Steps) -> bool:
        """Return True if ``check`` has no breaking finding for any writer; raise ``StepsExceeded`` if unsure."""


_FORMATS: Final[Mapping[SchemaType, SchemaFormat]] = {SchemaType.AVRO: avro, SchemaType.JSON: json_schema}
_SHAPED: Final[Mapping[SchemaType, ShapedFormat]] = {SchemaType.AVRO: avro, SchemaType.JSON: json_schema}
_NO_DEPENDENCIES: Final[Mapping[str, str]] = MappingProxyType({})


def supported_types() -> tuple[SchemaType, ...]:
    """Return the supported schema types, in the order of the API."""
    return (SchemaType.JSON, SchemaType.AVRO)


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
    schema_format = _FORMATS.get(draft.type)
    if schema_format is None:
        raise InvalidSchema(f"Invalid schema type {draft.type}")
    try:
        return schema_format.parse(draft, referenced, strict=strict)
    except InvalidSchema as problem:
        raise add_position(problem, draft.text, comments=draft.type is SchemaType.AVRO) from None


def compare_schemas(
    reader: ParsedSchema, writer: ParsedSchema, policy: Policy = Policy.STRICT, steps: Steps | None = None
) -> Iterator[Finding]:
    """Yield every difference that a policy may count as breaking; both schemas have the same type.

    A comparison has its own limit; ``steps`` is the budget shared by many comparisons. Exhausting either yields a
    finding.
    """
    return _FORMATS[reader.type].check(reader, writer, policy, steps)


def find_warnings(reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield differences that break only if their check is requested; both schemas have the same type."""
    return _FORMATS[reader.type].find_warnings(reader, writer, steps)


def passes_fast_check(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Return True if a fast check shows that ``check`` would yield nothing; False is inconclusive."""
    return reader.type is writer.type is SchemaType.AVRO and avro.follows(reader, writer)


def are_equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if a lookup with one schema finds the other.

    They are equivalent if they have the same text and references, or if one is the other with all references inlined.

    Raises:
        InvalidSchema: the text of one of them with all dependencies inlined is too long.
    """
    return first.type is second.type and _FORMATS[first.type].equivalent(first, second)


def format_schema(parsed: ParsedSchema, name: str) -> str | None:
    """Return the text in an alternative format of its type; None if the type has no format of this name.

    Raises:
        InvalidSchema: the text with all dependencies inlined is too long.
    """
    return write_inlined(parsed.root) if parsed.type is SchemaType.AVRO and name == "resolved" else None


def list_inline_tags(schema_type: SchemaType, text: str) -> Mapping[avro_tags.Entity, tuple[str, ...]]:
    """Return the tags of each record, object, field and property that has any."""
    reading = {SchemaType.AVRO: avro_tags.list_inline_tags, SchemaType.JSON: json_tags.inline_tags}.get(schema_type)
    return reading(text) if reading else {}


def build_shape(parsed: ParsedSchema, memo: Memo) -> tuple[SchemaType, Any] | None:
    """Return the type and shape: equal for schemas with the same findings; None if there is no shape."""
    shaped = _SHAPED.get(parsed.type)
    root = None if shaped is None else shaped.shape(parsed, memo)
    return None if root is None else (parsed.type, root)


def reads_all_versions(
    reader: tuple[SchemaType, Any],
    writers: Collection[tuple[SchemaType, Any]],
    policy: Policy,
    memo: Memo,
    steps: Steps,
) -> bool:
    """Return True if the reader reads all writers, decided on their shapes.

    True means that ``check`` would yield no breaking finding. False may also mean that the check would take too long.
    """
    if not writers:
        return True
    kind, root = reader
    kinds, roots = zip(*writers, strict=True)
    if kinds.count(kind) < len(kinds):
        return False
    try:
        return _SHAPED[kind].reads_all(root, frozenset(roots), policy, memo, steps)
    except (StepsExceeded, RecursionError):
        return False


def find_nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return the reason why a schema is rejected by its meta-schema; None if it is not.

    The reference implementation's parser accepts such schemas. Only JSON schemas have a meta-schema. ``at`` is a JSON
    Pointer into the text.
    """
    return json_schema.nonconformity(parsed) if parsed.type is SchemaType.JSON else None


def list_top_level_fields(parsed: ParsedSchema) -> tuple[str, ...]:
    """Return the names of the fields or properties at the root of a schema, in order."""
    if parsed.type is SchemaType.AVRO:
        return tuple(field.name for field in getattr(parsed.root.root, "fields", ()))
    value = parsed.root.value if parsed.type is SchemaType.JSON else None
    properties = value.get("properties") if isinstance(value, dict) else None
    return tuple(properties) if isinstance(properties, dict) else ()
