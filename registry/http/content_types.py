"""Content types that request bodies may declare: JSON under any of its names, or nothing specific."""

from __future__ import annotations

from typing import Final

from fastapi import Request

from contractlog.compatibility.errors import UnsupportedMediaType

__all__ = ["is_json", "require_json_content"]

#: Content types that say nothing about the body, which is then parsed as JSON as well.
_UNSPECIFIC: Final = frozenset({"", "application/octet-stream"})


def is_json(content_type: str) -> bool:
    """Return whether a content type, with or without parameters, is JSON.

    >>> is_json("application/json; charset=utf-8"), is_json("Application/vnd.x+JSON"), is_json("text/plain")
    (True, True, False)
    """
    kind = _media_type(content_type)
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


async def require_json_content(request: Request) -> None:
    """Require the request's content type to be JSON or unspecific.

    Raises:
        UnsupportedMediaType: the body is declared as something else.
    """
    content_type = request.headers.get("content-type", "")
    if _media_type(content_type) not in _UNSPECIFIC and not is_json(content_type):
        raise UnsupportedMediaType
