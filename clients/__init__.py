"""Clients of a schema registry: calls, transports, caches, and the command line.

Public names are loaded on first use, so that importing a single submodule stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from contractlog.clients.aclient import AsyncRegistry as AsyncRegistry
    from contractlog.clients.cache import Caching as Caching
    from contractlog.clients.calls import CompatibilityAnswer as CompatibilityAnswer
    from contractlog.clients.client import Registry as Registry
    from contractlog.clients.conversation import Retries as Retries
    from contractlog.clients.settings import Security as Security
    from contractlog.clients.values import Association as Association
    from contractlog.clients.values import AssociationDraft as AssociationDraft
    from contractlog.clients.values import Config as Config
    from contractlog.clients.values import Resource as Resource
    from contractlog.clients.watching import Exchange as Exchange
    from contractlog.clients.watching import Watch as Watch

__all__ = [
    "Association",
    "AssociationDraft",
    "AsyncRegistry",
    "Caching",
    "CompatibilityAnswer",
    "Config",
    "Exchange",
    "Registry",
    "Resource",
    "Retries",
    "Security",
    "Watch",
]

_HOMES: Final = {
    "Association": "values",
    "AssociationDraft": "values",
    "AsyncRegistry": "aclient",
    "Caching": "cache",
    "CompatibilityAnswer": "calls",
    "Config": "values",
    "Exchange": "watching",
    "Registry": "client",
    "Resource": "values",
    "Retries": "conversation",
    "Security": "settings",
    "Watch": "watching",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
