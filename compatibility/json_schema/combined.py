"""Differences of ``allOf``, ``anyOf``, ``oneOf`` and ``not``, and of plain types against them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from contractlog.compatibility.json_schema.nodes import Combined, Node, Not, Tokens
from contractlog.compatibility.json_schema.pairs import Ask, Below, Difference, Item, Pairs, Rule

__all__ = ["combined", "negated", "original_alone", "update_alone"]

_SUMS: Final = ("anyOf", "oneOf")

Answered = Generator[Item, bool, bool]


def update_alone(original: Combined, update: Node) -> Answered:
    """Compare a combination with a single schema: its only branch, or any branch of an ``allOf``."""
    only = len(original.branches) == 1
    if only or original.criterion == "allOf":
        for index, branch in enumerate(original.branches):
            if (yield Ask(branch, update)):
                yield Below(branch, update, writer=original.places[index])
                if not only:
                    yield Difference("PRODUCT_TYPE_NARROWED", before=original.criterion)
                return True
    return False


def original_alone(original: Node, update: Combined) -> Answered:
    """Compare a schema with a combination: its only branch, or any branch of ``anyOf`` or ``oneOf``."""
    only = len(update.branches) == 1
    if only or update.criterion in _SUMS:
        for index, branch in enumerate(update.branches):
            if (yield Ask(original, branch)):
                yield Below(original, branch, reader=update.places[index])
                if not only:
                    yield Difference("SUM_TYPE_EXTENDED", after=update.criterion)
                return True
    return False


def combined(pairs: Pairs, original: Combined, update: Combined) -> Rule:
    """Require the same or a wider criterion, and a partner for every branch."""
    if original.criterion != update.criterion:
        words = original.criterion, update.criterion
        if not _is_wider(original, update):
            yield Difference("COMBINED_TYPE_CHANGED", before=words[0], after=words[1])
            return
        yield Difference("COMBINED_TYPE_EXTENDED", before=words[0], after=words[1])
    writers, readers = _unique(original), _unique(update)
    before, after = str(len(writers)), str(len(readers))
    if len(readers) > len(writers):
        kind = "PRODUCT" if update.criterion == "allOf" else "SUM"
        yield Difference(f"{kind}_TYPE_EXTENDED", before=before, after=after)
    elif len(readers) < len(writers):
        kind = "PRODUCT" if original.criterion == "allOf" else "SUM"  # fewer to satisfy, or fewer to choose from
        yield Difference(f"{kind}_TYPE_NARROWED", before=before, after=after)
    matched = yield from _matched(
        pairs, [original.branches[one] for one in writers], [update.branches[one] for one in readers]
    )
    for one, other in sorted(matched.items()):
        writer, reader = writers[one], readers[other]
        path: Tokens = (original.criterion, writer)
        yield Below(
            original.branches[writer], update.branches[reader], path, original.places[writer], update.places[reader]
        )
    if len(matched) < min(len(writers), len(readers)):
        lost = [str(writers[one]) for one in range(len(writers)) if one not in matched]
        yield Difference("COMBINED_TYPE_SUBSCHEMAS_CHANGED", before=", ".join(lost))


def negated(original: Not, update: Not) -> Rule:
    """Compare negated schemas; the new one may exclude less."""
    if original.body.resolved() == update.body.resolved():
        return
    word: Tokens = ("not",)
    less = yield Ask(update.body, original.body)
    yield Difference("NOT_TYPE_NARROWED" if less else "NOT_TYPE_EXTENDED", word, word, word)


def _is_wider(original: Combined, update: Combined) -> bool:
    from_one, to_one = len(original.branches) == 1, len(update.branches) == 1
    return (
        update.criterion == "anyOf"
        or (from_one and to_one)
        or (from_one and update.criterion == "oneOf")
        or (to_one and original.criterion == "allOf")
    )


def _unique(node: Combined) -> list[int]:
    """Return the indexes of the distinct branches."""
    first: dict[Node, int] = {}
    for index, branch in enumerate(node.branches):
        first.setdefault(branch.resolved(), index)
    return list(first.values())


def _matched(pairs: Pairs, writers: list[Node], readers: list[Node]) -> Generator[Item, bool, dict[int, int]]:
    """Find a maximum matching of writer and reader branches: equal ones first, then augmenting paths.

    A pair of branches is compared only when a path needs it, and only once.
    """
    equal = {reader.resolved(): index for index, reader in enumerate(readers)}
    matched = {index: equal[writer.resolved()] for index, writer in enumerate(writers) if writer.resolved() in equal}
    taken = {reader: writer for writer, reader in matched.items()}
    known: dict[tuple[int, int], bool] = {}
    for start in range(len(writers)):
        if start in matched:
            continue
        came_from: dict[int, int] = {}  #: reader -> the writer from which it was reached
        waiting, end = [start], None
        while waiting and end is None:
            writer = waiting.pop(0)
            for reader in range(len(readers)):
                pairs.step()
                if reader in came_from:
                    continue
                if (writer, reader) not in known:
                    known[writer, reader] = yield Ask(writers[writer], readers[reader])
                if not known[writer, reader]:
                    continue
                came_from[reader] = writer
                if reader not in taken:
                    end = reader
                    break
                waiting.append(taken[reader])
        while end is not None:
            writer = came_from[end]
            previous = matched.get(writer)
            matched[writer], taken[end] = end, writer
            end = None if writer == start else previous
    return matched
