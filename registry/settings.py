"""Settings of the service, how they are read from the environment, and the values that they accept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, Self, get_origin, get_type_hints

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.telemetry.logging import LogFormat, LogLevel

__all__ = ["PREFIX", "ClientCertificates", "Settings", "find_misspelled_variables"]

PREFIX: Final = "CONTRACTLOG_"
#: Variables that clients and other commands read, without the prefix.
_FOREIGN_VARIABLES: Final = frozenset({"BOOTSTRAP_SERVERS", "BROKER_CONFIG", "TRACEBACK"})
#: Prefixes of more such names; the last two are set by Kubernetes for a service with the name ``contractlog``.
_FOREIGN_PREFIXES: Final = ("REGISTRY_", "SOURCE_", "SERVICE_", "PORT_")
_FLAGS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest value of a number; without them it is 0 at least."""

    minimum: float = 0
    maximum: float = sys.float_info.max


class ClientCertificates(StrEnum):
    """Requirement for client certificates when a CA to verify them is configured."""

    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the service; each member is also read from ``CONTRACTLOG_<MEMBER>``."""

    #: ``sqlite:///FILE``, ``sqlite://`` (in memory) or ``postgresql://…``
    database_url: str = "sqlite:///contractlog.db"
    host: str = "127.0.0.1"
    port: Annotated[int, Bounds(maximum=65535)] = 8081  #: 0 selects a free port
    level: Level = Level.BACKWARD  #: the compatibility level where none is configured
    max_body_bytes: Annotated[int, Bounds(1)] = 1024 * 1024  #: larger requests are rejected with 413
    #: largest body of an import; larger ones are rejected with 413
    max_import_bytes: Annotated[int, Bounds(1)] = 1024 * 1024 * 1024
    #: how long a request may take to send its body; slower ones are rejected with 408
    body_seconds: Annotated[float, Bounds(0.1)] = 60.0
    max_pending_writes: Annotated[int, Bounds(1)] = 1_000  #: further writes are rejected with 503 immediately
    cache_bytes: int = 64 * 1024 * 1024  #: size of the cache of responses by id
    #: steps of work that one request may take; two ordinary schemas take hundreds
    request_steps: Annotated[int, Bounds(10_000)] = 2_000_000
    caller_steps: int = 10_000_000  #: steps that one caller may take per minute; 0 is no limit
    read_threads: Annotated[int, Bounds(1)] = 8  #: requests that parse, check or read at the same time
    workers: Annotated[int, Bounds(1)] = 1  #: serving processes; more than one needs PostgreSQL
    drain_seconds: float = 2.0  #: after SIGTERM, how long open connections may still send requests
    log_format: LogFormat = LogFormat.TEXT  #: on stderr: ``text``, or ``json``, one object per line
    log_level: LogLevel = LogLevel.WARNING  #: less severe messages are not written
    access_log: bool = False  #: a line for each request, without bodies, queries and headers
    statement_timeout_ms: int = 30_000  #: PostgreSQL: longer statements are cancelled
    #: PostgreSQL: a database that has not responded for so long is unavailable
    answer_timeout_ms: Annotated[int, Bounds(100)] = 1_000
    connect_timeout_ms: Annotated[int, Bounds(100)] = 3_000  #: PostgreSQL: longer attempts to connect are given up
    checkout_timeout_ms: Annotated[int, Bounds(100)] = 5_000  #: how long to wait for a connection when all are in use
    users_file: str = ""  #: users and permissions, written by ``contractlog users``; empty: everybody may do everything
    owners_file: str = ""  #: protected subjects and their owners, who approve changes; empty: nothing is protected
    anonymous_reads: bool = False  #: with users: unauthenticated callers may read
    allowed_hosts: str = ""  #: allowed ``Host`` values, by commas; empty: this machine on a loopback address, else all
    allowed_origins: str = ""  #: other origins whose pages may write, comma-separated; needed behind proxies
    metrics_token: str = ""  #: a bearer token for ``/metrics`` only; without users it is required there
    trusted_proxies: str = ""  #: addresses and networks, comma-separated, whose ``X-Forwarded-For`` is trusted
    tls_certificate: str = ""  #: the certificate chain (PEM) of the listener; empty: no TLS
    tls_key: str = ""  #: its key (PEM), if not in the same file
    tls_key_password: str = ""  #: password of an encrypted key
    tls_client_ca: str = ""  #: the CA (PEM) that verifies client certificates; empty: none are requested
    tls_client_certificates: ClientCertificates = ClientCertificates.REQUIRED  #: ``required`` or ``optional``
    response_profile: Profile = Profile.CURRENT  #: response format of a release: ``8``, ``7.6`` or ``5.5``
    mode_mutability: bool = True  #: whether modes can be changed at all
    allow_id_gap: bool = False  #: ids may be requested or imported that are more than 1,000,000 above all others
    old_conflict_code: bool = False  #: an incompatible schema is rejected with ``error_code`` 409, not 40901
    #: days that audit results are stored for, except the newest of each part of a topic; 0 is for ever
    results_days: Annotated[int, Bounds(maximum=100_000)] = 400
    #: keys and values of topics that have audit results; results of others are rejected; 0 is no limit
    max_audited_parts: Annotated[int, Bounds(maximum=100_000_000)] = 100_000
    #: parts of topics whose newest audit is in ``/metrics``: half by violating records, half by fair shares of topics
    max_metric_parts: Annotated[int, Bounds(maximum=100_000)] = 1_000
    #: secret by which the registry wraps the keys of shared KEKs of type `local-kms`; empty: it cannot
    local_kms_secret: str = ""
    webhook_urls: str = ""  #: URLs, comma-separated, that receive new entries of the change log; empty: none
    webhook_secret: str = ""  #: signs the requests to them; required if there are any
    webhook_subjects: str = ""  #: patterns of the subjects whose entries are sent, comma-separated; empty: all
    webhook_actions: str = ""  #: patterns of the actions that are sent, such as ``version.*``; empty: all
    webhook_allow_private: bool = False  #: webhooks may have private addresses, or no TLS
    cluster_id: str = "schema-registry"  #: the name of this registry in ``/v1/metadata/id``
    kafka_cluster_id: str = ""  #: the Kafka cluster in the same response; empty: none

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, **overrides: Any) -> Self:
        """Read settings from ``CONTRACTLOG_*``; arguments that are not None take precedence.

        Raises:
            UsageError: a variable has an invalid value.
        """
        overrides = {name: value for name, value in overrides.items() if value is not None}
        values: dict[str, Any] = {}
        for member, hint in _setting_types().items():
            variable = PREFIX + member.upper()
            if member in overrides:
                values[member] = _parse_setting(hint, overrides[member], f"--{member.replace('_', '-')}")
            elif environment.get(variable):
                values[member] = _parse_setting(hint, environment[variable], variable)
        return cls(**values)

    @property
    def authenticates(self) -> bool:
        """Return True if callers need credentials; otherwise everyone has all permissions."""
        return bool(self.users_file or self.tls_client_ca)

    def __post_init__(self) -> None:
        """Parse members given as text, with the same rules as the environment.

        Raises:
            UsageError: a member has an invalid value.
        """
        for member, hint in _setting_types().items():
            object.__setattr__(self, member, _parse_setting(hint, getattr(self, member), member))


@cache
def _setting_types() -> Mapping[str, Any]:
    return get_type_hints(Settings, include_extras=True)


def find_misspelled_variables(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield a warning for each variable that looks like a setting but is none, with the closest setting."""
    names = {member.name.upper() for member in fields(Settings)} | _FOREIGN_VARIABLES
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name == variable or name in names or name.startswith(_FOREIGN_PREFIXES):
            continue
        near = get_close_matches(name, sorted(names), 1, cutoff=0.7)
        hint = f"is {PREFIX}{near[0]} meant?" if near else "docs/operating.md lists the settings"
        yield f"nothing reads {variable}: {hint}"


