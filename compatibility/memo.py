"""Interning of equal values and memoized verdicts, which make comparing with a long history cheap.

Both live in a ``Memo`` that the caller creates and passes in. It is bounded and evicts the oldest entries first;
eviction costs time, but never changes a verdict. A memo is used by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar
from weakref import ref

from contractlog.compatibility.bounded_cache import BoundedCache

__all__ = ["Memo"]

_MAX_SHAPES: Final = 500_000
_MAX_VERDICTS: Final = 500_000

V = TypeVar("V")


class Memo:
    """Shapes and verdicts of schemas, cached for reuse across comparisons.

    Args:
        shapes: maximum weight of the interned parts of schemas.
        verdicts: maximum weight of the cached verdicts; each weighs as much as it has readers and writers.
    """

    def __init__(self, shapes: int = _MAX_SHAPES, verdicts: int = _MAX_VERDICTS) -> None:
        self.shapes: BoundedCache[Hashable, Any] = BoundedCache(shapes)  #: parts of a shape -> the shape
        #: only final ones, which depend on no assumption
        self.verdicts: BoundedCache[Hashable, bool] = BoundedCache(verdicts)
        #: indexes of readers, and of sets of writers
        self.merged: BoundedCache[Hashable, Any] = BoundedCache(verdicts)
        self._roots: dict[int, tuple[ref[Any], Any]] = {}

    def root(self, tree: Any, make: Callable[[], V]) -> V:
        """Return the shape of a whole tree, computed once in the lifetime of the tree."""
        entry = self._roots.get(id(tree))
        if entry is not None and entry[0]() is tree:
            shape: V = entry[1]
            return shape
        key = id(tree)
        shape = make()
        self._roots[key] = (ref(tree, lambda _: self._roots.pop(key, None)), shape)
        return shape
