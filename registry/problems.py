"""The one place where errors become answers: every one has the shape ``{"error_code", "message"}``."""

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
    """A JSON answer of this API; ``bytes`` are sent as they are."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Write the body."""
        return content if isinstance(content, bytes) else _encoder.encode(content)


def warned(answer: Answer, warning: str | None) -> Answer:
    """Put a warning about the schema of a request into a header; characters that a header cannot hold are escaped."""
    if warning is not None:
        written = warning.encode("unicode_escape").decode("ascii")
        answer.headers[WARNING_HEADER] = written[:_LONGEST_WARNING]
    return answer


class _Problem(Answer):
    """An answer that is an error; its code is noted, to be counted and logged."""

    def __init__(self, error: RegistryError) -> None:
        super().__init__({"error_code": error.error_code, "message": error.message}, status_code=error.http_status)
        self._code = error.error_code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["error_code"] = self._code
        await super().__call__(scope, receive, send)


def problem(error: RegistryError) -> Answer:
    """Shape an error as an answer."""
    return _Problem(error)


def install(app: FastAPI, *, old_conflict_code: bool = False) -> None:
    """Let every error of the app end here.

    Args:
        app: whose errors become answers.
        old_conflict_code: say 409 where a schema is incompatible, as releases did that knew no 40901.
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
    return problem(NotFound())  # a number in the path or query that is none: nothing has this address


async def _gone(_request: Request, _error: Exception) -> Answer:
    return problem(BadRequest("The connection ended before the body did"))  # nobody reads it; it counts as theirs


async def _of_nobody(_request: Request, error: Exception) -> Answer:
    return unexpected(error)


def unexpected(error: Exception) -> Answer:
    """Log an error that nobody expected, and shape it as an answer that tells nothing of it."""
    _LOG.error("an error that nobody expected", exc_info=error)
    return problem(ServerError())
