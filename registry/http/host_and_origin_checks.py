"""Protection from cross-site requests: served hosts, and the browser requests that may change data.

A browser sends requests for any page that it shows. Three checks keep foreign pages from using a registry through it:

- ``Host`` must name this registry, so that a page cannot reach it under a name of its own (DNS rebinding).
- A state-changing request must come from the registry's own origin, according to ``Sec-Fetch-Site`` and ``Origin``.
- The body of such a request must be declared as JSON, which a page of another origin may not send without a preflight
  request.

Clients other than browsers send neither header, and only the first check applies to them.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import (
    CrossSiteRequest,
    RegistryError,
    UnsupportedMediaType,
    UsageError,
)
from contractlog.registry.http.allowed_hosts import (
    EVERY_HOST,
    HOST_NAME,
    AllowedHosts,
    printable,
    split_list,
    strip_final_dot,
)
from contractlog.registry.http.errors import error_response
from contractlog.registry.http.request_bodies import is_json
from contractlog.registry.settings import Settings

__all__ = ["AllowedOrigins", "CrossSite", "create_middleware"]

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES: Final = frozenset({b"same-origin", b"none"})  #: ``none``: a person typed the address
_ORIGIN: Final = re.compile(rf"([a-z][a-z0-9+.-]*)://{HOST_NAME}(?::([0-9]*))?", re.ASCII | re.IGNORECASE)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}

Origin = tuple[str, str, str]  #: scheme, host, port


def create_middleware(settings: Settings) -> Middleware:
    """Return the middleware that makes the checks.

    Raises:
        UsageError: an allowed host or origin is invalid.
    """
    hosts = AllowedHosts(settings.allowed_hosts, settings.host)
    return Middleware(CrossSite, hosts=hosts, origins=AllowedOrigins(settings.allowed_origins))


class AllowedOrigins:
    """The origins besides the registry's own whose pages may change data.

    Args:
        origins: as a browser sends them, ``https://registry.example``, separated by commas.

    Raises:
        UsageError: one of them is not an origin.
    """

    def __init__(self, origins: str = "") -> None:
        self._origins = frozenset(_parse_configured_origin(text) for text in split_list(origins))

    def require(self, scope: Scope, host: tuple[str, str]) -> None:
        """Reject a state-changing request from a page of an origin that is not allowed.

        Raises:
            CrossSiteRequest: another site sent it.
            UnsupportedMediaType: a browser sent a body that is not declared as JSON.
        """
        sites, origins = _header_values(scope, b"sec-fetch-site"), _header_values(scope, b"origin")
        if not sites and not origins:
            return
        for site in sites:
            if site not in _OWN_SITES:
                raise CrossSiteRequest(
                    detail=f"a web page of another site sent it (Sec-Fetch-Site: {printable(site)}). Send it from a "
                    "page of the registry's own origin; behind a proxy, serve that page and the registry under one "
                    "origin and name the origin in CONTRACTLOG_ALLOWED_ORIGINS"
                )
        for text in origins:
            origin = _parse_origin(text.decode("latin-1"))
            own = (scope["scheme"], host[0], host[1] or _DEFAULT_PORTS.get(scope["scheme"], ""))
            if text == b"null":
                raise CrossSiteRequest(
                    detail="a web page without an origin of its own sent it (Origin: null), such as a sandboxed frame. "
                    "Serve the page under the registry's own origin, or one named in CONTRACTLOG_ALLOWED_ORIGINS"
                )
            if origin is None or (origin != own and origin not in self._origins):
                raise CrossSiteRequest(
                    detail=f"a web page of the origin `{printable(text)}` sent it. If that is the registry's own "
                    "address behind a proxy, name it in CONTRACTLOG_ALLOWED_ORIGINS"
                )
        types = _header_values(scope, b"content-type")
        if _has_body(scope) and not (types and all(is_json(content_type.decode("latin-1")) for content_type in types)):
            raise UnsupportedMediaType


class CrossSite:
    """Middleware that rejects requests for other hosts and from foreign pages."""

    def __init__(self, app: ASGIApp, hosts: AllowedHosts, origins: AllowedOrigins) -> None:
        self._app = app
        self._origins = origins
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on."""
        if scope["type"] == "http":
            try:
                host = self.hosts.require(scope)
                if scope["method"] not in _SAFE_METHODS:
                    self._origins.require(scope, host)
            except RegistryError as error:
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _header_values(scope: Scope, header: bytes) -> list[bytes]:
    return [value.strip() for name, value in scope["headers"] if name == header]


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 \t"))
        for name, value in scope["headers"]
    )


def _parse_origin(text: str) -> Origin | None:
    match = _ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme = match[1].lower()
    return scheme, strip_final_dot(match[2]), match[3] or _DEFAULT_PORTS.get(scheme, "")


def _parse_configured_origin(text: str) -> Origin:
    origin = _parse_origin(text)
    if origin is None or not origin[1] or EVERY_HOST in origin[1]:
        raise UsageError(
            f"CONTRACTLOG_ALLOWED_ORIGINS cannot have `{text}`: name whole origins without a path, "
            "such as https://registry.example"
        )
    return origin
