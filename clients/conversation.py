"""How a call is carried through: when to try again, and what an answer means. Written once, waited for twice.

``converse`` is a generator: it yields an ``Attempt`` to make and is sent what came of it, an ``Answer`` or a
``Failure``. The blocking and the asynchronous transport drive the same generator.
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
_NOTHING_DONE: Final = frozenset({429, 503})  # refused before anything happened: safe to repeat whatever the call
_SAID_BY_STATUS: Final = frozenset({401, 403, 413})  # understood without a body, as proxies answer them
_OLD_INCOMPATIBLE: Final = 409  # what servers before 8.0 write in place of 40901
_SUCCESS: Final = range(200, 300)
_REDIRECT: Final = range(300, 400)
_FAILURE: Final = range(400, 600)
_DETOUR: Final = 30.0  # seconds until an address that did not answer is asked first again
_START: Final = 200  # characters of an unreadable body that are kept


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried, and how long it waits in between: a random share of a doubling span."""

    attempts: int = 4  #: in all; each address is asked once in any case
    first: float = 0.2  #: seconds
    longest: float = 5.0  #: seconds; a server's Retry-After counts up to this

    def pause(self, attempt: int, asked: float | None = None) -> float:
        """Return the seconds to wait before an attempt (the first one is 0)."""
        if not attempt:
            return 0.0
        span = min(self.longest, self.first * 2 ** (attempt - 1))
        return max(random.uniform(0, span), min(asked or 0.0, self.longest))  # noqa: S311 - spreads load, hides nothing


@dataclass(frozen=True, slots=True)
class Attempt:
    """What to do next: wait, then send the call to the address of this number."""

    pause: float
    address: int
    within: float = math.inf  #: seconds that it may take


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)  #: names in lower case
    fault: str = ""  #: why the body was not read to its end; empty: it was


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, and whether the request may have arrived."""

    reason: str
    sent: bool


Outcome = Answer | Failure
Conversation = Generator[Attempt, Outcome, T]


class Preference:
    """Which address is asked first: the first one, or for a while the one that answered in its place.

    When the while is over, one call asks the first address again; the others wait for what comes of it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._address = 0
        self._until = math.inf

    def begin(self) -> int:
        """Return the address that is asked first."""
        now = self._clock()
        if self._address and now >= self._until:
            self._until = now + _DETOUR
            return 0
        return self._address

    def answered(self, address: int) -> None:
        """Hear which address answered."""
        if address != self._address:
            self._address, self._until = address, self._clock() + _DETOUR


def converse(
    call: Call[T],
    urls: tuple[str, ...],
    retries: Retries,
    left: Callable[[], float] = lambda: math.inf,
    preference: Preference | None = None,
) -> Conversation[T]:
    """Carry a call through.

    Args:
        call: what is asked.
        urls: whom it is asked, in turn.
        retries: how often.
        left: the seconds that are left for all of it; those not asked yet share them.
        preference: knows whom to ask first.

    Raises:
        RegistryError: the class that the error body stands for.
        Unreachable: no answer came.
    """
    preference = preference or Preference()
    address = preference.begin()
    asked: float | None = None
    outcome: Outcome = Failure("no attempt was made", sent=False)
    for attempt in range(max(1, retries.attempts, len(urls))):
        pause = retries.pause(attempt // len(urls), asked)  # whom nobody has asked yet is asked at once
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
        error.facts["url"] = urls[address]  # for messages: which registry answered so
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
    return orjson.loads(body) if body else None  # deletions may have nothing to say


def _error(call: Call[Any], answer: Answer) -> RegistryError:
    code, message = _code_and_message(answer)
    message = message or f"the registry answered {answer.status} to {call.method} {call.target}"
    if code == _OLD_INCOMPATIBLE:
        return IncompatibleSchema(message, error_code=code)
    if code is not None:
        return RegistryError.of(code, message)
    if answer.status in _SAID_BY_STATUS:
        error = RegistryError.of(answer.status, message)
        error.facts["uncoded"] = True  # `catchable` gives it the code that confluent-kafka's client would
        return error
    return _unreadable(call, answer)


def _code_and_message(answer: Answer) -> tuple[int | None, str]:
    """Read an error body; a code that does not fit the status is taken for the status. None: it is no error body."""
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
