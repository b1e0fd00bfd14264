"""The registry and the servers that it is compared with, each in its own process.

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

STORED_BODY = b'{"subject":"s","version":1,"id":1,"schema":"' + b"x" * 900 + b'"}'
HEADERS = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]


async def respond_with_stored_bytes(scope: Any, receive: Any, send: Any) -> None:
    """Respond to any request with the same bytes."""
    await receive()
    await _send_body(send, STORED_BODY)


async def _send_body(send: Any, body: bytes) -> None:
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS + length})
    await send({"type": "http.response.body", "body": body})


def create_selecting_app(database_url: str) -> Any:
    """Create an ASGI app that only runs the registry's select for the latest version."""
    from contractlog.compatibility.identifiers import Subject
    from contractlog.registry.database import open_store
    from contractlog.registry.http.api_response import ApiResponse
    from contractlog.registry.http.response_bodies import SchemaBody
    from contractlog.registry.settings import Settings

    store = open_store(Settings(database_url=database_url))
    threads = ThreadPoolExecutor(8)

    def select_latest(name: str) -> bytes:
        with store.open_snapshot() as snapshot:
            version = snapshot.version(Subject.parse(name), None)
        return bytes(ApiResponse(SchemaBody.of(version)).body)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        name = scope["path"].split("/")[2]
        await _send_body(send, await asyncio.get_running_loop().run_in_executor(threads, select_latest, name))

    return app


def main() -> None:
    """Serve one variant."""
    variant, port, database_url = sys.argv[1:4]
    if variant in {"bare", "select"}:
        import uvicorn

        app = respond_with_stored_bytes if variant == "bare" else create_selecting_app(database_url)
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
        writer._MAX_BATCH = 1  # noqa: SLF001 - one transaction per request, for comparison
    if variant.startswith("without-"):
        from fastpath import SHORTCUTS

        SHORTCUTS[variant.removeprefix("without-")].remove()
    sys.argv[1:] = ["serve", "--port", port, "--database-url", database_url]
    sys.exit(command())


def list_all_cores() -> set[int]:
    """Return all cores."""
    return set(range(os.cpu_count() or 1))


@contextmanager
def use_cores(core_numbers: set[int]) -> Iterator[None]:
    """Run processes that are started in the block on these cores."""
    previous_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, core_numbers)
    try:
        yield
    finally:
        os.sched_setaffinity(0, previous_cores)


@contextmanager
def run_variant(variant: str, database_url: str, core: int | None = 0, **environment: str) -> Iterator[tuple[int, int]]:
    """Run a variant; yield its port and process id once it listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, __file__, variant, str(port), database_url]
    with use_cores({core} if core is not None else list_all_cores()):
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
