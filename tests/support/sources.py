"""Sources of schemas that tell what they were asked, or are away for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from contractlog.compatibility.errors import Unreachable


class Watched:
    """Passes every question on to a source; remembers which they were, and may hold them up or be away."""

    def __init__(self, source: Any, *, before: Callable[[], None] = lambda: None) -> None:
        self._source = source
        self._before = before
        self._lock = threading.Lock()
        self.asked: list[str] = []
        self.away = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._source, name)
        if not callable(method):
            return method

        def ask(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                self.asked.append(name)
            if self.away:
                raise Unreachable("the registry is away")
            self._before()
            return method(*args, **kwargs)

        return ask
