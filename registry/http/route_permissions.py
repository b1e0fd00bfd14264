"""Permissions that requests need: declared beside each route, checked before any response.

A request without a route needs the permission for every subject, except below the paths in ``_WITHOUT_ROUTE``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from fastapi import APIRouter
from fastapi.routing import APIRoute

from contractlog.compatibility.errors import Denied, KeyDenied
from contractlog.compatibility.identifiers import GLOBAL_CONTEXT, Subject
from contractlog.registry.access.permissions import EVERY_CONTEXT, Permission, Permissions, topic_permission_subject
from contractlog.registry.http.path_values import decode_segment

__all__ = [
    "PUBLIC",
    "READ_ALL",
    "READ_ANY",
    "READ_ANY_KEY",
    "READ_KEY",
    "READ_LISTED",
    "READ_LISTED_IN_EVERY_CONTEXT",
    "READ_SUBJECT",
    "READ_TOPIC",
    "WRITE_ALL",
    "WRITE_ANY",
    "WRITE_ANY_KEY",
    "WRITE_CONTEXT",
    "WRITE_KEY",
    "WRITE_SUBJECT",
    "WRITE_TOPIC",
    "RoutePermission",
    "RoutePermissions",
    "is_public_path",
    "requires",
]

E = TypeVar("E", bound=Callable[..., object])

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})  #: need what GET needs
_PUBLIC_PREFIX: Final = "/healthz/"
_PARAMETER: Final = re.compile(r"{\w+}")

PermissionCheck = Callable[[Permissions, Permission, str, bytes], str | None]
"""Check of a permission, given the path's first parameter and the query: returns the denied subjects, or None."""


@dataclass(frozen=True, slots=True)
class RoutePermission:
    """Permission that a route needs: an operation, and on which subjects or keys."""

    operation: Permission
    check: PermissionCheck
    error: type[Denied] = Denied

    def require(self, permissions: Permissions, parameter: str, query: bytes) -> None:
        """Raise ``Denied`` unless a caller has the permission."""
        denied = self.check(permissions, self.operation, parameter, query)
        if denied is not None:
            raise self.error(operation=self.operation.value, subject=denied)


def is_public_path(path: str) -> bool:
    """Return True for the health probes, which need no authentication."""
    return path.startswith(_PUBLIC_PREFIX)


def _check_nothing(_rights: Permissions, _operation: Permission, _parameter: str, _query: bytes) -> str | None:
    return None


def _check_any(permissions: Permissions, operation: Permission, _parameter: str, _query: bytes) -> str | None:
    """Require the permission on any subject at all."""
    return None if permissions.permits_any(operation) else "*"


def _check_all(permissions: Permissions, operation: Permission, _parameter: str, _query: bytes) -> str | None:
    return None if permissions.permits_all(operation) else "*"


def _check_subject(permissions: Permissions, operation: Permission, parameter: str, _query: bytes) -> str | None:
    """Require it on the subject in the path.

    A subject without a name stands for its whole context, the global context for all subjects.
    """
    subject = Subject.parse(decode_segment(parameter))
    if subject.context == GLOBAL_CONTEXT:
        return None if permissions.permits_all(operation) else "*"
    if not subject.name:
        return None if permissions.permits_all(operation, subject.context) else str(subject)
    return None if permissions.permits(operation, subject) else str(subject)


def _check_context(permissions: Permissions, operation: Permission, parameter: str, _query: bytes) -> str | None:
    name = decode_segment(parameter).strip(":")
    context = name if name.startswith(".") else f".{name}"
    return None if permissions.permits_all(operation, context) else f":{context}:"


def _check_topic(permissions: Permissions, operation: Permission, parameter: str, _query: bytes) -> str | None:
    subject = topic_permission_subject(decode_segment(parameter))
    return None if permissions.permits(operation, subject) else str(subject)


def _check_any_key(permissions: Permissions, operation: Permission, _parameter: str, _query: bytes) -> str | None:
    return None if permissions.keys.permits_any(operation) else "*"


def _check_key(permissions: Permissions, operation: Permission, parameter: str, _query: bytes) -> str | None:
    name = decode_segment(parameter)
    return None if permissions.keys.permits(operation, name) else name


