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
from contractlog.clients.retry_and_failover import Retries
from contractlog.clients.settings import TokenSource, create_system_tls_context

if TYPE_CHECKING:
    import httpx2

__all__ = ["BEARER_KEYS", "ClientCredentials", "CustomTokenFunction", "ManagedIdentity", "read_bearer"]

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
_RENEWAL_SHARE: Final = 0.8  #: share of its lifetime after which a token is renewed
_DEFAULT_LIFETIME: Final = 60.0  #: seconds; lifetime of a token if the response has none
_RETRY_PAUSE: Final = 10.0  #: seconds until a failed renewal is retried, while the old token is still valid
_MAX_BODY_BYTES: Final = 1024 * 1024  #: bytes; most of a token server's response that is read
_SHOWN_BYTES: Final = 200  #: bytes of an error response that are shown
_TEMPORARY: Final = frozenset({408, 429})  #: the statuses that are retried, besides 5xx


def read_bearer(conf: dict[str, Any], retries: Retries) -> tuple[str | TokenSource | None, dict[str, str]]:
    """Remove the bearer keys from a configuration; return the token or its source, and fixed headers.

    Raises:
        ValueError: a key is missing, or the source is unknown.
        TypeError: a value has the wrong type.
    """
    source = conf.pop(_SOURCE, None)
    if source is None:
        return None, {}
    if source == "CUSTOM":
        return _parse_custom(conf), {}
    if source not in {"STATIC_TOKEN", "OAUTHBEARER", "OAUTHBEARER_AZURE_IMDS"}:
        raise ValueError(
            f"Unrecognized {_SOURCE} {source!r}: it is STATIC_TOKEN, OAUTHBEARER, OAUTHBEARER_AZURE_IMDS or CUSTOM"
        )
    _require_keys(conf, (_CLUSTER,), "bearer")
    headers = _identity_headers(_pop_string(conf, _CLUSTER), conf.pop(_POOL, None))
    if source == "STATIC_TOKEN":
        _require_keys(conf, (_TOKEN,), "bearer")
        return _pop_string(conf, _TOKEN), headers
    if source == "OAUTHBEARER":
        _require_keys(conf, _CREDENTIALS, "OAuth")
        client, secret, scope, endpoint = (_pop_string(conf, key) for key in _CREDENTIALS)
        return ClientCredentials(endpoint, client, secret, scope, retries), headers
    return ManagedIdentity(_managed_identity_url(conf), retries), headers


def _require_keys(conf: Mapping[str, Any], keys: tuple[str, ...], kind: str) -> None:
    missing = [key for key in keys if key not in conf]
    if missing:
        raise ValueError(f"Missing required {kind} configuration properties: {', '.join(missing)}")


def _pop_string(conf: dict[str, Any], key: str) -> str:
    value = conf.pop(key)
    if not isinstance(value, str):
        raise TypeError(f"{key} must be a str, not {type(value)}")
    return value


def _identity_headers(cluster: Any, pool: Any) -> dict[str, str]:
    headers = {"target-sr-cluster": str(cluster)}
    if pool is None:
        return headers
    if not isinstance(pool, str) and not (isinstance(pool, list) and all(isinstance(item, str) for item in pool)):
        raise TypeError(f"{_POOL} must be a str or a list of str, not {type(pool)}")
    return headers | {"Confluent-Identity-Pool-Id": pool if isinstance(pool, str) else ",".join(pool)}


def _parse_custom(conf: dict[str, Any]) -> CustomTokenFunction:
    _require_keys(conf, _CUSTOM, "custom OAuth")
    function, config = (conf.pop(key) for key in _CUSTOM)
    if not callable(function):
        raise TypeError(f"{_CUSTOM[0]} must be a callable, not {type(function)}")
    if not isinstance(config, dict):
        raise TypeError(f"{_CUSTOM[1]} must be a dict, not {type(config)}")
    return CustomTokenFunction(function, config)