def _parse_setting(hint: Any, value: Any, name: str) -> Any:
    """Parse and check the value of a setting, given as text or as a Python value.

    Args:
        hint: its type, with bounds if it has any.
        value: text is parsed; words in any case.
        name: its name where it was given: a flag, a variable, or the member itself.

    Raises:
        UsageError: the value is invalid.
    """
    kind, bounds = (hint.__origin__, hint.__metadata__[0]) if get_origin(hint) is Annotated else (hint, Bounds())
    try:
        parsed = _convert(kind, value)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{name} cannot be `{value}`: it takes {_describe_type(kind)}") from None
    if kind in {int, float} and not bounds.minimum <= parsed <= bounds.maximum:
        upwards = "" if bounds.maximum == sys.float_info.max else f" to {bounds.maximum}"
        raise UsageError(f"{name} cannot be {parsed}: it takes a number from {bounds.minimum:g}{upwards}")
    return parsed


def _convert(kind: type, value: Any) -> Any:
    if issubclass(kind, StrEnum):
        return value if isinstance(value, kind) else {member.lower(): member for member in kind}[value.lower()]
    if kind is str:
        return os.fspath(value)
    if kind is bool:
        return value if isinstance(value, bool) else _FLAGS[value.lower()]
    if isinstance(value, bool) or not isinstance(value, str | int if kind is int else str | int | float):
        raise TypeError
    return int(value) if kind is int else float(value)


def _describe_type(kind: type) -> str:
    if issubclass(kind, StrEnum):
        return "one of " + ", ".join(kind)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
    return names[kind]
