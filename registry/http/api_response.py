"""JSON responses of the API, and the header with a warning."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from fastapi import Response

__all__ = ["MEDIA_TYPE", "WARNING_HEADER", "ApiResponse", "add_warning"]

MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
WARNING_HEADER: Final = "X-Contractlog-Warning"
_MAX_WARNING_LENGTH: Final = 1_000
_encoder: Final = msgspec.json.Encoder()


class ApiResponse(Response):
    """A JSON response of this API; ``bytes`` are sent unchanged."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Encode the body."""
        return content if isinstance(content, bytes) else _encoder.encode(content)


def add_warning(response: ApiResponse, warning: str | None) -> ApiResponse:
    """Add a warning about the request's schema as a header.

    Characters that a header cannot contain are escaped.
    """
    if warning is not None:
        escaped = warning.encode("unicode_escape").decode("ascii")
        response.headers[WARNING_HEADER] = escaped[:_MAX_WARNING_LENGTH]
    return response
