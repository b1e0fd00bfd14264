"""Digests of reference targets with all that they refer to: equal recursive schemas compare equal.

Targets that refer to each other in a cycle share one digest, which is computed after those of the targets outside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from contractlog.compatibility.json_schema.nodes import ReferenceScope
from contractlog.compatibility.json_text import canonical_value

__all__ = ["compute_target_digests"]


def compute_target_digests(
    scope: ReferenceScope, contents: Mapping[str, tuple[str, Any]], references: Mapping[str, set[str]]
) -> None:
    """Compute the closures of a scope.

    Args:
        scope: a scope whose targets are complete.
        contents: location of each target -> its draft and its JSON.
        references: location of each target -> the locations that it refers to directly.
    """
    for component in find_strong_components(references):
        hashed = blake2b(digest_size=16)
        is_cyclic = any(location in references[location] for location in component) or len(component) > 1
        for location in sorted(component):
            draft, value = contents[location]
            hashed.update(f"{location if is_cyclic else ''}\0{draft}\0{canonical_value(value)}\0".encode())
        for dependency in sorted({location for member in component for location in references[member]} - component):
            hashed.update(f"{dependency}\0".encode() + scope.digests[dependency])
        for location in component:
            suffix = f"\0{location}" if is_cyclic else ""
            scope.digests[location] = blake2b(hashed.digest() + suffix.encode(), digest_size=16).digest()


def find_strong_components(references: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected components, each after all that it refers to (Tarjan's order)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_locations: list[str] = []
    is_open = set[str]()
    for start in references:
        if start in order:
            continue
        stack = [(start, iter(sorted(references[start])))]
        order[start] = lowest[start] = len(order)
        open_locations.append(start)
        is_open.add(start)
        while stack:
            location, successors = stack[-1]
            successor = next(successors, None)
            if successor is None:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[location])
                if lowest[location] == order[location]:
                    yield _pop_component(location, open_locations, is_open)
            elif successor not in order:
                order[successor] = lowest[successor] = len(order)
                open_locations.append(successor)
                is_open.add(successor)
                stack.append((successor, iter(sorted(references[successor]))))
            elif successor in is_open:
                lowest[location] = min(lowest[location], order[successor])


def _pop_component(first: str, open_locations: list[str], is_open: set[str]) -> set[str]:
    component = set[str]()
    while first not in component:
        component.add(open_locations.pop())
    is_open -= component
    return component
