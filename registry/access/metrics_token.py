"""A credential of its own for ``/metrics``: a bearer token that opens nothing else."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import Unauthorized
from contractlog.registry.problems import problem
from contractlog.registry.settings import Settings

__all__ = ["MetricsToken", "layers"]

_METRICS: Final = "/metrics"
_BEARER: Final = b"bearer"
_CHALLENGE: Final = 'Bearer realm="contractlog metrics"'
_ACTOR: Final = "metrics token"


def layers(settings: Settings) -> list[Middleware]:
    """Return the layer that the settings ask for: none without a token."""
    if not settings.metrics_token:
        return []
    required = not (settings.users_file or settings.tls_client_ca)
    return [Middleware(MetricsToken, token=settings.metrics_token, required=required)]


class MetricsToken:
    """Let callers with the token read the metrics.

    Args:
        app: answers, and asks all others for a name where there are users.
        token: the token.
        required: refuse all others, because nobody asks them for a name.
    """

    def __init__(self, app: ASGIApp, token: str, *, required: bool) -> None:
        self._app = app
        self._token = token.encode()
        self._required = required

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token of requests for metrics, and pass all others on."""
        if scope["type"] == "http" and scope["path"] == _METRICS:
            if self._matches(scope):
                scope["actor"] = _ACTOR
                scope["permitted"] = True
            elif self._required:
                answer = problem(Unauthorized())
                answer.headers["WWW-Authenticate"] = _CHALLENGE
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _matches(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return scheme.lower() == _BEARER and hmac.compare_digest(token.strip(), self._token)
