"""Paths with a context, ``/contexts/NAME/…``: the context moves into the subject and the query.

Percent-encoding is kept, so that ``a%2Fb`` is one subject; a slash at the end has no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.http.errors import error_response
from contractlog.registry.http.path_values import decode_segment, parse_context

__all__ = ["ContextPathMiddleware", "move_context"]

_DEFAULT: Final = ":.:"
_CONTEXTS: Final = (":.", ":*:")  #: prefixes of names that contain their context
_BEFORE_SUBJECTS: Final = frozenset({"subjects", "deks"})
_SCOPED: Final = frozenset({"config", "mode"})
_WRITING: Final = frozenset({"POST", "PUT", "PATCH"})
_UNENCODED: Final = "".join(chr(code) for code in range(0x21, 0x7F))


def move_context(raw_path: bytes, query: bytes, method: str = "GET") -> tuple[str, bytes]:
    """Return the path to route by, still percent-encoded, and the query; a context prefix moves into both.

    >>> move_context(b"/subjects/a%2Fb/versions/", b"")
    ('/subjects/a%2Fb/versions', b'')
    >>> move_context(b"/contexts/.eu/subjects/a/versions", b"")
    ('/subjects/%3A.eu%3Aa/versions', b'')
    """
    path = raw_path.decode("latin-1")
    if not path.isascii() or not path.isprintable() or " " in path:
        path = quote(raw_path, safe=_UNENCODED)
    path = path.rstrip("/") or "/"
    if not path.startswith("/contexts/"):
        return path, query
    segments = path.split("/")[1:]
    if len(segments) == 2:  # noqa: PLR2004 - the context itself
        return path, query
    prefix = f":{parse_context(decode_segment(segments[1]))}:"
    parts = list(_with_subject(segments[2:], "" if prefix == _DEFAULT else prefix))
    return "/" + "/".join(parts), _query_in_context(prefix, parts, query, method)


def _with_subject(segments: Sequence[str], prefix: str) -> Iterator[str]:
    """Add the context to the subject; without a subject, config and mode become those of the context."""
    expects_subject = False
    for position, segment in enumerate(segments):
        qualified = expects_subject and not decode_segment(segment).startswith(_CONTEXTS)
        yield quote(prefix, safe="") + segment if qualified else segment
        expects_subject = not expects_subject and (
            segment in _BEFORE_SUBJECTS or (position == 0 and segment in _SCOPED)
        )
    if expects_subject and segments[0] in _SCOPED and prefix:
        yield quote(prefix, safe="")


def _query_in_context(prefix: str, parts: Sequence[str], query: bytes, method: str) -> bytes:
    if parts[:2] == ["schemas", "ids"]:
        return _with_context(query, "subject", prefix)
    if parts in (["schemas"], ["subjects"]) or "keks" in parts[:3]:
        return _with_context(query, "subjectPrefix", prefix)
    if parts[0].startswith("associations") and method in _WRITING:
        return _with_context(query, "context", prefix, replace=True)
    return query


def _with_context(query: bytes, member: str, prefix: str, *, replace: bool = False) -> bytes:
    """Add the context to each value of a parameter, or replace them by it; keep the other parameters."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    values = [value for name, value in pairs if name == member] or [""]
    values = [prefix] if replace else [value if value.startswith(_CONTEXTS) else prefix + value for value in values]
    others = [(name, value) for name, value in pairs if name != member]
    return urlencode([*others, *((member, value) for value in values)]).encode()


class ContextPathMiddleware:
    """Middleware that passes on the path as it was sent: an encoded slash stays inside its segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace the path and the query in the scope."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or scope["path"].encode()
            try:
                scope["path"], scope["query_string"] = move_context(
                    raw, scope.get("query_string", b""), scope["method"]
                )
            except RegistryError as error:
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)
