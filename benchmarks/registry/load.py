"""Load generator for HTTP servers: persistent connections, one request at a time, low overhead."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """Results of a server under load."""

    requests: int
    seconds: float
    processor_seconds: float  #: of the server and its workers
    latencies: list[float]
    refused: int  #: responses other than 200

    @property
    def per_second(self) -> float:
        """Requests per second of wall-clock time."""
        return self.requests / self.seconds

    @property
    def microseconds(self) -> float:
        """Processor time of the server per request, in microseconds."""
        return self.processor_seconds / self.requests * 1e6

    def percentile(self, share: float) -> float:
        """Return the latency percentile in milliseconds."""
        return statistics.quantiles(self.latencies, n=1000)[round(share * 1000) - 1] * 1000

    def __str__(self) -> str:
        """Return a line of figures."""
        return (
            f"{self.per_second:8.0f}/s  {self.microseconds:7.0f} us CPU  "
            f"p50 {self.percentile(0.5):7.2f} ms  p99 {self.percentile(0.99):7.2f} ms"
            + (f"  {self.refused} NOT 200" if self.refused else "")
        )


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], until: float, done: Callable[[], None]) -> None:
        self._requests, self._until, self._done = requests, until, done
        self._buffer, self._missing, self._sent = b"", -1, 0.0
        self.latencies: list[float] = []
        self.refused = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None or time.perf_counter() > self._until:
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._missing < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._buffer[:end].lower()
            at = head.index(b"content-length:") + 15
            self._missing = end + 4 + int(head[at:].split(b"\r\n", 1)[0])
            if head[9:12] != b"200":
                self.refused += 1
        if len(self._buffer) >= self._missing:
            self.latencies.append(time.perf_counter() - self._sent)
            self._buffer, self._missing = b"", -1
            self._send()

    def connection_lost(self, _error: Exception | None) -> None:
        self._done()


def load(port: int, pid: int, connections: list[Iterator[bytes]], seconds: float) -> Measured:
    """Let each connection send its requests, one after the other, for some seconds."""
    before, started = processor_seconds(pid), time.perf_counter()
    protocols = uvloop.run(_load(port, connections, started + seconds))
    took = time.perf_counter() - started
    latencies = [one for protocol in protocols for one in protocol.latencies]
    refused = sum(protocol.refused for protocol in protocols)
    return Measured(len(latencies), took, processor_seconds(pid) - before, latencies, refused)


async def _load(port: int, connections: list[Iterator[bytes]], until: float) -> list[_Connection]:
    loop = asyncio.get_running_loop()
    ended = [loop.create_future() for _ in connections]
    protocols = []
    for requests, end in zip(connections, ended, strict=True):
        made = await loop.create_connection(
            lambda requests=requests, end=end: _Connection(requests, until, lambda: end.set_result(None)),
            "127.0.0.1",
            port,
        )
        protocols.append(made[1])
    await asyncio.gather(*ended)
    return protocols


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(processor_seconds(int(child)) for child in children)


def get(path: str, headers: str = "") -> bytes:
    """Return a GET request as clients send it."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n{headers}\r\n".encode()


def post(path: str, body: bytes, headers: str = "") -> bytes:
    """Return a POST request as clients send it."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n"
    return f"{head}{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body
