"""The requests whose responses may be answered from memory, and what each response depends on."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.http.path_values import decode_segment, parse_subject

__all__ = ["find_subject_name", "is_repeatable"]

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
