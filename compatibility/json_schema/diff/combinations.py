"""Differences of ``allOf``, ``anyOf``, ``oneOf`` and ``not``, and of plain types against them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from contractlog.compatibility.json_schema.diff.pair_walk import (
    CompatibilityQuery,
    KeywordDifference,
    NodePair,
    PairWalk,
    Rule,
    RuleItem,
)
from contractlog.compatibility.json_schema.nodes import CombinedNode, NotNode, SchemaNode, Tokens

__all__ = [
    "compare_branches_with_update",
    "compare_combinations",
    "compare_negations",
    "compare_original_with_branches",
]

_SUM_CRITERIA: Final = ("anyOf", "oneOf")

BooleanRule = Generator[RuleItem, bool, bool]


def compare_branches_with_update(original: CombinedNode, update: SchemaNode) -> BooleanRule:
    """Compare a combination with a single schema: its only branch, or any branch of an ``allOf``."""
    only = len(original.branches) == 1
    if only or original.criterion == "allOf":
        for index, branch in enumerate(original.branches):
            if (yield CompatibilityQuery(branch, update)):
                yield NodePair(branch, update, writer=original.paths[index])
                if not only:
                    yield KeywordDifference("PRODUCT_TYPE_NARROWED", before=original.criterion)
                return True
    return False


def compare_original_with_branches(original: SchemaNode, update: CombinedNode) -> BooleanRule:
    """Compare a schema with a combination: its only branch, or any branch of ``anyOf`` or ``oneOf``."""
    only = len(update.branches) == 1
    if only or update.criterion in _SUM_CRITERIA:
        for index, branch in enumerate(update.branches):
            if (yield CompatibilityQuery(original, branch)):
                yield NodePair(original, branch, reader=update.paths[index])
                if not only:
                    yield KeywordDifference("SUM_TYPE_EXTENDED", after=update.criterion)
                return True
    return False


def compare_combinations(pairs: PairWalk, original: CombinedNode, update: CombinedNode) -> Rule:
    """Require the same or a wider criterion, and a partner for every branch."""
    if original.criterion != update.criterion:
        criteria = original.criterion, update.criterion
        if not _is_wider(original, update):
            yield KeywordDifference("COMBINED_TYPE_CHANGED", before=criteria[0], after=criteria[1])
            return
        yield KeywordDifference("COMBINED_TYPE_EXTENDED", before=criteria[0], after=criteria[1])
    writers, readers = _distinct_branches(original), _distinct_branches(update)
    before, after = str(len(writers)), str(len(readers))
    if len(readers) > len(writers):
        kind = "PRODUCT" if update.criterion == "allOf" else "SUM"
        yield KeywordDifference(f"{kind}_TYPE_EXTENDED", before=before, after=after)
    elif len(readers) < len(writers):
        kind = "PRODUCT" if original.criterion == "allOf" else "SUM"  # fewer to satisfy, or fewer to choose from
        yield KeywordDifference(f"{kind}_TYPE_NARROWED", before=before, after=after)
    matched = yield from _match_branches(
        pairs, [original.branches[index] for index in writers], [update.branches[index] for index in readers]
    )
    for index, partner in sorted(matched.items()):
        writer, reader = writers[index], readers[partner]
        path: Tokens = (original.criterion, writer)
        yield NodePair(
            original.branches[writer], update.branches[reader], path, original.paths[writer], update.paths[reader]
        )
    if len(matched) < min(len(writers), len(readers)):
        unmatched = [str(writers[index]) for index in range(len(writers)) if index not in matched]
        yield KeywordDifference("COMBINED_TYPE_SUBSCHEMAS_CHANGED", before=", ".join(unmatched))


def compare_negations(original: NotNode, update: NotNode) -> Rule:
    """Compare negated schemas; the new one may exclude less."""
    if original.body.resolve() == update.body.resolve():
        return
    path: Tokens = ("not",)
    excludes_less = yield CompatibilityQuery(update.body, original.body)
    yield KeywordDifference("NOT_TYPE_NARROWED" if excludes_less else "NOT_TYPE_EXTENDED", path, path, path)


def _is_wider(original: CombinedNode, update: CombinedNode) -> bool:
    original_is_single, update_is_single = len(original.branches) == 1, len(update.branches) == 1
    return (
        update.criterion == "anyOf"
        or (original_is_single and update_is_single)
        or (original_is_single and update.criterion == "oneOf")
        or (update_is_single and original.criterion == "allOf")
    )


def _distinct_branches(node: CombinedNode) -> list[int]:
    """Return the indexes of the distinct branches."""
    first: dict[SchemaNode, int] = {}
    for index, branch in enumerate(node.branches):
        first.setdefault(branch.resolve(), index)
    return list(first.values())


def _match_branches(
    pairs: PairWalk, writers: list[SchemaNode], readers: list[SchemaNode]
) -> Generator[RuleItem, bool, dict[int, int]]:
    """Find a maximum matching of writer and reader branches: equal ones first, then augmenting paths.

    A pair of branches is compared only when a path needs it, and only once.
    """
    equal = {reader.resolve(): index for index, reader in enumerate(readers)}
    matched = {index: equal[writer.resolve()] for index, writer in enumerate(writers) if writer.resolve() in equal}
    writer_by_reader = {reader: writer for writer, reader in matched.items()}
    compatible: dict[tuple[int, int], bool] = {}
    for start in range(len(writers)):
        if start in matched:
            continue
        came_from: dict[int, int] = {}  #: reader -> the writer from which it was reached
        pending, end = [start], None
        while pending and end is None:
            writer = pending.pop(0)
            for reader in range(len(readers)):
                pairs.step()
                if reader in came_from:
                    continue
                if (writer, reader) not in compatible:
                    compatible[writer, reader] = yield CompatibilityQuery(writers[writer], readers[reader])
                if not compatible[writer, reader]:
                    continue
                came_from[reader] = writer
                if reader not in writer_by_reader:
                    end = reader
                    break
                pending.append(writer_by_reader[reader])
        while end is not None:
            writer = came_from[end]
            previous = matched.get(writer)
            matched[writer], writer_by_reader[end] = end, writer
            end = None if writer == start else previous
    return matched
