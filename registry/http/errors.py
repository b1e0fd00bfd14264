"""Error responses: every error becomes one of the shape ``{"error_code", "message"}`` here."""

from __future__ import annotations

import logging
from typing import Final

from fastapi import FastAPI, Request
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
from contractlog.registry.http.api_response import ApiResponse

__all__ = [
    "error_response",
    "install_error_handlers",
    "unexpected_error_response",
]

_LOG: Final = logging.getLogger("contractlog.registry")


class _ErrorResponse(ApiResponse):
    """An error response; its code is noted in the scope for metrics and the log."""

    def __init__(self, error: RegistryError) -> None:
        super().__init__({"error_code": error.error_code, "message": error.message}, status_code=error.http_status)
        self._code = error.error_code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["error_code"] = self._code
        await super().__call__(scope, receive, send)


def error_response(error: RegistryError) -> ApiResponse:
    """Build the response for an error."""
    return _ErrorResponse(error)


def install_error_handlers(app: FastAPI, *, old_conflict_code: bool = False) -> None:
    """Install the handlers for every error of the app.

    Args:
        app: the app whose errors become responses.
        old_conflict_code: use the code 409 for an incompatible schema, as releases before 40901 existed did.
    """
    app.add_exception_handler(RegistryError, _handle_registry_error)
    if old_conflict_code:
        app.add_exception_handler(IncompatibleSchema, _handle_old_conflict)
    app.add_exception_handler(ContractlogError, _handle_unexpected_error)
    app.add_exception_handler(HTTPException, _handle_http_exception)
    app.add_exception_handler(RequestValidationError, _handle_invalid_parameter)
    app.add_exception_handler(ClientDisconnect, _handle_disconnect)
    app.add_exception_handler(Exception, _handle_unexpected_error)


async def _handle_registry_error(_request: Request, error: Exception) -> ApiResponse:
    if not isinstance(error, RegistryError):
        return error_response(ServerError())
    if isinstance(error, ServerError):
        _LOG.error("responded with %s: %s", error.error_code, error.message)
    return error_response(error)


async def _handle_old_conflict(_request: Request, error: Exception) -> ApiResponse:
    return error_response(Conflict(str(error)))


async def _handle_http_exception(_request: Request, error: Exception) -> ApiResponse:
    if not isinstance(error, HTTPException):
        return error_response(ServerError())
    mapped = {404: NotFound(), 405: MethodNotAllowed()}.get(error.status_code)
    response = error_response(mapped or BadRequest(str(error.detail), error_code=error.status_code))
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response


async def _handle_invalid_parameter(_request: Request, _error: Exception) -> ApiResponse:
    return error_response(NotFound())  # an invalid number in the path or query: nothing has this address


async def _handle_disconnect(_request: Request, _error: Exception) -> ApiResponse:
    return error_response(
        BadRequest("The connection ended before the body did")
    )  # never read; counts as a client error


async def _handle_unexpected_error(_request: Request, error: Exception) -> ApiResponse:
    return unexpected_error_response(error)


def unexpected_error_response(error: Exception) -> ApiResponse:
    """Log an unexpected error; return a response without any detail of it."""
    _LOG.error("an unexpected error", exc_info=error)
    return error_response(ServerError())
