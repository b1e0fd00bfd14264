"""JSON Schema as a schema format: what ``parsing.SchemaFormat`` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Understand a JSON Schema draft, or raise ``InvalidSchema`` with the place."""
    raise NotImplementedError


def check(reader: ParsedSchema, writer: ParsedSchema) -> Iterator[Finding]:
    """Yield every reason why the reader cannot follow the writer."""
    raise NotImplementedError
