"""Several serving processes on one port: a parent that forks, replaces and ends them.

Invariants: the parent serves nothing and opens nothing that a fork must not share; a worker that loses its parent ends.
"""

from __future__ import annotations

import logging
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Final, NoReturn

from contractlog.registry.database import open_store
from contractlog.registry.http.tls import Certificates
from contractlog.registry.maintenance import id_counter_correction
from contractlog.registry.serving.server import install_exit_handlers, serve_single_process
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.logging import configure_logging
from contractlog.registry.telemetry.metric_memory import SharedMetricMemory, WorkerMetrics
from contractlog.registry.telemetry.recorded_metrics import Telemetry

__all__ = ["serve_with_workers"]

_LOG: Final = logging.getLogger("contractlog.registry.serving")
_RESTART_SECONDS: Final = 1.0  #: between the death of a worker and the start of its replacement
_KILL_AFTER_SECONDS: Final = 20.0  #: in addition to the drain, before a worker that does not end is killed


def serve_with_workers(
    settings: Settings,
    listener: socket.socket,
    greet: Callable[[Iterable[str]], None],
    certificates: Certificates | None = None,
) -> int:
    """Serve with ``settings.workers`` processes until SIGTERM or Ctrl-C; return the exit code.

    Raises:
        UsageError, Unreachable: the database cannot be used.
    """
    configure_logging(settings.log_format, settings.log_level, access=settings.access_log)
    store = open_store(settings)  # fails before anything is forked
    warnings = list(id_counter_correction.counter_warnings(store))
    store.close()
    return _Supervisor(settings, listener, lambda: greet(warnings), certificates).run()


class _Supervisor:
    def __init__(
        self,
        settings: Settings,
        listener: socket.socket,
        greet: Callable[[], None],
        certificates: Certificates | None,
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._greet = greet
        self._certificates = certificates
        self._memory = SharedMetricMemory(settings.workers)
        self._alive, self._parent_end = os.pipe()  # workers read from it and see its end when the parent ends
        self._started, self._starting = os.pipe()  # workers write to it once they listen
        self._workers: dict[int, int] = {}  # process id -> worker number
        self._ending = False

    def run(self) -> int:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        awake, wake = socket.socketpair()
        for end in (awake, wake):
            end.settimeout(0)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        for worker in range(self._settings.workers):
            self._fork(worker)
        selector = selectors.DefaultSelector()
        selector.register(awake, selectors.EVENT_READ)
        selector.register(self._started, selectors.EVENT_READ)
        listening = 0
        while self._workers and not self._ending:
            for key, _ in selector.select():
                if key.fileobj is awake:
                    awake.recv(4096)
                    self._replace_ended_workers()
                else:
                    listening += len(os.read(self._started, 64))
                    if listening >= self._settings.workers:
                        self._greet()
                        selector.unregister(self._started)
        return self._wait()

    def _end(self, *_: object) -> None:
        self._ending = True

    def _fork(self, worker: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._serve(worker)
        self._workers[pid] = worker

    def _serve(self, worker: int) -> NoReturn:
        """Run as a worker process."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            install_exit_handlers()
            os.close(self._parent_end)
            threading.Thread(target=self._follow_parent, name="contractlog-parent", daemon=True).start()
            telemetry = Telemetry(WorkerMetrics(self._memory, worker), version=version("contractlog"))
            code = serve_single_process(self._settings, self._listener, self._listens, self._certificates, telemetry)
        except SystemExit:
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must not continue in its parent's code
            _LOG.exception("a worker could not serve")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _listens(self, _warnings: Iterable[str]) -> None:
        os.write(self._starting, b".")

    def _follow_parent(self) -> None:
        os.read(self._alive, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace_ended_workers(self) -> None:
        """Replace each worker that has ended."""
        for worker in self._reap_ended_workers():
            _LOG.error("a worker died; another one takes its place")
            time.sleep(_RESTART_SECONDS)
            if not self._ending:
                self._fork(worker)

    def _reap_ended_workers(self) -> list[int]:
        """Remove the workers that have ended, and return their numbers."""
        return [self._workers.pop(pid) for pid in list(self._workers) if os.waitpid(pid, os.WNOHANG)[0]]

    def _wait(self) -> int:
        """Forward the signal, and wait until all workers have drained."""
        self._listener.close()
        for pid in self._workers:
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + self._settings.drain_seconds + _KILL_AFTER_SECONDS
        while self._workers and time.monotonic() < until:
            self._reap_ended_workers()
            time.sleep(0.02)
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)
        return 0
