"""Findings of contractlog's own Avro checks; their messages are formatted like the reference's."""

from __future__ import annotations

from contractlog.compatibility.avro.catalogue import (
    AVRO_DEFAULT_CHANGED,
    AVRO_DOC_LOST,
    AVRO_ENUM_DEFAULT_MISSING,
    AVRO_FIELD_RENAMED,
    AVRO_LOGICAL_TYPE_CHANGED,
)
from contractlog.compatibility.avro.types import AvroType, Enum, Field, NamedType
from contractlog.compatibility.catalogue import CheckSpec
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import quote_json

__all__ = [
    "default_changed_finding",
    "doc_lost_finding",
    "enum_default_changed_finding",
    "enum_default_missing_finding",
    "field_renamed_finding",
    "logical_type_changed_finding",
]


def logical_type_changed_finding(path: str, reader: AvroType, writer: AvroType, read: str, written: str) -> Finding:
    """Return the finding that the same bytes have a different meaning."""
    return _finding(
        AVRO_LOGICAL_TYPE_CHANGED,
        (reader.at, writer.at),
        f"what was written as {_describe_logical_type(written)} is read as {_describe_logical_type(read)}: "
        "the same digits, another value",
        (path or "/", f"reader: {_describe_logical_type(read)}, writer: {_describe_logical_type(written)}"),
        f"set the logical type back to {_describe_logical_type(written)}, "
        "or add a new field of the new one beside the old one",
        f"set the logical type back to {_describe_logical_type(read)}, "
        "or add a new field of the new one beside the old one",
    )


def default_changed_finding(path: str, field: Field, previous: Field, read: str, written: str) -> Finding:
    """Return the finding that a missing field gets a different default, or none."""
    change = f"is {read} now" if read else "is gone"
    return _candidate_finding(
        AVRO_DEFAULT_CHANGED,
        (field.at, previous.at),
        f"the default of the field {quote_json(field.name)} was {written} and {change}",
        (path, f"{field.name}: {written} became {read or 'no default'}"),
        f'set "default" back to {written}',
    )


def enum_default_changed_finding(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that unknown symbols are read as a different default."""
    return _candidate_finding(
        AVRO_DEFAULT_CHANGED,
        (reader.at, writer.at),
        f"the default of the enum {quote_json(reader.name)} was {writer.default} and is {reader.default} now",
        (path or "/", f"{reader.name}: {writer.default} became {reader.default}"),
        f'set "default" back to {quote_json(writer.default or "")}',
    )


def doc_lost_finding(path: str, reader: NamedType | Field, writer: NamedType | Field) -> Finding:
    """Return the finding that documentation was removed."""
    noun = "field" if isinstance(reader, Field) else reader.kind.lower()
    return _candidate_finding(
        AVRO_DOC_LOST,
        (reader.at, writer.at),
        f"the {noun} {quote_json(reader.name)} had documentation, and has none now",
        (path or "/", reader.name),
        f'give the {noun} {quote_json(reader.name)} its "doc" again: {quote_json(writer.doc or "")}',
    )


def enum_default_missing_finding(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that the symbols of an enum without a default have changed."""
    example = quote_json(reader.symbols[0] if reader.symbols else "UNKNOWN")
    return _candidate_finding(
        AVRO_ENUM_DEFAULT_MISSING,
        (reader.at, writer.at),
        f"the symbols of the enum {quote_json(reader.name)} change, and the enum has no default for unknown symbols",
        (path or "/", reader.name),
        f'give the enum a default, such as "default": {example}',
    )


def field_renamed_finding(path: str, field: Field, previous: Field) -> Finding:
    """Return the finding that a field looks renamed, so that its values are replaced by the default."""
    return _candidate_finding(
        AVRO_FIELD_RENAMED,
        (field.at, previous.at),
        f"the field {quote_json(previous.name)} is gone and {quote_json(field.name)} of the same type is new: "
        "if that is a new name, what was written under the old one is read as the default",
        (path, f"{previous.name} became {field.name}"),
        f'give the field {quote_json(field.name)} "aliases": [{quote_json(previous.name)}]',
    )


def _candidate_finding(
    check: CheckSpec, at: tuple[str, str], detail: str, message_parts: tuple[str, str], fix: str
) -> Finding:
    return _finding(check, at, detail, message_parts, fix, fix)


def _finding(
    check: CheckSpec, at: tuple[str, str], detail: str, message_parts: tuple[str, str], *fixes: str
) -> Finding:
    path, info = (text.replace("{", "{{").replace("}", "}}") for text in message_parts)
    kind = check.id.removeprefix("AVRO_")
    message = f"{{{{errorType:'{kind}', description:'{check.title} (path '{path}')', additionalInfo:'{info}'}}}}"
    return Finding(check.id, *at, detail, message, *fixes)


def _describe_logical_type(name: str) -> str:
    return name or "no logical type"
