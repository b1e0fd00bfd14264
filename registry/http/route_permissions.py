"""Permissions that requests need: read or write, and on which subjects.

A request that is not in the table needs the permission for every subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from contractlog.compatibility.errors import Denied
from contractlog.compatibility.names import GLOBAL_CONTEXT, Subject
from contractlog.registry.access.permissions import EVERY_CONTEXT, Permission, Permissions, topic_permission_subject
from contractlog.registry.http.paths import decode_segment

__all__ = ["is_public_path", "require_permission"]

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PUBLIC_PREFIX: Final = "/healthz/"

PermissionCheck = Callable[[Permissions, Permission, "re.Match[str]", bytes], str | None]
"""Check of a permission: returns the denied subjects as text, or None."""


def is_public_path(path: str) -> bool:
    """Return True for the health probes, which need no authentication."""
    return path.startswith(_PUBLIC_PREFIX)


def require_permission(rights: Permissions, method: str, path: str, query: bytes) -> None:
    """Raise ``Denied`` unless a request is permitted; ``path`` is percent-encoded, as routes receive it."""
    for methods, pattern, operation, need in _TABLE:
        if method in methods and (match := pattern.fullmatch(path)):
            denied = need(rights, operation, match, query)
            if denied is not None:
                raise Denied(operation=operation.value, subject=denied)
            return
    operation = Permission.READ if method in _READS else Permission.WRITE
    if not rights.permits_all(operation):
        raise Denied(operation=operation.value, subject="*")


def _check_any(rights: Permissions, operation: Permission, _match: re.Match[str], _query: bytes) -> str | None:
    """Require the permission on any subject at all."""
    return None if rights.permits_any(operation) else "*"


def _check_subject(rights: Permissions, operation: Permission, match: re.Match[str], _query: bytes) -> str | None:
    """Require it on the subject in the path.

    A subject without a name stands for its whole context, the global context for all subjects.
    """
    subject = Subject.parse(decode_segment(match[1]))
    if subject.context == GLOBAL_CONTEXT:
        return None if rights.permits_all(operation) else "*"
    if not subject.name:
        return None if rights.permits_all(operation, subject.context) else str(subject)
    return None if rights.permits(operation, subject) else str(subject)


def _check_context(rights: Permissions, operation: Permission, match: re.Match[str], _query: bytes) -> str | None:
    name = decode_segment(match[1]).strip(":")
    context = name if name.startswith(".") else f".{name}"
    return None if rights.permits_all(operation, context) else f":{context}:"


def _check_topic(rights: Permissions, operation: Permission, match: re.Match[str], _query: bytes) -> str | None:
    subject = topic_permission_subject(decode_segment(match[1]))
    return None if rights.permits(operation, subject) else str(subject)


def _check_prefix(default: str) -> PermissionCheck:
    """Return the check for a list: all subjects with the query's ``subjectPrefix``, else the default one."""

    def need(rights: Permissions, operation: Permission, _match: re.Match[str], query: bytes) -> str | None:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        for prefix in [value or default for name, value in pairs if name == "subjectPrefix"] or [default]:
            if not rights.permits_prefix(operation, prefix):  # several may be given: check whichever the route uses
                return f"{prefix}*"
        return None

    return need


_Row = tuple[frozenset[str], "re.Pattern[str]", Permission, PermissionCheck]


def _row(methods: str, path: str, operation: Permission, need: PermissionCheck) -> _Row:
    pattern = re.compile(path.replace("{}", "([^/]*)"))
    return frozenset(_READS if methods == "GET" else methods.split()), pattern, operation, need


_READ, _WRITE = Permission.READ, Permission.WRITE
_TABLE: Final[tuple[_Row, ...]] = (
    _row("GET", r"/schemas/(ids|guids|types)(/.*)?", _READ, _check_any),
    _row("GET", r"/associations/.*", _READ, _check_any),
    _row("GET", r"/subjects/{}(/.*)?", _READ, _check_subject),
    _row("POST", r"/subjects/{}", _READ, _check_subject),
    _row("POST DELETE PUT PATCH", r"/subjects/{}(/.*)?", _WRITE, _check_subject),
    _row("POST", r"/compatibility/subjects/{}/.*", _READ, _check_subject),
    _row("GET", r"/subjects", _READ, _check_prefix(EVERY_CONTEXT)),
    _row("GET", r"/schemas", _READ, _check_prefix("")),
    _row("GET", r"/(config|mode|contexts)", _READ, _check_any),
    _row("GET", r"/(?:config|mode)/{}", _READ, _check_subject),
    _row("PUT DELETE", r"/(?:config|mode)/{}", _WRITE, _check_subject),
    _row("DELETE", r"/contexts/{}", _WRITE, _check_context),
    _row("GET POST", r"/", _READ, _check_any),
    _row("GET", r"/", _READ, _check_any),
    _row("GET", r"/v1/metadata/.*", _READ, _check_any),
    _row("GET", r"/dek-registry/.*", _READ, _check_any),
    _row("POST", r"/associations(:|%3A)batchGet", _READ, _check_any),
    _row("POST PUT DELETE", r"/associations.*", _WRITE, _check_any),  # the service checks what the body names
    _row("GET", r"/contractlog/v1/conformance/{}", _READ, _check_topic),
    _row("POST", r"/contractlog/v1/conformance/{}", _WRITE, _check_topic),
    _row("GET", r"/contractlog/v1/graph/{}", _READ, _check_subject),
    _row("GET", r"/contractlog/v1/permissions/{}", _READ, _check_any),
    _row("GET", r"/contractlog/v1/(openapi\.json|docs|docs\.css)|/metrics", _READ, _check_any),
    _row("POST", r"/contractlog/v1/(lookup|check|diff|search)", _READ, lambda r, o, _m, _q: _check_all(r, o)),
)


def _check_all(rights: Permissions, operation: Permission) -> str | None:
    return None if rights.permits_all(operation) else "*"
