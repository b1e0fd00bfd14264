"""Findings of the Avro checks: description, the reference's message, and a fix for either side.

A message is a format string with slots ``{reader}`` and ``{writer}``; text from a schema is escaped, so no name can be
mistaken for a slot.
"""

from __future__ import annotations

from collections.abc import Sequence

from contractlog.compatibility.avro.nodes import Array, Enum, Field, Fixed, Map, Named, Node, Record, Union
from contractlog.compatibility.checks import (
    AVRO_ENUM_SYMBOLS_MISSING,
    AVRO_FIELD_AMBIGUOUS,
    AVRO_FIELD_DEFAULT_MISSING,
    AVRO_FIXED_SIZE_CHANGED,
    AVRO_NAME_CHANGED,
    AVRO_TYPE_CHANGED,
    AVRO_UNION_BRANCH_MISSING,
    CheckSpec,
)
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import quoted

__all__ = [
    "enum_symbols_missing",
    "field_ambiguous",
    "field_default_missing",
    "fixed_size_changed",
    "name_changed",
    "type_changed",
    "union_branch_missing",
]

_SHOWN = 5


def name_changed(path: str, reader: Named, writer: Named) -> Finding:
    """Return the finding that the reader has no name or alias for the writer's type."""
    return _finding(
        AVRO_NAME_CHANGED,
        (reader.at, writer.at),
        f"the reader's {_noun(reader)} is called {quoted(reader.name)}, the writer's {quoted(writer.name)}, "
        "and no alias connects them",
        _message(
            "NAME_MISMATCH", f"The name of the schema has changed (path '{_text(path)}')", f"expected: {writer.name}"
        ),
        f'name the {_kind(reader)} {quoted(writer.name)} again, or give it "aliases": [{quoted(writer.name)}]',
        f"name the {_kind(writer)} {quoted(reader.name)} again: earlier readers know no other name for it",
    )


def fixed_size_changed(path: str, reader: Fixed, writer: Fixed) -> Finding:
    """Return the finding that the size of a fixed differs."""
    return _finding(
        AVRO_FIXED_SIZE_CHANGED,
        (reader.at, writer.at),
        f"{quoted(reader.name)} has {reader.size} bytes for the reader and {writer.size} for the writer",
        _message(
            "FIXED_SIZE_MISMATCH",
            f"The size of FIXED type field at path '{_text(path)}' in the {{reader}} schema "
            "does not match with the {writer} schema",
            f"expected: {writer.size}, found: {reader.size}",
        ),
        f'set "size" back to {writer.size}, or add a new field of the new size beside the old one',
        f'set "size" back to {reader.size}, or add a new field of the new size beside the old one',
    )


def enum_symbols_missing(path: str, reader: Enum, writer: Enum, symbols: Sequence[str]) -> Finding:
    """Return the finding that the reader lacks symbols of the writer, and a default."""
    listed = f"[{', '.join(symbols)}]"
    shown = _several("symbol", symbols)
    example = quoted(reader.symbols[0] if reader.symbols else "UNKNOWN")
    return _finding(
        AVRO_ENUM_SYMBOLS_MISSING,
        (reader.at, writer.at),
        f"the reader's enum {quoted(reader.name)} lacks the {shown} of the writer's, and has no default",
        _message(
            "MISSING_ENUM_SYMBOLS",
            f"The {{reader}} schema is missing enum symbols '{_text(listed)}' at path '{_text(path)}' "
            "in the {writer} schema",
            listed,
        ),
        f'keep the {shown}, or give the enum a default for unknown symbols, such as "default": {example}',
        f"leave the {shown} out until every reader knows them, or their enum has a default",
    )


def field_default_missing(path: str, field: Field, node: Node, writer: Record, *, by_type: bool) -> Finding:
    """Return the finding that the writer lacks a field without a default."""
    missing = (
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        (
            f"The field '{_text(field.name)}' at path '{_text(path)}' in the {{reader}} schema has no default value "
            "and is missing in the {writer} schema"
        ),
        field.name,
    )
    return _finding(
        AVRO_FIELD_DEFAULT_MISSING,
        (field.at, writer.at),
        f"the reader's field {quoted(field.name)} has no default, and the writer's record {quoted(writer.name)} "
        "has no such field",
        _message(*(_type_mismatch(path, node, writer) if by_type else missing)),
        f"give the field {quoted(field.name)} a default, such as {_default_for(node)}",
        f"keep the field {quoted(field.name)}: earlier readers have no default for the field",
    )


