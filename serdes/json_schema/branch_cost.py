"""Bound on the work that the branches of a JSON schema cause for a single value.

Validators evaluate every branch of ``anyOf`` and the like, and every ``$ref``, each time that they reach it. Forty
definitions that each refer twice to the next one are evaluated 2^40 times. Only branches for the same value are
counted: members and items are other values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.serdes.json_schema.reference_resolver import SchemaTexts, Subschema, list_subschemas

__all__ = ["MAX_BRANCHES", "MIN_REFERENCES", "count_references", "has_too_many_branches"]

MAX_BRANCHES: Final = 100_000  #: evaluations of subschemas for one value
MIN_REFERENCES: Final = 8  #: fewer multiply the branches that a text has by at most 13
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")
_BY_NAME: Final = ("dependentSchemas", "dependencies")


def count_references(*texts: Any) -> int:
    """Return how many ``$ref`` schema texts have, at most ``MIN_REFERENCES``."""
    waiting, references = list(texts), 0
    while waiting and references < MIN_REFERENCES:
        node = waiting.pop()
        if isinstance(node, dict):
            references += "$ref" in node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return references


def has_too_many_branches(texts: SchemaTexts) -> bool:
    """Return whether some value could make a validator evaluate more than ``MAX_BRANCHES`` subschemas."""
    totals: dict[int, int] = {}  # by identity of the object, as paths may be long
    return any(
        _count_branches(texts, at, totals) > MAX_BRANCHES
        for uri, text in texts.contents.items()
        for at in list_subschemas(uri, text)
    )


def _count_branches(texts: SchemaTexts, start: Subschema, totals: dict[int, int]) -> int:
    """Return how many subschemas are evaluated for one value, or any number beyond the limit."""
    waiting = [start]
    while waiting:
        at = waiting[-1]
        key = id(at.node)
        if totals.get(key):
            waiting.pop()
            continue
        branches = list(_list_branches(texts, at))
        missing = [] if key in totals else [each for each in branches if id(each.node) not in totals]
        if missing:
            totals[key] = 0  # being counted: a branch that leads back here counts as nothing
            waiting += missing
            continue
        totals[key] = 1 + sum(totals[id(each.node)] for each in branches)
        if totals[key] > MAX_BRANCHES:
            return totals[key]
        waiting.pop()
    return totals[id(start.node)]


def _list_branches(texts: SchemaTexts, at: Subschema) -> Iterator[Subschema]:
    """Yield the subschemas that are evaluated for the same value as a subschema."""
    node = at.node
    steps: list[tuple[str | int, ...]] = [(keyword,) for keyword in _SINGLE]
    steps += [
        (keyword, index)
        for keyword in _LISTS
        if isinstance(node.get(keyword), list)
        for index in range(len(node[keyword]))
    ]
    steps += [(keyword, name) for keyword in _BY_NAME if isinstance(node.get(keyword), dict) for name in node[keyword]]
    for path in steps:
        if path[0] in node:
            branch = at.child(*path)
            if isinstance(branch.node, dict):
                yield branch
    target = texts.resolve_reference(at)
    if target is not None and isinstance(target.node, dict):
        yield target
