"""HTTP protocol of the server, with bounds on what a parser stores of a request, and on its time."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import termios
from array import array
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from contractlog.compatibility.errors import BadRequest, HeadersTooLarge, RegistryError, RequestTimeout
from contractlog.registry.http.connection_limits import ConnectionLimits
from contractlog.registry.http.http1_parser import CONNECT, RequestParser

__all__ = ["MAX_HEAD_BYTES", "MAX_PIPELINED", "STATUS_LINE", "BoundedProtocol", "RequestResponseCycle"]

MAX_HEAD_BYTES: Final = 65_536  #: the request line and the headers together
MAX_PIPELINED: Final = 128  #: requests of a connection that wait while one is handled; each takes about 2.4 KB
_LOG: Final = logging.getLogger("contractlog.registry.http.bounded_protocol")
_LOG.setLevel(logging.ERROR)  # input from unknown clients must not fill the log
_RESPONSE: Final = (
    "HTTP/1.1 {code} {phrase}\r\ncontent-type: application/vnd.schemaregistry.v1+json\r\n"
    "content-length: {length}\r\nconnection: close\r\n\r\n"
)


class _Trailers(list[tuple[bytes, bytes]]):
    """Replacement of a request's headers after its head, so that trailer fields do not count as headers."""

    def append(self, _header: tuple[bytes, bytes], /) -> None:
        """Ignore a trailer field: it could override a host, client or user of the head (RFC 9110, 6.5.1)."""


def count_unreceived(transport: asyncio.Transport) -> int:
    """Return the number of bytes that were written, but not received by the other side.

    Those in the system's buffer are included, because it takes over more only when a large part of it is empty.
    """
    in_system = array("i", [0])
    with suppress(OSError, AttributeError):  # AttributeError: the connection has no socket any more
        fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, in_system)
    return transport.get_write_buffer_size() + in_system[0]


