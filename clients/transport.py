"""Blocking transport: sends calls over httpx2, by HTTP or to an ASGI application in this process.

Importing httpx2 takes a tenth of a second, so it is imported when a transport is created.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.hooks import Exchange, Watch
from contractlog.clients.response_body import BoundedBody, MemoryBudget
from contractlog.clients.retry import (
    Attempt,
    NoResponse,
    PreferredAddress,
    Response,
    Retries,
    RetryLoop,
    send_with_retries,
)
from contractlog.clients.settings import DEFAULT_TIMEOUT, Address, Security, TokenSource
from contractlog.compatibility.errors import UsageError

if TYPE_CHECKING:
    import httpx2

__all__ = ["ASGIApp", "HttpTransportBase", "Transport"]

T = TypeVar("T")
Message = MutableMapping[str, Any]
ASGIApp = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

_MIN_TIMEOUT: Final = 0.001  #: seconds of a request after fetching the token used up its time
IN_PROCESS: Final = "http://contractlog.in-process"
_ERRNO_PREFIX: Final = re.compile(r"^\[Errno -?\d+\] ")
_CERTIFICATE_REJECTED: Final = "CERTIFICATE_VERIFY_FAILED"
_DISCONNECTED: Final = "Server disconnected without sending a response."  # reply of a TLS listener to plain HTTP
_PLAIN_HTTP: Final = "WRONG_VERSION_NUMBER"  # reply of a plain HTTP listener to TLS
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_ACCEPT: Final = f"{_CONTENT_TYPE}, application/vnd.schemaregistry+json, application/json"


def _check_timeout(timeout: Any) -> None:
    """Check that a timeout is a positive, finite number.

    Raises:
        UsageError: it is not.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise UsageError(f"a timeout is a number of seconds above 0, not {timeout!r}")


class HttpTransportBase:
    """Base of both transports: addresses, requests, and outcomes of attempts."""

    untrusted_advice = "name the CA of the registry in CONTRACTLOG_REGISTRY_CA, or as Security(ca=…)"  #: suggested fix

    def __init__(
        self,
        url: str | None,
        *,
        app: ASGIApp | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        retries: Retries | None = None,
        security: Security | None = None,
        proxy: str | None = None,
        watch: Watch | None = None,
    ) -> None:
        if (url is None) == (app is None):
            raise UsageError("a registry is named by its URL or by an ASGI application, exactly one of them")
        _check_timeout(timeout)
        import httpx2  # noqa: PLC0415 - see the module's docstring

        self.addresses = (Address(IN_PROCESS),) if url is None else Address.parse(url)
        self.urls = tuple(address.url for address in self.addresses)
        self.httpx2 = httpx2
        self.app = app
        self.seconds = timeout  #: for a whole call, with all its attempts and pauses
        self.timeout = httpx2.Timeout(timeout)
        self.headers = {"Accept": _ACCEPT, "Confluent-Accept-Unknown-Properties": "true"} | dict(headers or {})
        self.retries = retries or Retries()
        self.preference = PreferredAddress()
        self.security = security or Security()
        token = self.security.token
        self.token_source = token if isinstance(token, TokenSource) else None
        self.proxy = proxy
        self.watch = watch
        self.budget: MemoryBudget | None = None  #: for all responses together
        self.verify: Any = self.security.tls_context() or self._tls_verification()

    def _tls_verification(self) -> Any:
        """Return True for the system's CAs, or an empty context if no connection can use TLS: it saves 40 ms."""
        import ssl  # noqa: PLC0415 - httpx2 has imported it already
        from urllib.request import getproxies  # noqa: PLC0415 - httpx2 has imported it already

        uses_tls = self.proxy is not None or any(not url.startswith("http://") for url in self.urls)
        if uses_tls or getproxies():
            return True
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def build_request(self, call: Call[Any], attempt: Attempt) -> dict[str, Any]:
        """Return the arguments of httpx2 for the request of an attempt."""
        address = self.addresses[attempt.address]
        request: dict[str, Any] = {
            "method": call.method,
            "url": address.url + call.target,
            "timeout": min(self.seconds, attempt.within),
        }
        user, password = address.user, address.password
        if user is None:
            user, password = self.security.user, self.security.password
        headers: dict[str, str] = {}
        if user is not None:
            request["auth"] = (user, password or "")
        elif self.security.token is not None and self.token_source is None:
            token: Any = self.security.token
            headers["Authorization"] = f"Bearer {token() if callable(token) else token}"
        if call.body is not None:
            request["content"] = json.dumps(call.body, separators=(",", ":")).encode()
            headers["Content-Type"] = _CONTENT_TYPE
        return request | {"headers": headers}

    def report_attempt(
        self, call: Call[Any], attempt: Attempt, number: int, started: float, outcome: Response | NoResponse
    ) -> None:
        """Report the outcome of an attempt to the watch, if there is one."""
        if self.watch is None:
            return
        exchange = Exchange(
            method=call.method,
            route=call.route,
            address=self.urls[attempt.address],
            attempt=number,
            seconds=time.monotonic() - started,
            status=outcome.status if isinstance(outcome, Response) else None,
            reason=outcome.reason if isinstance(outcome, NoResponse) else None,
        )
        self.watch.exchanged(exchange)

    def start_retries(self, call: Call[T]) -> RetryLoop[T]:
        """Start the attempts of a call, and its time limit."""
        deadline = time.monotonic() + self.seconds
        return send_with_retries(call, self.urls, self.retries, lambda: deadline - time.monotonic(), self.preference)

    def timeout_failure(self, *, sent: bool) -> NoResponse:
        """Return the failure of an attempt that exceeded the time limit."""
        return NoResponse(f"no answer within {self.seconds:g} seconds", sent=sent)

    def failure_of(self, error: httpx2.RequestError) -> NoResponse:
        """Return the failure that an exception of httpx2 stands for."""
        unsent = isinstance(error, self.httpx2.ConnectError | self.httpx2.ConnectTimeout | self.httpx2.PoolTimeout)
        if isinstance(error, self.httpx2.TimeoutException):
            return self.timeout_failure(sent=not unsent)
        reason = _ERRNO_PREFIX.sub("", str(error)) or type(error).__name__
        if _CERTIFICATE_REJECTED in reason:
            reason += f"; {self.untrusted_advice}"
        elif reason.startswith(_DISCONNECTED) and error.request.url.scheme == "http":
            reason = reason.rstrip(".") + "; if it listens with TLS, its URL begins with https://"
        elif _PLAIN_HTTP in reason:
            reason += "; if it listens without TLS, its URL begins with http://"
        return NoResponse(reason, sent=not unsent)


