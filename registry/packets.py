"""An answer leaves whole: its head waits for its body: a small one is one write, and wakes its reader once."""

from __future__ import annotations

import asyncio
from typing import Any, Final

__all__ = ["Gathering"]

_HEAD: Final = b"HTTP/1.1 "
_CONTINUE: Final = b"HTTP/1.1 100 "  #: is no head: the client waits for it, and the server for the client
_LARGE: Final = 65_536  #: bytes that cost more to copy than to write by themselves


class Gathering:
    """A transport that keeps the head of an answer until what follows is written, or until nothing does.

    Args:
        transport: what writes.
    """

    __slots__ = ("_head", "_transport", "is_closing")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes | memoryview) -> None:
        """Write what was kept, and this; or keep it, where it is a head."""
        head = self._head
        if head:
            self._head = b""
            if len(data) > _LARGE:
                self._transport.write(head)
            else:
                data = head + data
            self._transport.write(data)
        elif data[: len(_HEAD)] == _HEAD and data[: len(_CONTINUE)] != _CONTINUE:
            self._head = bytes(data)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Write what was kept: nothing follows."""
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def close(self) -> None:
        """Close, once everything is written."""
        self.flush()
        self._transport.close()
