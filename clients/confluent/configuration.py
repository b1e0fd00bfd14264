"""Parser of confluent-kafka's client configuration into arguments of ``Registry``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from contractlog.clients.confluent.bearer_tokens import BEARER_KEYS, read_bearer
from contractlog.clients.functions_by_name import import_function
from contractlog.clients.retry_and_failover import Retries
from contractlog.clients.settings import DEFAULT_TIMEOUT, RegistryAddress, Security, TokenSource, describe_unknown_key
from contractlog.compatibility.errors import UsageError

__all__ = ["IN_PROCESS_SERVICE", "ClientConfiguration"]

#: Function that returns the in-process service of ``mock://NAME``; needs the extra ``server``.
IN_PROCESS_SERVICE: Final = "contractlog.registry.mock_registries:get_named_app"

_LATEST_SECONDS: Final = 60.0
_MOCK_SCHEME: Final = "mock://"
_KEYS: Final = (
    "url",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
    "basic.auth.user.info",
    *BEARER_KEYS,
    "max.retries",
    "retries.wait.ms",
    "retries.max.wait.ms",
    "timeout",
    "proxy",
    "cache.capacity",
    "cache.latest.ttl.sec",
)


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """Parsed configuration of a client."""

    registry: Mapping[str, Any]  #: arguments of ``Registry``
    capacity: int  #: entries of each cache
    latest_seconds: float  #: lifetime of a subject's latest version in the cache

    @classmethod
    def parse(cls, conf: Mapping[str, Any]) -> Self:
        """Parse the configuration.

        Raises:
            ValueError: a key is missing, unknown, or contradicts another.
            TypeError: a value has the wrong type.
            UsageError: the URL starts with ``mock://``, and the extra ``server`` is not installed.
        """
        remaining = dict(conf)
        url = _check_url(remaining.pop("url", None))
        seconds = (
            _pop_number(remaining, "retries.wait.ms", 1_000) / 1_000,
            _pop_number(remaining, "retries.max.wait.ms", 20_000) / 1_000,
        )
        retries = Retries(
            attempts=int(_pop_number(remaining, "max.retries", 3)) + 1, first=seconds[0], longest=seconds[1]
        )
        token, headers = read_bearer(remaining, retries)
        security = _parse_security(remaining, url, token)
        timeout = remaining.pop("timeout", None)
        proxy = remaining.pop("proxy", None)
        capacity = int(_pop_number(remaining, "cache.capacity", 1_000))
        latest = _pop_number(remaining, "cache.latest.ttl.sec", _LATEST_SECONDS)
        if remaining:
            raise ValueError(
                f"Unrecognized properties: {', '.join(describe_unknown_key(str(key), _KEYS) for key in remaining)}"
            )
        registry = {
            **({"app": _in_process_app(url)} if url.startswith(_MOCK_SCHEME) else {"url": url}),
            "timeout": DEFAULT_TIMEOUT if timeout is None else float(timeout),
            "headers": headers,
            "retries": retries,
            "security": security,
            "proxy": None if url.startswith(_MOCK_SCHEME) else proxy,
        }
        return cls(registry, capacity, latest)


def _check_url(url: Any) -> str:
    if url is None:
        raise ValueError("Missing required configuration property url")
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url)}")
    if url.strip().startswith(_MOCK_SCHEME) and "," not in url:
        return url.strip()
    for part in url.split(","):
        if part.strip().startswith(_MOCK_SCHEME):
            raise ValueError("a mock:// URL cannot be one of several: name one URL")
        if not part.strip().startswith("http"):
            raise ValueError(f"Invalid url {part.strip().rstrip('/')}")
    return url


def _in_process_app(url: str) -> Any:
    """Return the in-process service of a ``mock://`` URL: one per name and process."""
    try:
        return import_function(IN_PROCESS_SERVICE)(url.removeprefix(_MOCK_SCHEME))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("contractlog"):
            raise
        raise UsageError(f"`{url}` needs an extra: pip install 'contractlog[server]'") from None


def _parse_security(remaining: dict[str, Any], url: str, token: str | TokenSource | None) -> Security:
    ca, certificate = remaining.pop("ssl.ca.location", None), remaining.pop("ssl.certificate.location", None)
    key, password = remaining.pop("ssl.key.location", None), remaining.pop("ssl.key.password", None)
    if certificate is None and (key is not None or password is not None):
        raise ValueError("ssl.certificate.location required when configuring ssl.key.location or ssl.key.password")
    user, secret = _parse_user(remaining, url)
    return Security(
        user=user, password=secret, token=token, ca=ca, certificate=certificate, key=key, key_password=password
    )


def _parse_user(remaining: dict[str, Any], url: str) -> tuple[str | None, str | None]:
    if "basic.auth.user.info" not in remaining:
        return None, None
    if not url.startswith(_MOCK_SCHEME) and RegistryAddress.parse(url)[0].user is not None:
        raise ValueError("basic.auth.user.info configured with userinfo credentials in the URL; remove one of them")
    user, colon, password = str(remaining.pop("basic.auth.user.info")).partition(":")
    if not colon:
        raise ValueError("basic.auth.user.info must be in the form of {username}:{password}")
    return user, password


def _pop_number(remaining: dict[str, Any], key: str, default: float) -> float:
    value = remaining.pop(key, None)
    if value is None:
        return default
    if not isinstance(value, int | float):
        raise TypeError(f"{key} must be a number, not {type(value)}")
    return value
