"""Our exceptions are caught by code that catches those of confluent-kafka, where that package is loaded.

Nothing is imported for it: who catches another library's exception has loaded it, so it is enough to look when one of
ours is made. ``except`` follows real inheritance alone, so the other class becomes a base.
"""

from __future__ import annotations

import sys

__all__ = ["become_kin"]


def become_kin(own: type[Exception], module: str, name: str) -> None:
    """Make an exception of a loaded module a base of one of ours; where it is not loaded, nothing happens."""
    theirs = getattr(sys.modules.get(module), name, None)
    if isinstance(theirs, type) and issubclass(theirs, Exception) and not issubclass(own, theirs):
        bases = own.__bases__
        place = next((number for number, base in enumerate(bases) if issubclass(theirs, base)), len(bases))
        own.__bases__ = (*bases[:place], theirs, *bases[place:])  # a class goes before those that it inherits from
