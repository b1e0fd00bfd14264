"""Texts of findings of readability: description, the reference's message, a fix for either side."""

from __future__ import annotations

from collections.abc import Sequence

from contractlog.compatibility.avro.check_catalogue import (
    AVRO_ENUM_SYMBOLS_MISSING,
    AVRO_FIELD_AMBIGUOUS,
    AVRO_FIELD_DEFAULT_MISSING,
    AVRO_FIXED_SIZE_CHANGED,
    AVRO_NAME_CHANGED,
    AVRO_TYPE_CHANGED,
    AVRO_UNION_BRANCH_MISSING,
)
from contractlog.compatibility.avro.finding_builder import escape_braces, make_finding, write_message
from contractlog.compatibility.avro.types import Array, AvroType, Enum, Field, Fixed, Map, NamedType, Record, Union
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import quote_json
from contractlog.compatibility.name_lists import list_first

__all__ = [
    "enum_symbols_missing_finding",
    "field_ambiguous_finding",
    "field_default_missing_finding",
    "fixed_size_changed_finding",
    "name_changed_finding",
    "type_changed_finding",
    "union_branch_missing_finding",
]

_MAX_LISTED = 5


def name_changed_finding(path: str, reader: NamedType, writer: NamedType) -> Finding:
    """Return the finding that the reader has no name or alias for the writer's type."""
    return make_finding(
        AVRO_NAME_CHANGED,
        (reader.at, writer.at),
        f"the reader's {_describe_type(reader)} is called {quote_json(reader.name)}, "
        f"the writer's {quote_json(writer.name)}, and no alias connects them",
        write_message(
            "NAME_MISMATCH",
            f"The name of the schema has changed (path '{escape_braces(path)}')",
            f"expected: {writer.name}",
        ),
        f"name the {_kind_name(reader)} {quote_json(writer.name)} again, "
        f'or give it "aliases": [{quote_json(writer.name)}]',
        f"name the {_kind_name(writer)} {quote_json(reader.name)} again: earlier readers know no other name for it",
    )


def fixed_size_changed_finding(path: str, reader: Fixed, writer: Fixed) -> Finding:
    """Return the finding that the size of a fixed differs."""
    return make_finding(
        AVRO_FIXED_SIZE_CHANGED,
        (reader.at, writer.at),
        f"{quote_json(reader.name)} has {reader.size} bytes for the reader and {writer.size} for the writer",
        write_message(
            "FIXED_SIZE_MISMATCH",
            f"The size of FIXED type field at path '{escape_braces(path)}' in the {{reader}} schema "
            "does not match with the {writer} schema",
            f"expected: {writer.size}, found: {reader.size}",
        ),
        f'set "size" back to {writer.size}, or add a new field of the new size beside the old one',
        f'set "size" back to {reader.size}, or add a new field of the new size beside the old one',
    )


def enum_symbols_missing_finding(path: str, reader: Enum, writer: Enum, symbols: Sequence[str]) -> Finding:
    """Return the finding that the reader lacks symbols of the writer, and a default."""
    bracketed = f"[{', '.join(symbols)}]"
    listing = _list_names("symbol", symbols)
    example = quote_json(reader.symbols[0] if reader.symbols else "UNKNOWN")
    return make_finding(
        AVRO_ENUM_SYMBOLS_MISSING,
        (reader.at, writer.at),
        f"the reader's enum {quote_json(reader.name)} lacks the {listing} of the writer's, and has no default",
        write_message(
            "MISSING_ENUM_SYMBOLS",
            f"The {{reader}} schema is missing enum symbols '{escape_braces(bracketed)}' at path "
            f"'{escape_braces(path)}' in the {{writer}} schema",
            bracketed,
        ),
        f'keep the {listing}, or give the enum a default for unknown symbols, such as "default": {example}',
        f"leave the {listing} out until every reader knows them, or their enum has a default",
    )


def field_default_missing_finding(path: str, field: Field, node: AvroType, writer: Record, *, by_type: bool) -> Finding:
    """Return the finding that the writer lacks a field without a default."""
    missing = (
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        (
            f"The field '{escape_braces(field.name)}' at path '{escape_braces(path)}' in the {{reader}} schema "
            "has no default value and is missing in the {writer} schema"
        ),
        field.name,
    )
    return make_finding(
        AVRO_FIELD_DEFAULT_MISSING,
        (field.at, writer.at),
        f"the reader's field {quote_json(field.name)} has no default, "
        f"and the writer's record {quote_json(writer.name)} has no such field",
        write_message(*(_type_mismatch(path, node, writer) if by_type else missing)),
        f"give the field {quote_json(field.name)} a default, such as {_suggest_default(node)}",
        f"keep the field {quote_json(field.name)}: earlier readers have no default for the field",
    )


