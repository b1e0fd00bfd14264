"""Allowed values of the header ``Host``, so that no page reaches a registry by a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from starlette.types import Scope

from contractlog.compatibility.errors import BadRequest, HostNotAllowed, UsageError
from contractlog.compatibility.loopback import is_loopback

__all__ = [
    "EVERY_HOST",
    "HOST_NAME",
    "AllowedHosts",
    "is_wildcard",
    "printable",
    "split_list",
    "strip_final_dot",
]

HOST_NAME: Final = r"(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)"  #: a group for a case-insensitive pattern; RFC 3986
EVERY_HOST: Final = "*"
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(rf"{HOST_NAME}(?::([0-9]*))?", re.ASCII | re.IGNORECASE)
_MAX_CACHED_HOSTS: Final = 1_000
_MAX_PRINTED_LENGTH: Final = 200


def is_wildcard(host: str) -> bool:
    """Return whether a listening address means all addresses of the machine.

    >>> is_wildcard("0.0.0.0"), is_wildcard("::"), is_wildcard(""), is_wildcard("localhost")
    (True, True, True, False)
    """
    try:
        return not host or ip_address(host).is_unspecified
    except ValueError:
        return False


class AllowedHosts:
    """The values of ``Host`` that are served.

    Args:
        names: host names and addresses without ports, separated by commas; ``*`` serves every host. When empty,
            connections to a loopback address may only request that address, and others any host.
        listening: the address or name that the registry listens on.

    Raises:
        UsageError: a name is invalid.
    """

    def __init__(self, names: str = "", listening: str = "") -> None:
        configured = frozenset(_normalize_name(name) for name in split_list(names))
        own = f"[{listening}]" if ":" in listening else strip_final_dot(listening)
        self._names = configured or _LOOPBACK_NAMES | {own}
        self._explicit = bool(configured)
        self._every = EVERY_HOST in configured or (not configured and is_wildcard(listening))
        self._allowed: set[tuple[bytes, str | None]] = set()

    @property
    def name(self) -> str:
        """An allowed name; empty if none is configured."""
        return "" if self._every or not self._explicit else min(self._names)

    def was_allowed(self, scope: Scope) -> bool:
        """Return whether the requested host was allowed before.

        Requests served from the cache use only this check.
        """
        values = [value for name, value in scope["headers"] if name == b"host"]
        server = scope.get("server")
        return len(values) == 1 and (values[0], server[0] if server else None) in self._allowed

    def require(self, scope: Scope) -> tuple[str, str]:
        """Return the requested host and port; both are empty in HTTP/1.0 without ``Host``.

        Raises:
            BadRequest: there is no ``Host``, more than one, or one that cannot be parsed.
            HostNotAllowed: it is not served here.
        """
        values = [value for name, value in scope["headers"] if name == b"host"]
        if not values and scope.get("http_version") == "1.0":
            return "", ""
        if len(values) != 1:
            raise BadRequest(f"The request has {len(values) or 'no'} Host headers; send exactly one")
        match = _HOST.fullmatch(values[0].decode("latin-1"))
        if match is None:
            raise BadRequest(f"The Host header `{printable(values[0])}` is not a host and a port")
        name, address = strip_final_dot(match[1]), _local_address(scope)
        if not self._allows(name, address):
            raise HostNotAllowed(host=printable(values[0]), name=name or "NAME")
        if len(self._allowed) >= _MAX_CACHED_HOSTS:
            self._allowed.clear()
        self._allowed.add((values[0], address))
        return name, match[2] or ""

    def _allows(self, name: str, local_address: str | None) -> bool:
        if self._every or name in self._names:
            return True
        return not self._explicit and not is_loopback(local_address or "")


def split_list(text: str) -> Iterator[str]:
    """Split a setting at its commas."""
    return (part.strip() for part in text.split(",") if part.strip())


def strip_final_dot(name: str) -> str:
    """Return a host name in lower case, without a trailing dot."""
    return name.lower().removesuffix(".")


def printable(value: bytes) -> str:
    """Return a header's value for a message, truncated."""
    return value[:_MAX_PRINTED_LENGTH].decode("latin-1")


def _local_address(scope: Scope) -> str | None:
    """Return the address that a connection was made to; in-process calls have the name from their URL."""
    server = scope.get("server")
    return server[0] if server else None


def _normalize_name(text: str) -> str:
    """Return a name from the settings in the form that it has in ``Host``.

    >>> _normalize_name("Registry.example."), _normalize_name("::1")
    ('registry.example', '[::1]')
    """
    try:
        return f"[{ip_address(text.strip('[]'))}]" if ":" in text else strip_final_dot(_require_host_name(text))
    except ValueError:
        raise UsageError(
            f"CONTRACTLOG_ALLOWED_HOSTS cannot have `{text}`: name hosts without scheme and port, "
            "such as registry.example,10.0.0.7, or * for every host"
        ) from None


def _require_host_name(text: str) -> str:
    if not re.fullmatch(HOST_NAME, text, re.ASCII | re.IGNORECASE) or (EVERY_HOST in text and text != EVERY_HOST):
        raise ValueError
    return text
