"""Functions of the folders above, named as text so that ``clients`` does not import them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["import_function"]


def import_function(target: str) -> Any:
    """Import the module of a target, ``package.module:function``, and return the function."""
    module, _, function = target.partition(":")
    return getattr(import_module(module), function)