def field_ambiguous_finding(path: str, field: Field, writer: Record, matches: Sequence[Field]) -> Finding:
    """Return the finding that a reader field matches several writer fields."""
    names = ", ".join(quote_json(match.name) for match in matches)
    return make_finding(
        AVRO_FIELD_AMBIGUOUS,
        (field.at, writer.at),
        f"the name and the aliases of the reader's field {quote_json(field.name)} match several fields of the writer: "
        f"{names}",
        write_message(
            "READER_FIELD_AMBIGUOUS",
            f"The field '{escape_braces(field.name)}' at path '{escape_braces(path)}' in the {{reader}} schema "
            "matches multiple fields in the {writer} schema",
            field.name,
        ),
        f"remove from the field {quote_json(field.name)} the aliases that are names of other fields of the writer",
        f"keep only one of the fields {names}: earlier readers match all of them with {quote_json(field.name)}",
    )


def type_changed_finding(
    path: str, reader: AvroType, writer: AvroType, wider: Sequence[str], narrower: Sequence[str]
) -> Finding:
    """Return the finding that the reader's type cannot read the writer's."""
    also_reads = f", or to one that reads {_describe_type(writer)} ({', '.join(wider)})" if wider else ""
    also_read = f", or to one that is read as {_describe_type(reader)} ({', '.join(narrower)})" if narrower else ""
    return make_finding(
        AVRO_TYPE_CHANGED,
        (reader.at, writer.at),
        f"the reader's {_describe_type(reader)} cannot read the writer's {_describe_type(writer)}",
        write_message(*_type_mismatch(path, reader, writer)),
        f"set the type back to {_write_type(writer)}{also_reads}; "
        f"or accept both, as [{_write_type(writer)}, {_write_type(reader)}]",
        f"set the type back to {_write_type(reader)}{also_read}; or add a new field beside the old one",
    )


def union_branch_missing_finding(path: str, reader: Union, writer: AvroType) -> Finding:
    """Return the finding that no branch of the reader's union reads the writer's type."""
    return make_finding(
        AVRO_UNION_BRANCH_MISSING,
        (reader.at, writer.at),
        f"no branch of the reader's union reads the writer's {_describe_type(writer)}",
        write_message(
            "MISSING_UNION_BRANCH",
            f"The {{reader}} schema is missing a type inside a union field at path '{escape_braces(path)}' "
            "in the {writer} schema",
            f"reader union lacking writer type: {writer.kind}",
        ),
        f"keep {_write_type(writer)} among the branches of the union",
        f"leave {_write_type(writer)} out: earlier readers have no branch for that type",
    )


def _type_mismatch(path: str, reader: AvroType, writer: AvroType) -> tuple[str, str, str]:
    return (
        "TYPE_MISMATCH",
        (
            f"The type (path '{escape_braces(path)}') of a field in the {{reader}} schema "
            "does not match with the {writer} schema"
        ),
        f"reader type: {reader.kind} not compatible with writer type: {writer.kind}",
    )


def _describe_type(node: AvroType) -> str:
    """Return a node's kind, with its name if it has one: ``record "Leg"``, ``long``."""
    return f"{node.kind.lower()} {quote_json(node.name)}" if isinstance(node, NamedType) else node.kind.lower()


def _kind_name(node: AvroType) -> str:
    """Return a node's kind, without its name."""
    return node.kind.lower()


def _write_type(node: AvroType) -> str:
    """Return a type as written in a schema, abbreviated."""
    match node:
        case NamedType():
            return quote_json(node.name)
        case Array():
            return '{"type": "array", …}'
        case Map():
            return '{"type": "map", …}'
        case Union():
            more = ", …" if len(node.branches) > _MAX_LISTED else ""
            return f"[{', '.join(map(_write_branch, node.branches[:_MAX_LISTED]))}{more}]"
        case _:
            return quote_json(node.kind.lower())


def _write_branch(node: AvroType) -> str:
    name = getattr(node, "name", None)
    return quote_json(name) if isinstance(name, str) else _write_type(node)


def _suggest_default(node: AvroType) -> str:
    if not isinstance(node, Union):
        return f'"default": null with the type ["null", {_write_type(node)}]'
    if any(branch.kind == "NULL" for branch in node.branches):
        return '"default": null'
    return f'"default": null with "null" as the first branch: ["null", {_write_type(node)[1:]}'


def _list_names(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {list_first(names, _MAX_LISTED)}"
