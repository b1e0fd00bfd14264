"""From a draft to an understood schema: the only place that knows which formats there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from contractlog.compatibility.avro import format as avro
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema import format as json_schema
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

__all__ = ["SchemaFormat", "check", "parse", "supported"]


class SchemaFormat(Protocol):
    """What a format brings: reading a text, and comparing two that were read."""

    def parse(self, draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
        """Understand a draft, or raise ``InvalidSchema`` with the place."""

    def check(self, reader: ParsedSchema, writer: ParsedSchema, policy: Policy) -> Iterator[Finding]:
        """Yield every difference that a policy may hold against the reader."""


_FORMATS: Final[Mapping[SchemaType, SchemaFormat]] = {SchemaType.AVRO: avro, SchemaType.JSON: json_schema}
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def supported() -> tuple[SchemaType, ...]:
    """The formats that work, in the order in which the API lists them."""
    return (SchemaType.JSON, SchemaType.AVRO)


def parse(draft: SchemaDraft, referenced: Mapping[str, str] = _NOTHING, *, strict: bool = True) -> ParsedSchema:
    """Understand a draft.

    Args:
        draft: the submitted schema; its references are resolved by ``referenced`` alone.
        referenced: name of every schema leaned on, directly or not, to its text; those that lean on nothing come first.
        strict: apply the rules for new schemas (names, defaults); stored schemas are read without them.

    Raises:
        InvalidSchema: the text is no schema of its type; ``at`` is a JSON Pointer into it where one is known.
    """
    schema_format = _FORMATS.get(draft.type)
    if schema_format is None:
        raise InvalidSchema(f"Invalid schema type {draft.type}")
    return schema_format.parse(draft, referenced, strict=strict)


def check(reader: ParsedSchema, writer: ParsedSchema, policy: Policy = Policy.STRICT) -> Iterator[Finding]:
    """Yield every difference that a policy may hold against the reader; both schemas have the same type."""
    return _FORMATS[reader.type].check(reader, writer, policy)
