"""Checks for risky changes that are readable all the same; contractlog's own, off by default.

Types are matched as in reading: fields by name or alias, branches by name or kind. Most checks compare the candidate
with the previous version, so the reader should be the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from contractlog.compatibility.avro import caution_wording as wording
from contractlog.compatibility.avro.canonical import java_number
from contractlog.compatibility.avro.checks import READS
from contractlog.compatibility.avro.logical import meaning
from contractlog.compatibility.avro.nodes import (
    Array,
    Enum,
    Field,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    Union,
    short_name,
)
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import pointer, write
from contractlog.compatibility.steps import Steps
from contractlog.compatibility.walk import STEP_LIMIT, work_limit_exceeded

__all__ = ["cautions"]

Pair = tuple[Node, Node, str]  #: reader, writer, path

_NONE: Final = ""


def cautions(reader: Schema, writer: Schema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield the changes between matching types, each pair of types once, from the root down.

    ``steps`` is shared with other comparisons.
    """
    if reader is writer:
        return
    shared = steps or Steps(STEP_LIMIT)
    seen: set[tuple[Node, Node]] = set()
    waiting: list[Pair] = [(reader.root, writer.root, "")]
    while waiting:
        one, other, path = waiting.pop()
        one, other = reader.resolve(one), writer.resolve(other)
        if one is other or (one, other) in seen:
            continue
        seen.add((one, other))
        shared.spend(1)
        if shared.left < 0:
            yield work_limit_exceeded(shared.limit)
            return
        yield from _of_pair(one, other, path)
        waiting.extend(reversed(list(_below(one, other, path, reader.resolve, writer.resolve))))


def _of_pair(reader: Node, writer: Node, path: str) -> Iterator[Finding]:
    if meaning(reader) != meaning(writer) and not isinstance(reader, Union) and not isinstance(writer, Union):
        yield wording.logical_type_changed(path, reader, writer, meaning(reader), meaning(writer))
    if isinstance(reader, Named) and isinstance(writer, Named) and writer.doc and not reader.doc:
        yield wording.doc_lost(path, reader, writer)
    match reader, writer:
        case Enum(), Enum():
            yield from _enum(reader, writer, path)
        case Record(), Record():
            yield from _record(reader, writer, path)
        case _:
            pass


def _enum(reader: Enum, writer: Enum, path: str) -> Iterator[Finding]:
    if reader.default is None and set(reader.symbols) != set(writer.symbols):
        yield wording.enum_default_missing(path, reader, writer)
    if writer.default is not None and reader.default is not None and writer.default != reader.default:
        yield wording.enum_default_changed(path, reader, writer)


def _record(reader: Record, writer: Record, path: str) -> Iterator[Finding]:
    for index, (field, match) in enumerate(zip(reader.fields, _matches(reader, writer), strict=True)):
        here = f"{path}/fields/{index}"
        if match is None:
            continue
        if match.doc and not field.doc:
            yield wording.doc_lost(here, field, match)
        if match.has_default and _default(field) != _default(match):
            yield wording.default_changed(here, field, match, _default(field), _default(match))
    for field, match in _renamed(reader, writer):
        yield wording.field_renamed(f"{path}/fields/{reader.fields.index(field)}", field, match)


def _matches(reader: Record, writer: Record) -> list[Field | None]:
    """Return the writer's field for each reader field: by name, else by the first alias that matches."""
    written = {field.name: field for field in writer.fields}
    return [
        next((written[name] for name in (field.name, *field.aliases) if name in written), None)
        for field in reader.fields
    ]


def _renamed(reader: Record, writer: Record) -> Iterator[tuple[Field, Field]]:
    """Yield pairs of a new field with a default and an unread old field, each the only one of its type."""
    matches = _matches(reader, writer)
    read = {match.name for match in matches if match is not None}
    new = [field for field, match in zip(reader.fields, matches, strict=True) if match is None and field.has_default]
    lost = [field for field in writer.fields if field.name not in read]
    for field in new:
        alike = [other for other in lost if _same_type(field.type, other.type)]
        rivals = [other for other in new if _same_type(field.type, other.type)]
        if len(alike) == len(rivals) == 1:
            yield field, alike[0]


def _same_type(one: Node, other: Node) -> bool:
    """Compare two types, ignoring nullability and the contents of named types."""
    return _type(one) == _type(other)


def _type(node: Node) -> tuple[str, ...]:
    if isinstance(node, Union):
        return tuple(sorted(name for branch in node.branches for name in _type(branch) if name != "null"))
    match node:
        case Array():
            return ("array", *_type(node.items))
        case Map():
            return ("map", *_type(node.values))
        case Primitive():
            return (node.type,)
        case _:
            return (getattr(node, "name", node.kind),)


def _below(
    reader: Node, writer: Node, path: str, read: Callable[[Node], Node], wrote: Callable[[Node], Node]
) -> Iterator[Pair]:
    match reader, writer:
        case (Union(), _) | (_, Union()):
            yield from _branches(reader, writer, path, read, wrote)
        case Array(), Array():
            yield reader.items, writer.items, f"{path}/items"
        case Map(), Map():
            yield reader.values, writer.values, f"{path}/values"
        case Record(), Record():
            for index, (field, match) in enumerate(zip(reader.fields, _matches(reader, writer), strict=True)):
                if match is not None:
                    yield field.type, match.type, f"{path}/fields/{index}/type"
        case _:
            pass


def _branches(
    reader: Node, writer: Node, path: str, read: Callable[[Node], Node], wrote: Callable[[Node], Node]
) -> Iterator[Pair]:
    """Yield each writer branch with its matching reader branch; a non-union counts as its own only branch."""
    index: dict[tuple[str, str], tuple[Node, str]] = {}
    branches = reader.branches if isinstance(reader, Union) else (reader,)
    for number, branch in enumerate(map(read, branches)):
        here = pointer(path, number) if isinstance(reader, Union) else path
        for key in _keys(branch):
            index.setdefault(key, (branch, here))
    for branch in map(wrote, writer.branches if isinstance(writer, Union) else (writer,)):
        wider = [(kind.upper(), _NONE) for kind, narrower in READS.items() if branch.kind.lower() in narrower]
        names = (
            [(branch.kind, short_name(branch.name)), (branch.kind, branch.name)] if isinstance(branch, Named) else []
        )
        found = next((index[key] for key in [*names, (branch.kind, _NONE), *wider] if key in index), None)
        if found is not None:
            yield found[0], branch, found[1]


def _keys(branch: Node) -> Iterator[tuple[str, str]]:
    if isinstance(branch, Named):
        yield branch.kind, short_name(branch.name)
        yield from ((branch.kind, alias) for alias in branch.aliases)
    else:
        yield branch.kind, _NONE


def _default(field: Field) -> str:
    return write(field.default, java_number) if field.has_default else _NONE
