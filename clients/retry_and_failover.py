"""Retries and failover of a call, without I/O.

``send_with_retries`` is a generator: it yields an ``Attempt`` to make and is sent its result, a ``Response`` or a
``NoResponse``. The blocking and the asynchronous transport drive the same generator.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final, TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.response import Response, parse_response
from contractlog.compatibility.errors import (
    Forbidden,
    IncompatibleSchema,
    NotFound,
    ServerError,
    Unauthorized,
    Unreachable,
)

__all__ = ["Attempt", "NoResponse", "PreferredAddress", "Retries", "RetryLoop", "send_with_retries"]

T = TypeVar("T")

_RETRYABLE: Final = frozenset({408, 429, 500, 502, 503, 504})
_NOT_PROCESSED: Final = frozenset({429, 503})  # rejected before any effect: safe to retry whatever the call
_FAILBACK_SECONDS: Final = 30.0  # seconds until the first address is tried again after a failover


@dataclass(frozen=True, slots=True)
class Retries:
    """Number of attempts, and pauses between them: exponential backoff with full jitter."""

    attempts: int = 4  #: in total; each address is tried once in any case
    first: float = 0.2  #: seconds; upper bound of the first pause, doubled for each further one
    longest: float = 5.0  #: seconds; upper bound of any pause, also of a server's Retry-After

    def pause(self, attempt: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait before an attempt (numbered from 0), at least the server's Retry-After."""
        if not attempt:
            return 0.0
        max_pause = min(self.longest, self.first * 2 ** (attempt - 1))
        return max(random.uniform(0, max_pause), min(retry_after or 0.0, self.longest))  # noqa: S311 - spreads load, guards no secret


@dataclass(frozen=True, slots=True)
class Attempt:
    """Next step of a call: pause, then send it to the address with this index."""

    pause: float  #: seconds
    address: int
    within: float = math.inf  #: seconds that the attempt may take
    number: int = 1  #: from 1


@dataclass(frozen=True, slots=True)
class NoResponse:
    """Reason for a missing response, and whether the request may have reached the server."""

    reason: str
    sent: bool


AttemptResult = Response | NoResponse
RetryLoop = Generator[Attempt, AttemptResult, T]


class PreferredAddress:
    """Choice of the address to try first: the first one, or after a failover the one that last responded.

    Every 30 seconds one call tries the first address again; the others use the current one until the first responds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._address = 0
        self._failback_at = math.inf

    def choose(self) -> int:
        """Return the index of the address to try first."""
        now = self._clock()
        if self._address and now >= self._failback_at:
            self._failback_at = now + _FAILBACK_SECONDS
            return 0
        return self._address

    def record_response(self, address: int) -> None:
        """Record that an address responded."""
        if address != self._address:
            self._address, self._failback_at = address, self._clock() + _FAILBACK_SECONDS


def send_with_retries(
    call: Call[T],
    urls: tuple[str, ...],
    retries: Retries,
    remaining: Callable[[], float] = lambda: math.inf,
    preference: PreferredAddress | None = None,
) -> RetryLoop[T]:
    """Yield the attempts of a call, receive their outcomes, and return the parsed response.

    Args:
        call: the call to send.
        urls: addresses of the registry, tried in turn.
        retries: number of attempts and pauses between them.
        remaining: returns the seconds left for the whole call, which the addresses not tried yet share.
        preference: chooses the address to try first.

    Raises:
        RegistryError: the registry responded with an error; of the class of its error code.
        Unreachable: there was no response.
        UnreadableResponse: the response is not that of a registry.
    """
    preference = preference or PreferredAddress()
    address = preference.choose()
    retry_after: float | None = None
    result: AttemptResult = NoResponse("no attempt was made", sent=False)
    for attempt in range(max(1, retries.attempts, len(urls))):
        pause = retries.pause(attempt // len(urls), retry_after)  # no pause until every address was tried
        if attempt and pause >= remaining():
            break
        seconds = max(remaining() - pause, 0) / max(1, len(urls) - attempt)
        result = yield Attempt(pause, address, seconds, attempt + 1)
        if isinstance(result, Response) and result.status not in _RETRYABLE:
            preference.record_response(address)
        if not _should_retry(call, result):
            break
        retry_after = _parse_retry_after(result)
        address = (address + 1) % len(urls)
    if isinstance(result, NoResponse):
        raise _unreachable_error(" or ".join(urls), result)
    try:
        return parse_response(call, result)
    except (Unauthorized, Forbidden, NotFound, IncompatibleSchema, ServerError) as error:
        error.facts["url"] = urls[address]  # for messages: the registry that responded
        raise


def _should_retry(call: Call[T], result: AttemptResult) -> bool:
    if isinstance(result, NoResponse):
        return call.repeatable or not result.sent
    return result.status in (_RETRYABLE if call.repeatable else _NOT_PROCESSED)


def _parse_retry_after(result: AttemptResult) -> float | None:
    text = result.headers.get("retry-after", "") if isinstance(result, Response) else ""
    return float(text) if text.isascii() and text.isdigit() else None


def _unreachable_error(url: str, failure: NoResponse) -> Unreachable:
    return Unreachable(
        f"the registry at {url} cannot be reached ({failure.reason}); check that it runs, and the url given",
        url=url,
        reason=failure.reason,
    )