def field_ambiguous(path: str, field: Field, writer: Record, matches: Sequence[Field]) -> Finding:
    """Return the finding that a reader field matches several writer fields."""
    names = ", ".join(quoted(match.name) for match in matches)
    return _finding(
        AVRO_FIELD_AMBIGUOUS,
        (field.at, writer.at),
        f"by name and aliases the reader's field {quoted(field.name)} is several fields of the writer: {names}",
        _message(
            "READER_FIELD_AMBIGUOUS",
            f"The field '{_text(field.name)}' at path '{_text(path)}' in the {{reader}} schema "
            "matches multiple fields in the {writer} schema",
            field.name,
        ),
        f"remove from the field {quoted(field.name)} the aliases that are fields of their own",
        f"keep only one of the fields {names}: earlier readers take them all for {quoted(field.name)}",
    )


def type_changed(path: str, reader: Node, writer: Node, wider: Sequence[str], narrower: Sequence[str]) -> Finding:
    """Return the finding that the reader's type cannot read the writer's."""
    also_reads = f", or to one that reads {_noun(writer)} ({', '.join(wider)})" if wider else ""
    also_read = f", or to one that is read as {_noun(reader)} ({', '.join(narrower)})" if narrower else ""
    return _finding(
        AVRO_TYPE_CHANGED,
        (reader.at, writer.at),
        f"the reader's {_noun(reader)} cannot read the writer's {_noun(writer)}",
        _message(*_type_mismatch(path, reader, writer)),
        f"set the type back to {_type(writer)}{also_reads}; or take both, as [{_type(writer)}, {_type(reader)}]",
        f"set the type back to {_type(reader)}{also_read}; or add a new field beside the old one",
    )


def union_branch_missing(path: str, reader: Union, writer: Node) -> Finding:
    """Return the finding that no branch of the reader's union reads the writer's type."""
    return _finding(
        AVRO_UNION_BRANCH_MISSING,
        (reader.at, writer.at),
        f"no branch of the reader's union reads the writer's {_noun(writer)}",
        _message(
            "MISSING_UNION_BRANCH",
            f"The {{reader}} schema is missing a type inside a union field at path '{_text(path)}' "
            "in the {writer} schema",
            f"reader union lacking writer type: {writer.kind}",
        ),
        f"keep {_type(writer)} among the branches of the union",
        f"leave {_type(writer)} out: earlier readers have no branch for that type",
    )


def _finding(check: CheckSpec, at: tuple[str, str], detail: str, message: str, *mends: str) -> Finding:
    return Finding(check.id, *at, detail, message, *mends)


def _message(kind: str, description: str, info: str) -> str:
    return f"{{{{errorType:'{kind}', description:'{description}', additionalInfo:'{_text(info)}'}}}}"


def _type_mismatch(path: str, reader: Node, writer: Node) -> tuple[str, str, str]:
    return (
        "TYPE_MISMATCH",
        (
            f"The type (path '{_text(path)}') of a field in the {{reader}} schema "
            "does not match with the {writer} schema"
        ),
        f"reader type: {reader.kind} not compatible with writer type: {writer.kind}",
    )


def _text(text: str) -> str:
    """Escape text from a schema."""
    return text.replace("{", "{{").replace("}", "}}")


def _noun(node: Node) -> str:
    """Return a node's kind, with its name if it has one: ``record "Leg"``, ``long``."""
    return f"{node.kind.lower()} {quoted(node.name)}" if isinstance(node, Named) else node.kind.lower()


def _kind(node: Node) -> str:
    """Return a node's kind, without its name."""
    return node.kind.lower()


def _type(node: Node) -> str:
    """Return a type as written in a schema, abbreviated."""
    match node:
        case Named():
            return quoted(node.name)
        case Array():
            return '{"type": "array", …}'
        case Map():
            return '{"type": "map", …}'
        case Union():
            return f"[{', '.join(map(_branch, node.branches[:_SHOWN]))}{', …' if len(node.branches) > _SHOWN else ''}]"
        case _:
            return quoted(node.kind.lower())


def _branch(node: Node) -> str:
    name = getattr(node, "name", None)
    return quoted(name) if isinstance(name, str) else _type(node)


def _default_for(node: Node) -> str:
    if not isinstance(node, Union):
        return f'"default": null with the type ["null", {_type(node)}]'
    if any(branch.kind == "NULL" for branch in node.branches):
        return '"default": null'
    return f'"default": null with "null" as the first branch: ["null", {_type(node)[1:]}'


def _several(noun: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{noun}{'s' if len(names) > 1 else ''} {shown}{more}"
