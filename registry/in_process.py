"""Named services in this process, on empty databases in memory: what ``mock://NAME`` of the clients stands for."""

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

__all__ = ["named_app"]

_lock: Final = Lock()
_apps: Final[dict[tuple[int, str], FastAPI]] = {}  #: by process, as threads do not survive a fork


def named_app(name: str) -> FastAPI:
    """Return the service of this name in this process; the first call makes it, the end of the process closes it."""
    with _lock:
        key = os.getpid(), name
        if key not in _apps:
            settings = Settings(database_url="sqlite://")
            _apps[key] = app = create_app(settings, store=open_store(settings))
            atexit.register(app.state.close)
        return _apps[key]
