"""Values in paths: segments, subjects and contexts."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.compatibility.identifiers import Subject

__all__ = ["decode_segment", "parse_context", "parse_subject"]


def decode_segment(segment: str) -> str:
    """Decode the percent-encoding of one segment.

    Raises:
        BadRequest: it is not UTF-8.
    """
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise BadRequest("The path is not UTF-8") from None


def parse_subject(text: str) -> Subject:
    """Parse a subject.

    Raises:
        InvalidSubject: the name is invalid, or a database could not store it.
    """
    subject = Subject.parse(text)
    if not subject.storable:
        raise InvalidSubject(subject=text)
    return subject


def parse_context(text: str) -> str:
    """Parse a context in a path: ``.eu``, ``:.eu:`` or ``eu``.

    Raises:
        BadRequest: it contains another colon.
        InvalidSubject: a database could not store the name.
    >>> parse_context(":.eu:")
    '.eu'
    """
    name = text.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise BadRequest(f"`{text}` is not a valid context name")
    return parse_subject(f":{name if name.startswith('.') else '.' + name}:").context
