"""Checks for risky changes: the reader can read the data, but perhaps not as intended. Off by default.

The reference has no such checks. Types are matched as in reading: fields by name or alias, branches by name or kind.
Most checks compare the candidate with the previous version, so the reader should be the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from contractlog.compatibility.avro.canonical_form import format_java_number
from contractlog.compatibility.avro.logical_types import describe_logical_type
from contractlog.compatibility.avro.reading_rules import READABLE_PRIMITIVES
from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Map,
    NamedType,
    Primitive,
    Record,
    Union,
    short_name,
)
from contractlog.compatibility.avro.warning_texts import (
    default_changed_finding,
    doc_lost_finding,
    enum_default_changed_finding,
    enum_default_missing_finding,
    enum_symbols_removed_finding,
    field_renamed_finding,
    logical_type_changed_finding,
)
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import join_pointer, write_json
from contractlog.compatibility.pair_walk import STEP_LIMIT, work_limit_exceeded
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["find_warnings"]

Pair = tuple[AvroType, AvroType, str]  #: reader, writer, path

_NO_NAME: Final = ""


def find_warnings(reader: AvroSchema, writer: AvroSchema, steps: StepBudget | None = None) -> Iterator[Finding]:
    """Yield the changes between matching types, each pair of types once, from the root down.

    ``steps`` is shared with other comparisons.
    """
    if reader is writer:
        return
    shared = steps or StepBudget(STEP_LIMIT)
    visited: set[tuple[AvroType, AvroType]] = set()
    pending: list[Pair] = [(reader.root, writer.root, "")]
    while pending:
        reader_type, writer_type, path = pending.pop()
        reader_type, writer_type = reader.resolve(reader_type), writer.resolve(writer_type)
        if reader_type is writer_type or (reader_type, writer_type) in visited:
            continue
        visited.add((reader_type, writer_type))
        shared.spend(1)
        if shared.left < 0:
            yield work_limit_exceeded(shared.limit)
            return
        yield from _check_pair(reader_type, writer_type, path)
        pending.extend(reversed(list(_inner_pairs(reader_type, writer_type, path, reader.resolve, writer.resolve))))


def _check_pair(reader: AvroType, writer: AvroType, path: str) -> Iterator[Finding]:
    if (
        describe_logical_type(reader) != describe_logical_type(writer)
        and not isinstance(reader, Union)
        and not isinstance(writer, Union)
    ):
        yield logical_type_changed_finding(
            path, reader, writer, describe_logical_type(reader), describe_logical_type(writer)
        )
    if isinstance(reader, NamedType) and isinstance(writer, NamedType) and writer.doc and not reader.doc:
        yield doc_lost_finding(path, reader, writer)
    match reader, writer:
        case Enum(), Enum():
            yield from _check_enum(reader, writer, path)
        case Record(), Record():
            yield from _check_record(reader, writer, path)
        case _:
            pass


def _check_enum(reader: Enum, writer: Enum, path: str) -> Iterator[Finding]:
    symbols = set(reader.symbols)
    if reader.default is None and symbols != set(writer.symbols):
        yield enum_default_missing_finding(path, reader, writer)
    removed = [symbol for symbol in writer.symbols if symbol not in symbols]
    if reader.default is not None and removed:
        yield enum_symbols_removed_finding(path, reader, writer, removed)
    if writer.default is not None and reader.default is not None and writer.default != reader.default:
        yield enum_default_changed_finding(path, reader, writer)


def _check_record(reader: Record, writer: Record, path: str) -> Iterator[Finding]:
    for index, (field, match) in enumerate(zip(reader.fields, _match_fields(reader, writer), strict=True)):
        field_path = f"{path}/fields/{index}"
        if match is None:
            continue
        if match.doc and not field.doc:
            yield doc_lost_finding(field_path, field, match)
        if match.has_default and _write_default(field) != _write_default(match):
            yield default_changed_finding(field_path, field, match, _write_default(field), _write_default(match))
    for field, match in _find_renamed_fields(reader, writer):
        yield field_renamed_finding(f"{path}/fields/{reader.fields.index(field)}", field, match)


def _match_fields(reader: Record, writer: Record) -> list[Field | None]:
    """Return the writer's field for each reader field: by name, else by the first alias that matches."""
    writer_fields = {field.name: field for field in writer.fields}
    return [
        next((writer_fields[name] for name in (field.name, *field.aliases) if name in writer_fields), None)
        for field in reader.fields
    ]


