"""Sources of bearer tokens, with the configuration keys and checks of confluent-kafka."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import orjson

from contractlog.clients.confluent.errors import OAuthTokenError
from contractlog.clients.conversation import Retries
from contractlog.clients.settings import TokenSource

if TYPE_CHECKING:
    import httpx2

__all__ = ["BEARER_KEYS", "ClientCredentials", "CustomFields", "ManagedIdentity", "read_bearer"]

_SOURCE: Final = "bearer.auth.credentials.source"
_TOKEN: Final = "bearer.auth.token"  # noqa: S105 - a configuration key
_CLUSTER: Final = "bearer.auth.logical.cluster"
_POOL: Final = "bearer.auth.identity.pool.id"
_ENDPOINT: Final = "bearer.auth.issuer.endpoint.url"
_QUERY: Final = "bearer.auth.issuer.endpoint.query"
_CREDENTIALS: Final = ("bearer.auth.client.id", "bearer.auth.client.secret", "bearer.auth.scope", _ENDPOINT)
_CUSTOM: Final = ("bearer.auth.custom.provider.function", "bearer.auth.custom.provider.config")
BEARER_KEYS: Final = (_SOURCE, _TOKEN, _CLUSTER, _POOL, *_CREDENTIALS, _QUERY, *_CUSTOM)

_MANAGED_IDENTITY: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
_RENEWED_AT: Final = 0.8  #: share of its lifetime after which a token is renewed
_UNSTATED_LIFE: Final = 60.0  #: seconds; lifetime of a token if the response has none
_RETRY_PAUSE: Final = 10.0  #: seconds until a failed renewal is retried, while the old token is still valid
_MAX_ANSWER: Final = 1024 * 1024  #: bytes; most of a token server's response that is read
_SHOWN: Final = 200  #: bytes of an error response that are shown
_TEMPORARY: Final = frozenset({408, 429})  #: the statuses that are retried, besides 5xx


def read_bearer(left: dict[str, Any], retries: Retries) -> tuple[str | TokenSource | None, dict[str, str]]:
    """Remove the bearer keys from a configuration; return the token or its source, and fixed headers.

    Raises:
        ValueError: a key is missing, or the source is unknown.
        TypeError: a value has the wrong type.
    """
    source = left.pop(_SOURCE, None)
    if source is None:
        return None, {}
    if source == "CUSTOM":
        return _custom(left), {}
    if source not in {"STATIC_TOKEN", "OAUTHBEARER", "OAUTHBEARER_AZURE_IMDS"}:
        raise ValueError(
            f"Unrecognized {_SOURCE} {source!r}: it is STATIC_TOKEN, OAUTHBEARER, OAUTHBEARER_AZURE_IMDS or CUSTOM"
        )
    _require(left, (_CLUSTER,), "bearer")
    headers = _headers(_text(left, _CLUSTER), left.pop(_POOL, None))
    if source == "STATIC_TOKEN":
        _require(left, (_TOKEN,), "bearer")
        return _text(left, _TOKEN), headers
    if source == "OAUTHBEARER":
        _require(left, _CREDENTIALS, "OAuth")
        client, secret, scope, endpoint = (_text(left, key) for key in _CREDENTIALS)
        return ClientCredentials(endpoint, client, secret, scope, retries), headers
    return ManagedIdentity(_managed_identity(left), retries), headers


def _require(left: Mapping[str, Any], keys: tuple[str, ...], kind: str) -> None:
    missing = [key for key in keys if key not in left]
    if missing:
        raise ValueError(f"Missing required {kind} configuration properties: {', '.join(missing)}")


def _text(left: dict[str, Any], key: str) -> str:
    value = left.pop(key)
    if not isinstance(value, str):
        raise TypeError(f"{key} must be a str, not {type(value)}")
    return value


def _headers(cluster: Any, pool: Any) -> dict[str, str]:
    headers = {"target-sr-cluster": str(cluster)}
    if pool is None:
        return headers
    if not isinstance(pool, str) and not (isinstance(pool, list) and all(isinstance(one, str) for one in pool)):
        raise TypeError(f"{_POOL} must be a str or a list of str, not {type(pool)}")
    return headers | {"Confluent-Identity-Pool-Id": pool if isinstance(pool, str) else ",".join(pool)}


def _custom(left: dict[str, Any]) -> CustomFields:
    _require(left, _CUSTOM, "custom OAuth")
    function, config = (left.pop(key) for key in _CUSTOM)
    if not callable(function):
        raise TypeError(f"{_CUSTOM[0]} must be a callable, not {type(function)}")
    if not isinstance(config, dict):
        raise TypeError(f"{_CUSTOM[1]} must be a dict, not {type(config)}")
    return CustomFields(function, config)


def _managed_identity(left: dict[str, Any]) -> str:
    named = _ENDPOINT in left
    endpoint = _text(left, _ENDPOINT) if named else _MANAGED_IDENTITY
    query = _text(left, _QUERY) if left.get(_QUERY) else left.pop(_QUERY, None)
    if query:
        return urlunsplit(urlsplit(endpoint)._replace(query=query, fragment=""))
    if not named:
        raise ValueError(f"{_QUERY} must be provided when {_ENDPOINT} is not overridden")
    return endpoint


class CustomFields(TokenSource):
    """Token source that calls a function of the user for every request.

    The function returns the fields by their configuration keys.
    """

    def __init__(self, function: Callable[[dict[str, Any]], Any], config: dict[str, Any]) -> None:
        self._function = function
        self._config = config

    def headers(self, seconds: float) -> dict[str, str]:  # noqa: ARG002 - the function cannot be interrupted
        """Return the headers of one request."""
        fields = self._function(self._config)
        if inspect.isawaitable(fields):
            if inspect.iscoroutine(fields):
                fields.close()
            raise TypeError(f"{_CUSTOM[0]} is asynchronous: use AsyncSchemaRegistryClient, or a plain function")
        return _of_fields(fields)

    async def awaited_headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; the function may be a coroutine function."""
        fields = self._function(self._config)
        if inspect.isawaitable(fields):
            try:
                async with asyncio.timeout(seconds) as patience:
                    fields = await fields
            except TimeoutError:
                if not patience.expired():  # raised by the function
                    raise
                raise _late(seconds) from None
        return _of_fields(fields)


