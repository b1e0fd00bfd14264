"""Error responses: every error becomes one of the shape ``{"error_code", "message"}`` here."""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from contractlog.compatibility.errors import (
    BadRequest,
    Conflict,
    ContractlogError,
    IncompatibleSchema,
    MethodNotAllowed,
    NotFound,
    RegistryError,
    ServerError,
)

__all__ = ["MEDIA_TYPE", "WARNING_HEADER", "Answer", "install", "problem", "unexpected", "warned"]

MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
WARNING_HEADER: Final = "X-Contractlog-Warning"
_LONGEST_WARNING: Final = 1_000
_LOG: Final = logging.getLogger("contractlog.registry")
_encoder: Final = msgspec.json.Encoder()


class Answer(Response):
    """A JSON response of this API; ``bytes`` are sent unchanged."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Encode the body."""
        return content if isinstance(content, bytes) else _encoder.encode(content)


def warned(answer: Answer, warning: str | None) -> Answer:
    """Add a warning about the request's schema as a header.

    Characters that a header cannot contain are escaped.
    """
    if warning is not None:
        written = warning.encode("unicode_escape").decode("ascii")
        answer.headers[WARNING_HEADER] = written[:_LONGEST_WARNING]
    return answer


class _Problem(Answer):
    """An error response; its code is noted in the scope for metrics and the log."""

    def __init__(self, error: RegistryError) -> None:
        super().__init__({"error_code": error.error_code, "message": error.message}, status_code=error.http_status)
        self._code = error.error_code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["error_code"] = self._code
        await super().__call__(scope, receive, send)


def problem(error: RegistryError) -> Answer:
    """Build the response for an error."""
    return _Problem(error)


def install(app: FastAPI, *, old_conflict_code: bool = False) -> None:
    """Install the handlers for every error of the app.

    Args:
        app: the app whose errors become responses.
        old_conflict_code: use the code 409 for an incompatible schema, as releases before 40901 existed did.
    """
    app.add_exception_handler(RegistryError, _registry_error)
    if old_conflict_code:
        app.add_exception_handler(IncompatibleSchema, _old_conflict)
    app.add_exception_handler(ContractlogError, _of_nobody)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _of_nobody)


async def _registry_error(_request: Request, error: Exception) -> Answer:
    if not isinstance(error, RegistryError):
        return problem(ServerError())
    if isinstance(error, ServerError):
        _LOG.error("answered %s: %s", error.error_code, error.message)
    return problem(error)


async def _old_conflict(_request: Request, error: Exception) -> Answer:
    return problem(Conflict(str(error)))


async def _http_exception(_request: Request, error: Exception) -> Answer:
    if not isinstance(error, HTTPException):
        return problem(ServerError())
    known = {404: NotFound(), 405: MethodNotAllowed()}.get(error.status_code)
    answer = problem(known or BadRequest(str(error.detail), error_code=error.status_code))
    answer.status_code = error.status_code
    answer.headers.update(error.headers or {})
    return answer


async def _unreadable(_request: Request, _error: Exception) -> Answer:
    return problem(NotFound())  # an invalid number in the path or query: nothing has this address


async def _gone(_request: Request, _error: Exception) -> Answer:
    return problem(BadRequest("The connection ended before the body did"))  # never read; counts as a client error


async def _of_nobody(_request: Request, error: Exception) -> Answer:
    return unexpected(error)


def unexpected(error: Exception) -> Answer:
    """Log an unexpected error; return a response without any detail of it."""
    _LOG.error("an error that nobody expected", exc_info=error)
    return problem(ServerError())