def _find_renamed_fields(reader: Record, writer: Record) -> Iterator[tuple[Field, Field]]:
    """Yield pairs of a new field with a default and an unread old field, each the only one of its type."""
    matches = _match_fields(reader, writer)
    read = {match.name for match in matches if match is not None}
    new = [field for field, match in zip(reader.fields, matches, strict=True) if match is None and field.has_default]
    unread = [field for field in writer.fields if field.name not in read]
    for field in new:
        same_type = [other for other in unread if _same_type(field.type, other.type)]
        competitors = [other for other in new if _same_type(field.type, other.type)]
        if len(same_type) == len(competitors) == 1:
            yield field, same_type[0]


def _same_type(first: AvroType, second: AvroType) -> bool:
    """Compare two types, ignoring nullability and the contents of named types."""
    return _type_key(first) == _type_key(second)


def _type_key(node: AvroType) -> tuple[str, ...]:
    if isinstance(node, Union):
        return tuple(sorted(name for branch in node.branches for name in _type_key(branch) if name != "null"))
    match node:
        case Array():
            return ("array", *_type_key(node.items))
        case Map():
            return ("map", *_type_key(node.values))
        case Primitive():
            return (node.type,)
        case _:
            return (getattr(node, "name", node.kind),)


def _inner_pairs(
    reader: AvroType,
    writer: AvroType,
    path: str,
    read: Callable[[AvroType], AvroType],
    wrote: Callable[[AvroType], AvroType],
) -> Iterator[Pair]:
    match reader, writer:
        case (Union(), _) | (_, Union()):
            yield from _branch_pairs(reader, writer, path, read, wrote)
        case Array(), Array():
            yield reader.items, writer.items, f"{path}/items"
        case Map(), Map():
            yield reader.values, writer.values, f"{path}/values"
        case Record(), Record():
            for index, (field, match) in enumerate(zip(reader.fields, _match_fields(reader, writer), strict=True)):
                if match is not None:
                    yield field.type, match.type, f"{path}/fields/{index}/type"
        case _:
            pass


def _branch_pairs(
    reader: AvroType,
    writer: AvroType,
    path: str,
    read: Callable[[AvroType], AvroType],
    wrote: Callable[[AvroType], AvroType],
) -> Iterator[Pair]:
    """Yield each writer branch with its matching reader branch; a non-union counts as its own only branch."""
    index: dict[tuple[str, str], tuple[AvroType, str]] = {}
    branches = reader.branches if isinstance(reader, Union) else (reader,)
    for number, branch in enumerate(map(read, branches)):
        branch_path = join_pointer(path, number) if isinstance(reader, Union) else path
        for key in _branch_keys(branch):
            index.setdefault(key, (branch, branch_path))
    for branch in map(wrote, writer.branches if isinstance(writer, Union) else (writer,)):
        wider_keys = [
            (kind.upper(), _NO_NAME)
            for kind, narrower in READABLE_PRIMITIVES.items()
            if branch.kind.lower() in narrower
        ]
        name_keys = (
            [(branch.kind, short_name(branch.name)), (branch.kind, branch.name)]
            if isinstance(branch, NamedType)
            else []
        )
        entry = next((index[key] for key in [*name_keys, (branch.kind, _NO_NAME), *wider_keys] if key in index), None)
        if entry is not None:
            yield entry[0], branch, entry[1]


def _branch_keys(branch: AvroType) -> Iterator[tuple[str, str]]:
    if isinstance(branch, NamedType):
        yield branch.kind, short_name(branch.name)
        yield from ((branch.kind, alias) for alias in branch.aliases)
    else:
        yield branch.kind, _NO_NAME


def _write_default(field: Field) -> str:
    return write_json(field.default, format_java_number) if field.has_default else _NO_NAME
