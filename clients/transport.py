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
from contractlog.clients.conversation import Answer, Attempt, Conversation, Failure, Preference, Retries, converse
from contractlog.clients.response_body import BoundedBody
from contractlog.clients.settings import DEFAULT_TIMEOUT, Address, Security, TokenSource
from contractlog.clients.watching import Exchange, Watch
from contractlog.compatibility.errors import UsageError

if TYPE_CHECKING:
    import httpx2

__all__ = ["ASGIApp", "HttpSide", "Transport"]

T = TypeVar("T")
Message = MutableMapping[str, Any]
ASGIApp = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

_LEAST: Final = 0.001  #: seconds of a request after fetching the token used up its time
IN_PROCESS: Final = "http://contractlog.in-process"
_ERRNO: Final = re.compile(r"^\[Errno -?\d+\] ")
_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
_HUNG_UP: Final = "Server disconnected without sending a response."  # reply of a TLS listener to plain HTTP
_NO_TLS: Final = "WRONG_VERSION_NUMBER"  # reply of a plain HTTP listener to TLS
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_ACCEPT: Final = f"{_CONTENT_TYPE}, application/vnd.schemaregistry+json, application/json"


def _checked(timeout: Any) -> None:
    """Check that a timeout is a positive, finite number.

    Raises:
        UsageError: it is not.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise UsageError(f"a timeout is a number of seconds above 0, not {timeout!r}")


class HttpSide:
    """Base of both transports: addresses, requests, and outcomes of attempts."""

    untrusted = "name the CA of the registry in CONTRACTLOG_REGISTRY_CA, or as Security(ca=…)"  #: suggested fix

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
        _checked(timeout)
        import httpx2  # noqa: PLC0415 - see the module's docstring

        self.addresses = (Address(IN_PROCESS),) if url is None else Address.parse(url)
        self.urls = tuple(address.url for address in self.addresses)
        self.httpx2 = httpx2
        self.app = app
        self.seconds = timeout  #: for a whole call, with all its attempts and pauses
        self.timeout = httpx2.Timeout(timeout)
        self.headers = {"Accept": _ACCEPT, "Confluent-Accept-Unknown-Properties": "true"} | dict(headers or {})
        self.retries = retries or Retries()
        self.preference = Preference()
        self.security = security or Security()
        token = self.security.token
        self.token_source = token if isinstance(token, TokenSource) else None
        self.proxy = proxy
        self.watch = watch
        self.verify: Any = self.security.trust() or self._trust()

    def _trust(self) -> Any:
        """Return True for the system's CAs, or an empty context if no connection can use TLS: it saves 40 ms."""
        import ssl  # noqa: PLC0415 - httpx2 has imported it already
        from urllib.request import getproxies  # noqa: PLC0415 - httpx2 has imported it already

        secured = self.proxy is not None or any(not url.startswith("http://") for url in self.urls)
        if secured or getproxies():
            return True
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def request_of(self, call: Call[Any], attempt: Attempt) -> dict[str, Any]:
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

    def tell(self, call: Call[Any], attempt: Attempt, number: int, begun: float, outcome: Answer | Failure) -> None:
        """Report the outcome of an attempt to the watch, if there is one."""
        if self.watch is None:
            return
        exchange = Exchange(
            method=call.method,
            route=call.route,
            address=self.urls[attempt.address],
            attempt=number,
            seconds=time.monotonic() - begun,
            status=outcome.status if isinstance(outcome, Answer) else None,
            reason=outcome.reason if isinstance(outcome, Failure) else None,
        )
        self.watch.exchanged(exchange)

    def conversation_of(self, call: Call[T]) -> Conversation[T]:
        """Start the attempts of a call, and its time limit."""
        deadline = time.monotonic() + self.seconds
        return converse(call, self.urls, self.retries, lambda: deadline - time.monotonic(), self.preference)

    def late(self, *, sent: bool) -> Failure:
        """Return the failure of an attempt that exceeded the time limit."""
        return Failure(f"no answer within {self.seconds:g} seconds", sent=sent)

    def failure_of(self, error: httpx2.RequestError) -> Failure:
        """Return the failure that an exception of httpx2 stands for."""
        unsent = isinstance(error, self.httpx2.ConnectError | self.httpx2.ConnectTimeout | self.httpx2.PoolTimeout)
        if isinstance(error, self.httpx2.TimeoutException):
            return self.late(sent=not unsent)
        reason = _ERRNO.sub("", str(error)) or type(error).__name__
        if _UNTRUSTED in reason:
            reason += f"; {self.untrusted}"
        elif reason.startswith(_HUNG_UP) and error.request.url.scheme == "http":
            reason = reason.rstrip(".") + "; if it listens with TLS, its URL begins with https://"
        elif _NO_TLS in reason:
            reason += "; if it listens without TLS, its URL begins with http://"
        return Failure(reason, sent=not unsent)


class Transport(HttpSide):
    """Blocking transport; may be shared by threads."""

    def __init__(self, url: str | None, **options: Any) -> None:
        super().__init__(url, **options)
        from contractlog.clients.time_limit import TimeLimit  # noqa: PLC0415 - needs httpx2

        transport = None
        if self.app is not None:
            from contractlog.clients.inprocess import BlockingASGI  # noqa: PLC0415 - needs httpx2

            transport = BlockingASGI(self.app)
        self._client = self.httpx2.Client(
            timeout=self.timeout, headers=self.headers, transport=transport, verify=self.verify, proxy=self.proxy
        )
        self._limit = TimeLimit()
        self._limit.impose(self._client)

    def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return its parsed response."""
        talk = self.conversation_of(call)
        attempt = next(talk)
        for number in itertools.count(1):
            if attempt.pause:
                time.sleep(attempt.pause)
            begun = time.monotonic()
            outcome = self._attempt(call, attempt)
            self.tell(call, attempt, number, begun, outcome)
            try:
                attempt = talk.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
        raise AssertionError  # unreachable: the loop has no end

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _attempt(self, call: Call[Any], attempt: Attempt) -> Answer | Failure:
        deadline = time.monotonic() + attempt.within
        request = self.request_of(call, attempt)
        if self.token_source is not None:
            request["headers"] |= self.token_source.headers(request["timeout"])
            request["timeout"] = max(min(self.seconds, deadline - time.monotonic()), _LEAST)
        try:
            with (
                self._limit.within(deadline - time.monotonic()),
                self._client.stream(**request) as response,
            ):
                body = BoundedBody(response)
                try:
                    for chunk in () if body.fault else response.iter_bytes():
                        if not body.add(chunk):
                            break
                        if self._limit.exceeded:  # buffered data is read without a timeout of its own
                            return self.late(sent=True)
                except self.httpx2.DecodingError as error:
                    body.undecodable(error)
                return body.answer()
        except self.httpx2.RequestError as error:
            return self.failure_of(error)