def _of_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    missing = [key for key in (_TOKEN, _CLUSTER) if key not in fields]
    if missing:
        raise ValueError(
            "Missing required bearer auth fields, needs to be set in config or custom function: " + ", ".join(missing)
        )
    return _headers(fields[_CLUSTER], fields.get(_POOL)) | {"Authorization": f"Bearer {fields[_TOKEN]}"}


@dataclass(frozen=True, slots=True)
class _Grant:
    token: str
    renewed_from: float  #: seconds of the monotonic clock
    valid_until: float


class _Fetched(TokenSource):
    """Source of a token that is fetched, cached, and renewed after 80 % of its lifetime; thread-safe."""

    def __init__(self, endpoint: str, retries: Retries, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint = endpoint
        self._retries = retries
        self._clock = clock
        self._lock = threading.Lock()
        self._grant: _Grant | None = None

    @abstractmethod
    def _request(self) -> dict[str, Any]:
        """Return the arguments of the request for a token."""

    @property
    def _options(self) -> dict[str, Any]:
        """Return additional arguments of the HTTP client."""
        return {}

    def headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; fetch a token if none is cached or it is due for renewal.

        Raises:
            OAuthTokenError: no token could be fetched in time.
        """
        return self._known() or self._renewed(seconds)

    async def awaited_headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; fetch the token in a thread, so as not to block the event loop."""
        known = self._known()
        if known is not None:
            return known
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(self._renewed, seconds)
        except TimeoutError:
            raise _late(seconds) from None

    def _known(self) -> dict[str, str] | None:
        grant = self._grant
        return None if grant is None or self._clock() >= grant.renewed_from else _authorization(grant)

    def _renewed(self, seconds: float) -> dict[str, str]:
        """Fetch a token, once for all waiting threads; if that fails, use the old one while it is valid."""
        deadline = self._clock() + seconds
        if not self._lock.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            raise _late(seconds)
        try:
            known = self._known()
            if known is not None:
                return known
            try:
                self._grant = self._fetched(deadline)
            except OAuthTokenError:
                old, now = self._grant, self._clock()
                if old is None or now >= old.valid_until:
                    raise
                self._grant = _Grant(old.token, min(now + _RETRY_PAUSE, old.valid_until), old.valid_until)
            return _authorization(self._grant)
        finally:
            self._lock.release()

    def _fetched(self, deadline: float) -> _Grant:
        for attempt in range(max(1, self._retries.attempts)):
            pause = self._retries.pause(attempt)
            if attempt and self._clock() + pause >= deadline:
                break
            time.sleep(pause)
            try:
                return self._fetched_once(deadline)
            except OAuthTokenError as error:
                failure = error
                if not _temporary(error.status_code):
                    break
        raise failure

    def _fetched_once(self, deadline: float) -> _Grant:
        import httpx2  # noqa: PLC0415 - the transport has imported it already

        began = self._clock()
        try:
            with (
                httpx2.Client(timeout=max(deadline - began, 0.001), **self._options) as client,
                client.stream(url=self._endpoint, **self._request()) as response,
            ):
                body = self._body(response, deadline)
        except (httpx2.RequestError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise self._failed(str(error) or type(error).__name__) from None
        if not response.is_success:
            shown = body[:_SHOWN].decode(errors="replace")
            raise self._failed(f"it answered {response.status_code}", response.status_code, shown)
        return self._read(body, began)

    def _body(self, response: httpx2.Response, deadline: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_raw():  # not decoded: compression was not requested, and could expand to any size
            body += chunk
            if len(body) > _MAX_ANSWER:
                raise self._failed(f"its answer is longer than {_MAX_ANSWER} bytes", response.status_code)
            if self._clock() > deadline:
                raise self._failed("its answer did not end in time")
        return bytes(body)

    def _read(self, body: bytes, began: float) -> _Grant:
        try:
            answer = orjson.loads(body)
            token, life = answer["access_token"], _life(answer)
        except (ValueError, TypeError, KeyError):
            raise self._failed("its answer holds no access_token with a valid life") from None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise self._failed("its access_token cannot stand in a header")
        return _Grant(token, began + life * _RENEWED_AT, began + life)

    def _failed(self, reason: str, status: int | None = None, text: str | None = None) -> OAuthTokenError:
        parts = urlsplit(self._endpoint)
        shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return OAuthTokenError(f"no token from {shown}: {reason}", status, text)


class ClientCredentials(_Fetched):
    """Source ``OAUTHBEARER``: OAuth 2.0 client credentials (RFC 6749, section 4.4)."""

    def __init__(self, endpoint: str, client: str, secret: str, scope: str, retries: Retries, **options: Any) -> None:
        super().__init__(endpoint, retries, **options)
        self._client, self._secret, self._scope = client, secret, scope

    def _request(self) -> dict[str, Any]:
        return {
            "method": "POST",
            "data": {"grant_type": "client_credentials", "scope": self._scope},
            "auth": (self._client, self._secret),
            "headers": {"Accept": "application/json", "Accept-Encoding": "identity"},
        }


class ManagedIdentity(_Fetched):
    """Source ``OAUTHBEARER_AZURE_IMDS``: Azure's instance metadata service, never through a proxy."""

    @property
    def _options(self) -> dict[str, Any]:
        return {"trust_env": False}

    def _request(self) -> dict[str, Any]:
        headers = {"Metadata": "true", "Accept": "application/json", "Accept-Encoding": "identity"}
        return {"method": "GET", "headers": headers}


def _authorization(grant: _Grant) -> dict[str, str]:
    return {"Authorization": f"Bearer {grant.token}"}


def _life(answer: Mapping[str, Any]) -> float:
    """Return the remaining lifetime of a token in seconds; Azure sends numbers as strings.

    Raises:
        ValueError: the lifetime is not a number, negative or infinite.
    """
    if answer.get("expires_in") is not None:
        life = float(answer["expires_in"])
    elif answer.get("expires_on") is not None:
        life = float(answer["expires_on"]) - time.time()
    else:
        life = _UNSTATED_LIFE
    if not 0 <= life < math.inf:
        raise ValueError("not a time")
    return life


def _temporary(status: int | None) -> bool:
    return status is None or status in _TEMPORARY or status >= 500  # noqa: PLR2004 - server errors


def _late(seconds: float) -> OAuthTokenError:
    return OAuthTokenError(f"no token within {seconds:g} seconds")
