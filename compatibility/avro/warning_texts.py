"""Texts of findings of risky changes: description, message, and a fix for either side."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.avro.check_catalogue import (
    AVRO_DEFAULT_CHANGED,
    AVRO_DOC_LOST,
    AVRO_ENUM_DEFAULT_MISSING,
    AVRO_ENUM_SYMBOLS_REMOVED,
    AVRO_FIELD_RENAMED,
    AVRO_LOGICAL_TYPE_CHANGED,
)
from contractlog.compatibility.avro.finding_builder import escape_braces, make_finding, write_message
from contractlog.compatibility.avro.types import AvroType, Enum, Field, NamedType
from contractlog.compatibility.check_description import CheckDescription
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import quote_json
from contractlog.compatibility.name_lists import list_first

__all__ = [
    "default_changed_finding",
    "doc_lost_finding",
    "enum_default_changed_finding",
    "enum_default_missing_finding",
    "enum_symbols_removed_finding",
    "field_renamed_finding",
    "logical_type_changed_finding",
]

_MAX_SYMBOLS: Final = 10  #: maximum of symbols that a finding names


def logical_type_changed_finding(path: str, reader: AvroType, writer: AvroType, read: str, written: str) -> Finding:
    """Return the finding that the same bytes have a different meaning."""
    return _make_warning(
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
    return _make_candidate_finding(
        AVRO_DEFAULT_CHANGED,
        (field.at, previous.at),
        f"the default of the field {quote_json(field.name)} was {written} and {change}",
        (path, f"{field.name}: {written} became {read or 'no default'}"),
        f'set "default" back to {written}',
    )


def enum_default_changed_finding(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that unknown symbols are read as a different default."""
    return _make_candidate_finding(
        AVRO_DEFAULT_CHANGED,
        (reader.at, writer.at),
        f"the default of the enum {quote_json(reader.name)} was {writer.default} and is {reader.default} now",
        (path or "/", f"{reader.name}: {writer.default} became {reader.default}"),
        f'set "default" back to {quote_json(writer.default or "")}',
    )


def doc_lost_finding(path: str, reader: NamedType | Field, writer: NamedType | Field) -> Finding:
    """Return the finding that documentation was removed."""
    noun = "field" if isinstance(reader, Field) else reader.kind.lower()
    return _make_candidate_finding(
        AVRO_DOC_LOST,
        (reader.at, writer.at),
        f"the {noun} {quote_json(reader.name)} had documentation, and has none now",
        (path or "/", reader.name),
        f'give the {noun} {quote_json(reader.name)} its "doc" again: {quote_json(writer.doc or "")}',
    )


def enum_default_missing_finding(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that the symbols of an enum without a default have changed."""
    example = quote_json(reader.symbols[0] if reader.symbols else "UNKNOWN")
    return _make_candidate_finding(
        AVRO_ENUM_DEFAULT_MISSING,
        (reader.at, writer.at),
        f"the symbols of the enum {quote_json(reader.name)} change, and the enum has no default for unknown symbols",
        (path or "/", reader.name),
        f'give the enum a default, such as "default": {example}',
    )


def enum_symbols_removed_finding(path: str, reader: Enum, writer: Enum, removed: list[str]) -> Finding:
    """Return the finding that records with removed symbols are read as the default."""
    noun = "symbol" if len(removed) == 1 else "symbols"
    symbols = list_first([quote_json(symbol) for symbol in removed], _MAX_SYMBOLS)
    return _make_candidate_finding(
        AVRO_ENUM_SYMBOLS_REMOVED,
        (reader.at, writer.at),
        f"the enum {quote_json(reader.name)} lost the {noun} {symbols}: what was written with "
        f"{'it' if len(removed) == 1 else 'them'} is read as the default {quote_json(reader.default or '')}",
        (path or "/", f"{reader.name}: {', '.join(removed[:_MAX_SYMBOLS])} read as {reader.default}"),
        f"add the {noun} {symbols} again",
    )


def field_renamed_finding(path: str, field: Field, previous: Field) -> Finding:
    """Return the finding that a field looks renamed, so that its values are replaced by the default."""
    return _make_candidate_finding(
        AVRO_FIELD_RENAMED,
        (field.at, previous.at),
        f"the field {quote_json(previous.name)} is gone and {quote_json(field.name)} of the same type is new: "
        "if that is a new name, what was written under the old one is read as the default",
        (path, f"{previous.name} became {field.name}"),
        f'give the field {quote_json(field.name)} "aliases": [{quote_json(previous.name)}]',
    )


def _make_candidate_finding(
    check: CheckDescription, at: tuple[str, str], detail: str, message_parts: tuple[str, str], fix: str
) -> Finding:
    """Return a finding about the candidate, which has the same fix whichever side the candidate is."""
    return _make_warning(check, at, detail, message_parts, fix, fix)


def _make_warning(
    check: CheckDescription, at: tuple[str, str], detail: str, message_parts: tuple[str, str], *fixes: str
) -> Finding:
    path, info = message_parts
    kind = check.id.removeprefix("AVRO_")
    message = write_message(kind, f"{check.title} (path '{escape_braces(path)}')", info)
    return make_finding(check, at, detail, message, *fixes)


def _describe_logical_type(name: str) -> str:
    return name or "no logical type"
