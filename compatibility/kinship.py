"""Inheritance of our exceptions from those of confluent-kafka, if that package is loaded.

Code that catches the other library's exceptions then catches ours. Nothing is imported for it: such code has already
loaded the library, so it is enough to look when one of our exceptions is created. ``except`` follows only real
inheritance, so the other class becomes a base.
"""

from __future__ import annotations

import sys

__all__ = ["become_kin"]


def become_kin(own: type[Exception], module: str, name: str) -> None:
    """Add an exception class of a loaded module to the bases of ours; do nothing if it is not loaded."""
    theirs = getattr(sys.modules.get(module), name, None)
    if isinstance(theirs, type) and issubclass(theirs, Exception) and not issubclass(own, theirs):
        bases = own.__bases__
        place = next((number for number, base in enumerate(bases) if issubclass(theirs, base)), len(bases))
        own.__bases__ = (*bases[:place], theirs, *bases[place:])  # a class precedes its own base classes
