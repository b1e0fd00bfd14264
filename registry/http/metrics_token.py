"""Credential for ``/metrics`` alone: a bearer token that gives access to nothing else."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import Unauthorized, UsageError
from contractlog.registry.http.errors import error_response
from contractlog.registry.settings import Settings

__all__ = ["MetricsToken", "create_middleware"]

_METRICS: Final = "/metrics"
_BEARER: Final = b"bearer"
_CHALLENGE: Final = 'Bearer realm="contractlog metrics"'
_ACTOR: Final = "metrics token"


def create_middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware that the settings require; none without a token.

    Raises:
        UsageError: no request could carry the token.
    """
    token = settings.metrics_token
    if not token:
        return []
    if not token.isprintable() or token != token.strip():
        raise UsageError(
            "CONTRACTLOG_METRICS_TOKEN begins or ends with white space, or has a control character such as the newline "
            "of a file: no request can carry it. Set it without them"
        )
    required = not settings.authenticates
    return [Middleware(MetricsToken, token=token, required=required)]


class MetricsToken:
    """Lets requests with the token read the metrics.

    Args:
        app: the application; authenticates all other requests if there are users.
        token: the token.
        required: reject requests without the token, because nothing else would authenticate them.
    """

    def __init__(self, app: ASGIApp, token: str, *, required: bool) -> None:
        self._app = app
        self._token = token.encode()
        self._required = required

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token of requests for metrics, and pass all other requests on."""
        if scope["type"] == "http" and scope["path"] == _METRICS:
            if self._matches(scope):
                scope["actor"] = _ACTOR
                scope["permitted"] = True
            elif self._required:
                response = error_response(Unauthorized())
                response.headers["WWW-Authenticate"] = _CHALLENGE
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _matches(self, scope: Scope) -> bool:
        credentials = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(credentials) != 1:
            return False
        scheme, _, token = credentials[0].partition(b" ")
        return scheme.lower() == _BEARER and hmac.compare_digest(token.strip(), self._token)
