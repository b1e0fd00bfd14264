"""Possible fixes for the fields of a record: defaults, aliases, restored or removed fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, list_field_names, list_names
from contractlog.compatibility.fixes.avro_type_index import TypeIndex, adapt_range
from contractlog.compatibility.fixes.edits import Edit, JsonSource, JsonSpan
from contractlog.compatibility.fixes.proposal import ProposedFix, fit_layout

__all__ = ["fix_ambiguous_field", "fix_missing_default"]

_DEFAULTS: Final[Mapping[str, str]] = {
    "boolean": "false", "int": "0", "long": "0", "float": "0.0", "double": "0.0", "bytes": '""', "string": '""',
    "array": "[]", "map": "{}",
}  # fmt: skip


def fix_missing_default(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Make a field that was not written readable, or restore the field that earlier readers require."""
    yield from (_fix_unwritten_field if pair.backward else _restore_field)(pair)


def _fix_unwritten_field(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for a field of the candidate that was never written: alias, default, old name, removal."""
    source, field = pair.candidate_types.source, pair.candidate_span
    fields_pointer, _, index = pair.at.rpartition("/")
    fields = source.find(fields_pointer)
    if field is None or fields is None:
        return
    name = source.string(field.member("name")) or ""
    kind = field.member("type")
    for old in _list_unread_fields(pair, fields):
        aliases = field.member("aliases")
        text = json.dumps(old)
        edit = (
            source.set_member(field, "aliases", f"[{text}]", after="name")
            if aliases is None
            else source.insert(aliases, len(aliases.values), text)
        )
        yield ProposedFix(f'give the field "{name}" the alias "{old}", if it is that field under another name', [edit])
    if kind is not None:
        yield from _add_default(pair, field, name, kind)
    earlier_names = list_field_names(pair.earlier_types.source, pair.earlier_span)
    name_at_index = earlier_names[int(index)] if int(index) < len(earlier_names) else None
    if name_at_index is not None and name_at_index in _list_unread_fields(pair, fields):
        name_span = field.member("name")
        if name_span is not None:
            yield ProposedFix(
                f'name the field "{name_at_index}" again',
                [JsonSource.replace(name_span, json.dumps(name_at_index))],
                undo=True,
            )
    yield ProposedFix(f'leave the field "{name}" out', source.remove(fields, [int(index)]), undo=True, rank=9)


def _add_default(pair: AvroTextPair, field: JsonSpan, name: str, kind: JsonSpan) -> Iterator[ProposedFix]:
    source = pair.candidate_types.source
    null = source.set_member(field, "default", "null", after="type")
    if kind.is_list and "null" in source.strings(kind):
        yield ProposedFix(f'give the field "{name}" the default null', [null], rank=2)
    elif source.string(kind) != "null":
        wider = (
            [source.insert(kind, 0, '"null"')]
            if kind.is_list
            else [Edit(kind.start, kind.start, '["null", '), Edit(kind.end, kind.end, "]")]
        )
        sentence = f'make the field "{name}" a union with null, with the default null'
        yield ProposedFix(sentence, [*wider, null], rank=2)
    plain = "null" if source.string(kind) == "null" else _find_simple_default(pair.candidate_types, kind)
    if plain is not None:
        edit = source.set_member(field, "default", plain, after="type")
        yield ProposedFix(f'give the field "{name}" a default, such as {plain}', [edit], rank=3)


def _find_simple_default(types: TypeIndex, kind: JsonSpan) -> str | None:
    source = types.source
    if kind.is_list:
        return _find_simple_default(types, kind.values[0]) if kind.values else None
    type_name = source.string(kind) or source.string(kind.member("type")) or ""
    occurrence = next((occurrence for occurrence in types.all if occurrence.span is kind), None)
    definition = None if occurrence is None or not occurrence.name else types.definition(occurrence.name)
    if definition is not None:
        symbols = source.strings(definition.span.member("symbols"))
        return json.dumps(symbols[0]) if symbols else None
    return _DEFAULTS.get(type_name)


def _list_unread_fields(pair: AvroTextPair, fields: JsonSpan) -> list[str]:
    """Return the earlier fields that no field of the candidate reads."""
    source = pair.candidate_types.source
    read = {name for field in fields.values for name in (source.string(field.member("name")) or "",)}
    read |= {alias for field in fields.values for alias in source.strings(field.member("aliases"))}
    return [name for name in list_field_names(pair.earlier_types.source, pair.earlier_span) if name not in read]


def _restore_field(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for a field that earlier readers require: restore it, or rename a new field to it."""
    field, record = pair.earlier_span, pair.candidate_span
    occurrence, earlier_occurrence = (
        pair.candidate_types.at(pair.at),
        pair.earlier_types.at(pair.earlier_at.rpartition("/fields/")[0]),
    )
    fields = None if record is None else record.member("fields")
    if field is None or fields is None or occurrence is None or earlier_occurrence is None:
        return
    source = pair.candidate_types.source
    name = pair.earlier_types.source.string(field.member("name")) or ""
    earlier_names, candidate_names = (
        list_field_names(pair.earlier_types.source, earlier_occurrence.span),
        list_field_names(source, record),
    )
    index = earlier_names.index(name)
    before = next(
        (
            candidate_names.index(neighbour) + 1
            for neighbour in reversed(earlier_names[:index])
            if neighbour in candidate_names
        ),
        0,
    )
    inner, outer = occurrence.name.rpartition(".")[0], earlier_occurrence.name.rpartition(".")[0]
    text = fit_layout(
        adapt_range(field, outer, pair.earlier_types, pair.candidate_types, inner),
        pair.earlier_types.source,
        field.start,
        pair.candidate_types.source,
        fields.starts[0] if fields.values else fields.start,
    )
    yield ProposedFix(f'keep the field "{name}"', [source.insert(fields, before, text)], undo=True)
    for new, field_span in zip(candidate_names, fields.values, strict=True):
        name_span = field_span.member("name")
        if new not in earlier_names and name_span is not None:
            edit = JsonSource.replace(name_span, json.dumps(name))
            yield ProposedFix(f'name the field "{new}" again as earlier readers know it, "{name}"', [edit], undo=True)


def fix_ambiguous_field(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Make a field that matches several fields match one."""
    yield from (_remove_aliases if pair.backward else _remove_fields)(pair)


def _remove_aliases(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for a field of the candidate that matches several earlier fields: remove aliases."""
    source, field = pair.candidate_types.source, pair.candidate_span
    aliases = None if field is None else field.member("aliases")
    if field is None or aliases is None:
        return
    name, alias_names = source.string(field.member("name")), source.strings(aliases)
    earlier_names = set(list_field_names(pair.earlier_types.source, pair.earlier_span))
    for remaining in [name, *alias_names] if name in earlier_names else alias_names:
        removed = [index for index, alias in enumerate(alias_names) if alias in earlier_names and alias != remaining]
        edits = (
            source.remove_member(field, "aliases")
            if len(removed) == len(alias_names)
            else source.remove(aliases, removed)
        )
        listed = list_names("the alias", [alias_names[index] for index in removed])
        yield ProposedFix(f'remove {listed} of the field "{name}"', edits, undo=True)


def _remove_fields(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for several candidate fields that match one field of an earlier reader: remove fields."""
    source, earlier_source = pair.candidate_types.source, pair.earlier_types.source
    fields = None if pair.candidate_span is None else pair.candidate_span.member("fields")
    if fields is None or pair.earlier_span is None:
        return
    reader_names = {
        earlier_source.string(pair.earlier_span.member("name")) or "",
        *earlier_source.strings(pair.earlier_span.member("aliases")),
    }
    candidate_names = list_field_names(source, pair.candidate_span)
    matching = [index for index, name in enumerate(candidate_names) if name in reader_names]
    for remaining in matching:
        removed = [index for index in matching if index != remaining]
        listed = list_names("the field", [candidate_names[index] for index in removed])
        yield ProposedFix(f"leave {listed} out", source.remove(fields, removed), undo=True)
