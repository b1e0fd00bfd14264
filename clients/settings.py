"""Connection settings of a client: URL, timeout, credentials and certificates."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self
from urllib.parse import unquote, urlsplit, urlunsplit

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError

if TYPE_CHECKING:
    import ssl

__all__ = [
    "DEFAULT_TIMEOUT",
    "DEFAULT_URL",
    "URL_VARIABLES",
    "RegistryAddress",
    "Security",
    "TokenSource",
    "create_system_tls_context",
    "describe_unknown_key",
    "environment_variable",
    "environment_variables",
    "find_colliding_variable",
    "find_url_variables",
    "registry_url",
]

URL_VARIABLES: Final = ("CONTRACTLOG_REGISTRY_URL", "SCHEMA_REGISTRY_URL")  #: the first one that is set is used
DEFAULT_URL: Final = "http://127.0.0.1:8081"  #: the default address of ``contractlog serve``
_MAX_CERTIFICATE_BYTES: Final = 16 * 1024 * 1024
_VARIABLE_PREFIX: Final = "CONTRACTLOG_REGISTRY_"
DEFAULT_TIMEOUT: Final = 30.0  #: seconds for a whole call: connecting, waiting and retrying


def registry_url(option: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return the URL from ``--registry``, else from the environment, else ``DEFAULT_URL``."""
    variables = os.environ if environ is None else environ
    candidates = (option, *map(variables.get, URL_VARIABLES))
    return next((text for text in candidates if text), DEFAULT_URL)


def environment_variables(name: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of one environment of a manifest, which end in its name, without this ending.

    >>> environment_variables("prod", {"CONTRACTLOG_REGISTRY_USER": "a", "CONTRACTLOG_REGISTRY_USER_PROD": "b"})
    {'CONTRACTLOG_REGISTRY_USER': 'b'}
    """
    suffix = _variable_suffix(name)
    variables = os.environ if environ is None else environ
    own = _list_variables()
    return {each: variables[each + suffix] for each in own if each + suffix in variables and each + suffix not in own}


def environment_variable(name: str) -> str:
    """Return the name of the variable with the registry's URL of one environment of a manifest.

    >>> environment_variable("prod-eu")
    'CONTRACTLOG_REGISTRY_URL_PROD_EU'
    """
    return URL_VARIABLES[0] + _variable_suffix(name)


def find_url_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that name a registry, with or without an environment, and their URLs.

    >>> find_url_variables({"CONTRACTLOG_REGISTRY_URL_PROD": "http://a", "CONTRACTLOG_REGISTRY_USER": "b"})
    {'CONTRACTLOG_REGISTRY_URL_PROD': 'http://a'}
    """
    return {
        variable: value
        for variable, value in (os.environ if environ is None else environ).items()
        if value and (variable in URL_VARIABLES or variable.startswith(f"{URL_VARIABLES[0]}_"))
    }


def find_colliding_variable(name: str) -> str | None:
    """Return a variable of another meaning that an environment of this name would use, or None.

    >>> find_colliding_variable("prod"), find_colliding_variable("password")
    (None, 'CONTRACTLOG_REGISTRY_KEY_PASSWORD')
    """
    own, suffix = _list_variables(), _variable_suffix(name)
    return next((each + suffix for each in own if each + suffix in own), None)


def _list_variables() -> tuple[str, ...]:
    """Return the variables that may end in the name of an environment."""
    return (URL_VARIABLES[0], *(_VARIABLE_PREFIX + item.name.upper() for item in fields(Security)))


def _variable_suffix(name: str) -> str:
    return "_" + re.sub(r"\W", "_", name).upper()


def describe_unknown_key(key: str, valid_keys: Iterable[str]) -> str:
    """Return an unknown configuration key, with the most similar valid key if there is one.

    >>> describe_unknown_key("use.latest.verson", ["use.latest.version", "normalize.schemas"])
    'use.latest.verson (did you mean use.latest.version?)'
    """
    nearest = get_close_matches(key, list(valid_keys), n=1)
    return f"{key} (did you mean {nearest[0]}?)" if nearest else key


class TokenSource(ABC):
    """Source of authentication headers, called for each request."""

    @abstractmethod
    def headers(self, seconds: float) -> Mapping[str, str]:
        """Return the headers of one request, within ``seconds``."""

    @abstractmethod
    async def async_headers(self, seconds: float) -> Mapping[str, str]:
        """Return the headers of one request, within ``seconds``, without blocking the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """Credentials of a client, and the CA it trusts. Credentials in a URL take precedence."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    #: bearer token, sent if there is no user; a function or a source is called for each request, for renewed tokens
    token: str | Callable[[], str] | TokenSource | None = field(default=None, repr=False)
    #: a file (PEM) or folder of the CA that signed the registry's certificate; None: the system's CAs; False: the
    #: registry's certificate is not verified
    ca: str | Literal[False] | None = None
    certificate: str | None = None  #: a file (PEM) with the client certificate
    key: str | None = None  #: a file with its private key, if that is not in ``certificate``
    key_password: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read ``CONTRACTLOG_REGISTRY_USER``, ``_PASSWORD``, ``_TOKEN``, ``_CA`` …: one per attribute."""
        variables = os.environ if environ is None else environ
        return cls(**{item.name: variables.get(_VARIABLE_PREFIX + item.name.upper()) or None for item in fields(cls)})

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the TLS context for connections, or None for the default one.

        Raises:
            UsageError: a certificate or key file cannot be used.
        """
        if self.ca is None and self.certificate is None:
            return None
        import ssl  # noqa: PLC0415 - imported only if needed

        try:
            self._require_readable_files()
            context = ssl.create_default_context(**_ca_argument(self.ca or None))
            context.hostname_checks_common_name = False  # as in create_system_tls_context
            if self.ca is False:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password=self.key_password or str)
        except OSError as error:
            if self._lacks_key():
                raise UsageError(
                    f"`{self.certificate}` is a certificate without its key: name the file of the key too, "
                    "by CONTRACTLOG_REGISTRY_KEY, Security(key=…) or --source-key"
                ) from None
            key = self.key and (self.key if _is_existing(self.key) else "the key")  # else it may be anything
            certificate = self.certificate and ("the certificate" if "\n" in self.certificate else self.certificate)
            files = ", ".join(file for file in (self.ca, certificate, key) if file)
            raise UsageError(f"the certificates cannot be used ({files}): {error.strerror or error}") from None
        return context

    def _require_readable_files(self) -> None:
        """Require regular files of a bounded size: OpenSSL would read a device or a pipe to its end.

        Raises:
            OSError: a file is neither regular nor small, or cannot be read.
        """
        for name in (self.ca, self.certificate, self.key):
            if name and not Path(name).is_dir():
                read_bounded_file(Path(name), _MAX_CERTIFICATE_BYTES)

    def _lacks_key(self) -> bool:
        """Return whether there is a certificate without a key: none was given, and its file has none."""
        if self.certificate is None or self.key is not None:
            return False
        try:
            return b"PRIVATE KEY" not in read_bounded_file(Path(self.certificate), _MAX_CERTIFICATE_BYTES)
        except OSError:
            return False


