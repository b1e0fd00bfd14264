"""Comparison of two JSON schemas, with the rules in the order of the reference implementation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.diff.arrays import compare_arrays
from contractlog.compatibility.json_schema.diff.combinations import (
    compare_branches_with_update,
    compare_combinations,
    compare_negations,
    compare_original_with_branches,
)
from contractlog.compatibility.json_schema.diff.difference_catalogue import DIFFERENCE_KINDS, check_id
from contractlog.compatibility.json_schema.diff.objects import compare_objects
from contractlog.compatibility.json_schema.diff.pair_walk import KeywordDifference, LocatedDifference, PairWalk, Rule
from contractlog.compatibility.json_schema.diff.scalars import (
    compare_consts,
    compare_enums,
    compare_numbers,
    compare_strings,
)
from contractlog.compatibility.json_schema.nodes import (
    AlwaysNode,
    ArrayNode,
    CombinedNode,
    ConstNode,
    EmptyNode,
    EnumNode,
    NeverNode,
    NotNode,
    NumericNode,
    ObjectNode,
    OpaqueNode,
    SchemaNode,
    StringNode,
)
from contractlog.compatibility.limits import truncate_message
from contractlog.compatibility.pair_walk import STEP_LIMIT, work_limit_exceeded
from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded

__all__ = ["compare_trees", "create_walk"]


def compare_trees(
    original: SchemaNode,
    update: SchemaNode,
    admitted: Collection[str],
    steps: StepBudget | None = None,
    *,
    limit: int = STEP_LIMIT,
) -> Iterator[Finding]:
    """Yield every difference of a reader's schema, the update, from a writer's, the original.

    Args:
        original: the root of the writer's tree.
        update: the root of the reader's tree.
        admitted: the kinds of differences that leave a pair compatible, needed if one of several pairs must be.
        steps: the budget shared with other comparisons.
        limit: the maximum number of steps of this comparison.
    """
    shared = steps or StepBudget(limit)
    pairs = PairWalk(_compare_pair, admitted, shared.allow(limit))
    try:
        for difference in pairs.differences(original, update):
            yield create_finding(difference)
    except StepBudgetExceeded:
        yield work_limit_exceeded(limit if pairs.limit == limit else shared.limit)
    finally:
        shared.spend(pairs.steps)


def create_walk(admitted: Collection[str], limit: int) -> PairWalk:
    """Return a walk as used by ``compare_trees``, for more than one pair of schemas."""
    return PairWalk(_compare_pair, admitted, limit)


def _compare_pair(pairs: PairWalk, original: SchemaNode, update: SchemaNode) -> Rule:
    """Compare plain schemas with combinations, then types, then the keywords of the types."""
    if (
        isinstance(update, CombinedNode)
        and _is_single(original, update)
        and (yield from compare_original_with_branches(original, update))
    ):
        return
    if (
        isinstance(original, CombinedNode)
        and _is_single(update, original)
        and (yield from compare_branches_with_update(original, update))
    ):
        return
    if type(original) is not type(update):
        if not _is_always_compatible(original, update):
            yield KeywordDifference("TYPE_CHANGED", before=describe_type(original), after=describe_type(update))
        return
    yield from _compare_annotations(original, update)
    yield from _compare_keywords(pairs, original, update)


def _is_single(node: SchemaNode, combination: CombinedNode) -> bool:
    """Return True if a node counts as a single schema when compared with a combination.

    A combination counts as single if it was generated from keyword families and the other was not.
    """
    return not isinstance(node, CombinedNode) or (node.generated and not combination.generated)


def _is_always_compatible(original: SchemaNode, update: SchemaNode) -> bool:
    if isinstance(original, NeverNode) or isinstance(update, (EmptyNode, AlwaysNode)):
        return True
    return original.connect_type == update.connect_type == "bytes"


def _compare_annotations(original: SchemaNode, update: SchemaNode) -> Rule:
    for change, before, after, keyword in (
        ("ID_CHANGED", original.id, update.id, "$id"),
        ("TITLE_CHANGED", original.title, update.title, "title"),
        ("DESCRIPTION_CHANGED", original.description, update.description, "description"),
        ("DEFAULT_CHANGED", original.default, update.default, "default"),
    ):
        if before != after:
            writer = () if before is None else (keyword,)
            reader = () if after is None else (keyword,)
            yield KeywordDifference(change, (keyword.lstrip("$"),), writer, reader, before or "", after or "")


def _compare_keywords(pairs: PairWalk, original: SchemaNode, update: SchemaNode) -> Rule:
    match original, update:
        case ObjectNode(), ObjectNode():
            yield from compare_objects(pairs, original, update)
        case ArrayNode(), ArrayNode():
            yield from compare_arrays(pairs, original, update)
        case StringNode(), StringNode():
            yield from compare_strings(original, update)
        case NumericNode(), NumericNode():
            yield from compare_numbers(pairs, original, update)
        case EnumNode(), EnumNode():
            yield from compare_enums(pairs, original, update)
        case ConstNode(), ConstNode():
            yield from compare_consts(original, update)
        case CombinedNode(), CombinedNode():
            yield from compare_combinations(pairs, original, update)
        case NotNode(), NotNode():
            yield from compare_negations(original, update)
        case OpaqueNode(), OpaqueNode() if (original.keyword, update.keyword) == (
            "$ref",
            "$ref",
        ) and original.target != update.target:
            yield KeywordDifference("TYPE_CHANGED", before=original.target, after=update.target)
        case _:
            pass


def describe_type(node: SchemaNode) -> str:
    """Return the name of a node's type for people."""
    match node:
        case CombinedNode():
            return node.criterion
        case NumericNode():
            return "integer" if node.integer else "number"
        case EmptyNode() | AlwaysNode():
            return "anything"
        case NeverNode():
            return "nothing"
        case OpaqueNode():
            return node.keyword
        case _:
            return type(node).__name__.removesuffix("Node").lower()


