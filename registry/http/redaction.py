"""Removal of what a caller may not read from the response about a schema."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec.json

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.access.permissions import ALL_PERMISSIONS, Permission, Permissions
from contractlog.registry.registration.references import resolve_target

__all__ = ["redact_unreadable"]

_SUBJECT_MEMBERS: Final = re.compile(
    rb'\{"subject":("(?:[^"\\]|\\.)*"),"version":[0-9]+,'
)  #: the first members of a response
_REFERENCES: Final = b'"references":['


def redact_unreadable(body: bytes, permissions: Permissions, context: str) -> bytes:
    """Return a response by id or guid without what the caller may not know.

    That is its subject and version, if the caller may not read that subject, and then also the references to other
    subjects that the caller may not read.

    Args:
        body: the response; one by guid has no subject.
        permissions: the caller's.
        context: of the schema.

    >>> mine = Permissions.of(read=["mine-*"], write=[])
    >>> redact_unreadable(b'{"subject":"hers","version":1,"schema":"{}"}', mine, ".")
    b'{"schema":"{}"}'
    """
    if permissions is ALL_PERMISSIONS or permissions.permits_all(Permission.READ):
        return body
    referrer = Subject(context, "")
    named = _SUBJECT_MEMBERS.match(body)
    if named is not None:
        referrer = Subject.parse(msgspec.json.decode(named[1], type=str))
        if permissions.permits(Permission.READ, referrer):
            return body
        body = b"{" + body[named.end() :]
    return _redact_references(body, permissions, referrer) if _REFERENCES in body else body


def _redact_references(body: bytes, permissions: Permissions, referrer: Subject) -> bytes:
    """Return a response without the references to subjects that the caller may not read."""
    members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    references = msgspec.json.decode(members.get("references", b"[]"), type=list[dict[str, Any]])
    readable = [
        reference
        for reference in references
        if permissions.permits(Permission.READ, resolve_target(Reference.from_body(reference), referrer))
    ]
    if len(readable) == len(references):
        return body
    if readable:
        members["references"] = msgspec.Raw(msgspec.json.encode(readable))
    else:
        del members["references"]
    return msgspec.json.encode(members)
