"""Possible fixes for Avro findings: one generator per check, the undo of the change included.

Those for types, unions and annotations stand here, those for named types and their fields in ``avro_named_types.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Final

from contractlog.compatibility.fixes.avro_named_types import (
    connect_names,
    fix_ambiguous_field,
    fix_changed_name,
    fix_enum_symbols,
    fix_missing_default,
    restore_enum_symbols,
    restore_fixed_size,
    suggest_enum_default,
)
from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, adapt_type, add_alias
from contractlog.compatibility.fixes.avro_type_index import TypeOccurrence
from contractlog.compatibility.fixes.json_text_edits import Edit, JsonSource, JsonSpan, abbreviate
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix

__all__ = ["propose_avro_fixes"]

_MAX_BRANCHES: Final = 12


def fix_changed_type(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the type, remove its branch from the union, or read both types."""
    for occurrence, earlier_occurrence in product(pair.occurrences(), pair.earlier_occurrences()):
        yield from pair.propose_restore(occurrence, earlier_occurrence)
        union = pair.candidate_types.union_around(occurrence)
        if union is not None:
            yield from pair.propose_restore(union, earlier_occurrence)
            if not pair.backward:
                yield from _remove_branch(pair, union, occurrence, unwrapped=True)
        if pair.backward and not earlier_occurrence.is_union and not occurrence.is_union:
            yield _accept_both_types(pair, occurrence, earlier_occurrence, union)


def _accept_both_types(
    pair: AvroTextPair, occurrence: TypeOccurrence, earlier_occurrence: TypeOccurrence, union: TypeOccurrence | None
) -> ProposedFix:
    """Accept the earlier type in addition to the new one."""
    text = pair.adapt_earlier(earlier_occurrence, occurrence)
    sentence = f"accept both types, {abbreviate(text)} as well"
    if union is not None:
        return ProposedFix(
            sentence, [pair.candidate_types.source.insert(union.span, len(union.span.values), text)], rank=4
        )
    edits = [
        Edit(occurrence.span.start, occurrence.span.start, f"[{text}, "),
        Edit(occurrence.span.end, occurrence.span.end, "]"),
    ]
    return ProposedFix(sentence, edits, rank=4)


def _remove_branch(
    pair: AvroTextPair, union: TypeOccurrence, branch: TypeOccurrence, *, unwrapped: bool
) -> Iterator[ProposedFix]:
    """Remove a branch; if ``unwrapped``, also offer a single remaining branch without its union."""
    source = pair.candidate_types.source
    index = int(branch.at.rpartition("/")[2])
    remaining = [spot for spot in union.span.values if spot is not branch.span]
    sentence = f"leave {abbreviate(source.slice(branch.span))} out of the union until every reader has a branch for it"
    unwrapped = unwrapped and len(remaining) == 1
    if unwrapped:
        alone = [Edit(union.span.start, remaining[0].start, ""), Edit(remaining[0].end, union.span.end, "")]
        yield from pair.with_default_variants(ProposedFix(sentence, alone, undo=True), union.at)
    fix = ProposedFix(sentence, source.remove(union.span, [index]), undo=not unwrapped, rank=2)
    yield from pair.with_default_variants(fix, union.at)


