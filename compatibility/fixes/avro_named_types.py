"""Possible fixes for named types: name, size of a fixed, symbols of an enum, fields of a record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contractlog.compatibility.avro.names import find_fallback_symbol
from contractlog.compatibility.avro.types import short_name
from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, adapt_range, add_alias, list_names
from contractlog.compatibility.fixes.avro_type_index import TypeIndex, TypeOccurrence, list_field_names
from contractlog.compatibility.fixes.json_text_edits import Edit, JsonSource, JsonSpan, fit_layout
from contractlog.compatibility.fixes.proposed_fix import ProposedFix
from contractlog.compatibility.json_text import quote_json

__all__ = [
    "connect_names",
    "fix_ambiguous_field",
    "fix_changed_name",
    "fix_enum_symbols",
    "fix_missing_default",
    "restore_enum_symbols",
    "restore_fixed_size",
    "suggest_enum_default",
]


def fix_changed_name(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Connect the two names, or restore the earlier type."""
    occurrence, earlier_occurrence = pair.candidate_types.at(pair.at), pair.earlier_types.at(pair.earlier_at)
    if occurrence is None or earlier_occurrence is None:
        return
    yield from connect_names(pair, occurrence, earlier_occurrence)
    for use in pair.occurrences():
        yield from pair.propose_restore(use, earlier_occurrence)


def connect_names(
    pair: AvroTextPair, occurrence: TypeOccurrence, earlier_occurrence: TypeOccurrence
) -> Iterator[ProposedFix]:
    """Connect two names by an alias, or restore the old name."""
    definition = pair.candidate_types.definition(occurrence.name)
    if (
        definition is None
        or not earlier_occurrence.name
        or earlier_occurrence.name in pair.candidate_types.defined_names()
    ):
        return
    if pair.backward:
        yield _add_alias(pair.candidate_types.source, definition, earlier_occurrence.name)
    old = short_name(earlier_occurrence.name)
    current = quote_json(short_name(occurrence.name))
    yield ProposedFix(
        f"rename the type {current} back to {quote_json(old)}",
        list(_rename_type(pair.candidate_types, definition, old)),
        undo=True,
    )


def _add_alias(source: JsonSource, occurrence: TypeOccurrence, name: str) -> ProposedFix:
    space = occurrence.name.rpartition(".")[0]
    alias = short_name(name) if name.rpartition(".")[0] == space else name
    return ProposedFix(
        f"give {quote_json(short_name(occurrence.name))} the alias {json.dumps(alias)}, "
        "so that the new schema reads what has that name",
        [add_alias(source, occurrence.span, alias)],
    )


def _rename_type(types: TypeIndex, definition: TypeOccurrence, name: str) -> Iterator[Edit]:
    """Yield the edits that rename a type in its definition and in every use."""
    for occurrence in types.occurrences(definition):
        name_span = (
            occurrence.span.member("name" if occurrence.defines else "type")
            if occurrence.span.is_object
            else occurrence.span
        )
        text = types.source.string(name_span)
        if name_span is not None and text is not None:
            space, dot, _ = text.rpartition(".")
            yield JsonSource.replace(name_span, json.dumps(f"{space}{dot}{name}"))


def restore_fixed_size(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the size."""
    size = None if pair.earlier_span is None else pair.earlier_span.member("size")
    if pair.candidate_span is not None and size is not None:
        text = pair.earlier_types.source.slice(size)
        edit = pair.candidate_types.source.set_member(pair.candidate_span, "size", text)
        yield ProposedFix(f'set "size" back to {text}', [edit], undo=True)


def fix_enum_symbols(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the missing symbols, give the enum a default, or remove the symbols that readers lack."""
    if pair.candidate_span is None or pair.earlier_span is None:
        return
    symbols_span, earlier_symbols_span = pair.candidate_span.member("symbols"), pair.earlier_span.member("symbols")
    if symbols_span is None or earlier_symbols_span is None:
        return
    candidate_symbols, earlier_symbols = (
        pair.candidate_types.source.strings(symbols_span),
        pair.earlier_types.source.strings(earlier_symbols_span),
    )
    if pair.backward:
        yield from _restore_symbols(pair, symbols_span, candidate_symbols, earlier_symbols)
    else:
        yield from _remove_symbols(pair, symbols_span, candidate_symbols, earlier_symbols)


def restore_enum_symbols(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the symbols that are read as the default of the enum."""
    yield from (fix for fix in fix_enum_symbols(pair) if fix.undo)


def _restore_symbols(
    pair: AvroTextPair, symbols_span: JsonSpan, candidate_symbols: Sequence[str], earlier_symbols: Sequence[str]
) -> Iterator[ProposedFix]:
    source = pair.candidate_types.source
    missing = [symbol for symbol in earlier_symbols if symbol not in candidate_symbols]
    after: dict[int, list[str]] = {}
    for index, symbol in enumerate(earlier_symbols):
        if symbol in missing:
            after.setdefault(_index_to_restore(earlier_symbols, index, candidate_symbols), []).append(symbol)
    edits = [
        source.insert(symbols_span, index, ", ".join(map(json.dumps, symbols)))
        for index, symbols in sorted(after.items())
    ]
    yield ProposedFix(f"keep {list_names('the symbol', missing)}", edits, undo=True)
    fallback = suggest_enum_default(candidate_symbols)
    if fallback is not None and pair.candidate_span is not None:
        edit = source.set_member(pair.candidate_span, "default", json.dumps(fallback), after="symbols")
        yield ProposedFix(f'give the enum the default "{fallback}" for unknown symbols', [edit], rank=2)


def _index_to_restore(earlier: Sequence[str], index: int, candidate: Sequence[str]) -> int:
    """Return where to insert an earlier entry: after the nearest one before it that is still there."""
    before = (entry for entry in reversed(earlier[:index]) if entry in candidate)
    return next((candidate.index(entry) + 1 for entry in before), 0)


def suggest_enum_default(symbols: Sequence[str]) -> str | None:
    """Return the symbol that suits best as the default for unknown symbols."""
    return find_fallback_symbol(symbols) or (symbols[0] if symbols else None)


def _remove_symbols(
    pair: AvroTextPair, symbols_span: JsonSpan, candidate_symbols: Sequence[str], earlier_symbols: Sequence[str]
) -> Iterator[ProposedFix]:
    source, enum_span = pair.candidate_types.source, pair.candidate_span
    extra = [index for index, symbol in enumerate(candidate_symbols) if symbol not in earlier_symbols]
    edits = source.remove(symbols_span, extra)
    symbols_noun = "them" if len(extra) > 1 else "the symbol"
    names = list_names("the symbol", [candidate_symbols[index] for index in extra])
    sentence = f"leave {names} out until every reader knows {symbols_noun}"
    default = None if enum_span is None else enum_span.member("default")
    if enum_span is not None and default is not None and source.string(default) not in earlier_symbols:
        earlier_default = None if pair.earlier_span is None else pair.earlier_span.member("default")
        if earlier_default is None:
            edits += source.remove_member(enum_span, "default")
        else:
            edits.append(JsonSource.replace(default, pair.earlier_types.source.slice(earlier_default)))
    yield ProposedFix(sentence, edits, undo=True)


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
        sentence = f'give the field "{name}" the alias "{old}", if it is that field under another name'
        yield ProposedFix(sentence, [add_alias(source, field, old)])
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
    before = _index_to_restore(earlier_names, earlier_names.index(name), candidate_names)
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
