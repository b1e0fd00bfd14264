"""Request heads that were parsed before: equal bytes are an equal request, and need no parser.

Only the header block is looked up; the request line has one of few forms. A block is stored by a keyed hash, without
credentials.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from os import urandom
from typing import Final, NamedTuple

from msgspec import Struct

from contractlog.compatibility.bounded_cache import BoundedCache

__all__ = ["Headers", "RawRequest", "RequestHeads"]

#: Requests whose path and query every parser reads alike.
_REQUEST: Final = re.compile(
    rb"(GET|POST) (/(?:schemas|subjects|config|mode|compatibility|associations|contexts)"
    rb"[A-Za-z0-9_.~:%@!$&'()*+,;=/-]*)"
    rb"(?:\?([A-Za-z0-9_.~:%@!$&'()*+,;=/?-]*))? HTTP/1\.1\r\n"
)
_END: Final = b"\r\n\r\n"
_MAX_LINE_BYTES: Final = 4_096
_MAX_BLOCK_BYTES: Final = 2_048
_MAX_BLOCKS: Final = 2_000
_AUTHORIZATION: Final = b"authorization"
#: Headers that another layer acts on, or that differ from request to request.
_OTHERS: Final = frozenset(
    {
        b"connection",
        b"contractlog-break-glass",
        b"expect",
        b"origin",
        b"sec-fetch-site",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"x-request-id",
    }
)
_KEEP_ALIVE: Final = (b"connection", b"keep-alive")

Headers = list[tuple[bytes, bytes]]


class RawRequest(NamedTuple):
    """A request as it was received, with the bytes of its headers."""

    method: bytes
    path: bytes
    query: bytes
    block: bytes
    body: bytes


class _Block(Struct, frozen=True, gc=False):
    """Parsed headers; credentials are only the part of the bytes that they are in."""

    headers: tuple[tuple[bytes, bytes], ...]
    length: int  #: of the body
    credentials: tuple[int, int] | None


class RequestHeads:
    """Header blocks that a parser has read, with the headers that it found in them."""

    def __init__(self) -> None:
        self._key = urandom(32)
        self._blocks: BoundedCache[bytes, _Block] = BoundedCache(_MAX_BLOCKS)

    @staticmethod
    def split(data: bytes) -> RawRequest | None:
        """Split what was received at once, if it may be a single request with a fast path."""
        line = _REQUEST.match(data)
        if line is None or line.end() > _MAX_LINE_BYTES:
            return None
        end = data.find(_END, line.end() - 2)
        if end < 0 or end - line.end() > _MAX_BLOCK_BYTES:
            return None
        return RawRequest(line[1], line[2], line[3] or b"", data[line.end() : end], data[end + 4 :])

    def find_headers(self, request: RawRequest) -> Headers | None:
        """Return the headers of a complete request whose block was parsed before."""
        block = self._blocks.get(self._digest(request.block))
        if block is None or block.length != len(request.body):
            return None
        headers = list(block.headers)
        if block.credentials is not None:
            start, end = block.credentials
            headers.append((_AUTHORIZATION, request.block[start:end]))
        return headers

    def learn(self, request: RawRequest, headers: Headers) -> None:
        """Store the headers that a parser has found in a request which it has read completely."""
        if any(name in _OTHERS and (name, value.lower()) != _KEEP_ALIVE for name, value in headers):
            return
        lengths = [value for name, value in headers if name == b"content-length"]
        if len(lengths) > 1 or (int(lengths[0]) if lengths and lengths[0].isdigit() else 0) != len(request.body):
            return
        secrets = [value for name, value in headers if name == _AUTHORIZATION]
        credentials = None
        if secrets:
            start = request.block.find(secrets[0])
            if len(secrets) > 1 or start < 0:
                return
            credentials = (start, start + len(secrets[0]))
        others = tuple(header for header in headers if header[0] != _AUTHORIZATION)
        self._blocks.put(self._digest(request.block), _Block(others, len(request.body), credentials))

    def _digest(self, block: bytes) -> bytes:
        return blake2b(block, key=self._key, digest_size=16).digest()