def _managed_identity_url(conf: dict[str, Any]) -> str:
    has_endpoint = _ENDPOINT in conf
    endpoint = _pop_string(conf, _ENDPOINT) if has_endpoint else _MANAGED_IDENTITY
    query = _pop_string(conf, _QUERY) if conf.get(_QUERY) else conf.pop(_QUERY, None)
    if query:
        return urlunsplit(urlsplit(endpoint)._replace(query=query, fragment=""))
    if not has_endpoint:
        raise ValueError(f"{_QUERY} must be provided when {_ENDPOINT} is not overridden")
    return endpoint


class CustomTokenFunction(TokenSource):
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
        return _field_headers(fields)

    async def async_headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; the function may be a coroutine function."""
        fields = self._function(self._config)
        if inspect.isawaitable(fields):
            try:
                async with asyncio.timeout(seconds) as time_limit:
                    fields = await fields
            except TimeoutError:
                if not time_limit.expired():  # raised by the function
                    raise
                raise _timeout_error(seconds) from None
        return _field_headers(fields)


def _field_headers(fields: Mapping[str, Any]) -> dict[str, str]:
    missing = [key for key in (_TOKEN, _CLUSTER) if key not in fields]
    if missing:
        raise ValueError(
            "Missing required bearer auth fields, needs to be set in config or custom function: " + ", ".join(missing)
        )
    return _identity_headers(fields[_CLUSTER], fields.get(_POOL)) | {"Authorization": f"Bearer {fields[_TOKEN]}"}


@dataclass(frozen=True, slots=True)
class _CachedToken:
    token: str
    renewed_from: float  #: seconds of the monotonic clock
    valid_until: float


class _FetchingTokenSource(TokenSource):
    """Source of a token that is fetched, cached, and renewed after 80 % of its lifetime; thread-safe."""

    def __init__(self, endpoint: str, retries: Retries, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint = endpoint
        self._retries = retries
        self._clock = clock
        self._lock = threading.Lock()
        self._token: _CachedToken | None = None

    @abstractmethod
    def _request_arguments(self) -> dict[str, Any]:
        """Return the arguments of the request for a token."""

    @property
    def _client_options(self) -> dict[str, Any]:
        """Return additional arguments of the HTTP client."""
        return {"verify": create_system_tls_context()}

    def headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; fetch a token if none is cached or it is due for renewal.

        Raises:
            OAuthTokenError: no token could be fetched in time.
        """
        return self._cached_headers() or self._renew(seconds)

    async def async_headers(self, seconds: float) -> dict[str, str]:
        """Return the headers of one request; fetch the token in a thread, so as not to block the event loop."""
        cached = self._cached_headers()
        if cached is not None:
            return cached
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(self._renew, seconds)
        except TimeoutError:
            raise _timeout_error(seconds) from None

    def _cached_headers(self) -> dict[str, str] | None:
        token = self._token
        return None if token is None or self._clock() >= token.renewed_from else _authorization_header(token)

    def _renew(self, seconds: float) -> dict[str, str]:
        """Fetch a token, once for all waiting threads; if that fails, use the old one while it is valid."""
        deadline = self._clock() + seconds
        if not self._lock.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            raise _timeout_error(seconds)
        try:
            cached = self._cached_headers()
            if cached is not None:
                return cached
            try:
                self._token = self._fetch(deadline)
            except OAuthTokenError:
                old, now = self._token, self._clock()
                if old is None or now >= old.valid_until:
                    raise
                self._token = _CachedToken(old.token, min(now + _RETRY_PAUSE, old.valid_until), old.valid_until)
            return _authorization_header(self._token)
        finally:
            self._lock.release()

    def _fetch(self, deadline: float) -> _CachedToken:
        for attempt in range(max(1, self._retries.attempts)):
            pause = self._retries.pause(attempt)
            if attempt and self._clock() + pause >= deadline:
                break
            time.sleep(pause)
            try:
                return self._fetch_once(deadline)
            except OAuthTokenError as error:
                failure = error
                if not _is_temporary(error.status_code):
                    break
        raise failure

    def _fetch_once(self, deadline: float) -> _CachedToken:
        import httpx2  # noqa: PLC0415 - the transport has imported it already

        from contractlog.clients.blocking_deadline import TimeLimit  # noqa: PLC0415 - needs httpx2

        started = self._clock()
        seconds = max(deadline - started, 0.001)
        limit = TimeLimit()
        try:
            with httpx2.Client(timeout=seconds, **self._client_options) as client:
                limit.apply_to(client)
                with (
                    limit.within(seconds),
                    client.stream(url=self._endpoint, **self._request_arguments()) as response,
                ):
                    body = self._read_body(response, deadline)
        except httpx2.TimeoutException:
            raise self._fetch_error("the response did not arrive completely in time") from None
        except (httpx2.RequestError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise self._fetch_error(str(error) or type(error).__name__) from None
        if not response.is_success:
            start = body[:_SHOWN_BYTES].decode(errors="replace")
            raise self._fetch_error(f"it responded with status {response.status_code}", response.status_code, start)
        return self._parse_token(body, started)

    def _read_body(self, response: httpx2.Response, deadline: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_raw():  # not decoded: compression was not requested, and could expand to any size
            body += chunk
            if len(body) > _MAX_BODY_BYTES:
                raise self._fetch_error(f"its response is longer than {_MAX_BODY_BYTES} bytes", response.status_code)
            if self._clock() > deadline:
                raise self._fetch_error("the response did not arrive completely in time")
        return bytes(body)

    def _parse_token(self, body: bytes, started: float) -> _CachedToken:
        try:
            fields = orjson.loads(body)
            token, lifetime = fields["access_token"], _lifetime(fields)
        except (ValueError, TypeError, KeyError):
            raise self._fetch_error("its response contains no access_token with a valid life") from None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise self._fetch_error("its access_token cannot stand in a header")
        return _CachedToken(token, started + lifetime * _RENEWAL_SHARE, started + lifetime)

    def _fetch_error(self, reason: str, status: int | None = None, text: str | None = None) -> OAuthTokenError:
        parts = urlsplit(self._endpoint)
        url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return OAuthTokenError(f"no token from {url}: {reason}", status, text)


class ClientCredentials(_FetchingTokenSource):
    """Source ``OAUTHBEARER``: OAuth 2.0 client credentials (RFC 6749, section 4.4)."""

    def __init__(self, endpoint: str, client: str, secret: str, scope: str, retries: Retries, **options: Any) -> None:
        super().__init__(endpoint, retries, **options)
        self._client, self._secret, self._scope = client, secret, scope

    def _request_arguments(self) -> dict[str, Any]:
        return {
            "method": "POST",
            "data": {"grant_type": "client_credentials", "scope": self._scope},
            "auth": (self._client, self._secret),
            "headers": {"Accept": "application/json", "Accept-Encoding": "identity"},
        }


class ManagedIdentity(_FetchingTokenSource):
    """Source ``OAUTHBEARER_AZURE_IMDS``: Azure's instance metadata service, never through a proxy."""

    @property
    def _client_options(self) -> dict[str, Any]:
        return {"trust_env": False, "verify": create_system_tls_context(trust_env=False)}

    def _request_arguments(self) -> dict[str, Any]:
        headers = {"Metadata": "true", "Accept": "application/json", "Accept-Encoding": "identity"}
        return {"method": "GET", "headers": headers}


def _authorization_header(token: _CachedToken) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.token}"}


def _lifetime(fields: Mapping[str, Any]) -> float:
    """Return the remaining lifetime of a token in seconds; Azure sends numbers as strings.

    Raises:
        ValueError: the lifetime is not a number, negative or infinite.
    """
    if fields.get("expires_in") is not None:
        lifetime = float(fields["expires_in"])
    elif fields.get("expires_on") is not None:
        lifetime = float(fields["expires_on"]) - time.time()
    else:
        lifetime = _DEFAULT_LIFETIME
    if not 0 <= lifetime < math.inf:
        raise ValueError("not a time")
    return lifetime


def _is_temporary(status: int | None) -> bool:
    return status is None or status in _TEMPORARY or status >= 500  # noqa: PLR2004 - server errors


def _timeout_error(seconds: float) -> OAuthTokenError:
    return OAuthTokenError(f"no token within {seconds:g} seconds")
