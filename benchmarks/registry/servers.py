"""The servers that the registry is compared with, and the registry itself, each in its own process.

python benchmarks/registry/servers.py VARIANT PORT DATABASE_URL
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

BODY = b'{"subject":"s","version":1,"id":1,"schema":"' + b"x" * 900 + b'"}'
HEADERS = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """Return stored bytes for any request."""
    await receive()
    await _answer(send, BODY)


async def _answer(send: Any, body: bytes) -> None:
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS + length})
    await send({"type": "http.response.body", "body": body})


def selecting(database_url: str) -> Any:
    """Make a bare app that runs the registry's own select for the latest version, and returns its result."""
    from contractlog.compatibility.identifiers import Subject
    from contractlog.registry.database import open_store
    from contractlog.registry.http.api_response import ApiResponse
    from contractlog.registry.http.response_bodies import SchemaBody
    from contractlog.registry.settings import Settings

    store = open_store(Settings(database_url=database_url))
    threads = ThreadPoolExecutor(8)

    def ask(name: str) -> bytes:
        with store.open_snapshot() as snapshot:
            found = snapshot.version(Subject.parse(name), None)
        return bytes(ApiResponse(SchemaBody.of(found)).body)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        name = scope["path"].split("/")[2]
        await _answer(send, await asyncio.get_running_loop().run_in_executor(threads, ask, name))

    return app


def main() -> None:
    """Serve one variant."""
    variant, port, database_url = sys.argv[1:4]
    if variant in {"bare", "select"}:
        import uvicorn

        app = bare if variant == "bare" else selecting(database_url)
        uvicorn.run(
            app,
            port=int(port),
            loop="uvloop",
            http="httptools",
            access_log=False,
            log_level="warning",
            lifespan="off",
            server_header=False,
        )
        return
    from contractlog.clients.cli.main import main as command
    from contractlog.registry.storage import writer

    if variant == "single":
        writer._MAX_BATCH = 1  # noqa: SLF001 - the alternative: one transaction per request
    if variant.startswith("without-"):
        from shortcuts import SHORTCUTS

        SHORTCUTS[variant.removeprefix("without-")].remove()
    sys.argv[1:] = ["serve", "--port", port, "--database-url", database_url]
    sys.exit(command())


def everywhere() -> set[int]:
    """Return all cores."""
    return set(range(os.cpu_count() or 1))


@contextmanager
def cores(these: set[int]) -> Iterator[None]:
    """Run the processes that are started in the block, with all their threads, on these cores."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, these)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


@contextmanager
def running(variant: str, database_url: str, core: int | None = 0, **environment: str) -> Iterator[tuple[int, int]]:
    """Run a variant; yield its port and process id once it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, __file__, variant, str(port), database_url]
    with cores({core} if core is not None else everywhere()):
        process = subprocess.Popen(
            command,
            stderr=None if variant in {"bare", "select"} else subprocess.PIPE,
            env=os.environ | {"CONTRACTLOG_DRAIN_SECONDS": "0"} | environment,
        )
    try:
        for _ in range(6_000):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
                assert process.poll() is None
        yield port, process.pid
    finally:
        process.terminate()
        process.communicate(timeout=60)


if __name__ == "__main__":
    main()
