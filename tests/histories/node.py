"""Nodes: real ``contractlog serve`` processes, forked from a process with all imports.

``python -m histories.node`` reads one JSON object per line (see ``Start``), forks, and says the process id. A node
differs from what a user runs in four things: its wall clock can be moved, it says whether its writer is inside a
transaction, the actor of a write is the name that the request carries, and a defect may be planted in it.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import importlib
import json
import mmap
import os
import signal
import struct
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

OPERATION: Final = "x-operation"  #: the header that names an operation
_SIZE: Final = 16
_PHASE, _OFFSET = struct.Struct("=q"), struct.Struct("=d")
IDLE, WRITING, COMMITTING = range(3)
_BEFOREHAND: Final = (
    "contractlog.clients.cli.main",
    "contractlog.registry.app",
    "contractlog.registry.cli",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.httptools_impl",
    "uvloop",
)


@dataclass(frozen=True, slots=True)
class Start:
    """What a node needs to know."""

    database_url: str
    port: int
    log: str
    shared: str  #: the file of its ``Shared``
    defect: str = ""


class Shared:
    """A few bytes that a node and whoever torments it share; they outlive the node."""

    def __init__(self, path: Path | str) -> None:
        Path(path).touch()
        os.truncate(path, _SIZE)
        with Path(path).open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), _SIZE)

    @property
    def phase(self) -> int:
        """What the writer is doing."""
        return int(_PHASE.unpack_from(self._bytes, 0)[0])

    @phase.setter
    def phase(self, phase: int) -> None:
        _PHASE.pack_into(self._bytes, 0, phase)

    @property
    def offset(self) -> float:
        """Seconds by which the wall clock is wrong."""
        return float(_OFFSET.unpack_from(self._bytes, 8)[0])

    @offset.setter
    def offset(self, offset: float) -> None:
        _OFFSET.pack_into(self._bytes, 8, offset)


def serve_forks() -> None:
    """Fork nodes until nobody asks for them any more."""
    for module in _BEFOREHAND:
        importlib.import_module(module)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(Start(**json.loads(line)))
        print(child, flush=True)  # noqa: T201 - that is the answer
    os._exit(0)  # to take everything apart again would take seconds


def _run(start: Start) -> None:
    code = 1
    try:
        _die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(start.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
            os.dup2(file, number)
        code = _serve(start)
    except BaseException:  # noqa: BLE001 - it ends here, whatever it is
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _serve(start: Start) -> int:
    from contractlog.clients.cli.main import main

    faulthandler.register(signal.SIGUSR1)  # says what it is doing, when it is asked
    shared = Shared(start.shared)
    _move_clock(shared)
    _tell_phases(shared)
    _name_actors()
    if start.defect:
        from histories.defects import DEFECTS

        DEFECTS[start.defect].plant()
    return main(["serve", "--port", str(start.port), "--database-url", start.database_url])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _move_clock(shared: Shared) -> None:
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + shared.offset
    time.time_ns = lambda: now_ns() + int(shared.offset * 1e9)


def _tell_phases(shared: Shared) -> None:
    from sqlalchemy import Engine, event
    from sqlalchemy.pool import Pool

    def tell(phase: int) -> Any:
        def listener(*_of: Any) -> None:
            if threading.current_thread().name == "contractlog-writer":
                shared.phase = phase

        return listener

    event.listen(Engine, "begin", tell(WRITING))
    event.listen(Engine, "commit", tell(COMMITTING))
    event.listen(Pool, "checkin", tell(IDLE))


def _name_actors() -> None:
    from fastapi import FastAPI

    from contractlog.registry.access.current_caller import current_actor

    build, header = FastAPI.build_middleware_stack, OPERATION.encode()

    def named(app: Any) -> Any:
        async def name(scope: Any, receive: Any, send: Any) -> None:
            for key, value in scope.get("headers", ()):
                if key == header:
                    current_actor.set(value.decode())
            await app(scope, receive, send)

        return name

    FastAPI.build_middleware_stack = lambda app: named(build(app))


if __name__ == "__main__":
    serve_forks()
