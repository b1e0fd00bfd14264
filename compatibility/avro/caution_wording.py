"""Findings of contractlog's own Avro checks; their messages are formatted like the reference's."""

from __future__ import annotations

from contractlog.compatibility.avro.nodes import Enum, Field, Named, Node
from contractlog.compatibility.checks import (
    AVRO_DEFAULT_CHANGED,
    AVRO_DOC_LOST,
    AVRO_ENUM_DEFAULT_MISSING,
    AVRO_FIELD_RENAMED,
    AVRO_LOGICAL_TYPE_CHANGED,
    CheckSpec,
)
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import quoted

__all__ = [
    "default_changed",
    "doc_lost",
    "enum_default_changed",
    "enum_default_missing",
    "field_renamed",
    "logical_type_changed",
]


def logical_type_changed(path: str, reader: Node, writer: Node, read: str, written: str) -> Finding:
    """Return the finding that the same bytes have a different meaning."""
    return _finding(
        AVRO_LOGICAL_TYPE_CHANGED,
        (reader.at, writer.at),
        f"what was written as {_meaning(written)} is read as {_meaning(read)}: the same digits, another value",
        (path or "/", f"reader: {_meaning(read)}, writer: {_meaning(written)}"),
        f"set the logical type back to {_meaning(written)}, or add a new field of the new one beside the old one",
        f"set the logical type back to {_meaning(read)}, or add a new field of the new one beside the old one",
    )


def default_changed(path: str, field: Field, match: Field, read: str, written: str) -> Finding:
    """Return the finding that a missing field gets a different default, or none."""
    now = f"is {read} now" if read else "is gone"
    return _of_candidate(
        AVRO_DEFAULT_CHANGED,
        (field.at, match.at),
        f"the default of the field {quoted(field.name)} was {written} and {now}",
        (path, f"{field.name}: {written} became {read or 'no default'}"),
        f'set "default" back to {written}',
    )


def enum_default_changed(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that unknown symbols are read as a different default."""
    return _of_candidate(
        AVRO_DEFAULT_CHANGED,
        (reader.at, writer.at),
        f"the default of the enum {quoted(reader.name)} was {writer.default} and is {reader.default} now",
        (path or "/", f"{reader.name}: {writer.default} became {reader.default}"),
        f'set "default" back to {quoted(writer.default or "")}',
    )


def doc_lost(path: str, reader: Named | Field, writer: Named | Field) -> Finding:
    """Return the finding that documentation was removed."""
    noun = "field" if isinstance(reader, Field) else reader.kind.lower()
    return _of_candidate(
        AVRO_DOC_LOST,
        (reader.at, writer.at),
        f"the {noun} {quoted(reader.name)} had documentation, and has none now",
        (path or "/", reader.name),
        f'give the {noun} {quoted(reader.name)} its "doc" again: {quoted(writer.doc or "")}',
    )


def enum_default_missing(path: str, reader: Enum, writer: Enum) -> Finding:
    """Return the finding that the symbols of an enum without a default have changed."""
    example = quoted(reader.symbols[0] if reader.symbols else "UNKNOWN")
    return _of_candidate(
        AVRO_ENUM_DEFAULT_MISSING,
        (reader.at, writer.at),
        f"the symbols of the enum {quoted(reader.name)} change, and the enum has no default for unknown symbols",
        (path or "/", reader.name),
        f'give the enum a default, such as "default": {example}',
    )


def field_renamed(path: str, field: Field, match: Field) -> Finding:
    """Return the finding that a field looks renamed, so that its values are replaced by the default."""
    return _of_candidate(
        AVRO_FIELD_RENAMED,
        (field.at, match.at),
        f"the field {quoted(match.name)} is gone and {quoted(field.name)} of the same type is new: if that is a new "
        "name, what was written under the old one is read as the default",
        (path, f"{match.name} became {field.name}"),
        f'give the field {quoted(field.name)} "aliases": [{quoted(match.name)}]',
    )


def _of_candidate(check: CheckSpec, at: tuple[str, str], detail: str, said: tuple[str, str], mend: str) -> Finding:
    return _finding(check, at, detail, said, mend, mend)


def _finding(check: CheckSpec, at: tuple[str, str], detail: str, said: tuple[str, str], *mends: str) -> Finding:
    path, info = (text.replace("{", "{{").replace("}", "}}") for text in said)
    kind = check.id.removeprefix("AVRO_")
    message = f"{{{{errorType:'{kind}', description:'{check.title} (path '{path}')', additionalInfo:'{info}'}}}}"
    return Finding(check.id, *at, detail, message, *mends)


def _meaning(name: str) -> str:
    return name or "no logical type"
