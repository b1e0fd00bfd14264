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

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class LoadResult:
    """Results of a server under load."""

    requests: int
    seconds: float
    processor_seconds: float  #: of the server and its workers
    latencies: list[float]
    error_count: int  #: responses other than 200

    @property
    def requests_per_second(self) -> float:
        """Requests per second of wall-clock time."""
        return self.requests / self.seconds

    @property
    def microseconds_per_request(self) -> float:
        """Processor time of the server per request, in microseconds."""
        return self.processor_seconds / self.requests * 1e6

    def percentile(self, share: float) -> float:
        """Return the latency percentile in milliseconds."""
        return statistics.quantiles(self.latencies, n=1000)[round(share * 1000) - 1] * 1000

    def __str__(self) -> str:
        """Return a line of figures."""
        return (
            f"{self.requests_per_second:8.0f}/s  {self.microseconds_per_request:7.0f} us CPU  "
            f"p50 {self.percentile(0.5):7.2f} ms  p99 {self.percentile(0.99):7.2f} ms"
            + (f"  {self.error_count} NOT 200" if self.error_count else "")
        )


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], deadline: float, on_close: Callable[[], None]) -> None:
        self._requests, self._deadline, self._on_close = requests, deadline, on_close
        self._buffer, self._missing_bytes, self._sent_at = b"", -1, 0.0
        self.latencies: list[float] = []
        self.error_count = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None or time.perf_counter() > self._deadline:
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._missing_bytes < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            headers = self._buffer[:end].lower()
            length_start = headers.index(b"content-length:") + 15
            self._missing_bytes = end + 4 + int(headers[length_start:].split(b"\r\n", 1)[0])
            if headers[9:12] != b"200":
                self.error_count += 1
        if len(self._buffer) >= self._missing_bytes:
            self.latencies.append(time.perf_counter() - self._sent_at)
            self._buffer, self._missing_bytes = b"", -1
            self._send()

    def connection_lost(self, _error: Exception | None) -> None:
        self._on_close()


def generate_load(port: int, pid: int, connections: list[Iterator[bytes]], seconds: float) -> LoadResult:
    """Send the requests of each connection one after another, for some seconds."""
    cpu_before, start_time = read_processor_seconds(pid), time.perf_counter()
    protocols = uvloop.run(_load(port, connections, start_time + seconds))
    duration = time.perf_counter() - start_time
    latencies = [latency for protocol in protocols for latency in protocol.latencies]
    error_count = sum(protocol.error_count for protocol in protocols)
    return LoadResult(len(latencies), duration, read_processor_seconds(pid) - cpu_before, latencies, error_count)


async def _load(port: int, connections: list[Iterator[bytes]], until: float) -> list[_Connection]:
    loop = asyncio.get_running_loop()
    end_futures = [loop.create_future() for _ in connections]
    protocols = []
    for requests, end_future in zip(connections, end_futures, strict=True):
        connection = await loop.create_connection(
            lambda requests=requests, future=end_future: _Connection(requests, until, lambda: future.set_result(None)),
            "127.0.0.1",
            port,
        )
        protocols.append(connection[1])
    await asyncio.gather(*end_futures)
    return protocols


def read_processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS + sum(
        read_processor_seconds(int(child)) for child in children
    )


def format_get(path: str, headers: str = "") -> bytes:
    """Return a GET request as a client sends it."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n{headers}\r\n".encode()


def format_post(path: str, body: bytes, headers: str = "") -> bytes:
    """Return a POST request as a client sends it."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n"
    return f"{head}{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body
