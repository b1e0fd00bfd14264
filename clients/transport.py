"""Blocking transport: sends calls over httpx2, by HTTP or to an ASGI application in this process.

Importing httpx2 takes a tenth of a second, so it is imported when a transport is created.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.hooks import Exchange, Watch
from contractlog.clients.response import Response
from contractlog.clients.retry_and_failover import (
    Attempt,
    NoResponse,
    PreferredAddress,
    Retries,
    RetryLoop,
    send_with_retries,
)
from contractlog.clients.settings import (
    DEFAULT_TIMEOUT,
    RegistryAddress,
    Security,
    TokenSource,
    create_system_tls_context,
)
from contractlog.clients.step_drivers import drive
from contractlog.compatibility.errors import UsageError

if TYPE_CHECKING:
    import ssl

    import httpx2

__all__ = ["ASGIApp", "BoundedBody", "HttpTransportBase", "MemoryBudget", "Transport"]

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
MAX_BODY_BYTES: Final = 256 * 1024 * 1024  #: decoded bytes of a response; a list of a million subjects is 20 MB
UNCHECKED_BYTES: Final = 16 * 1024 * 1024  #: decoded bytes up to which the ratio is not checked
MAX_RATIO: Final = 250  #: decoded bytes per byte received; five hundred versions of one schema reach 130
MAX_VALUES: Final = 16_000_000  #: JSON values of a response above ``UNCHECKED_BYTES``: ``[]`` takes 64 bytes of memory
MAX_ENCODINGS: Final = 1
MAX_URL_CHARACTERS: Final = 65_536  #: httpx2 rejects longer URLs
_SHOWN_BYTES: Final = 200  # bytes of a rejected body that are shown in messages
_MIB: Final = 1024 * 1024
_LENGTH_DIGITS: Final = 20  #: of a Content-Length, far above any limit
_VALUE_BYTES: Final = 64  #: memory that a JSON value takes beside its text: ``[]`` has two bytes
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def _check_timeout(timeout: Any) -> None:
    """Check that a timeout is a positive, finite number.

    Raises:
        UsageError: it is not.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise UsageError(f"a timeout is a number of seconds above 0, not {timeout!r}")


class MemoryBudget:
    """Limit on the memory of all responses together, for a client that collects them.

    Counted are the bytes of the bodies, and an estimate of what JSON values take in memory.
    """

    def __init__(self, limit: int) -> None:
        self.limit = self._left = limit

    def take(self, size: int) -> bool:
        """Count some bytes; return False when the limit is exceeded."""
        self._left -= size
        return self._left >= 0