class Transport(HttpTransportBase):
    """Blocking transport; may be shared by threads."""

    def __init__(self, url: str | None, **options: Any) -> None:
        super().__init__(url, **options)
        from contractlog.clients.time_limit import TimeLimit  # noqa: PLC0415 - needs httpx2

        transport = None
        if self.app is not None:
            from contractlog.clients.asgi_transport import BlockingASGITransport  # noqa: PLC0415 - needs httpx2

            transport = BlockingASGITransport(self.app)
        self._client = self.httpx2.Client(
            timeout=self.timeout, headers=self.headers, transport=transport, verify=self.verify, proxy=self.proxy
        )
        self._limit = TimeLimit()
        self._limit.apply_to(self._client)

    def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return its parsed response."""
        attempts = self.start_retries(call)
        attempt = next(attempts)
        for number in itertools.count(1):
            if attempt.pause:
                time.sleep(attempt.pause)
            started = time.monotonic()
            outcome = self._attempt(call, attempt)
            self.report_attempt(call, attempt, number, started, outcome)
            try:
                attempt = attempts.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
        raise AssertionError  # unreachable: the loop has no end

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _attempt(self, call: Call[Any], attempt: Attempt) -> Response | NoResponse:
        deadline = time.monotonic() + attempt.within
        request = self.build_request(call, attempt)
        if self.token_source is not None:
            request["headers"] |= self.token_source.headers(request["timeout"])
            request["timeout"] = max(min(self.seconds, deadline - time.monotonic()), _MIN_TIMEOUT)
        try:
            with (
                self._limit.within(deadline - time.monotonic()),
                self._client.stream(**request) as response,
            ):
                body = BoundedBody(response, self.budget)
                try:
                    for chunk in () if body.fault else response.iter_bytes():
                        if not body.add(chunk):
                            break
                        if self._limit.exceeded:  # buffered data is read without a timeout of its own
                            return self.timeout_failure(sent=True)
                except self.httpx2.DecodingError as error:
                    body.reject_encoding(error)
                return body.response()
        except self.httpx2.RequestError as error:
            return self.failure_of(error)