def _check_prefix(
    permissions: Permissions, operation: Permission, _parameter: str, query: bytes, *, default: str
) -> str | None:
    """Require it on all subjects with the query's ``subjectPrefix``, or else with the default one."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    for prefix in [value or default for name, value in pairs if name == "subjectPrefix"] or [default]:
        if not permissions.permits_prefix(operation, prefix):  # several may be given: check whichever the route uses
            return f"{prefix}*"
    return None


#: For the health probes only: no authentication, no permission.
PUBLIC: Final = RoutePermission(Permission.READ, _check_nothing)
#: On any subject at all; what the response shows of other subjects, or what a body names, is up to the route.
READ_ANY: Final = RoutePermission(Permission.READ, _check_any)
WRITE_ANY: Final = RoutePermission(Permission.WRITE, _check_any)
READ_ALL: Final = RoutePermission(Permission.READ, _check_all)
WRITE_ALL: Final = RoutePermission(Permission.WRITE, _check_all)
#: On the subject, context or topic that is the path's first parameter.
READ_SUBJECT: Final = RoutePermission(Permission.READ, _check_subject)
WRITE_SUBJECT: Final = RoutePermission(Permission.WRITE, _check_subject)
WRITE_CONTEXT: Final = RoutePermission(Permission.WRITE, _check_context)
READ_TOPIC: Final = RoutePermission(Permission.READ, _check_topic)
WRITE_TOPIC: Final = RoutePermission(Permission.WRITE, _check_topic)
#: On any KEK at all, or on the KEK that is the path's first parameter; permissions on subjects do not include them.
READ_ANY_KEY: Final = RoutePermission(Permission.READ, _check_any_key, KeyDenied)
WRITE_ANY_KEY: Final = RoutePermission(Permission.WRITE, _check_any_key, KeyDenied)
READ_KEY: Final = RoutePermission(Permission.READ, _check_key, KeyDenied)
WRITE_KEY: Final = RoutePermission(Permission.WRITE, _check_key, KeyDenied)
#: On all subjects with the prefix in the query; without one, on those of the default context, or of every context.
READ_LISTED: Final = RoutePermission(Permission.READ, partial(_check_prefix, default=""))
READ_LISTED_IN_EVERY_CONTEXT: Final = RoutePermission(Permission.READ, partial(_check_prefix, default=EVERY_CONTEXT))

#: Requests without a route, for which callers with these permissions learn that there is none; others are refused.
_WITHOUT_ROUTE: Final = (
    (_READS, re.compile(r"/schemas/(ids|guids|types)(/.*)?"), READ_ANY),
    (_READS, re.compile(r"/(associations|v1/metadata|dek-registry)/.*"), READ_ANY),
    (_READS, re.compile(r"/subjects/([^/]*)(/.*)?"), READ_SUBJECT),
    (frozenset({"POST", "DELETE", "PUT", "PATCH"}), re.compile(r"/subjects/([^/]*)(/.*)?"), WRITE_SUBJECT),
    (frozenset({"POST"}), re.compile(r"/compatibility/subjects/([^/]*)/.*"), READ_SUBJECT),
    (frozenset({"POST", "PUT", "DELETE"}), re.compile(r"/associations.*"), WRITE_ANY),
    (frozenset({"POST"}), re.compile(r"/contractlog/v1/search"), READ_ALL),
)


def requires(permission: RoutePermission) -> Callable[[E], E]:
    """Declare the permission that a route needs; stands below its path, above its function."""

    def declare(endpoint: E) -> E:
        endpoint.required_permission = permission  # type: ignore[attr-defined]
        return endpoint

    return declare


class RoutePermissions:
    """Permissions of all routes, by method and path.

    Args:
        routers: their routes' functions have declared permissions.

    Raises:
        TypeError: a route declares none.
    """

    def __init__(self, routers: Iterable[APIRouter]) -> None:
        self._rows: dict[tuple[str, str, int], list[tuple[re.Pattern[str], RoutePermission]]] = defaultdict(list)
        for router in routers:
            for route in router.routes:
                if not isinstance(route, APIRoute):
                    raise TypeError(f"{route} is not a route of a resource")
                permission = getattr(route.endpoint, "required_permission", None)
                if permission is None:
                    raise TypeError(f"{route.path} declares no permission: use @requires")
                for method in (route.methods or set()) - (_READS - {"GET"}):
                    self._add(method, route.path, permission)

    def _add(self, method: str, path: str, permission: RoutePermission) -> None:
        pattern = "([^/]*)".join(map(re.escape, _PARAMETER.split(path)))
        self._rows[_key(method, path)].append((re.compile(pattern), permission))

    def require(self, permissions: Permissions, method: str, path: str, query: bytes) -> None:
        """Raise ``Denied`` unless a request is permitted; ``path`` is percent-encoded, as routes receive it."""
        for pattern, permission in self._rows.get(_key("GET" if method in _READS else method, path), ()):
            if match := pattern.fullmatch(path):
                permission.require(permissions, match[1] if match.lastindex else "", query)
                return
        for methods, pattern, permission in _WITHOUT_ROUTE:
            if method in methods and (match := pattern.fullmatch(path)):
                permission.require(permissions, match[1] if match.lastindex else "", query)
                return
        (READ_ALL if method in _READS else WRITE_ALL).require(permissions, "", query)


def _key(method: str, path: str) -> tuple[str, str, int]:
    """Return the method, the first segment and the number of segments: few routes have the same."""
    return method, path[1:].partition("/")[0], path.count("/")
