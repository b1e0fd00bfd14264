"""ASGI middleware that authenticates callers and checks their permissions.

It is plain ASGI, so that cached responses behind it are as fast as without it.
"""

from __future__ import annotations

from functools import partial
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import Denied, RegistryError, TooManyFailures, Unauthorized
from contractlog.registry.access.certificate_names import CERTIFICATE, ClientCertificate
from contractlog.registry.access.current_caller import (
    ANONYMOUS,
    Principal,
    WriteAuthority,
    current_actor,
    current_admission,
    current_authority,
    current_permissions,
)
from contractlog.registry.access.permissions import NO_PERMISSIONS, Permissions
from contractlog.registry.access.users_file import UsersFile
from contractlog.registry.http.authenticator import Authenticator
from contractlog.registry.http.errors import error_response
from contractlog.registry.http.route_permissions import RoutePermissions, is_public_path
from contractlog.registry.settings import Settings

__all__ = ["AccessControl", "create_middleware"]

_AUTHORIZATION: Final = b"authorization"
_BREAK_GLASS: Final = b"contractlog-break-glass"
_MAX_REASON_LENGTH: Final = 1_000
_SCHEME: Final = b"basic "
_EMPTY_CREDENTIALS: Final = b"Og=="  #: base64 of an empty name and an empty password, which some clients always send
_CHALLENGE: Final = 'Basic realm="contractlog", charset="UTF-8"'
_BY_ID: Final = "/schemas/ids/"
_READ_EVERYTHING: Final = Permissions.of(["*"], [])


def create_middleware(settings: Settings, permissions: RoutePermissions) -> list[Middleware]:
    """Return the middleware that the settings require; none if authentication is off.

    Raises:
        UsageError: the users file cannot be used.
    """
    if not settings.authenticates:
        return []
    file = UsersFile(settings.users_file) if settings.users_file else None
    anonymous = Principal(ANONYMOUS, _READ_EVERYTHING if settings.anonymous_reads else NO_PERMISSIONS)
    authenticator = Authenticator(file)
    return [Middleware(AccessControl, permissions=permissions, authenticator=authenticator, anonymous=anonymous)]


class AccessControl:
    """Passes permitted requests on; rejects others with 401 or 403."""

    def __init__(
        self, app: ASGIApp, permissions: RoutePermissions, authenticator: Authenticator, anonymous: Principal
    ) -> None:
        self._app = app
        self._permissions = permissions
        self._authenticator = authenticator
        self._anonymous = anonymous

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Identify the caller, check the permissions, and pass the request on under the caller's name."""
        if scope["type"] != "http" or is_public_path(scope["path"]) or scope.get("permitted"):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._admit(scope)
        except RegistryError as error:
            response = error_response(error)
            if isinstance(error, TooManyFailures):
                response.headers["Retry-After"] = str(error.seconds)
            if isinstance(error, Unauthorized):
                response.headers["WWW-Authenticate"] = _CHALLENGE
            await response(scope, receive, send)
            return
        actor_token, permissions_token = current_actor.set(caller.name), current_permissions.set(caller.permissions)
        admission_token = current_admission.set(partial(self._admit, scope))
        authority_token = current_authority.set(_read_break_glass(scope, caller))
        try:
            await self._app(scope, receive, send)
        finally:
            current_authority.reset(authority_token)
            current_admission.reset(admission_token)
            current_actor.reset(actor_token)
            current_permissions.reset(permissions_token)

    async def _admit(self, scope: Scope) -> Principal:
        """Identify the caller of a request that is permitted.

        Raises:
            Unauthorized, Denied, TooManyFailures, Overloaded: the caller is not known, or the request not permitted.
        """
        header = _authorization_header(scope)
        if header is None:
            caller = self._without_password(scope)
        else:
            caller = await self._with_password(header, _client_address(scope))
        scope["actor"] = caller.name
        self._require_permission(caller, scope)
        return caller

    @property
    def version(self) -> object:
        """An object that is replaced when requests with equal headers may have other callers than before."""
        return self._authenticator.version

    def identify_reader(self, scope: Scope) -> Principal | None:
        """Return a caller with read permission; None without it, or if a password check is due."""
        caller = self.identify(scope)
        return None if caller is None or not caller.permissions.read else caller

    def identify(self, scope: Scope) -> Principal | None:
        """Return the caller, whose permissions are not checked; None if a password check is due."""
        header = _authorization_header(scope)
        try:
            caller = (
                self._without_password(scope)
                if header is None
                else self._authenticator.check_cached_credentials(header)
            )
        except RegistryError:
            return None
        if caller is not None:
            scope["actor"] = caller.name
        return caller

    async def _with_password(self, header: bytes, address: str) -> Principal:
        caller = self._authenticator.check_cached_credentials(header)
        if caller is None:
            return await self._authenticator.by_password(header, address)
        self._authenticator.note_success(address)
        return caller

    def _without_password(self, scope: Scope) -> Principal:
        certificate: ClientCertificate | None = scope.get("extensions", {}).get("tls", {}).get(CERTIFICATE)
        if certificate is not None:
            return self._authenticator.by_certificate(certificate)
        return self._anonymous

    def _require_permission(self, caller: Principal, scope: Scope) -> None:
        """Raise unless the request is permitted: ``Unauthorized`` to anonymous callers, ``Denied`` to others.

        Raises:
            Unauthorized, Denied: the request is not permitted.
        """
        if caller.permissions.read and scope["method"] == "GET" and scope["path"].startswith(_BY_ID):
            return  # the most frequent request; needs no lookup in the table
        try:
            self._permissions.require(caller.permissions, scope["method"], scope["path"], scope["query_string"])
        except RegistryError as error:
            if caller is self._anonymous and isinstance(error, Denied):
                raise Unauthorized from error
            raise


def _client_address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _read_break_glass(scope: Scope, caller: Principal) -> WriteAuthority | None:
    """Return the authority of a request whose header gives a reason to bypass approvals; None without one.

    The reason is percent-encoded, because a header has only ASCII.
    """
    value = next((value for name, value in scope["headers"] if name == _BREAK_GLASS), b"")
    reason = unquote_to_bytes(value).decode("utf-8", "replace").strip()[:_MAX_REASON_LENGTH]
    return WriteAuthority(caller.permissions, break_glass=reason) if reason else None


def _authorization_header(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == _AUTHORIZATION and not (
            value.endswith(_EMPTY_CREDENTIALS) and value[: -len(_EMPTY_CREDENTIALS)].lower() == _SCHEME
        ):
            header: bytes = value
            return header
    return None