def _is_existing(path: str) -> bool:
    """Return whether a path exists.

    The content of a file in place of a path, which may be too long for a name, does not.
    """
    try:
        return Path(path).exists()
    except OSError:
        return False


def create_system_tls_context(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return a TLS context with the system's CAs, for server names in the certificate's subjectAltName.

    OpenSSL would also accept the name of a certificate's subject, which RFC 9525 forbids: CAs do not verify it.

    Args:
        trust_env: whether ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name other CAs.
    """
    import httpx2  # noqa: PLC0415 - slow to import

    context = httpx2.create_ssl_context(trust_env=trust_env)
    context.hostname_checks_common_name = False
    return context


def _ca_argument(ca: str | None) -> dict[str, Any]:
    return {"capath" if ca is not None and Path(ca).is_dir() else "cafile": ca}


@dataclass(frozen=True, slots=True)
class RegistryAddress:
    """Address of a registry, with the credentials apart, so that no message shows them."""

    url: str  #: scheme, host, port and path, without a trailing slash
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> tuple[RegistryAddress, ...]:
        """Parse one URL, or several separated by commas, in the order in which they are tried.

        >>> RegistryAddress.parse("http://me:secret@registry:8081/")[0].url
        'http://registry:8081'

        Raises:
            UsageError: one of them is not an http or https URL.
        """
        return tuple(_parse_address(part.strip()) for part in text.split(","))


def _parse_address(text: str) -> RegistryAddress:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:  # its text may have a part of a password
        raise _unreadable_url() from None
    if "@" in text.removeprefix(f"{parts.scheme}://{parts.netloc}"):
        raise _unreadable_url()
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            f"a registry's URL starts with http:// or https:// and names a host, unlike `{_without_credentials(text)}`"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return RegistryAddress(
        urlunsplit((parts.scheme, host if port is None else f"{host}:{port}", parts.path.rstrip("/"), "", "")),
        None if parts.username is None else unquote(parts.username),
        None if parts.username is None else unquote(parts.password or ""),
    )


def _unreadable_url() -> UsageError:
    return UsageError(
        "the registry's URL cannot be read: host or port is invalid. In a user name or a password, "
        "`@`, `:`, `/`, `?` and `#` are written as %40, %3A, %2F, %3F and %23"
    )


def _without_credentials(text: str) -> str:
    # Anything before an @ may be a secret.
    return text.rpartition("@")[2]
