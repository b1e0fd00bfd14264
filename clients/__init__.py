"""Clients of a schema registry: calls, transports, caches, and the command line.

``calls/`` describes each operation by a function without I/O; ``method_factories.py`` makes methods of them.
``confluent/`` has confluent-kafka's names, ``cli/`` the command line. May import ``contracts`` and ``compatibility``.
To add an operation, add a function to ``calls/`` and a line to both clients; to add a command, add a row to
``cli/verbs.py``. Public names are loaded on first use, so that importing a single submodule stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from contractlog.clients.async_registry import AsyncRegistry as AsyncRegistry
    from contractlog.clients.cache import Caching as Caching
    from contractlog.clients.calls import CompatibilityResult as CompatibilityResult
    from contractlog.clients.calls.associations import Association as Association
    from contractlog.clients.calls.associations import AssociationDraft as AssociationDraft
    from contractlog.clients.calls.associations import Resource as Resource
    from contractlog.clients.calls.config_and_mode import Config as Config
    from contractlog.clients.calls.encryption_keys import Dek as Dek
    from contractlog.clients.calls.encryption_keys import Kek as Kek
    from contractlog.clients.hooks import Exchange as Exchange
    from contractlog.clients.hooks import Watch as Watch
    from contractlog.clients.registry import Registry as Registry
    from contractlog.clients.retry_and_failover import Retries as Retries
    from contractlog.clients.settings import Security as Security

__all__ = [
    "Association",
    "AssociationDraft",
    "AsyncRegistry",
    "Caching",
    "CompatibilityResult",
    "Config",
    "Dek",
    "Exchange",
    "Kek",
    "Registry",
    "Resource",
    "Retries",
    "Security",
    "Watch",
]

_MODULES: Final = {
    "Association": "calls.associations",
    "AssociationDraft": "calls.associations",
    "AsyncRegistry": "async_registry",
    "Caching": "cache",
    "CompatibilityResult": "calls",
    "Config": "calls.config_and_mode",
    "Dek": "calls.encryption_keys",
    "Exchange": "hooks",
    "Kek": "calls.encryption_keys",
    "Registry": "registry",
    "Resource": "calls.associations",
    "Retries": "retry_and_failover",
    "Security": "settings",
    "Watch": "hooks",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
