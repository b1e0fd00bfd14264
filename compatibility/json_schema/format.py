"""JSON Schema as a schema format: what ``parsing.SchemaFormat`` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.parse import parse_json_schema
from contractlog.compatibility.json_text import Number, write
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Understand a JSON Schema draft, or raise ``InvalidSchema`` with the place.

    The canonical text is compact, with its keys in the order they have; the normalized one has them sorted.
    """
    schema = parse_json_schema(draft.text, referenced, strict=strict)
    return ParsedSchema(
        SchemaType.JSON,
        write(schema.value, _exact),
        write(schema.value, _exact, sort_keys=True),
        schema,
        draft.references,
        dict(referenced),
    )


def check(reader: ParsedSchema, writer: ParsedSchema) -> Iterator[Finding]:
    """Yield every reason why the reader cannot follow the writer: any change, until this format has an engine."""
    raise NotImplementedError


def _exact(number: Number) -> str:
    """Write every digit that was given, in the reference's form: ``1e2`` is ``1E+2``, ``1.50`` stays."""
    return str(int(number.text)) if number.integral else str(number.decimal)
