"""Avro as a schema format: what ``parsing.SchemaFormat`` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.avro.canonical import texts
from contractlog.compatibility.avro.checks import compare
from contractlog.compatibility.avro.parse import parse_avro
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Understand an Avro draft, or raise ``InvalidSchema`` with the place."""
    schema, known = parse_avro(draft.text, referenced, strict=strict)
    canonical, normalized = texts(schema, known)
    return ParsedSchema(SchemaType.AVRO, canonical, normalized, schema, draft.references, dict(referenced))


def check(reader: ParsedSchema, writer: ParsedSchema, _policy: Policy) -> Iterator[Finding]:
    """Yield every reason why the reader cannot follow the writer; the policies do not differ here."""
    return compare(reader.root, writer.root)
