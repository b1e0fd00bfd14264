"""ASGI middleware that authenticates callers and checks their permissions.

It is plain ASGI, so that cached responses behind it are as fast as without it.
"""

from __future__ import annotations

from typing import Final

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.errors import Denied, RegistryError, TooManyFailures, Unauthorized
from contractlog.registry.access.actor import ANONYMOUS, Caller, current_actor, current_rights
from contractlog.registry.access.asked import open_to_all, refuse
from contractlog.registry.access.authentication import Authentication
from contractlog.registry.access.certificate_names import CERTIFICATE, ClientCertificate
from contractlog.registry.access.rights import NOTHING, Rights
from contractlog.registry.access.users import UsersFile
from contractlog.registry.problems import problem
from contractlog.registry.settings import Settings

__all__ = ["Access", "layers"]

_AUTHORIZATION: Final = b"authorization"
_SCHEME: Final = b"basic "
_NOBODY: Final = b"Og=="  #: base64 of an empty name and an empty password, which some clients always send
_CHALLENGE: Final = 'Basic realm="contractlog", charset="UTF-8"'
_BY_ID: Final = "/schemas/ids/"
_READERS: Final = Rights.of(["*"], [])


def layers(settings: Settings) -> list[Middleware]:
    """Return the middleware that the settings require; none if authentication is off.

    Raises:
        UsageError: the file of users cannot be used.
    """
    if not settings.users_file and not settings.tls_client_ca:
        return []
    file = UsersFile(settings.users_file) if settings.users_file else None
    anonymous = Caller(ANONYMOUS, _READERS if settings.anonymous_reads else NOTHING)
    return [Middleware(Access, authentication=Authentication(file), anonymous=anonymous)]


class Access:
    """Passes permitted requests on; answers others with 401 or 403."""

    def __init__(self, app: ASGIApp, authentication: Authentication, anonymous: Caller) -> None:
        self._app = app
        self._authentication = authentication
        self._anonymous = anonymous

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Identify the caller, check the permissions, and pass the request on under the caller's name."""
        if scope["type"] != "http" or open_to_all(scope["path"]) or scope.get("permitted"):
            await self._app(scope, receive, send)
            return
        try:
            header = _credentials(scope)
            if header is None:
                caller = self._without_password(scope)
            else:
                caller = await self._with_password(header, _address(scope))
            scope["actor"] = caller.name
            self._refuse(caller, scope)
        except RegistryError as error:
            answer = problem(error)
            if isinstance(error, TooManyFailures):
                answer.headers["Retry-After"] = str(error.seconds)
            if isinstance(error, Unauthorized):
                answer.headers["WWW-Authenticate"] = _CHALLENGE
            await answer(scope, receive, send)
            return
        actor, rights = current_actor.set(caller.name), current_rights.set(caller.rights)
        try:
            await self._app(scope, receive, send)
        finally:
            current_actor.reset(actor)
            current_rights.reset(rights)

    def reader(self, scope: Scope) -> Caller | None:
        """Return a caller with read permission; None without it, or if a password check is due."""
        header = _credentials(scope)
        try:
            caller = self._without_password(scope) if header is None else self._authentication.known(header)
        except RegistryError:
            return None
        if caller is None or not caller.rights.read:
            return None
        scope["actor"] = caller.name
        return caller

    async def _with_password(self, header: bytes, address: str) -> Caller:
        known = self._authentication.known(header)
        if known is None:
            return await self._authentication.by_password(header, address)
        self._authentication.note_success(address)
        return known

    def _without_password(self, scope: Scope) -> Caller:
        certificate: ClientCertificate | None = scope.get("extensions", {}).get("tls", {}).get(CERTIFICATE)
        if certificate is not None:
            return self._authentication.by_certificate(certificate)
        return self._anonymous

    def _refuse(self, caller: Caller, scope: Scope) -> None:
        """Raise unless the request is permitted: ``Unauthorized`` to anonymous callers, ``Denied`` to others.

        Raises:
            Unauthorized, Denied: the request is not permitted.
        """
        if caller.rights.read and scope["method"] == "GET" and scope["path"].startswith(_BY_ID):
            return  # the most frequent request; needs no look-up in the table
        try:
            refuse(caller.rights, scope["method"], scope["path"], scope["query_string"])
        except RegistryError as error:
            if caller is self._anonymous and isinstance(error, Denied):
                raise Unauthorized from error
            raise


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _credentials(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == _AUTHORIZATION and not (value.endswith(_NOBODY) and value[: -len(_NOBODY)].lower() == _SCHEME):
            found: bytes = value
            return found
    return None
