"""Functions of the folders above, named as text so that ``clients`` does not import them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__all__ = ["IN_PROCESS_SERVICE", "import_function"]

#: Function that returns the in-process service of ``mock://NAME``; needs the extra ``server``.
IN_PROCESS_SERVICE: Final = "contractlog.registry.mock_registries:get_named_app"


def import_function(target: str) -> Any:
    """Import the module of a target, ``package.module:function``, and return the function."""
    module, _, function = target.partition(":")
    return getattr(import_module(module), function)
