"""Response of a server to a call, and its parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import orjson

from contractlog.clients.calls import Call
from contractlog.compatibility.errors import IncompatibleSchema, RegistryError, UnreadableResponse
from contractlog.compatibility.limits import truncate

__all__ = ["Response", "parse_response"]

T = TypeVar("T")

_STATUS_IS_CODE: Final = frozenset({401, 403, 413})  # raised as errors without an error body, as proxies send them
_LEGACY_INCOMPATIBLE: Final = 409  # error code of servers before 8.0 instead of 40901
_SUCCESS: Final = range(200, 300)
_REDIRECT: Final = range(300, 400)
_FAILURE: Final = range(400, 600)
_MAX_MESSAGE_CHARACTERS: Final = 100_000  # of an error; messages of incompatible schemas contain these
_SHOWN_BYTES: Final = 200  # bytes of an unreadable body that are shown


@dataclass(frozen=True, slots=True)
class Response:
    """Response of a server."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)  #: names in lower case
    fault: str = ""  #: why the body was not read to its end; empty if it was


def parse_response(call: Call[T], response: Response) -> T:
    """Return the parsed response of a call.

    Raises:
        RegistryError: the registry responded with an error; of the class of its error code.
        UnreadableResponse: the response is not that of a registry.
    """
    if response.status not in _SUCCESS:
        raise _response_error(call, response)
    if response.fault:
        raise _unreadable_error(call, response)
    try:
        return call.read(_parse_content(call, response.body))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RegistryError):
        raise _unreadable_error(call, response) from None


def _parse_content(call: Call[Any], body: bytes) -> Any:
    if call.text:
        return body.decode()
    return orjson.loads(body) if body else None  # responses to deletions may be empty


def _response_error(call: Call[Any], response: Response) -> RegistryError:
    code, message = _parse_error_body(response)
    message = message or f"the registry responded with {response.status} to {call.method} {call.target}"
    if code == _LEGACY_INCOMPATIBLE:
        return IncompatibleSchema(message, error_code=code)
    if code is not None:
        return RegistryError.of(code, message)
    if response.status in _STATUS_IS_CODE:
        error = RegistryError.of(response.status, message)
        error.facts["uncoded"] = True  # `as_confluent_error` gives it the code of confluent-kafka's client
        return error
    return _unreadable_error(call, response)


def _parse_error_body(response: Response) -> tuple[int | None, str]:
    """Parse an error body; return no code if it is none, and the status if the code contradicts it."""
    try:
        body = orjson.loads(response.body)
        code, message = body["error_code"], truncate(str(body.get("message") or ""), _MAX_MESSAGE_CHARACTERS)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None, ""
    if response.status not in _FAILURE or not isinstance(code, int):
        return None, ""
    return (code if str(code).startswith(str(response.status)) else response.status), message


def _unreadable_error(call: Call[Any], response: Response) -> UnreadableResponse:
    start = response.body[:_SHOWN_BYTES].decode(errors="replace")
    if response.status in _REDIRECT:
        target = response.headers.get("location", "elsewhere")
        reason = f"points to {target}; name that address instead"
    elif response.fault:
        reason = response.fault
    else:
        reason = f"is not a response of a schema registry, it starts with {start!r}" if start else "has no body"
    return UnreadableResponse(
        f"the response to {call.method} {call.target} (HTTP {response.status}) {reason}",
        status=response.status,
        start=start,
    )
