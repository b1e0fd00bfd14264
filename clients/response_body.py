"""Size limits for reading response bodies.

A compressed body can decode to a thousand times its size, and each further content encoding multiplies that. So only
one encoding is decoded, and above ``UNCHECKED_BYTES`` the ratio of decoded to received bytes is limited.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from contractlog.clients.retry import Response

if TYPE_CHECKING:
    import httpx2

__all__ = ["MAX_BODY_BYTES", "BoundedBody", "MemoryBudget"]

MAX_BODY_BYTES: Final = 256 * 1024 * 1024  #: decoded bytes of a response; a list of a million subjects is 20 MB
UNCHECKED_BYTES: Final = 16 * 1024 * 1024  #: decoded bytes up to which the ratio is not checked
MAX_RATIO: Final = 250  #: decoded bytes per byte received; five hundred versions of one schema reach 130
MAX_ENCODINGS: Final = 1
_SHOWN_BYTES: Final = 200  # bytes of a rejected body that are shown in messages
_MIB: Final = 1024 * 1024
_VALUE_BYTES: Final = 64  #: memory that a JSON value takes beside its text: ``[]`` has two bytes
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


class MemoryBudget:
    """Limit on the memory of all responses together, for a client that collects them.

    Counted are the bytes of the bodies, and an estimate of what JSON values take in memory.
    """

    def __init__(self, limit: int) -> None:
        self.limit = self._left = limit

    def take(self, size: int) -> bool:
        """Count some bytes; return False when the limit is exceeded."""
        self._left -= size
        return self._left >= 0


class BoundedBody:
    """Decoded body of a response, read until it exceeds a limit."""

    def __init__(self, response: httpx2.Response, budget: MemoryBudget | None = None) -> None:
        self._response = response
        self._budget = budget
        self._content = bytearray()
        named = response.headers.get_list("content-encoding", split_commas=True)
        encodings = [name for name in (part.strip().lower() for part in named) if name not in {"", "identity"}]
        self._has_encoding = bool(encodings)
        self.fault = ""  #: why the body is not read to its end; empty if it is
        if len(encodings) > MAX_ENCODINGS:
            listed = ", ".join(encodings[:5]) + (", …" if len(encodings) > 5 else "")  # noqa: PLR2004 - for a message
            self.fault = f"has {len(encodings)} content encodings ({listed}); only one is decoded"

    def add(self, chunk: bytes) -> bool:
        """Append decoded bytes; return False when a limit is exceeded."""
        self._content += chunk
        size = len(self._content)
        if size > MAX_BODY_BYTES:
            self.fault = f"is larger than {MAX_BODY_BYTES / _MIB:g} MiB"
        elif self._has_encoding and size > UNCHECKED_BYTES and size > MAX_RATIO * self._response.num_bytes_downloaded:
            received = self._response.num_bytes_downloaded
            self.fault = (
                f"expands more than {MAX_RATIO} times: {received:,} bytes received, more than {size / _MIB:.0f} MiB "
                "decoded; if this is intended, send the header 'Accept-Encoding: identity'"
            )
        else:
            self._spend(len(chunk))
        return not self.fault

    def _spend(self, size: int) -> None:
        if self._budget is not None and not self._budget.take(size):
            self.fault = f"exceeds the limit of {self._budget.limit / _MIB:g} MiB for all responses together"

    def reject_encoding(self, error: httpx2.DecodingError) -> None:
        """Reject a body that does not match its content encoding."""
        self.fault = f"cannot be decoded ({error})"

    def response(self) -> Response:
        """Return the response; of a rejected body only the start."""
        if self._budget is not None and not self.fault:
            structure = _STRING.sub(b"", self._content)
            self._spend(_VALUE_BYTES * sum(map(structure.count, (b"[", b"{", b","))))
        content = bytes(memoryview(self._content)[:_SHOWN_BYTES] if self.fault else self._content)
        headers = {name.lower(): value for name, value in self._response.headers.items()}
        return Response(self._response.status_code, content, headers, self.fault)
