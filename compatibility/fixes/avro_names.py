"""Possible fixes for named types: their name, the size of a fixed, the symbols of an enum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.compatibility.avro.types import short_name
from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, list_names
from contractlog.compatibility.fixes.avro_type_index import TypeIndex, TypeOccurrence
from contractlog.compatibility.fixes.edits import Edit, JsonSource, JsonSpan
from contractlog.compatibility.fixes.proposal import ProposedFix
from contractlog.compatibility.json_text import quote_json

__all__ = ["connect_names", "fix_changed_name", "fix_enum_symbols", "restore_fixed_size", "suggest_enum_default"]

_FALLBACK_SYMBOLS: Final = frozenset({"UNKNOWN", "UNSPECIFIED", "OTHER", "NONE", "UNDEFINED"})


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
    text = json.dumps(short_name(name) if name.rpartition(".")[0] == space else name)
    alias_span = occurrence.span.member("aliases")
    if alias_span is not None and alias_span.is_list:
        edit = source.insert(alias_span, len(alias_span.values), text)
    else:
        edit = source.set_member(occurrence.span, "aliases", f"[{text}]", after="name")
    return ProposedFix(
        f"give {quote_json(short_name(occurrence.name))} the alias {text}, "
        "so that the new schema reads what has that name",
        [edit],
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


def _restore_symbols(
    pair: AvroTextPair, symbols_span: JsonSpan, candidate_symbols: Sequence[str], earlier_symbols: Sequence[str]
) -> Iterator[ProposedFix]:
    source = pair.candidate_types.source
    missing = [symbol for symbol in earlier_symbols if symbol not in candidate_symbols]
    after: dict[int, list[str]] = {}
    for index, symbol in enumerate(earlier_symbols):
        if symbol in missing:
            before = next(
                (
                    candidate_symbols.index(neighbour) + 1
                    for neighbour in reversed(earlier_symbols[:index])
                    if neighbour in candidate_symbols
                ),
                0,
            )
            after.setdefault(before, []).append(symbol)
    edits = [
        source.insert(symbols_span, index, ", ".join(map(json.dumps, symbols)))
        for index, symbols in sorted(after.items())
    ]
    yield ProposedFix(f"keep {list_names('the symbol', missing)}", edits, undo=True)
    fallback = suggest_enum_default(candidate_symbols)
    if fallback is not None and pair.candidate_span is not None:
        edit = source.set_member(pair.candidate_span, "default", json.dumps(fallback), after="symbols")
        yield ProposedFix(f'give the enum the default "{fallback}" for unknown symbols', [edit], rank=2)


def suggest_enum_default(symbols: Sequence[str]) -> str | None:
    """Return the symbol that suits best as the default for unknown symbols."""
    return next((symbol for symbol in symbols if symbol.upper() in _FALLBACK_SYMBOLS), symbols[0] if symbols else None)


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
