"""Which requests have a body that may be read: JSON by any of its names, or by none."""

from __future__ import annotations

from typing import Final

from fastapi import Request

from contractlog.compatibility.errors import UnsupportedMediaType

__all__ = ["is_json", "json_content"]

#: What clients send that say nothing about the body is read as JSON, too.
_SAY_NOTHING: Final = frozenset({"", "application/octet-stream"})


def is_json(content_type: str) -> bool:
    """Return whether a content type, with or without parameters, is JSON.

    >>> is_json("application/json; charset=utf-8"), is_json("Application/vnd.x+JSON"), is_json("text/plain")
    (True, True, False)
    """
    kind = _media_type(content_type)
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


async def json_content(request: Request) -> None:
    """Let JSON through.

    Raises:
        UnsupportedMediaType: the body is said to be something else.
    """
    content_type = request.headers.get("content-type", "")
    if _media_type(content_type) not in _SAY_NOTHING and not is_json(content_type):
        raise UnsupportedMediaType