_MESSAGES: Final[Mapping[str, str]] = {
    "none": "",
    "keyword": "The keyword at path '%s' in the {reader} schema is not present in the {writer} schema",
    "raised": "The value at path '%s' in the {reader} schema is more than its value in the {writer} schema",
    "lowered": "The value at path '%s' in the {reader} schema is less than its value in the {writer} schema",
    "changed": "The value at path '%s' is different between the {reader} and {writer} schema",
    "fewer": "An array or combined type at path '%s' has fewer elements in the {reader} schema "
    "than the {writer} schema",
    "more": "An array or combined type at path '%s' has more elements in the {reader} schema than the {writer} schema",
    "type": "A type at path '%s' is different between the {reader} schema and the {writer} schema",
    "open": "The {reader} schema has an open content model and has a property or item at path '%s' which is missing in "
    "the {writer} schema",
    "unopen": "The {reader} schema has an unopen content model and has a required property at path '%s' which is "
    "missing in the {writer} schema",
    "closed": "The {reader} has a closed content model and is missing a property or item present at path '%s' in the "
    "{writer} schema",
    "lost": "A property or item is missing in the {reader} schema but present at path '%s' in the "
    "{writer} schema and is not covered by its partially open content model",
    "alien": "The {reader} schema has a property or item at path '%s' which is missing in the {writer} "
    "schema and is not covered by its partially open content model",
}


def create_finding(located: LocatedDifference) -> Finding:
    """Return the finding of a difference.

    The message matches the reference implementation to the letter, including its unbalanced last quote.
    """
    kind = DIFFERENCE_KINDS[located.difference.kind]
    path = "#/" + "/".join(map(str, located.path))
    text = _MESSAGES[kind.family].replace("%s", path.replace("{", "{{").replace("}", "}}"))
    return Finding(
        check_id(kind.name),
        located.reader_at,
        located.writer_at,
        f"{kind.title[0].lower()}{kind.title[1:]} at {path}{_describe_values(located)}",
        f'{{{{errorType:"{kind.name}", description:"{text}\'}}}}',
    )


def _describe_values(located: LocatedDifference) -> str:
    before, after = truncate_message(located.difference.before), truncate_message(located.difference.after)
    if before and after:
        return f": {after}, and not {before}"
    return f": {after or before}" if after or before else ""
