"""Responses from memory for the HTTP protocol itself, without the layers of ASGI.

They are those of ``cached_reads.py`` and ``validated_responses.py``, with the same checks, headers and counts.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from msgspec import Struct
from starlette.types import Message, Scope

from contractlog.registry.access.current_caller import Principal
from contractlog.registry.access.permissions import ALL_PERMISSIONS, Permission
from contractlog.registry.http.fastpath.cached_reads import CachedSchemaById
from contractlog.registry.http.fastpath.change_checks import ChangeChecks
from contractlog.registry.http.fastpath.request_heads import Headers, RawRequest, RequestHeads
from contractlog.registry.http.fastpath.validated_responses import ValidatedResponses

__all__ = ["DirectResponses", "Parts", "SenderIdentity"]

Parts = tuple[Message, Message]  #: the start of a response, and its body
Finish = Callable[[Scope, Parts, float], Parts]  #: completes a response, and counts it
_ID_PATH: Final = b"/schemas/ids/"


class SenderIdentity(Struct, frozen=True, gc=False):
    """The headers of a request, and the caller that they and the connection stand for."""

    block: bytes
    length: int  #: of the body that the headers announce
    headers: Headers
    caller: Principal
    reader: Principal  #: the caller, with all permissions if it may read everything
    version: object  #: of the users
    actor: str | None  #: the caller's name in the access log


class DirectResponses:
    """Finds responses that need no other layer.

    Args:
        cached: the responses by schema id.
        validated: the responses that need a check of the change log.
        checks: these checks.
        identify: returns the caller of a request for an allowed host; None if that needs other layers.
        version: returns an object that is replaced when ``identify`` may return another caller.
        finish: completes a response as the request recorder does, and counts it.
        is_open: returns False once connections are to be closed.
    """

    def __init__(
        self,
        *,
        cached: CachedSchemaById,
        validated: ValidatedResponses,
        checks: ChangeChecks,
        identify: Callable[[Scope], Principal | None],
        version: Callable[[], object],
        finish: Finish,
        is_open: Callable[[], bool],
    ) -> None:
        self.heads = RequestHeads()
        self.is_open = is_open
        self.version = version
        self._try_cached = cached.try_cached
        self._validated = validated
        self._checks = checks
        self._identify = identify
        self._finish = finish

    def find_sender(self, request: RawRequest, scope: Scope) -> SenderIdentity | None:
        """Return the sender of a request whose headers were parsed before, and add these to the scope.

        Return None if the caller can only be identified by other layers.
        """
        headers = self.heads.find_headers(request)
        if headers is None:
            return None
        scope["headers"] = headers
        version = self.version()
        caller = self._identify(scope)
        if caller is None:
            return None
        reads_all = caller.permissions.permits_all(Permission.READ)
        reader = Principal(caller.name, ALL_PERMISSIONS) if reads_all else caller
        return SenderIdentity(request.block, len(request.body), headers, caller, reader, version, scope.get("actor"))

    def find(self, scope: Scope, sender: SenderIdentity) -> Parts | None:
        """Return the response to a read by id, if it is in memory."""
        started = perf_counter()
        if not sender.caller.permissions.read or not scope["raw_path"].startswith(_ID_PATH):
            return None
        parts = self._try_cached(scope, lambda _scope: sender.reader)
        return None if parts is None else self._finish(scope, parts, started)

    def find_when_checked(
        self, scope: Scope, sender: SenderIdentity, body: bytes, respond: Callable[[Parts | None], None]
    ) -> bool:
        """Call ``respond`` with the response, or None, once it is known whether anything changed.

        Return False without calling it if the request cannot have a response in memory.
        """
        started = perf_counter()
        if not self._validated.accepts(scope):
            return False
        key = self._validated.key(scope, body, sender.caller.permissions)
        if key is None:
            return False

        def answer(revision: int | None) -> None:
            parts = None if revision is None else self._validated.find(key, scope)
            respond(None if parts is None else self._finish(scope, parts, started))

        self._checks.when_checked(answer)
        return True
