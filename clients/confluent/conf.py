"""Parser of confluent-kafka's client configuration into arguments of ``Registry``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from contractlog.clients.cli.verbs import SERVICE_IN_PROCESS, load_target
from contractlog.clients.confluent.bearer import BEARER_KEYS, read_bearer
from contractlog.clients.conversation import Retries
from contractlog.clients.settings import DEFAULT_TIMEOUT, Address, Security, TokenSource, suggested
from contractlog.compatibility.errors import UsageError

__all__ = ["Conf"]

_LATEST_SECONDS: Final = 60.0
_MOCK: Final = "mock://"
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
class Conf:
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
        left = dict(conf)
        url = _url(left.pop("url", None))
        seconds = _number(left, "retries.wait.ms", 1_000) / 1_000, _number(left, "retries.max.wait.ms", 20_000) / 1_000
        retries = Retries(attempts=int(_number(left, "max.retries", 3)) + 1, first=seconds[0], longest=seconds[1])
        token, headers = read_bearer(left, retries)
        security = _security(left, url, token)
        timeout = left.pop("timeout", None)
        proxy = left.pop("proxy", None)
        capacity = int(_number(left, "cache.capacity", 1_000))
        latest = _number(left, "cache.latest.ttl.sec", _LATEST_SECONDS)
        if left:
            raise ValueError(f"Unrecognized properties: {', '.join(suggested(str(key), _KEYS) for key in left)}")
        registry = {
            **({"app": _in_process(url)} if url.startswith(_MOCK) else {"url": url}),
            "timeout": DEFAULT_TIMEOUT if timeout is None else float(timeout),
            "headers": headers,
            "retries": retries,
            "security": security,
            "proxy": None if url.startswith(_MOCK) else proxy,
        }
        return cls(registry, capacity, latest)


def _url(url: Any) -> str:
    if url is None:
        raise ValueError("Missing required configuration property url")
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url)}")
    if url.strip().startswith(_MOCK) and "," not in url:
        return url.strip()
    for one in url.split(","):
        if one.strip().startswith(_MOCK):
            raise ValueError("a mock:// URL cannot be one of several: name one URL")
        if not one.strip().startswith("http"):
            raise ValueError(f"Invalid url {one.strip().rstrip('/')}")
    return url


def _in_process(url: str) -> Any:
    """Return the in-process service of a ``mock://`` URL: one per name and process."""
    try:
        return load_target(SERVICE_IN_PROCESS)(url.removeprefix(_MOCK))
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("contractlog"):
            raise
        raise UsageError(f"`{url}` needs an extra: pip install 'contractlog[server]'") from None


def _security(left: dict[str, Any], url: str, token: str | TokenSource | None) -> Security:
    ca, certificate = left.pop("ssl.ca.location", None), left.pop("ssl.certificate.location", None)
    key, password = left.pop("ssl.key.location", None), left.pop("ssl.key.password", None)
    if certificate is None and (key is not None or password is not None):
        raise ValueError("ssl.certificate.location required when configuring ssl.key.location or ssl.key.password")
    user, secret = _user(left, url)
    return Security(
        user=user, password=secret, token=token, ca=ca, certificate=certificate, key=key, key_password=password
    )


def _user(left: dict[str, Any], url: str) -> tuple[str | None, str | None]:
    if "basic.auth.user.info" not in left:
        return None, None
    if not url.startswith(_MOCK) and Address.parse(url)[0].user is not None:
        raise ValueError("basic.auth.user.info configured with userinfo credentials in the URL; remove one of them")
    user, colon, password = str(left.pop("basic.auth.user.info")).partition(":")
    if not colon:
        raise ValueError("basic.auth.user.info must be in the form of {username}:{password}")
    return user, password


def _number(left: dict[str, Any], key: str, default: float) -> float:
    value = left.pop(key, None)
    if value is None:
        return default
    if not isinstance(value, int | float):
        raise TypeError(f"{key} must be a number, not {type(value)}")
    return value