class BoundedBody:
    """Decoded body of a response, read until it exceeds a limit.

    A compressed body can decode to a thousand times its size, and each further content encoding multiplies that. So
    only one encoding is decoded, and above ``UNCHECKED_BYTES`` the ratio of decoded to received bytes is limited.
    """

    def __init__(
        self, response: httpx2.Response, budget: MemoryBudget | None = None, maximum: int | None = None
    ) -> None:
        self._response = response
        self._budget = budget
        self._maximum = MAX_BODY_BYTES if maximum is None else min(maximum, MAX_BODY_BYTES)
        self._content = bytearray()
        named = response.headers.get_list("content-encoding", split_commas=True)
        encodings = [name for name in (part.strip().lower() for part in named) if name not in {"", "identity"}]
        self._has_encoding = bool(encodings)
        self.fault = ""  #: why the body is not read to its end; empty if it is
        if len(encodings) > MAX_ENCODINGS:
            listed = ", ".join(encodings[:5]) + (", …" if len(encodings) > 5 else "")  # noqa: PLR2004 - for a message
            self.fault = f"has {len(encodings)} content encodings ({listed}); only one is decoded"
        announced = response.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:_LENGTH_DIGITS]) > self._maximum:
            self.fault = self._oversize()

    def add(self, chunk: bytes) -> bool:
        """Append decoded bytes; return False when a limit is exceeded."""
        self._content += chunk
        size = len(self._content)
        if size > self._maximum:
            self.fault = self._oversize()
        elif self._has_encoding and size > UNCHECKED_BYTES and size > MAX_RATIO * self._response.num_bytes_downloaded:
            received = self._response.num_bytes_downloaded
            self.fault = (
                f"expands more than {MAX_RATIO} times: {received:,} bytes received, more than {size / _MIB:.0f} MiB "
                "decoded; if this is intended, send the header 'Accept-Encoding: identity'"
            )
        else:
            self._spend(len(chunk))
        return not self.fault

    def _oversize(self) -> str:
        return f"is larger than {self._maximum / _MIB:g} MiB"

    def _spend(self, size: int) -> None:
        if self._budget is not None and not self.fault and not self._budget.take(size):
            self.fault = f"exceeds the limit of {self._budget.limit / _MIB:g} MiB for all responses together"

    def reject_encoding(self, error: httpx2.DecodingError) -> None:
        """Reject a body that does not match its content encoding."""
        self.fault = f"cannot be decoded ({error})"

    def response(self) -> Response:
        """Return the response; of a rejected body only the start."""
        if not self.fault and (self._budget is not None or len(self._content) > UNCHECKED_BYTES):
            structure = _STRING.sub(b"", self._content)
            values = sum(map(structure.count, (b"[", b"{", b",")))
            if values > MAX_VALUES:
                self.fault = f"has more than {MAX_VALUES:,} JSON values"
            self._spend(_VALUE_BYTES * values)
        content = bytes(memoryview(self._content)[:_SHOWN_BYTES] if self.fault else self._content)
        headers = {name.lower(): value for name, value in self._response.headers.items()}
        return Response(self._response.status_code, content, headers, self.fault)


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

        self.addresses = (RegistryAddress(IN_PROCESS),) if url is None else RegistryAddress.parse(url)
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

    def _tls_verification(self) -> ssl.SSLContext:
        """Return a context with the system's CAs; an empty one if no connection uses TLS, as it saves 40 ms."""
        import ssl  # noqa: PLC0415 - httpx2 has imported it already
        from urllib.request import getproxies  # noqa: PLC0415 - httpx2 has imported it already

        uses_tls = self.proxy is not None or any(not url.startswith("http://") for url in self.urls)
        if uses_tls or getproxies():
            return create_system_tls_context()
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def build_request(self, call: Call[Any], attempt: Attempt) -> dict[str, Any]:
        """Return the arguments of httpx2 for the request of an attempt.

        Raises:
            UsageError: its URL is too long, such as by a name that another registry listed.
        """
        address = self.addresses[attempt.address]
        url = address.url + call.target
        if len(url) > MAX_URL_CHARACTERS:
            raise UsageError(
                f"{call.method} {call.target[:_SHOWN_BYTES]}… cannot be sent: its URL has {len(url):,} characters, and "
                f"at most {MAX_URL_CHARACTERS:,} are possible"
            )
        request: dict[str, Any] = {
            "method": call.method,
            "url": url,
            "timeout": min(self.seconds, attempt.within),
        }
        headers: dict[str, str] = {}
        user = self.find_user(address)
        if user is not None:
            request["auth"] = user
        else:
            headers |= self.token_header()
        if call.body is not None:
            request["content"] = json.dumps(call.body, separators=(",", ":")).encode()
            headers["Content-Type"] = _CONTENT_TYPE
        return request | {"headers": headers}

    def find_user(self, address: RegistryAddress) -> tuple[str, str] | None:
        """Return the user and the password for an address; None if there are none."""
        if address.user is not None:
            return address.user, address.password or ""
        return None if self.security.user is None else (self.security.user, self.security.password or "")

    def token_header(self) -> dict[str, str]:
        """Return the header with the bearer token; empty if there is none, or a source has it."""
        token: Any = self.security.token
        if token is None or self.token_source is not None:
            return {}
        return {"Authorization": f"Bearer {token() if callable(token) else token}"}

    def report_attempt(self, call: Call[Any], attempt: Attempt, started: float, outcome: Response | NoResponse) -> None:
        """Report the outcome of an attempt to the watch, if there is one."""
        if self.watch is None:
            return
        exchange = Exchange(
            method=call.method,
            route=call.route,
            address=self.urls[attempt.address],
            attempt=attempt.number,
            seconds=time.monotonic() - started,
            status=outcome.status if isinstance(outcome, Response) else None,
            reason=outcome.reason if isinstance(outcome, NoResponse) else None,
            target=call.target,
        )
        self.watch.exchanged(exchange)

    def start_retries(self, call: Call[T]) -> RetryLoop[T]:
        """Start the attempts of a call, and its time limit."""
        deadline = time.monotonic() + self.seconds
        return send_with_retries(call, self.urls, self.retries, lambda: deadline - time.monotonic(), self.preference)

    def timeout_failure(self, *, sent: bool) -> NoResponse:
        """Return the failure of an attempt that exceeded the time limit."""
        return NoResponse(f"no response within {self.seconds:g} seconds", sent=sent)

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
        from contractlog.clients.blocking_deadline import TimeLimit  # noqa: PLC0415 - needs httpx2

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
        return drive(partial(self._attempt, call), self.start_retries(call))

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _attempt(self, call: Call[Any], attempt: Attempt) -> Response | NoResponse:
        if attempt.pause:
            time.sleep(attempt.pause)
        started = time.monotonic()
        outcome = self._exchange(call, attempt)
        self.report_attempt(call, attempt, started, outcome)
        return outcome

    def _exchange(self, call: Call[Any], attempt: Attempt) -> Response | NoResponse:
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
                body = BoundedBody(response, self.budget, call.max_bytes)
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
