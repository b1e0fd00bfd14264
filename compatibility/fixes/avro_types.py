"""Possible fixes for types that cannot be read, and for unions that lack a branch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from contractlog.compatibility.fixes.avro_names import connect_names
from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, abbreviate
from contractlog.compatibility.fixes.avro_type_index import TypeOccurrence, adapt_type
from contractlog.compatibility.fixes.edits import Edit, JsonSpan
from contractlog.compatibility.fixes.proposal import ProposedFix

__all__ = ["fix_changed_type", "fix_missing_branch"]

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
    sentence = f"take both types, {abbreviate(text)} as well"
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
