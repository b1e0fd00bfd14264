"""Paths of fields: which of them denote the same value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

__all__ = ["FieldSet", "is_same_value"]

_MAX_NESTING: Final = 32
_SEPARATOR: Final = re.compile(r"[.\[{]")  #: begins the rest of the path of a value that is in another one


class FieldSet:
    """Paths of fields of a dataset; an empty one is the whole dataset.

    >>> fields = FieldSet(["customer.id", "legs", "notes{}"])
    >>> [fields.overlaps(path) for path in ("customer", "customer.name", "legs[].carrier", "legs2", "", "notes")]
    [True, False, True, False, True, True]
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._ancestors = {ancestor for path in self._paths for ancestor in _list_ancestors(path)}

    def overlaps(self, path: str) -> bool:
        """Return whether a path is equal to one of the set, inside it, or contains it."""
        if not path or "" in self._paths:
            return bool(self._paths)
        return path in self._paths or path in self._ancestors or not self._paths.isdisjoint(_list_ancestors(path))


def is_same_value(field: str, other: str) -> bool:
    """Return whether two paths are of one value, or one of them is of a value in the other.

    >>> is_same_value("legs", "legs[].carrier"), is_same_value("legs[].carrier", "legs[].flight")
    (True, False)
    >>> is_same_value("leg", "legs"), is_same_value("", "legs")
    (False, True)
    """
    short, long = sorted((field, other), key=len)
    return not short or short == long or (long.startswith(short) and _SEPARATOR.match(long, len(short)) is not None)


def _list_ancestors(path: str) -> Iterator[str]:
    """Yield the fields that contain a field, outermost first; those of very deep ones are left out."""
    return (path[: match.start()] for match in islice(_SEPARATOR.finditer(path), _MAX_NESTING))
