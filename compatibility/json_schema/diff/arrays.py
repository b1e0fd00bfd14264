"""Differences of JSON Schema arrays: items, tuple items, additional items and limits."""

from __future__ import annotations

from dataclasses import replace

from contractlog.compatibility.json_schema.diff.pair_walk import KeywordDifference, NodePair, PairWalk, Rule
from contractlog.compatibility.json_schema.diff.scalars import compare_limit, compare_presence
from contractlog.compatibility.json_schema.diff.unlisted_members import (
    ContentModel,
    compare_additional_members,
    compare_partially_open,
    compare_removed_member,
    resolve_array_model,
)
from contractlog.compatibility.json_schema.nodes import AlwaysNode, ArrayNode, EmptyNode, NeverNode, SchemaNode, Tokens

__all__ = ["compare_arrays"]


def compare_arrays(pairs: PairWalk, original: ArrayNode, update: ArrayNode) -> Rule:
    """Compare all array keywords, in the order of the reference implementation."""
    if not _permits_no_item(original):
        yield from _compare_item_schema(original.items, update.items)
    yield from _compare_listed_items(pairs, original, update)
    keywords = (_keyword(original, "additional", "additionalItems"), _keyword(update, "additional", "additionalItems"))
    yield from compare_additional_members("ADDITIONAL_ITEMS", keywords, original.additional, update.additional)
    keywords = ("unevaluatedItems", "unevaluatedItems")
    yield from compare_additional_members("UNEVALUATED_ITEMS", keywords, original.unevaluated, update.unevaluated)
    yield from compare_limit("MAX_ITEMS", "maxItems", original.max_items, update.max_items)
    yield from compare_limit("MIN_ITEMS", "minItems", original.min_items, update.min_items)
    yield from compare_presence("UNIQUE_ITEMS", "uniqueItems", _flag_text(original.unique), _flag_text(update.unique))
    yield from compare_limit("MAX_CONTAINS", "maxContains", original.max_contains, update.max_contains)
    for difference in compare_limit("MIN_CONTAINS", "minContains", original.min_contains, update.min_contains):
        yield _locate_min_contains(difference, original, update)


def _locate_min_contains(difference: KeywordDifference, original: ArrayNode, update: ArrayNode) -> KeywordDifference:
    """Point to ``contains`` if ``minContains`` is only implied."""
    writer: Tokens = (_keyword(original, "least", "minContains"),) if difference.writer else ()
    reader: Tokens = (_keyword(update, "least", "minContains"),) if difference.reader else ()
    return replace(difference, writer=writer, reader=reader)


def _permits_no_item(node: ArrayNode) -> bool:
    """Return True if no item is permitted (``items: false``), so any item schema is wider."""
    return node.listed == () and isinstance(node.additional, NeverNode)


def _compare_item_schema(original: SchemaNode | None, update: SchemaNode | None) -> Rule:
    """Compare the schema of all items."""
    path: Tokens = ("items",)
    if original is not None and update is not None:
        yield NodePair(original, update, path, path, path)
    elif update is not None:
        yield KeywordDifference("SCHEMA_ADDED", path, reader=path)
    elif original is not None:
        yield KeywordDifference("SCHEMA_REMOVED", path, writer=path)


def _compare_listed_items(pairs: PairWalk, original: ArrayNode, update: ArrayNode) -> Rule:
    """Compare the items listed on both sides, and the others with the other side's content model."""
    before, after = original.listed or (), update.listed or ()
    pairs.step(1 + (len(before) + len(after)) // 8)
    for index in range(max(len(before), len(after))):
        writer: Tokens = (_keyword(original, "listed", "items"), index)
        reader: Tokens = (_keyword(update, "listed", "items"), index)
        path: Tokens = ("items", index)
        if index >= len(after):
            yield from compare_removed_member("ITEM", before[index], resolve_array_model(update), path, writer)
        elif index >= len(before):
            yield from _compare_added_item(after[index], resolve_array_model(original), path, reader)
        elif before[index] != after[index]:
            yield NodePair(before[index], after[index], path, writer, reader)


def _compare_added_item(
    schema: SchemaNode, model: tuple[SchemaNode, Tokens] | ContentModel, path: Tokens, reader: Tokens
) -> Rule:
    item = str(path[1])
    if model is ContentModel.OPEN:
        accepts_everything = isinstance(schema.resolve(), (EmptyNode, AlwaysNode))
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if accepts_everything else "ITEM_ADDED"
        yield KeywordDifference(f"{kind}_TO_OPEN_CONTENT_MODEL", path, reader=reader, after=item)
    elif isinstance(model, ContentModel):
        yield KeywordDifference("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", path, reader=reader, after=item)
    else:
        covered = yield from compare_partially_open(NodePair(model[0], schema, path, model[1], reader))
        kind = "IS_COVERED" if covered else "NOT_COVERED"
        yield KeywordDifference(
            f"ITEM_ADDED_{kind}_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, model[1], reader, after=item
        )


def _keyword(node: ArrayNode, role: str, default: str) -> str:
    return node.keyword_names.get(role, default)


def _flag_text(flag: bool) -> str:  # noqa: FBT001  - boolean converted to text
    return "true" if flag else ""
