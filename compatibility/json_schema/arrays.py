"""Differences of JSON Schema arrays: items, tuple items, additional items and limits."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from contractlog.compatibility.json_schema.bounds import appeared, largest, smallest
from contractlog.compatibility.json_schema.models import Model, array_model
from contractlog.compatibility.json_schema.nodes import Always, Array, Empty, Never, Node, Tokens
from contractlog.compatibility.json_schema.pairs import Ask, Below, Difference, Item, Pairs, Rule
from contractlog.compatibility.json_schema.permissions import permission

__all__ = ["arrays"]


def arrays(pairs: Pairs, original: Array, update: Array) -> Rule:
    """Compare all array keywords, in the order of the reference implementation."""
    if not _is_empty(original):
        yield from _every(original.items, update.items)
    yield from _listed(pairs, original, update)
    words = (_word(original, "additional", "additionalItems"), _word(update, "additional", "additionalItems"))
    yield from permission("ADDITIONAL_ITEMS", words, original.additional, update.additional)
    words = ("unevaluatedItems", "unevaluatedItems")
    yield from permission("UNEVALUATED_ITEMS", words, original.unevaluated, update.unevaluated)
    yield from largest("MAX_ITEMS", "maxItems", original.max_items, update.max_items)
    yield from smallest("MIN_ITEMS", "minItems", original.min_items, update.min_items)
    yield from appeared("UNIQUE_ITEMS", "uniqueItems", _yes(original.unique), _yes(update.unique))
    yield from largest("MAX_CONTAINS", "maxContains", original.max_contains, update.max_contains)
    for difference in smallest("MIN_CONTAINS", "minContains", original.min_contains, update.min_contains):
        yield _placed(difference, original, update)


def _placed(difference: Difference, original: Array, update: Array) -> Difference:
    """Point to ``contains`` if ``minContains`` is only implied."""
    writer: Tokens = (_word(original, "least", "minContains"),) if difference.writer else ()
    reader: Tokens = (_word(update, "least", "minContains"),) if difference.reader else ()
    return replace(difference, writer=writer, reader=reader)


def _is_empty(node: Array) -> bool:
    """Return True if no item is permitted (``items: false``), so any item schema is wider."""
    return node.listed == () and isinstance(node.additional, Never)


def _every(original: Node | None, update: Node | None) -> Rule:
    """Compare the schema of all items."""
    path: Tokens = ("items",)
    if original is not None and update is not None:
        yield Below(original, update, path, path, path)
    elif update is not None:
        yield Difference("SCHEMA_ADDED", path, reader=path)
    elif original is not None:
        yield Difference("SCHEMA_REMOVED", path, writer=path)


def _listed(pairs: Pairs, original: Array, update: Array) -> Rule:
    """Compare the items listed on both sides, and the others with the other side's content model."""
    before, after = original.listed or (), update.listed or ()
    pairs.step(1 + (len(before) + len(after)) // 8)
    for index in range(max(len(before), len(after))):
        writer: Tokens = (_word(original, "listed", "items"), index)
        reader: Tokens = (_word(update, "listed", "items"), index)
        path: Tokens = ("items", index)
        if index >= len(after):
            yield from _removed(before[index], array_model(update), path, writer)
        elif index >= len(before):
            yield from _added(after[index], array_model(original), path, reader)
        elif before[index] != after[index]:
            yield Below(before[index], after[index], path, writer, reader)


def _removed(schema: Node, model: tuple[Node, Tokens] | Model, path: Tokens, writer: Tokens) -> Rule:
    item = str(path[1])
    if model is Model.OPEN:
        yield Difference("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL", path, writer, before=item)
    elif isinstance(model, Model):
        never = isinstance(schema.resolved(), Never)
        kind = "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED" if never else "ITEM_REMOVED_FROM_CLOSED"
        yield Difference(f"{kind}_CONTENT_MODEL", path, writer, before=item)
    else:
        covered = yield from _partly(Below(schema, model[0], path, writer, model[1]))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield Difference(f"ITEM_REMOVED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, writer, model[1], before=item)


def _added(schema: Node, model: tuple[Node, Tokens] | Model, path: Tokens, reader: Tokens) -> Rule:
    item = str(path[1])
    if model is Model.OPEN:
        nothing = isinstance(schema.resolved(), (Empty, Always))
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if nothing else "ITEM_ADDED"
        yield Difference(f"{kind}_TO_OPEN_CONTENT_MODEL", path, reader=reader, after=item)
    elif isinstance(model, Model):
        yield Difference("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", path, reader=reader, after=item)
    else:
        covered = yield from _partly(Below(model[0], schema, path, model[1], reader))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield Difference(f"ITEM_ADDED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, model[1], reader, after=item)


def _partly(below: Below) -> Generator[Item, bool, bool]:
    """Compare with the schema of the content model; its differences count, too."""
    covered = yield Ask(below.original, below.update)
    yield below
    return covered


def _word(node: Array, what: str, otherwise: str) -> str:
    return node.words.get(what, otherwise)


def _yes(given: bool) -> str:  # noqa: FBT001  - boolean converted to text
    return "true" if given else ""
