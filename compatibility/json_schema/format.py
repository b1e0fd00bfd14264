"""JSON Schema as a schema format: what ``parsing.SchemaFormat`` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.compatibility.checks import JSON_ENGINE_MISSING
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.parse import parse_json_schema
from contractlog.compatibility.json_text import Number, write
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

_NOT_COMPARED: Final = Finding(
    JSON_ENGINE_MISSING.id,
    "",
    "",
    "the JSON schema was changed, and this release cannot say yet whether a changed JSON schema is compatible",
    "The JSON schema was changed, and this release cannot compare JSON schemas yet; "
    "level NONE admits the change without a check",
    "set the subject's level to NONE for this change, once you know that it is safe",
)


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


def check(reader: ParsedSchema, writer: ParsedSchema, _policy: Policy) -> Iterator[Finding]:
    """Yield every reason why the reader cannot follow the writer: any change, until this format has an engine."""
    if reader.normalized != writer.normalized:
        yield _NOT_COMPARED


def _exact(number: Number) -> str:
    """Write every digit that was given, in the reference's form: ``1e2`` is ``1E+2``, ``1.50`` stays."""
    return str(int(number.text)) if number.integral else str(number.decimal)
