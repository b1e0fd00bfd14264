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
from contractlog.registry.access.prefixes import EVERY_CONTEXT
from contractlog.registry.access.rights import Operation, Rights, topic_subject
from contractlog.registry.paths import decode

__all__ = ["open_to_all", "refuse"]

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN: Final = "/healthz/"

Need = Callable[[Rights, Operation, "re.Match[str]", bytes], str | None]
"""Check of a permission: returns the denied subjects as text, or None."""


def open_to_all(path: str) -> bool:
    """Return True for the health probes, which need no authentication."""
    return path.startswith(_OPEN)


def refuse(rights: Rights, method: str, path: str, query: bytes) -> None:
    """Raise ``Denied`` unless a request is permitted; ``path`` is percent-encoded, as routes receive it."""
    for methods, pattern, operation, need in _TABLE:
        if method in methods and (match := pattern.fullmatch(path)):
            denied = need(rights, operation, match, query)
            if denied is not None:
                raise Denied(operation=operation.value, subject=denied)
            return
    operation = Operation.READ if method in _READS else Operation.WRITE
    if not rights.may_all(operation):
        raise Denied(operation=operation.value, subject="*")


def _any(rights: Rights, operation: Operation, _match: re.Match[str], _query: bytes) -> str | None:
    """Require the permission on any subject at all."""
    return None if rights.any(operation) else "*"


def _named(rights: Rights, operation: Operation, match: re.Match[str], _query: bytes) -> str | None:
    """Require it on the subject in the path.

    A subject without a name stands for its whole context, the global context for all subjects.
    """
    subject = Subject.parse(decode(match[1]))
    if subject.context == GLOBAL_CONTEXT:
        return None if rights.may_all(operation) else "*"
    if not subject.name:
        return None if rights.may_all(operation, subject.context) else str(subject)
    return None if rights.may(operation, subject) else str(subject)


def _context(rights: Rights, operation: Operation, match: re.Match[str], _query: bytes) -> str | None:
    name = decode(match[1]).strip(":")
    context = name if name.startswith(".") else f".{name}"
    return None if rights.may_all(operation, context) else f":{context}:"


def _topic(rights: Rights, operation: Operation, match: re.Match[str], _query: bytes) -> str | None:
    subject = topic_subject(decode(match[1]))
    return None if rights.may(operation, subject) else str(subject)


def _prefixed(default: str) -> Need:
    """Return the check for a list: all subjects with the query's ``subjectPrefix``, else the default one."""

    def need(rights: Rights, operation: Operation, _match: re.Match[str], query: bytes) -> str | None:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        for prefix in [value or default for name, value in pairs if name == "subjectPrefix"] or [default]:
            if not rights.may_prefix(operation, prefix):  # several may be given: check whichever the route uses
                return f"{prefix}*"
        return None

    return need


_Row = tuple[frozenset[str], "re.Pattern[str]", Operation, Need]


def _row(methods: str, path: str, operation: Operation, need: Need) -> _Row:
    pattern = re.compile(path.replace("{}", "([^/]*)"))
    return frozenset(_READS if methods == "GET" else methods.split()), pattern, operation, need


_READ, _WRITE = Operation.READ, Operation.WRITE
_TABLE: Final[tuple[_Row, ...]] = (
    _row("GET", r"/schemas/(ids|guids|types)(/.*)?", _READ, _any),
    _row("GET", r"/associations/.*", _READ, _any),
    _row("GET", r"/subjects/{}(/.*)?", _READ, _named),
    _row("POST", r"/subjects/{}", _READ, _named),
    _row("POST DELETE PUT PATCH", r"/subjects/{}(/.*)?", _WRITE, _named),
    _row("POST", r"/compatibility/subjects/{}/.*", _READ, _named),
    _row("GET", r"/subjects", _READ, _prefixed(EVERY_CONTEXT)),
    _row("GET", r"/schemas", _READ, _prefixed("")),
    _row("GET", r"/(config|mode|contexts)", _READ, _any),
    _row("GET", r"/(?:config|mode)/{}", _READ, _named),
    _row("PUT DELETE", r"/(?:config|mode)/{}", _WRITE, _named),
    _row("DELETE", r"/contexts/{}", _WRITE, _context),
    _row("GET POST", r"/", _READ, _any),
    _row("GET", r"/", _READ, _any),
    _row("GET", r"/v1/metadata/.*", _READ, _any),
    _row("GET", r"/dek-registry/.*", _READ, _any),
    _row("POST", r"/associations(:|%3A)batchGet", _READ, _any),
    _row("POST PUT DELETE", r"/associations.*", _WRITE, _any),  # the service checks what the body names
    _row("GET", r"/contractlog/v1/conformance/{}", _READ, _topic),
    _row("POST", r"/contractlog/v1/conformance/{}", _WRITE, _topic),
    _row("GET", r"/contractlog/v1/graph/{}", _READ, _named),
    _row("GET", r"/contractlog/v1/permissions/{}", _READ, _any),
    _row("GET", r"/contractlog/v1/(openapi\.json|docs|docs\.css)|/metrics", _READ, _any),
    _row("POST", r"/contractlog/v1/(lookup|check|diff|search)", _READ, lambda r, o, _m, _q: _all(r, o)),
)


def _all(rights: Rights, operation: Operation) -> str | None:
    return None if rights.may_all(operation) else "*"
