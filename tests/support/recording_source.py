"""Sources of schemas that record calls, and can be slow or unavailable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from contractlog.compatibility.errors import Unreachable


class RecordingSource:
    """Source that records calls and forwards them; it can delay them or be unavailable."""

    def __init__(self, source: Any, *, before: Callable[[], None] = lambda: None) -> None:
        self._source = source
        self._before = before
        self._lock = threading.Lock()
        self.method_names: list[str] = []
        self.is_unavailable = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._source, name)
        if not callable(method):
            return method

        def ask(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                self.method_names.append(name)
            if self.is_unavailable:
                raise Unreachable("the registry is unavailable")
            self._before()
            return method(*args, **kwargs)

        return ask
