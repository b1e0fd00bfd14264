"""One serving process, and how it ends: nobody is cut off, nobody is kept waiting."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NoReturn

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.registry.access.proxies import parse_proxies
from contractlog.registry.access.tls import Certificates, CertifiedProtocol
from contractlog.registry.app import create_app
from contractlog.registry.connections import BoundedProtocol, bounded
from contractlog.registry.moving import counters
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.logs import configure
from contractlog.registry.telemetry.state import Telemetry

__all__ = ["leave_at_once", "serve_alone"]

_GRACE_SECONDS: Final = 10  #: for answers that are being made
_IDLE_SECONDS: Final = 75  #: longer than pools of clients keep theirs, so that none writes to a closed one
_LOOK_SECONDS: Final = 0.05


def leave_at_once() -> None:
    """Let SIGTERM and SIGINT end the process, and SIGHUP not; the server puts its own handlers over the first two.

    SIGHUP asks a daemon to read its files again. Certificates and users are read again whenever they change.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _leave(_number: int, _frame: Any) -> NoReturn:
    raise SystemExit(0)


def serve_alone(
    settings: Settings,
    listener: socket.socket,
    greet: Callable[[Iterable[str]], None],
    certificates: Certificates | None = None,
    telemetry: Telemetry | None = None,
) -> int:
    """Serve in this process until SIGTERM or Ctrl-C; returns the exit code.

    Args:
        settings: of the service.
        listener: where connections come in.
        greet: called once they are taken, with what should be said as a warning.
        certificates: of a listener with TLS.
        telemetry: of a worker among others.
    """
    configure(settings.log_format, settings.log_level, access=settings.access_log)
    app = create_app(settings, telemetry=telemetry)
    try:
        warnings = counters.warnings(app.state.services.store)
        gc.freeze()  # what is there now stays: no collection has to look at it again
        _Server(app, settings, lambda: greet(warnings), certificates).run(sockets=[listener])
    except SystemExit:
        return 0
    finally:
        app.state.close()
    return 0


def _direct(app: Any) -> ASGIApp:
    """Pass requests to what surrounds the app's routes; all that the app itself does before concerns its lifespan."""

    def serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and app.middleware_stack is not None:
            scope["app"] = app
            served: Awaitable[None] = app.middleware_stack(scope, receive, send)
            return served
        return app(scope, receive, send)  # type: ignore[no-any-return]

    return serve


class _Server(uvicorn.Server):
    """Greets once it listens, looks after its certificates, and drains before it ends."""

    def __init__(
        self, app: Any, settings: Settings, greet: Callable[[], None], certificates: Certificates | None
    ) -> None:
        proxies = parse_proxies(settings.trusted_proxies)
        super().__init__(
            uvicorn.Config(
                _direct(app),
                interface="asgi3",
                loop="uvloop",
                ws="none",
                http=bounded(BoundedProtocol if certificates is None else CertifiedProtocol, settings.body_seconds),
                ssl_context_factory=None if certificates is None else lambda _config, _default: certificates.context,
                log_config=None,
                access_log=False,
                server_header=False,
                # Unless it is told whom to believe, uvicorn believes all of this machine what a client's address is.
                proxy_headers=bool(proxies),
                forwarded_allow_ips=proxies,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                timeout_keep_alive=_IDLE_SECONDS,
            )
        )
        self._drain = app.state.drain
        self._drain_seconds = settings.drain_seconds
        self._greet = greet
        self._certificates = certificates
        self._watching: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self._certificates is not None:
            self._watching = asyncio.create_task(self._certificates.watch())
        self._greet()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, answer what comes on the open ones as their last, and end when they are closed.

        A client that keeps a connection learns from an answer that it is the last, and never sends into nothing.
        """
        for server in self.servers:
            server.close()
        for one in sockets or ():
            one.close()
        self._drain()
        for _ in range(int(self._drain_seconds / _LOOK_SECONDS)):
            if not self.server_state.connections or self.force_exit:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await super().shutdown()
