"""List of the changes between two Avro schemas in words, whether they affect readers or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from contractlog.compatibility.avro.canonical_form import format_java_number
from contractlog.compatibility.avro.check_catalogue import AVRO_DEFAULT_CHANGED, AVRO_ENUM_SYMBOLS_REMOVED
from contractlog.compatibility.avro.logical_types import describe_logical_type
from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Record,
    TypeName,
    Union,
    short_name,
)
from contractlog.compatibility.json_text import write_json
from contractlog.compatibility.level import Direction
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.pair_walk import STEP_LIMIT
from contractlog.compatibility.step_budget import StepBudget
from contractlog.compatibility.structural_change import StructuralChange

__all__ = ["list_changes"]

_Pair = tuple[AvroType, AvroType, str]  #: later and earlier type, and what has them, in words
_MAX_VALUE: Final = 80  #: characters of a default or of a type
_MAX_LISTED: Final = 10  #: symbols of an enum


def list_changes(later: AvroSchema, earlier: AvroSchema, steps: StepBudget | None = None) -> Iterator[StructuralChange]:
    """Yield the changes between matching parts of two schemas, from the root down.

    Each pair of types is compared once. The list ends early when the steps are used up.
    """
    shared = steps or StepBudget(STEP_LIMIT)
    visited: set[tuple[AvroType, AvroType]] = set()
    pending: list[_Pair] = [(later.root, earlier.root, "the schema")]
    while pending:
        after, before, owner = pending.pop()
        after, before = later.resolve(after), earlier.resolve(before)
        shared.spend(1)
        if shared.left < 0:
            return
        if (after, before) in visited:
            continue
        visited.add((after, before))
        inner: list[_Pair] = []
        yield from _change_pair((later, earlier), after, before, owner, inner)
        pending.extend(reversed(inner))


def _change_pair(
    schemas: tuple[AvroSchema, AvroSchema], after: AvroType, before: AvroType, owner: str, inner: list[_Pair]
) -> Iterator[StructuralChange]:
    """Yield the changes of a type itself; add the pairs of types in it to ``inner``."""
    match after, before:
        case (Union(), _) | (_, Union()):
            yield from _change_union(schemas, after, before, owner, inner)
        case _ if after.kind != before.kind or _is_renamed_type(after, before):
            yield _type_change(after, before, owner)
        case Array(), Array():
            inner.append((after.items, before.items, f"items of {owner}"))
        case Map(), Map():
            inner.append((after.values, before.values, f"values of {owner}"))
        case Record(), Record():
            yield from _change_named_type(after, before)
            root = after is schemas[0].resolve(schemas[0].root)
            yield from _change_record(after, before, "" if root else f" of `{short_name(after.name)}`", inner)
        case NamedType(), NamedType():
            yield from _change_named_type(after, before)
    if after.kind == before.kind and not isinstance(after, Union):
        yield from _change_properties(after, before, owner)


def _is_renamed_type(after: AvroType, before: AvroType) -> bool:
    """Return whether two types have different names, and no alias connects them."""
    if not (isinstance(after, NamedType) and isinstance(before, NamedType)):
        return False
    aliases = {short_name(alias) for alias in after.aliases}
    return short_name(after.name) != short_name(before.name) and short_name(before.name) not in aliases


def _type_change(after: AvroType, before: AvroType, owner: str) -> StructuralChange:
    text = f"type of {owner} changed from `{_describe_type(before)}` to `{_describe_type(after)}`"
    return StructuralChange(text, ((after.at, before.at),), covers_inner=True)


def _change_union(
    schemas: tuple[AvroSchema, AvroSchema], after: AvroType, before: AvroType, owner: str, inner: list[_Pair]
) -> Iterator[StructuralChange]:
    """Yield the changes of or to a union; add its matching branches to ``inner``."""
    later, earlier = schemas
    added = {_branch_key(later.resolve(each)): each for each in _list_branches(after)}
    removed = {_branch_key(earlier.resolve(each)): each for each in _list_branches(before)}
    common = [key for key in added if key in removed]
    inner += [(added.pop(key), removed.pop(key), owner) for key in common]
    if isinstance(after, Union) is not isinstance(before, Union):
        yield _type_change(after, before, owner)
        return
    for branch in removed.values():
        text = f"union of {owner} lost `{_describe_type(branch)}`"
        yield StructuralChange(text, ((after.at, branch.at), (after.at, earlier.resolve(branch).at)))
    for branch in added.values():
        text = f"union of {owner} gained `{_describe_type(branch)}`"
        yield StructuralChange(text, ((branch.at, before.at), (later.resolve(branch).at, before.at)))
    if not (added or removed) and common != [_branch_key(earlier.resolve(each)) for each in _list_branches(before)]:
        yield StructuralChange(f"union of {owner} reordered", ((after.at, before.at),))


def _list_branches(node: AvroType) -> Sequence[AvroType]:
    return node.branches if isinstance(node, Union) else (node,)


def _branch_key(node: AvroType) -> str:
    return short_name(node.name) if isinstance(node, NamedType) else node.kind


def _change_named_type(after: NamedType, before: NamedType) -> Iterator[StructuralChange]:
    at = ((after.at, before.at),)
    name = f"{after.kind.lower()} `{short_name(after.name)}`"
    if after.name != before.name:
        yield StructuralChange(f"{before.kind.lower()} `{before.name}` renamed to `{after.name}`", at)
    if after.doc != before.doc:
        yield StructuralChange(f"documentation of {name} {_verb(after.doc, before.doc, show=False)}", at)
    if set(after.aliases) != set(before.aliases):
        yield StructuralChange(f"aliases of {name} changed", at)
    match after, before:
        case Fixed(), Fixed() if after.size != before.size:
            yield StructuralChange(f"size of {name} changed from {before.size} to {after.size} bytes", at)
        case Enum(), Enum():
            yield from _change_enum(after, before, name)


def _change_enum(after: Enum, before: Enum, name: str) -> Iterator[StructuralChange]:
    at = ((after.at, before.at),)
    lost = [symbol for symbol in before.symbols if symbol not in after.symbols]
    gained = [symbol for symbol in after.symbols if symbol not in before.symbols]
    if lost:
        checks = frozenset({AVRO_ENUM_SYMBOLS_REMOVED.id})
        yield StructuralChange(f"{name} lost {_list_symbols(lost)}", at, Direction.BACKWARD, checks)
    if gained:
        yield StructuralChange(f"{name} gained {_list_symbols(gained)}", at, Direction.FORWARD)
    if not (lost or gained) and after.symbols != before.symbols:
        yield StructuralChange(f"symbols of {name} reordered", at)
    if after.default != before.default:
        values = [None if default is None else f"`{default}`" for default in (after.default, before.default)]
        yield StructuralChange(f"default of {name} {_verb(*values)}", at, checks=frozenset({AVRO_DEFAULT_CHANGED.id}))


def _list_symbols(symbols: Sequence[str]) -> str:
    listed = list_first([f"`{symbol}`" for symbol in symbols], _MAX_LISTED)
    return f"symbol{'s' if len(symbols) > 1 else ''} {listed}"


def _change_record(after: Record, before: Record, of: str, inner: list[_Pair]) -> Iterator[StructuralChange]:
    """Yield the changes of fields; add the types of those in both records to ``inner``."""
    earlier = {field.name: field for field in before.fields}
    matches: list[Field] = []
    for field in after.fields:
        match = next((earlier[name] for name in (field.name, *field.aliases) if name in earlier), None)
        if match is None:
            default = f"with default {_write_value(field.default)}" if field.has_default else "without a default"
            yield StructuralChange(f"field `{field.name}`{of} added {default}", ((field.at, before.at),))
            continue
        matches.append(match)
        at = (field.at, match.at)
        if field.name != match.name:
            text = f"field `{match.name}`{of} renamed to `{field.name}`, with an alias"
            yield StructuralChange(text, (at, (after.at, match.at), (field.at, before.at)))
        yield from _change_field(field, match, f"field `{field.name}`{of}", at)
        inner.append((field.type, match.type, f"field `{field.name}`{of}"))
    for field in before.fields:
        if all(field is not match for match in matches):
            had = "had a default" if field.has_default else "had no default"
            yield StructuralChange(f"field `{field.name}`{of} removed, which {had}", ((after.at, field.at),))
    if [match.name for match in matches] != [field.name for field in before.fields if field in matches]:
        yield StructuralChange(f"fields{of or ' of the schema'} reordered", ((after.at, before.at),))


def _change_field(field: Field, match: Field, owner: str, at: tuple[str, str]) -> Iterator[StructuralChange]:
    after, before = (_write_value(each.default) if each.has_default else None for each in (field, match))
    if after != before:
        yield StructuralChange(f"default of {owner} {_verb(after, before)}", (at,))
    if field.doc != match.doc:
        yield StructuralChange(f"documentation of {owner} {_verb(field.doc, match.doc, show=False)}", (at,))
    if field.name == match.name and set(field.aliases) != set(match.aliases):
        yield StructuralChange(f"aliases of {owner} changed", (at,))
    if field.order != match.order:
        yield StructuralChange(f"order of {owner} changed from {match.order} to {field.order}", (at,))
    names = sorted(name for name in field.props.keys() | match.props.keys() if _differs(field, match, name))
    if names:
        yield StructuralChange(f"{_list_properties(names)} of {owner} changed", (at,))


def _change_properties(after: AvroType, before: AvroType, owner: str) -> Iterator[StructuralChange]:
    at = ((after.at, before.at),)
    types = [describe_logical_type(node) or "none" for node in (after, before)]
    if types[0] != types[1]:
        yield StructuralChange(f"logical type of {owner} changed from {types[1]} to {types[0]}", at)
        return
    names = sorted(name for name in after.props.keys() | before.props.keys() if _differs(after, before, name))
    if names:
        yield StructuralChange(f"{_list_properties(names)} of the type of {owner} changed", at)


def _differs(after: AvroType | Field, before: AvroType | Field, name: str) -> bool:
    return (name in after.props, after.props.get(name)) != (name in before.props, before.props.get(name))


def _list_properties(names: Sequence[str]) -> str:
    return f"{'properties' if len(names) > 1 else 'property'} {', '.join(f'`{name}`' for name in names)}"


def _verb(after: str | None, before: str | None, *, show: bool = True) -> str:
    """Return ``added``, ``removed`` or ``changed``, with the values of defaults."""
    if before is None:
        return f"added: {after}" if show else "added"
    if after is None:
        return f"removed, which was {before}" if show else "removed"
    return f"changed from {before} to {after}" if show else "changed"


def _write_value(value: Any) -> str:
    return truncate(write_json(value, format_java_number), _MAX_VALUE)


def _describe_type(node: AvroType) -> str:
    return truncate(_describe_whole_type(node), _MAX_VALUE)


def _describe_whole_type(node: AvroType) -> str:
    match node:
        case TypeName() | NamedType():
            return short_name(node.name)
        case Array():
            return f"array of {_describe_type(node.items)}"
        case Map():
            return f"map of {_describe_type(node.values)}"
        case Union():
            return " | ".join(map(_describe_type, node.branches))
    logical_type = describe_logical_type(node)
    return f"{node.kind.lower()} ({logical_type})" if logical_type else node.kind.lower()
