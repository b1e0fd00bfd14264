"""Comparison of two JSON schemas, with the rules in the order of the reference implementation."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.arrays import arrays
from contractlog.compatibility.json_schema.combined import combined, negated, original_alone, update_alone
from contractlog.compatibility.json_schema.nodes import (
    Always,
    Array,
    Combined,
    Const,
    Empty,
    Enum,
    Never,
    Node,
    Not,
    Numeric,
    Object,
    Opaque,
    String,
)
from contractlog.compatibility.json_schema.objects import objects
from contractlog.compatibility.json_schema.pairs import Difference, LimitReached, Pairs, Rule
from contractlog.compatibility.json_schema.scalars import consts, enums, numbers, strings
from contractlog.compatibility.json_schema.wording import finding
from contractlog.compatibility.steps import Steps
from contractlog.compatibility.walk import STEP_LIMIT, work_limit_exceeded

__all__ = ["compare", "walk"]


def compare(
    original: Node, update: Node, admitted: Collection[str], steps: Steps | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield every difference of a reader's schema, the update, from a writer's, the original.

    Args:
        original: the root of the writer's tree.
        update: the root of the reader's tree.
        admitted: the kinds of differences that leave a pair compatible, needed if one of several pairs must be.
        steps: the budget shared with other comparisons.
        limit: the maximum number of steps of this comparison.
    """
    shared = steps or Steps(limit)
    pairs = Pairs(_rule, admitted, shared.allow(limit))
    try:
        for told in pairs.told(original, update):
            yield finding(told)
    except LimitReached:
        yield work_limit_exceeded(limit if pairs.limit == limit else shared.limit)
    finally:
        shared.spend(pairs.steps)


def walk(admitted: Collection[str], limit: int) -> Pairs:
    """Return a walk as used by ``compare``, for more than one pair of schemas."""
    return Pairs(_rule, admitted, limit)


def _rule(pairs: Pairs, original: Node, update: Node) -> Rule:
    """Compare plain schemas with combinations, then types, then the keywords of the types."""
    if isinstance(update, Combined) and _is_single(original, update) and (yield from original_alone(original, update)):
        return
    if isinstance(original, Combined) and _is_single(update, original) and (yield from update_alone(original, update)):
        return
    if type(original) is not type(update):
        if not _follows_anyway(original, update):
            yield Difference("TYPE_CHANGED", before=kind(original), after=kind(update))
        return
    yield from _annotations(original, update)
    yield from _own(pairs, original, update)


def _is_single(node: Node, combination: Combined) -> bool:
    """Return True if a node counts as a single schema when compared with a combination.

    A combination counts as single if it was generated from keyword families and the other was not.
    """
    return not isinstance(node, Combined) or (node.generated and not combination.generated)


def _follows_anyway(original: Node, update: Node) -> bool:
    if isinstance(original, Never) or isinstance(update, (Empty, Always)):
        return True
    return original.connect_type == update.connect_type == "bytes"


def _annotations(original: Node, update: Node) -> Rule:
    for change, before, after, word in (
        ("ID_CHANGED", original.id, update.id, "$id"),
        ("TITLE_CHANGED", original.title, update.title, "title"),
        ("DESCRIPTION_CHANGED", original.description, update.description, "description"),
        ("DEFAULT_CHANGED", original.default, update.default, "default"),
    ):
        if before != after:
            writer = () if before is None else (word,)
            reader = () if after is None else (word,)
            yield Difference(change, (word.lstrip("$"),), writer, reader, before or "", after or "")


def _own(pairs: Pairs, original: Node, update: Node) -> Rule:
    match original, update:
        case Object(), Object():
            yield from objects(pairs, original, update)
        case Array(), Array():
            yield from arrays(pairs, original, update)
        case String(), String():
            yield from strings(original, update)
        case Numeric(), Numeric():
            yield from numbers(original, update)
        case Enum(), Enum():
            yield from enums(pairs, original, update)
        case Const(), Const():
            yield from consts(original, update)
        case Combined(), Combined():
            yield from combined(pairs, original, update)
        case Not(), Not():
            yield from negated(original, update)
        case Opaque(), Opaque() if (original.word, update.word) == (
            "$ref",
            "$ref",
        ) and original.target != update.target:
            yield Difference("TYPE_CHANGED", before=original.target, after=update.target)
        case _:
            pass


def kind(node: Node) -> str:
    """Return the name of a node's type for people."""
    match node:
        case Combined():
            return node.criterion
        case Numeric():
            return "integer" if node.integer else "number"
        case Empty() | Always():
            return "anything"
        case Never():
            return "nothing"
        case Opaque():
            return node.word
        case _:
            return type(node).__name__.lower()
