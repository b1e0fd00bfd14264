"""Digests of reference targets with all that they refer to: equal recursive schemas compare equal.

Targets that refer to each other in a cycle share one digest, which is computed after those of the targets outside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from contractlog.compatibility.json_schema.nodes import Scope, value_text

__all__ = ["close"]


def close(scope: Scope, contents: Mapping[str, tuple[str, Any]], leads: Mapping[str, set[str]]) -> None:
    """Compute the closures of a scope.

    Args:
        scope: a scope whose targets are complete.
        contents: location of each target -> its draft and its JSON.
        leads: location of each target -> the locations that it refers to directly.
    """
    for circle in circles(leads):
        hashed = blake2b(digest_size=16)
        turning = any(place in leads[place] for place in circle) or len(circle) > 1
        for place in sorted(circle):
            draft, value = contents[place]
            hashed.update(f"{place if turning else ''}\0{draft}\0{value_text(value)}\0".encode())
        for outside in sorted({place for one in circle for place in leads[one]} - circle):
            hashed.update(f"{outside}\0".encode() + scope.closures[outside])
        for place in circle:
            own = f"\0{place}" if turning else ""
            scope.closures[place] = blake2b(hashed.digest() + own.encode(), digest_size=16).digest()


def circles(leads: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected components, each after all that it refers to (Tarjan's order)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_places: list[str] = []
    is_open = set[str]()
    for start in leads:
        if start in order:
            continue
        stack = [(start, iter(sorted(leads[start])))]
        order[start] = lowest[start] = len(order)
        open_places.append(start)
        is_open.add(start)
        while stack:
            place, below = stack[-1]
            following = next(below, None)
            if following is None:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[place])
                if lowest[place] == order[place]:
                    yield _closed(place, open_places, is_open)
            elif following not in order:
                order[following] = lowest[following] = len(order)
                open_places.append(following)
                is_open.add(following)
                stack.append((following, iter(sorted(leads[following]))))
            elif following in is_open:
                lowest[place] = min(lowest[place], order[following])


def _closed(first: str, open_places: list[str], is_open: set[str]) -> set[str]:
    circle = set[str]()
    while first not in circle:
        circle.add(open_places.pop())
    is_open -= circle
    return circle
