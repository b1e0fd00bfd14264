"""Paths as they were sent: ``a%2Fb`` is one subject, a slash at the end means nothing, contexts may stand in front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.compatibility.names import Subject

__all__ = ["context_of", "decode", "routed", "subject_of"]

_LONGEST_CONTEXT: Final = 255
_DEFAULT: Final = ":.:"
_CONTEXTS: Final = (":.", ":*:")  #: what begins so says its context itself
_BEFORE_SUBJECTS: Final = frozenset({"subjects", "deks"})
_SCOPED: Final = frozenset({"config", "mode"})
_WRITING: Final = frozenset({"POST", "PUT", "PATCH"})
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


def context_of(text: str) -> str:
    """Read a context as it stands in a path: ``.eu``, ``:.eu:`` or ``eu``.

    Raises:
        BadRequest: a colon inside.
        InvalidSubject: no database would take the name.

    >>> context_of(":.eu:")
    '.eu'
    """
    name = text.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise BadRequest(f"`{text}` is no name of a context")
    return subject_of(f":{name if name.startswith('.') else '.' + name}:").context


def routed(raw_path: bytes, query: bytes, method: str = "GET") -> tuple[str, bytes]:
    """Return the path to route by, still percent-encoded, and the query; a context in front goes into both.

    >>> routed(b"/subjects/a%2Fb/versions/", b"")
    ('/subjects/a%2Fb/versions', b'')
    >>> routed(b"/contexts/.eu/subjects/a/versions", b"")
    ('/subjects/%3A.eu%3Aa/versions', b'')
    """
    path = raw_path.decode("latin-1")
    if not path.isascii() or not path.isprintable() or " " in path:
        path = quote(raw_path, safe=_AS_SENT)
    path = path.rstrip("/") or "/"
    if not path.startswith("/contexts/"):
        return path, query
    segments = path.split("/")[1:]
    if len(segments) == 2:  # noqa: PLR2004 - the context itself
        return path, query
    prefix = f":{context_of(decode(segments[1]))}:"
    parts = list(_with_subject(segments[2:], "" if prefix == _DEFAULT else prefix))
    return "/" + "/".join(parts), _query_in_context(prefix, parts, query, method)


def _with_subject(segments: Sequence[str], prefix: str) -> Iterator[str]:
    """Put the context before the subject; without one, config and mode are the context's own."""
    awaited = False
    for place, segment in enumerate(segments):
        qualified = awaited and not decode(segment).startswith(_CONTEXTS)
        yield quote(prefix, safe="") + segment if qualified else segment
        awaited = not awaited and (segment in _BEFORE_SUBJECTS or (place == 0 and segment in _SCOPED))
    if awaited and segments[0] in _SCOPED and prefix:
        yield quote(prefix, safe="")


def _query_in_context(prefix: str, parts: Sequence[str], query: bytes, method: str) -> bytes:
    if parts[:2] == ["schemas", "ids"]:
        return _filled(query, "subject", prefix)
    if parts in (["schemas"], ["subjects"]) or "keks" in parts[:3]:
        return _filled(query, "subjectPrefix", prefix)
    if parts[0].startswith("associations") and method in _WRITING:
        return _filled(query, "context", prefix, replace=True)
    return query


def _filled(query: bytes, member: str, prefix: str, *, replace: bool = False) -> bytes:
    """Put the context before each value of a member, or in its place; the others stay as they are."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in pairs if name == member] or [""]
    values = [prefix] if replace else [one if one.startswith(_CONTEXTS) else prefix + one for one in given]
    others = [(name, value) for name, value in pairs if name != member]
    return urlencode([*others, *((member, value) for value in values)]).encode()
