"""Which requests have a body that may be read: JSON by any of its names, or by none."""

from __future__ import annotations

from typing import Final

from fastapi import Request

from contractlog.compatibility.errors import UnsupportedMediaType

__all__ = ["json_content"]

#: What clients send that say nothing about the body is read as JSON, too.
_ACCEPTED: Final = frozenset({"", "application/json", "application/octet-stream"})


async def json_content(request: Request) -> None:
    """Let JSON through.

    Raises:
        UnsupportedMediaType: the body is said to be something else.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _ACCEPTED and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMediaType
