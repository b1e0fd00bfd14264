"""Inheritance of our exceptions from those of confluent-kafka, if that package is loaded.

Code that catches the other library's exceptions then catches ours. Nothing is imported for it: such code has already
loaded the library, so it is enough to look when one of our exceptions is created. ``except`` follows only real
inheritance, so the other class becomes a base.
"""

from __future__ import annotations

import sys

__all__ = ["add_loaded_base"]


def add_loaded_base(error_class: type[Exception], module: str, name: str) -> None:
    """Add an exception class of a loaded module to the bases of ours; do nothing if it is not loaded."""
    loaded_class = getattr(sys.modules.get(module), name, None)
    if (
        isinstance(loaded_class, type)
        and issubclass(loaded_class, Exception)
        and not issubclass(error_class, loaded_class)
    ):
        bases = error_class.__bases__
        index = next((number for number, base in enumerate(bases) if issubclass(loaded_class, base)), len(bases))
        error_class.__bases__ = (*bases[:index], loaded_class, *bases[index:])  # a class precedes its own base classes
