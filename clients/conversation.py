"""Retries, failover and response parsing of a call, without I/O.

``converse`` is a generator: it yields an ``Attempt`` to make and is sent its outcome, an ``Answer`` or a ``Failure``.
The blocking and the asynchronous transport drive the same generator.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import orjson

from contractlog.clients.calls import Call
from contractlog.compatibility.errors import (
    IncompatibleSchema,
    NotFound,
    RegistryError,
    Unauthorized,
    Unreachable,
    UnreadableAnswer,
)

__all__ = ["Answer", "Attempt", "Conversation", "Failure", "Preference", "Retries", "converse"]

T = TypeVar("T")

_RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})
_NOTHING_DONE: Final = frozenset({429, 503})  # rejected before any effect: safe to retry whatever the call
_SAID_BY_STATUS: Final = frozenset({401, 403, 413})  # raised as errors without an error body, as proxies send them
_OLD_INCOMPATIBLE: Final = 409  # error code of servers before 8.0 instead of 40901
_SUCCESS: Final = range(200, 300)
_REDIRECT: Final = range(300, 400)
_FAILURE: Final = range(400, 600)
_DETOUR: Final = 30.0  # seconds until the first address is tried again after a failover
_START: Final = 200  # bytes of an unreadable body that are shown


@dataclass(frozen=True, slots=True)
class Retries:
    """Number of attempts, and pauses between them: exponential backoff with full jitter."""

    attempts: int = 4  #: in total; each address is tried once in any case
    first: float = 0.2  #: seconds; upper bound of the first pause, doubled for each further one
    longest: float = 5.0  #: seconds; upper bound of any pause, also of a server's Retry-After

    def pause(self, attempt: int, asked: float | None = None) -> float:
        """Return the seconds to wait before an attempt (numbered from 0), ``asked`` being the Retry-After."""
        if not attempt:
            return 0.0
        span = min(self.longest, self.first * 2 ** (attempt - 1))
        return max(random.uniform(0, span), min(asked or 0.0, self.longest))  # noqa: S311 - spreads load, guards no secret


@dataclass(frozen=True, slots=True)
class Attempt:
    """Next step of a call: pause, then send it to the address with this index."""

    pause: float  #: seconds
    address: int
    within: float = math.inf  #: seconds that the attempt may take


@dataclass(frozen=True, slots=True)
class Answer:
    """Response of a server."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)  #: names in lower case
    fault: str = ""  #: why the body was not read to its end; empty if it was


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason for a missing response, and whether the request may have reached the server."""

    reason: str
    sent: bool


Outcome = Answer | Failure
Conversation = Generator[Attempt, Outcome, T]


class Preference:
    """Choice of the address to try first: the first one, or after a failover the one that last responded.

    Every 30 seconds one call tries the first address again; the others use the current one until the first responds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._address = 0
        self._until = math.inf

    def begin(self) -> int:
        """Return the index of the address to try first."""
        now = self._clock()
        if self._address and now >= self._until:
            self._until = now + _DETOUR
            return 0
        return self._address

    def answered(self, address: int) -> None:
        """Record that an address responded."""
        if address != self._address:
            self._address, self._until = address, self._clock() + _DETOUR


def converse(
    call: Call[T],
    urls: tuple[str, ...],
    retries: Retries,
    left: Callable[[], float] = lambda: math.inf,
    preference: Preference | None = None,
) -> Conversation[T]:
    """Yield the attempts of a call, receive their outcomes, and return the parsed response.

    Args:
        call: the call to send.
        urls: addresses of the registry, tried in turn.
        retries: number of attempts and pauses between them.
        left: returns the seconds left for the whole call, which the addresses not tried yet share.
        preference: chooses the address to try first.

    Raises:
        RegistryError: the registry responded with an error; of the class of its error code.
        Unreachable: there was no response.
        UnreadableAnswer: the response is not that of a registry.
    """
    preference = preference or Preference()
    address = preference.begin()
    asked: float | None = None
    outcome: Outcome = Failure("no attempt was made", sent=False)
    for attempt in range(max(1, retries.attempts, len(urls))):
        pause = retries.pause(attempt // len(urls), asked)  # no pause until every address was tried
        if attempt and pause >= left():
            break
        outcome = yield Attempt(pause, address, max(left() - pause, 0) / max(1, len(urls) - attempt))
        if isinstance(outcome, Answer) and outcome.status not in _RETRIED:
            preference.answered(address)
        if not _worth_repeating(call, outcome):
            break
        asked = _retry_after(outcome)
        address = (address + 1) % len(urls)
    if isinstance(outcome, Failure):
        raise _unreachable(" or ".join(urls), outcome)
    try:
        return _read(call, outcome)
    except (Unauthorized, NotFound, UnreadableAnswer) as error:
        error.facts["url"] = urls[address]  # for messages: the registry that responded
        raise


def _worth_repeating(call: Call[T], outcome: Outcome) -> bool:
    if isinstance(outcome, Failure):
        return call.repeatable or not outcome.sent
    return outcome.status in (_RETRIED if call.repeatable else _NOTHING_DONE)


def _retry_after(outcome: Outcome) -> float | None:
    text = outcome.headers.get("retry-after", "") if isinstance(outcome, Answer) else ""
    return float(text) if text.isascii() and text.isdigit() else None


def _unreachable(url: str, failure: Failure) -> Unreachable:
    return Unreachable(
        f"the registry at {url} cannot be reached ({failure.reason}); check that it runs, and the url given",
        url=url,
        reason=failure.reason,
    )


def _read(call: Call[T], answer: Answer) -> T:
    if answer.status not in _SUCCESS:
        raise _error(call, answer)
    if answer.fault:
        raise _unreadable(call, answer)
    try:
        return call.read(_content(call, answer.body))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RegistryError):
        raise _unreadable(call, answer) from None


def _content(call: Call[Any], body: bytes) -> Any:
    if call.text:
        return body.decode()
    return orjson.loads(body) if body else None  # responses to deletions may be empty


def _error(call: Call[Any], answer: Answer) -> RegistryError:
    code, message = _code_and_message(answer)
    message = message or f"the registry answered {answer.status} to {call.method} {call.target}"
    if code == _OLD_INCOMPATIBLE:
        return IncompatibleSchema(message, error_code=code)
    if code is not None:
        return RegistryError.of(code, message)
    if answer.status in _SAID_BY_STATUS:
        error = RegistryError.of(answer.status, message)
        error.facts["uncoded"] = True  # `catchable` gives it the code of confluent-kafka's client
        return error
    return _unreadable(call, answer)


def _code_and_message(answer: Answer) -> tuple[int | None, str]:
    """Parse an error body; return no code if it is none, and the status if the code contradicts it."""
    try:
        body = orjson.loads(answer.body)
        code, message = body["error_code"], str(body.get("message") or "")
    except (ValueError, TypeError, KeyError, AttributeError):
        return None, ""
    if answer.status not in _FAILURE or not isinstance(code, int):
        return None, ""
    return (code if str(code).startswith(str(answer.status)) else answer.status), message


def _unreadable(call: Call[Any], answer: Answer) -> UnreadableAnswer:
    start = answer.body[:_START].decode(errors="replace")
    if answer.status in _REDIRECT:
        target = answer.headers.get("location", "elsewhere")
        why = f"points to {target}; name that address instead"
    elif answer.fault:
        why = answer.fault
    else:
        why = f"is not an answer of a schema registry, it starts with {start!r}" if start else "has no body"
    return UnreadableAnswer(
        f"the answer to {call.method} {call.target} (HTTP {answer.status}) {why}", status=answer.status, start=start
    )