class BoundedProtocol(HttpToolsProtocol):
    """HTTP protocol that closes connections with a request head that is too long, too slow or invalid.

    Each gets an error response first, unless it sent nothing at all. A body still arriving after its response has the
    time of a body, too. So does a client that receives nothing of a response: then its connection is reset.
    """

    parser: Any  # a RequestParser
    _head = 0  # bytes received of an incomplete head
    _may_be_too_long = False  # whether the bytes received together may contain a head that is too long
    _beside_body = 0  # bytes received since the last part of a body: chunk sizes, their extensions and trailer fields
    _received_anything = False  # whether anything was received at all
    _head_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None  # for the rest of a body whose response is complete
    _send_timer: asyncio.TimerHandle | None = None  #: for a client that does not receive what was sent
    _unreceived = 0  #: bytes that it had not received when the timer was started

    def __init__(self, *args: Any, seconds: float, limits: ConnectionLimits | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._counted_address: str | None = None
        self.parser = RequestParser(self)
        self._pending: deque[RequestResponseCycle] = deque()  #: requests without a complete response, oldest first
        self.seconds = seconds  #: for a head, from the start of the connection or the end of the previous response

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first head; close the connection if there are too many."""
        super().connection_made(transport)
        if self._limits is not None:
            address = self.client[0] if self.client else ""
            if not self._limits.enter(address):
                transport.abort()
                return
            self._counted_address = address
        self.logger = _LOG
        self._head_timer = self.loop.call_later(self.seconds, self._head_timed_out)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes; count them if they do not complete a head."""
        self._received_anything = True
        self._may_be_too_long = self._head + len(data) > MAX_HEAD_BYTES
        self._beside_body += len(data)
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            if self._head_timer is not None:
                self._stop_waiting()
            if cycle.more_body and self._beside_body > MAX_HEAD_BYTES:
                self._end_body(cycle)
            return
        self._head += len(data)
        if self._head > MAX_HEAD_BYTES:
            self._end(HeadersTooLarge(limit=MAX_HEAD_BYTES))
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.seconds, self._head_timed_out)

    def on_body(self, body: bytes) -> None:
        """Pass on a part of a body."""
        self._beside_body = 0
        super().on_body(body)

    def _end_body(self, cycle: RequestResponseCycle) -> None:
        """End a body with more chunk extensions or trailer fields than a head may have."""
        if cycle.response_complete:
            self.transport.abort()
        else:
            self._end(
                HeadersTooLarge(f"The chunk extensions or trailer fields of the body exceed {MAX_HEAD_BYTES} bytes")
            )

    def on_headers_complete(self) -> None:
        """Start handling the request, unless a head that arrived in one piece is too long."""
        if self._may_be_too_long and self._head_bytes() > MAX_HEAD_BYTES:
            raise ValueError("the head is too long")  # stops the parser, and the connection is closed
        if len(self.pipeline) >= MAX_PIPELINED:
            raise ValueError(f"more than {MAX_PIPELINED} requests wait on this connection")
        self._require_framing()
        if not self.url.startswith(b"/"):
            self._use_host_of_target()
        super().on_headers_complete()
        self._pending.append(self.cycle)
        if self.parser.get_method() == CONNECT:
            self.cycle.keep_alive = False
        self.headers = _Trailers()
        self._beside_body = 0

    def _require_framing(self) -> None:
        """Reject every transfer coding but a single ``chunked``, and any in HTTP/1.0 (RFC 9112, 6.1).

        The parser takes a body as chunked whenever that is the last coding: the others would be left in the body, and
        a proxy that reads the head otherwise sees other requests than the registry does.
        """
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings and (codings != [b"chunked"] or self.parser.get_http_version() == "1.0"):
            raise ValueError("transfer codings other than chunked are not supported")

    def _use_host_of_target(self) -> None:
        """Replace the header ``Host`` by the host of a target in absolute form (RFC 9112, 3.2.2)."""
        authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
        if authority:
            hosts = [b"host" for name, _ in self.headers if name == b"host"]
            others = [(name, value) for name, value in self.headers if name != b"host"]
            # Modified in place: the scope has the same list. Two Host headers stay two, and in HTTP/1.1 none stays
            # none.
            old = self.parser.get_http_version() == "1.0"
            self.headers[:] = [*others, *((name, authority) for name in hosts or [b"host"] * old)]

    def _head_bytes(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def on_response_complete(self) -> None:
        """Start the timer of a body still arriving after its response; then continue with the next request."""
        self._pending.popleft()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.more_body and self._body_timer is None:
            self._body_timer = self.loop.call_later(self.seconds, self.transport.close)
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()  # super() has resumed it; requests are waiting

    def on_message_complete(self) -> None:
        """Stop the timer of a body that is complete."""
        self._beside_body = 0
        if self.parser.has_unread_body:
            return
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Make the app wait, but not forever: the response stays in memory meanwhile."""
        super().pause_writing()
        self._require_progress()

    def resume_writing(self) -> None:
        """Let the app continue."""
        self._stop_send_timer()
        super().resume_writing()

    def _require_progress(self) -> None:
        self._unreceived = count_unreceived(self.transport)
        self._send_timer = self.loop.call_later(self.seconds, self._check_progress)

    def _check_progress(self) -> None:
        if count_unreceived(self.transport) >= self._unreceived:
            self.transport.abort()
        else:
            self._require_progress()

    def _stop_send_timer(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers, end the requests without a response, and forget the connection.

        The server itself ends only the request received last; the others would write to a closed transport.
        """
        self.pipeline.clear()
        for cycle in self._pending:
            cycle.disconnected = True
            cycle.message_event.set()
        if self._limits is not None and self._counted_address is not None:
            self._limits.leave(self._counted_address)
            self._counted_address = None
        self._stop_waiting()
        self._stop_send_timer()
        if self._body_timer is not None:
            self._body_timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer in the registry's error format that this is not HTTP, or that the head is too long."""
        cycle: RequestResponseCycle | None = self.cycle
        of_head = cycle is None or cycle.scope is not self.scope
        self._end(
            HeadersTooLarge(limit=MAX_HEAD_BYTES) if self._may_be_too_long and of_head else BadRequest(detail=msg)
        )

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = None
        self._head = 0

    def _head_timed_out(self) -> None:
        if self._received_anything:
            self._end(RequestTimeout(seconds=self.seconds))
        else:
            self.transport.close()  # nothing was received, so there is nothing to respond to

    def _end(self, error: RegistryError) -> None:
        """Respond to the latest input with an error and close; responses to earlier requests come first."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            if self.pipeline or cycle.response_started or not cycle.more_body:
                cycle.keep_alive = False  # it is the last response on this connection
                self.flow.pause_reading()
                return
            cycle.disconnected = True  # the rest of its body will not arrive
            cycle.message_event.set()
        status = HTTPStatus(error.code)
        body = orjson.dumps({"error_code": error.code, "message": str(error)})
        head = _RESPONSE.format(code=status.value, phrase=status.phrase, length=len(body))
        self.transport.write(head.encode() + body)
        self.transport.close()
