"""A single serving process and its graceful shutdown."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NoReturn

import uvicorn

from contractlog.registry.app import create_app
from contractlog.registry.http.connection_limits import ConnectionLimits, raise_descriptor_limit
from contractlog.registry.http.fastpath.direct_protocol import DirectProtocol
from contractlog.registry.http.tls import Certificates, CertifiedProtocol, handle_loop_error
from contractlog.registry.http.trusted_proxies import parse_proxies
from contractlog.registry.maintenance import id_counter_correction
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.logging import configure_logging
from contractlog.registry.telemetry.recorded_metrics import Telemetry

__all__ = ["RegistryServer", "install_exit_handlers", "serve_single_process"]

_LOG: Final = logging.getLogger("contractlog.registry.serving")
_GRACE_SECONDS: Final = 10  #: for responses in progress
_IDLE_SECONDS: Final = 75  #: longer than client connection pools keep connections, so that none writes to a closed one
_POLL_SECONDS: Final = 0.05
#: Thresholds of the garbage collector. Python's defaults (700, 10, 10) traverse parsed schemas again and again: a new
#: registration takes a sixth more processor time (1,436 µs instead of 1,194), and its p99 is three times as long.
_COLLECTOR_THRESHOLDS: Final = (10_000, 20, 50)


def install_exit_handlers() -> None:
    """Make SIGTERM and SIGINT end the process and ignore SIGHUP.

    The server later replaces the handlers of the first two. SIGHUP asks a daemon to reload its files; certificates and
    users are reloaded whenever they change.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _exit(_number: int, _frame: Any) -> NoReturn:
    raise SystemExit(0)


def serve_single_process(
    settings: Settings,
    listener: socket.socket,
    greet: Callable[[Iterable[str]], None],
    certificates: Certificates | None = None,
    telemetry: Telemetry | None = None,
) -> int:
    """Serve in this process until SIGTERM or Ctrl-C; return the exit code.

    Args:
        settings: of the service.
        listener: the listening socket.
        greet: called with warnings once connections are accepted.
        certificates: of a listener with TLS.
        telemetry: of a worker with a parent.
    """
    configure_logging(settings.log_format, settings.log_level, access=settings.access_log)
    app = create_app(settings, telemetry=telemetry)
    try:
        warnings = id_counter_correction.counter_warnings(app.state.services.store)
        RegistryServer(app, settings, lambda: greet(warnings), certificates).run(sockets=[listener])
    except SystemExit:
        return 0
    finally:
        if not app.state.services.close():
            _end_process()
    return 0


def _end_process() -> NoReturn:
    """End the process without its threads: Python would wait for them, however long they still run."""
    _LOG.warning("queries were still running at the shutdown; they were ended with the process")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class RegistryServer(uvicorn.Server):
    """Server that greets once it listens, watches its certificates, and drains before it ends."""

    def __init__(
        self, app: Any, settings: Settings, greet: Callable[[], None], certificates: Certificates | None
    ) -> None:
        proxies = parse_proxies(settings.trusted_proxies)
        super().__init__(
            uvicorn.Config(
                app,
                interface="asgi3",
                loop="uvloop",
                ws="none",
                http=partial(  # type: ignore[arg-type] # uvicorn only calls it
                    DirectProtocol if certificates is None else CertifiedProtocol,
                    seconds=settings.body_seconds,
                    limits=ConnectionLimits(raise_descriptor_limit()),
                    direct=lambda: app.state.direct_responses,
                ),
                ssl_context_factory=None if certificates is None else lambda _config, _default: certificates.context,
                log_config=None,
                access_log=False,
                server_header=False,
                # By default uvicorn trusts X-Forwarded-For from every process on this machine.
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
        """Listen, then greet."""
        await super().startup(sockets)
        if self._certificates is not None:
            asyncio.get_running_loop().set_exception_handler(handle_loop_error)
            self._watching = asyncio.create_task(self._certificates.watch())
        gc.freeze()  # modules and routes live as long as the process
        gc.set_threshold(*_COLLECTOR_THRESHOLDS)
        self._greet()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, drain the open ones, and end when they are closed.

        Until then requests on open connections get responses. Each response says that it is the connection's last, so
        that no client writes to a closed connection.
        """
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        self._drain()
        for _ in range(int(self._drain_seconds / _POLL_SECONDS)):
            if not self.server_state.connections or self.force_exit:
                break
            await asyncio.sleep(_POLL_SECONDS)
        await super().shutdown()
