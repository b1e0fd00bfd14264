"""Paths and queries of requests that have a shortcut, and what their responses depend on.

A request that matches nothing here goes to its route. Paths are as ``http/context_paths.py`` leaves them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_plus

from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.registry.http.path_values import decode_segment, parse_subject

__all__ = [
    "LIVE_QUERY",
    "RAW_SCHEMA_PATH",
    "REGISTRATION_PATH",
    "REGISTRATION_QUERY",
    "SCHEMA_PATH",
    "VERSION_PATH",
    "find_subject_name",
    "is_repeatable",
    "parse_requested_subject",
]

#: A schema by id (``cached_reads.py``).
SCHEMA_PATH: Final = re.compile(r"/schemas/ids/(0|[1-9][0-9]{0,9})")
RAW_SCHEMA_PATH: Final = re.compile(SCHEMA_PATH.pattern.encode())
_NO_SUBJECT: Final = (DEFAULT_CONTEXT, "")
_FORMAT_PARAMETERS: Final = frozenset({b"format", b"referenceFormat", b"reference_format", b"findTags"})

#: A live version: its subject, and its number unless it is the latest (``plain_version_reads.py``).
VERSION_PATH: Final = re.compile(r"/subjects/([^/]+)/versions/(?:latest|-1|([1-9][0-9]{0,8}))")
LIVE_QUERY: Final = re.compile(rb"(?:deleted=(?i:false)?)?")

#: A registration, with its subject (``plain_registrations.py``).
REGISTRATION_PATH: Final = re.compile(r"/subjects/([^/]+)/versions")
REGISTRATION_QUERY: Final = re.compile(rb"(?:normalize=((?i:true)|(?i:false)))?")

_VERSION: Final = r"/versions/(?:latest|-1|[1-9][0-9]{0,8})"
#: Reads that depend on the versions of the subject in their path, and on no other subject.
_READ_OF_A_SUBJECT: Final = re.compile(
    rf"/subjects/([^/]+)(?:/versions|/metadata|{_VERSION}(?:/schema)?)|/(?:config|mode)/([^/]+)"
)
#: Reads that may depend on anything, but have one response until something changes.
_READ_OF_EVERYTHING: Final = re.compile(
    rf"/subjects|/contexts|/config|/mode|/subjects/[^/]+{_VERSION}/referencedby"
    r"|/schemas/ids/[0-9]{1,10}/(?:versions|subjects)|/associations/(?:subjects|resources)/.+"
)
#: Requests with a body that writes nothing if it was sent before: lookups, checks, and registrations.
_POST_OF_A_SUBJECT: Final = re.compile(
    rf"/subjects/([^/]+)(?:/versions)?|/compatibility/subjects/([^/]+)(?:/versions|{_VERSION})"
)
#: Text in a body that may refer to other subjects or assign an id; also in UTF-16, or spelled with an escape sequence.
_OTHER_SUBJECTS: Final = re.compile(rb'"references"|"id"\s*:|\\u00|\x00')
_MAX_PATH: Final = 1_024  #: characters
#: Parameters by which a response includes the texts of other subjects.
_RESOLVING: Final = re.compile(rb"(?i)format|%")


@lru_cache(4096)
def parse_requested_subject(query: bytes) -> tuple[str, str] | None:
    """Return the context and subject name that are requested; None if the cache cannot serve the request.

    >>> parse_requested_subject(b"fetchMaxId=false&subject="), parse_requested_subject(b"subject=%3A.eu%3Aa")
    (('.', ''), ('.eu', 'a'))
    >>> parse_requested_subject(b"fetchMaxId=true")
    """
    if not query:
        return _NO_SUBJECT
    subject = b""
    for pair in query.split(b"&"):
        name, _, value = pair.partition(b"=")
        if name == b"subject" and not subject:
            subject = value
        elif name == b"fetchMaxId":
            if value.lower() == b"true":
                return None
        elif (value and name in _FORMAT_PARAMETERS) or name == b"subject" or b"%" in name:
            return None
    return _parse_subject(subject) if subject else _NO_SUBJECT


def is_repeatable(method: str, path: str) -> bool:
    """Return whether a request has the same response until something changes; never for a very long path."""
    return len(path) <= _MAX_PATH and _has_repeatable_path(method, path)


@lru_cache(4_096)
def _has_repeatable_path(method: str, path: str) -> bool:
    if method == "GET":
        return bool(_READ_OF_A_SUBJECT.fullmatch(path) or _READ_OF_EVERYTHING.fullmatch(path))
    return method == "POST" and bool(_POST_OF_A_SUBJECT.fullmatch(path))


def find_subject_name(method: str, path: str, query: bytes, body: bytes) -> str | None:
    """Return the subject name whose versions alone, in any context, determine the response; or None.

    >>> find_subject_name("GET", "/subjects/:.eu:a/versions/latest", b"", b"")
    'a'
    >>> find_subject_name("GET", "/subjects", b"", b""), find_subject_name("GET", "/config/:.eu:", b"", b"")
    (None, None)
    """
    pattern = _READ_OF_A_SUBJECT if method == "GET" else _POST_OF_A_SUBJECT
    match = pattern.fullmatch(path)
    if match is None or _RESOLVING.search(query) or _OTHER_SUBJECTS.search(body):
        return None
    try:
        subject = parse_subject(decode_segment(match[1] or match[2]))
    except RegistryError:
        return None
    return subject.name or None


def _parse_subject(value: bytes) -> tuple[str, str] | None:
    try:
        subject = parse_subject(unquote_plus(value.decode("latin-1")))
    except RegistryError:
        return None
    return subject.context, subject.name