def fix_missing_branch(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the branch that earlier writers use, or remove the branch that earlier readers lack."""
    yield from (_restore_branch if pair.backward else _remove_unreadable_branch)(pair)


def _restore_branch(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for a union of the candidate that lacks a branch for an earlier type."""
    union = pair.candidate_types.at(pair.at)
    if union is None or not union.is_union:
        return
    source = pair.candidate_types.source
    branches = [
        occurrence for occurrence in pair.candidate_types.all if pair.candidate_types.union_around(occurrence) is union
    ][:_MAX_BRANCHES]
    for earlier_occurrence in pair.earlier_occurrences():
        if earlier_occurrence.is_union:
            yield from pair.propose_restore(union, earlier_occurrence)
            continue
        text = adapt_type(earlier_occurrence, pair.earlier_types, pair.candidate_types, union.namespace, JsonSpan(0, 0))
        last = earlier_occurrence.at.rpartition("/")[2]
        index = int(last) if pair.earlier_types.union_around(earlier_occurrence) is not None else len(union.span.values)
        index = min(index, len(union.span.values))
        yield ProposedFix(
            f"keep {abbreviate(text)} among the branches of the union",
            [source.insert(union.span, index, text)],
            undo=True,
        )
        for branch in branches:
            yield from connect_names(pair, branch, earlier_occurrence)
            yield from pair.propose_restore(branch, earlier_occurrence, rank=3)
        yield from pair.propose_restore(union, earlier_occurrence, rank=4)


def _remove_unreadable_branch(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Yield fixes for a type of the candidate for which an earlier reader's union has no branch."""
    union = pair.earlier_types.at(pair.earlier_at)
    if union is None:
        return
    branches = [
        earlier_occurrence
        for earlier_occurrence in pair.earlier_types.all
        if pair.earlier_types.union_around(earlier_occurrence) is union
    ][:_MAX_BRANCHES]
    for occurrence in pair.occurrences():
        enclosing_union = pair.candidate_types.union_around(occurrence)
        if enclosing_union is not None:
            yield from _remove_branch(pair, enclosing_union, occurrence, unwrapped=False)
            yield from pair.propose_restore(enclosing_union, union)
        else:
            yield from pair.propose_restore(occurrence, union)
        for branch in branches:
            yield from connect_names(pair, occurrence, branch)
            yield from pair.propose_restore(occurrence, branch, rank=2)


_LOGICAL = ("logicalType", "precision", "scale")


def restore_logical_type(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the logical type, or the whole type."""
    earlier_occurrence = pair.earlier_types.at(pair.earlier_at)
    for occurrence in pair.occurrences() if earlier_occurrence is not None else ():
        if earlier_occurrence is not None:
            if occurrence.span.is_object and earlier_occurrence.span.is_object:
                edits = [edit for keyword in _LOGICAL for edit in _restoring_edits(pair, keyword)]
                earlier_value = earlier_occurrence.span.member("logicalType")
                shown_type = "none" if earlier_value is None else pair.earlier_types.source.slice(earlier_value)
                yield ProposedFix(f"set the logical type back to {shown_type}", edits, undo=True)
            yield from pair.propose_restore(occurrence, earlier_occurrence, rank=2)


def restore_default(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the default."""
    yield from _restore_member(pair, "default")


def restore_doc(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the documentation."""
    yield from _restore_member(pair, "doc")


def add_enum_default(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Give the enum a default for unknown symbols."""
    if pair.candidate_span is None:
        return
    source = pair.candidate_types.source
    earlier_default = (
        None if pair.earlier_span is None else pair.earlier_types.source.string(pair.earlier_span.member("default"))
    )
    symbols = source.strings(pair.candidate_span.member("symbols"))
    default = earlier_default if earlier_default in symbols else suggest_enum_default(symbols)
    if default is not None:
        edit = source.set_member(pair.candidate_span, "default", json.dumps(default), after="symbols")
        yield ProposedFix(f'give the enum the default "{default}" for symbols that a reader does not know', [edit])


def alias_renamed_field(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Add the old name as an alias, or restore it."""
    field, earlier = pair.candidate_span, pair.earlier_span
    old = None if earlier is None else pair.earlier_types.source.string(earlier.member("name"))
    name = None if field is None else field.member("name")
    if field is None or name is None or old is None:
        return
    source = pair.candidate_types.source
    yield ProposedFix(f'give the field the alias "{old}"', [add_alias(source, field, old)])
    yield ProposedFix(f'name the field "{old}" again', [JsonSource.replace(name, json.dumps(old))], undo=True)


def _restore_member(pair: AvroTextPair, keyword: str) -> Iterator[ProposedFix]:
    earlier_value = None if pair.earlier_span is None else pair.earlier_span.member(keyword)
    if earlier_value is not None:
        text = abbreviate(pair.earlier_types.source.slice(earlier_value))
        yield ProposedFix(f'set "{keyword}" back to {text}', list(_restoring_edits(pair, keyword)), undo=True)


def _restoring_edits(pair: AvroTextPair, keyword: str) -> Iterator[Edit]:
    """Yield the edits that restore a member, or remove it if it did not exist."""
    earlier_value = None if pair.earlier_span is None else pair.earlier_span.member(keyword)
    if pair.candidate_span is None:
        return
    if earlier_value is None:
        yield from pair.candidate_types.source.remove_member(pair.candidate_span, keyword)
    else:
        after = "type" if keyword == "default" else "name"
        yield pair.candidate_types.source.set_member(
            pair.candidate_span, keyword, pair.earlier_types.source.slice(earlier_value), after=after
        )


_PROPOSERS: Final[Mapping[str, Callable[[AvroTextPair], Iterator[ProposedFix]]]] = {
    "AVRO_DEFAULT_CHANGED": restore_default,
    "AVRO_DOC_LOST": restore_doc,
    "AVRO_ENUM_DEFAULT_MISSING": add_enum_default,
    "AVRO_ENUM_SYMBOLS_MISSING": fix_enum_symbols,
    "AVRO_ENUM_SYMBOLS_REMOVED": restore_enum_symbols,
    "AVRO_FIELD_AMBIGUOUS": fix_ambiguous_field,
    "AVRO_FIELD_DEFAULT_MISSING": fix_missing_default,
    "AVRO_FIELD_RENAMED": alias_renamed_field,
    "AVRO_FIXED_SIZE_CHANGED": restore_fixed_size,
    "AVRO_LOGICAL_TYPE_CHANGED": restore_logical_type,
    "AVRO_NAME_CHANGED": fix_changed_name,
    "AVRO_TYPE_CHANGED": fix_changed_type,
    "AVRO_UNION_BRANCH_MISSING": fix_missing_branch,
}


def propose_avro_fixes(context: FixContext) -> Iterator[ProposedFix]:
    """Yield possible fixes for a finding; they are not verified yet."""
    propose = _PROPOSERS.get(context.finding.check)
    return iter(()) if propose is None else propose(AvroTextPair(context))
