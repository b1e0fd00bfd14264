"""Parser of HTTP/1.1 requests that ignores ``Upgrade``, as a server without other protocols must.

httptools takes all that follows the head of a request with ``Upgrade`` for another protocol. The body would be lost, or
be read as the next request, which a proxy in front has not seen (RFC 9110, 7.8).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import httptools

__all__ = ["CONNECT", "RequestParser"]

CONNECT: Final = b"CONNECT"


class RequestParser:
    """Parser with the methods of ``httptools.HttpRequestParser``, for a protocol with its callbacks.

    The protocol's ``on_message_complete`` must do nothing if ``has_unread_body`` is true.
    """

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._is_tunnel = False
        self._use_parser(protocol)

    def _use_parser(self, callbacks: Any) -> None:
        self._parser = httptools.HttpRequestParser(callbacks)
        with suppress(AttributeError):  # httptools before 0.6.3
            self._parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.get_http_version = self._parser.get_http_version
        self.get_method = self._parser.get_method
        self.should_keep_alive = self._parser.should_keep_alive

    def should_upgrade(self) -> bool:
        """Return false: no other protocol is supported."""
        return False

    @property
    def has_unread_body(self) -> bool:
        """Return whether the current request has a body that was not read yet."""
        if not self._parser.should_upgrade() or self.get_method() == CONNECT:
            return False
        return self._framing() is not None

    def feed_data(self, data: bytes) -> None:
        """Parse received bytes, and call the protocol.

        Raises:
            httptools.HttpParserError: they are not HTTP, or a callback failed.
        """
        while data and not self._is_tunnel:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                self._continue_after_head()
            else:
                return

    def _continue_after_head(self) -> None:
        """Read the body of a request with ``Upgrade``, if it has one, and then further requests."""
        if self.get_method() == CONNECT:
            self._is_tunnel = True  # what follows is not for this server
            return
        framing = self._framing()
        if framing is None:
            return  # the parser goes on with the next request
        self._use_parser(_CallbacksAfterBody(self._protocol))
        self._parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n\r\n")

    def _framing(self) -> bytes | None:
        """Return the header that tells the length of the current request's body, or None if it has none."""
        framing = None
        for name, value in self._protocol.scope["headers"]:
            if name in {b"content-length", b"transfer-encoding"}:
                framing = name + b": " + value
        return framing


class _CallbacksAfterBody:
    """Callbacks of a parser that reads the body of a request first, whose head another one has read."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._in_first = True
        self.on_body = protocol.on_body

    def on_message_begin(self) -> None:
        if not self._in_first:
            self._protocol.on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._in_first:
            self._protocol.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_first:  # else of the first head, or a trailer field
            self._protocol.on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self._in_first:
            self._protocol.on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_first = False
        self._protocol.on_message_complete()
