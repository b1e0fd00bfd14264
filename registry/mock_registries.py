"""In-process services by name, on in-memory databases: the targets of the clients' ``mock://NAME``."""

from __future__ import annotations

import atexit
import os
from threading import Lock
from typing import TYPE_CHECKING, Final

from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["get_named_app"]

_lock: Final = Lock()
_apps: Final[dict[tuple[int, str], FastAPI]] = {}  #: by process id, because threads do not survive a fork


def get_named_app(name: str) -> FastAPI:
    """Return the service of this name in this process.

    The first call creates it; it is closed when the process exits.
    """
    with _lock:
        key = os.getpid(), name
        if key not in _apps:
            settings = Settings(database_url="sqlite://")
            _apps[key] = app = create_app(settings, store=open_store(settings))
            atexit.register(app.state.close)
        return _apps[key]
