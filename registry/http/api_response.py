"""JSON responses of the API, and the header with a warning."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec
from fastapi import Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.execution.large_responses import LargeResponse

__all__ = ["MEDIA_TYPE", "WARNING_HEADER", "ApiResponse", "PieceResponse", "add_warning"]

MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
WARNING_HEADER: Final = "X-Contractlog-Warning"
_MAX_WARNING_LENGTH: Final = 1_000
_PIECE_SECONDS: Final = 30.0  #: in which a client must receive a piece: about 35 KB per second
_encoder: Final = msgspec.json.Encoder()
_LOG: Final = logging.getLogger("contractlog.registry.http.api_response")


class ApiResponse(Response):
    """A JSON response of this API; ``bytes`` are sent unchanged."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Encode the body."""
        return content if isinstance(content, bytes) else _encoder.encode(content)


class PieceResponse(StreamingResponse):
    """A large JSON response, of which the next piece is made when the client has read the ones before.

    Args:
        pieces: the body; if it raises, the connection is closed, so that the client notices that the end is missing.
        response: the response as one of those that are limited.
        leave: called at the end, also if the client disconnects.
        status_code: of the response.
        piece_seconds: in which the client must receive a piece, else the connection is closed.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        response: LargeResponse,
        leave: Callable[[], None],
        *,
        status_code: int = 200,
        piece_seconds: float = _PIECE_SECONDS,
    ) -> None:
        super().__init__(pieces, status_code)
        self._pieces = pieces
        self._response = response
        self._leave = leave
        self._piece_seconds = piece_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as in the base class
        """Send the pieces."""
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for piece in self._pieces:
                sending = send({"type": "http.response.body", "body": piece, "more_body": True})
                await self._response.deliver(sending, len(piece), self._piece_seconds)
            await send({"type": "http.response.body", "body": b""})
        except RegistryError as error:
            _LOG.warning("a response was cut off: %s", error)
        except TimeoutError as error:
            _LOG.warning("a response was cut off because of its client: %s", error)
        finally:
            self._leave()


def add_warning(response: ApiResponse, warning: str | None) -> ApiResponse:
    """Add a warning about the request's schema as a header.

    Characters that a header cannot contain are escaped.
    """
    if warning is not None:
        escaped = warning.encode("unicode_escape").decode("ascii")
        response.headers[WARNING_HEADER] = escaped[:_MAX_WARNING_LENGTH]
    return response
