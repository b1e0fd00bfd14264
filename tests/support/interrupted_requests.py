"""An app that ends the process, or does something else, at one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contractlog.clients.transport import ASGIApp

__all__ = ["InterruptedApp", "KilledError"]


class KilledError(BaseException):
    """The process ends here: neither handlers of errors nor retries see it."""


class InterruptedApp:
    """An app that is killed at one request: before it is processed, or before its response arrives."""

    def __init__(self, app: ASGIApp, requests: list[str] | None = None) -> None:
        self.app = app
        self.requests: list[str] = [] if requests is None else requests  #: may be shared with other apps
        self.kill_at: int | None = None
        self.processes = False
        self.before: Callable[[int], None] | None = None  #: called with the number of each request

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests.append(f"{scope['method']} {scope['path']}")
            number = len(self.requests)
            if self.before is not None:
                self.before(number)
            if self.kill_at is not None and number >= self.kill_at:
                if self.processes and number == self.kill_at:
                    await self.app(scope, receive, _drop)
                raise KilledError
        await self.app(scope, receive, send)

    @property
    def writes(self) -> list[int]:
        """Numbers of the requests so far that change something."""
        return [number for number, request in enumerate(self.requests, 1) if not request.startswith("GET")]


async def _drop(_: Any) -> None:
    """Lose a part of a response."""
