"""Interning of equal values and memoized verdicts, which make comparing with a long history cheap.

Both live in a ``Memo`` that the caller creates and passes in. It is bounded and evicts the oldest entries first;
eviction costs time, but never changes a verdict. A memo is used by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Any, Final, Generic, TypeVar
from weakref import ref

__all__ = ["Memo", "WeightedCache"]

_MAX_SHAPES: Final = 500_000
_MAX_VERDICTS: Final = 500_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class WeightedCache(Generic[K, V]):
    """Weight-bounded cache that evicts the oldest entries first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.weight = 0
        self.entries: dict[K, V] = {}  #: for lookups; only ``put`` changes it
        self._heavy: dict[K, int] = {}  #: the weights greater than one

    def put(self, key: K, value: V, weight: int = 1) -> V:
        """Cache a value and return it; a value heavier than a tenth of the limit is not cached."""
        if weight > 1:
            if weight * 10 > self.limit:
                return value
            self._heavy[key] = weight
        self.entries[key] = value
        self.weight += weight
        if self.weight > self.limit:
            self._evict_oldest()
        return value

    def _evict_oldest(self) -> None:
        """Evict the older half of the entries, repeatedly until the weight is at most half the limit."""
        while self.weight > self.limit // 2:
            for key in list(islice(self.entries, len(self.entries) // 2 + 1)):
                del self.entries[key]
                self._heavy.pop(key, None)
            self.weight = len(self.entries) - len(self._heavy) + sum(self._heavy.values())


class Memo:
    """Shapes and verdicts of schemas, cached for reuse across comparisons.

    Args:
        shapes: maximum weight of the interned parts of schemas.
        verdicts: maximum weight of the cached verdicts; each weighs as much as it has readers and writers.
    """

    def __init__(self, shapes: int = _MAX_SHAPES, verdicts: int = _MAX_VERDICTS) -> None:
        self.shapes: WeightedCache[Hashable, Any] = WeightedCache(shapes)  #: parts of a shape -> the shape
        #: only final ones, which depend on no assumption
        self.verdicts: WeightedCache[Hashable, bool] = WeightedCache(verdicts)
        #: indexes of readers, and of sets of writers
        self.merged: WeightedCache[Hashable, Any] = WeightedCache(verdicts)
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
