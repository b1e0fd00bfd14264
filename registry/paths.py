"""Paths as they were sent: ``a%2Fb`` is one subject, a slash at the end means nothing, contexts may stand in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.compatibility.names import Subject

__all__ = ["decode", "routed", "subject_of"]

_LONGEST_CONTEXT: Final = 255
_AS_SENT: Final = "".join(chr(code) for code in range(0x21, 0x7F))


def decode(segment: str) -> str:
    """Undo the percent-encoding of one segment.

    Raises:
        BadRequest: it is not UTF-8.
    """
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise BadRequest("The path is not UTF-8") from None


def subject_of(text: str) -> Subject:
    """Read a subject.

    Raises:
        InvalidSubject: no subject can have this name, and no database would take it.
    """
    subject = Subject.parse(text)
    if "\0" in text or len(subject.context) > _LONGEST_CONTEXT:
        raise InvalidSubject(subject=text)
    return subject


def routed(raw_path: bytes, query: bytes) -> tuple[str, bytes]:
    """Return the path to route by, still percent-encoded, and the query; a context in front goes into both.

    >>> routed(b"/subjects/a%2Fb/versions/", b"")
    ('/subjects/a%2Fb/versions', b'')
    >>> routed(b"/contexts/.eu/subjects/a/versions", b"")
    ('/subjects/%3A.eu%3Aa/versions', b'')
    """
    path = quote(raw_path, safe=_AS_SENT)
    path = path.rstrip("/") or "/"
    segments = path.split("/")[1:]
    if segments[0] == "contexts" and len(segments) > 2:  # noqa: PLR2004 - /contexts/{context}/…
        return _in_context(decode(segments[1]), segments[2:], query)
    return path, query


def _in_context(context: str, segments: Sequence[str], query: bytes) -> tuple[str, bytes]:
    name = context.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise BadRequest(f"`{context}` is no name of a context")
    prefix = f":{name if name.startswith('.') else '.' + name}:"
    parts = list(segments)
    for place, segment in enumerate(parts[:3]):
        if segment in {"subjects", "config", "mode"}:
            following = decode(parts[place + 1]) if len(parts) > place + 1 else ""
            if following and not following.startswith(":."):
                parts[place + 1] = quote(prefix + following, safe="")
            elif not following and segment != "subjects":
                parts.append(quote(prefix, safe=""))
            break
    return "/" + "/".join(parts), _query_in_context(prefix, parts, query)


def _query_in_context(prefix: str, parts: Sequence[str], query: bytes) -> bytes:
    member = {("schemas", "ids"): "subject", ("subjects",): "subjectPrefix"}.get(tuple(parts[:2]))
    if member is None:
        return query
    pairs = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    given = pairs.get(member, "")
    pairs[member] = given if given.startswith(":") else prefix + given
    return urlencode(pairs).encode()
