"""Equal values as one object, and verdicts that need not be reached twice: what makes a long history cheap.

Both are held by a ``Memo`` that the caller makes and passes in. It is bounded: what was put in first goes first, and
what is gone costs time, never a verdict. A memo is used by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Any, Final, Generic, TypeVar
from weakref import ref

__all__ = ["Bounded", "Memo"]

_SHAPES: Final = 500_000
_VERDICTS: Final = 500_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """A table whose entries have a weight; older ones go when all together weigh more than the limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.weight = 0
        self.held: dict[K, V] = {}  #: to look things up in; ``put`` alone changes it
        self._heavy: dict[K, int] = {}  #: the weight of those that weigh more than one

    def put(self, key: K, value: V, weight: int = 1) -> V:
        """Hold a value and return it; what weighs more than a tenth of the limit is not held."""
        if weight > 1:
            if weight * 10 > self.limit:
                return value
            self._heavy[key] = weight
        self.held[key] = value
        self.weight += weight
        if self.weight > self.limit:
            self._let_go()
        return value

    def _let_go(self) -> None:
        """Let the older half go, and more while the rest is too heavy."""
        while self.weight > self.limit // 2:
            for key in list(islice(self.held, len(self.held) // 2 + 1)):
                del self.held[key]
                self._heavy.pop(key, None)
            self.weight = len(self.held) - len(self._heavy) + sum(self._heavy.values())


class Memo:
    """What was learned about schemas that may come again.

    Args:
        shapes: how many parts of schemas are held as one object each.
        verdicts: how many verdicts are held, each weighing as much as it has readers and writers.
    """

    def __init__(self, shapes: int = _SHAPES, verdicts: int = _VERDICTS) -> None:
        self.shapes: Bounded[Hashable, Any] = Bounded(shapes)  #: what a shape is made of -> the shape
        self.verdicts: Bounded[Hashable, bool] = Bounded(verdicts)  #: only those that no assumption is left under
        self.merged: Bounded[Hashable, Any] = Bounded(verdicts)  #: sets of writers -> what a reader asks of them
        self._roots: dict[int, tuple[ref[Any], Any]] = {}

    def root(self, tree: Any, make: Callable[[], V]) -> V:
        """Return the shape of a whole tree, which is made once for as long as the tree lives."""
        found = self._roots.get(id(tree))
        if found is not None and found[0]() is tree:
            made: V = found[1]
            return made
        key = id(tree)
        made = make()
        self._roots[key] = (ref(tree, lambda _: self._roots.pop(key, None)), made)
        return made
