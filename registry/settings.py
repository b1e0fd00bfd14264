"""What can be set about the service, and from where it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, Self, get_type_hints

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.level import Level
from contractlog.registry.bodies.profiles import Profile
from contractlog.registry.telemetry.logs import LogForm, LogLevel

__all__ = ["PREFIX", "ClientCertificates", "Settings"]

PREFIX: Final = "CONTRACTLOG_"


class ClientCertificates(StrEnum):
    """Whether clients must show a certificate, where there is a CA to check them by."""

    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; each member is also read from ``CONTRACTLOG_<MEMBER>``."""

    database_url: str = (
        "sqlite:///contractlog.db"  #: ``sqlite:///FILE``, ``sqlite://`` (in memory) or ``postgresql://…``
    )
    host: str = "127.0.0.1"
    port: int = 8081  #: 0 takes a free one
    level: Level = Level.BACKWARD  #: the compatibility level where none is configured
    max_body_bytes: int = 1024 * 1024  #: larger requests are answered with 413
    max_import_bytes: int = 1024 * 1024 * 1024  #: a larger export is not taken in by a running registry
    body_seconds: float = 60.0  #: how long a request may take to send its body; later ones are answered with 408
    max_pending_writes: int = 1_000  #: more are answered with 503 at once
    cache_bytes: int = 64 * 1024 * 1024  #: answers by id that are kept in memory
    read_threads: int = 8  #: requests that parse, judge or read at the same time
    workers: int = 1  #: processes that serve; more than one needs PostgreSQL
    drain_seconds: float = 2.0  #: after SIGTERM, how long open connections may still ask for something
    log_format: LogForm = LogForm.TEXT  #: on stderr: ``text``, or ``json``, one object per line
    log_level: LogLevel = LogLevel.WARNING  #: what is less is not written
    access_log: bool = False  #: a line for each request, without bodies, queries and headers
    statement_timeout_ms: int = 30_000  #: PostgreSQL: longer statements are given up
    users_file: str = ""  #: who may do what, as ``contractlog users`` writes it; empty: everybody may do everything
    anonymous_reads: bool = False  #: with users: who gives no name may read
    tls_certificate: str = ""  #: the certificate chain (PEM) of the listener; empty: no TLS
    tls_key: str = ""  #: its key (PEM), where it is not in the same file
    tls_key_password: str = ""  #: of an encrypted key
    tls_client_ca: str = ""  #: the CA (PEM) by which certificates of clients are checked; empty: none are asked for
    tls_client_certificates: ClientCertificates = ClientCertificates.REQUIRED  #: ``required`` or ``optional``
    response_profile: Profile = Profile.CURRENT  #: answers in the shape of an older release: ``8``, ``7.6`` or ``5.5``
    mode_mutability: bool = True  #: whether modes can be changed at all
    old_conflict_code: bool = False  #: an incompatible schema is answered with ``error_code`` 409, not 40901
    cluster_id: str = "schema-registry"  #: the name of this registry in ``/v1/metadata/id``
    kafka_cluster_id: str = ""  #: the Kafka cluster named there; empty names none

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, **given: Any) -> Self:
        """Read settings from ``CONTRACTLOG_*``; what is given as an argument, and is not None, goes before.

        Raises:
            UsageError: a variable cannot be read as what it sets.
        """
        values = {name: value for name, value in given.items() if value is not None}
        types = get_type_hints(cls)
        for member in fields(cls):
            variable = PREFIX + member.name.upper()
            if member.name not in values and environment.get(variable):
                values[member.name] = _read(variable, environment[variable], types[member.name])
            _bounded(variable, values.get(member.name), member.name)
        return cls(**values)


#: The least value of numbers that cannot be 0.
_LEAST: Final = {
    "workers": 1,
    "read_threads": 1,
    "max_pending_writes": 1,
    "max_body_bytes": 1,
    "max_import_bytes": 1,
    "body_seconds": 0.1,
}
_ENDLESS: Final = float("inf")
_FLAGS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _read(variable: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return _FLAGS[text.lower()]
        return Level.parse(text) if kind is Level else kind(text)
    except (ValueError, KeyError, ContractlogError):
        raise UsageError(f"{variable} cannot be `{text}`: it takes {_takes(kind)}") from None


def _bounded(variable: str, value: Any, name: str) -> None:
    """Raise where a number cannot be meant.

    Raises:
        UsageError: it is below the least one, or none at all.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and not _LEAST.get(name, 0) <= value < _ENDLESS:
        flag = f"--{name} or {variable}" if name == "workers" else variable
        raise UsageError(f"{flag} cannot be {value}: it takes a number from {_LEAST.get(name, 0):g}")


def _takes(kind: type) -> str:
    if issubclass(kind, StrEnum):
        return "one of " + ", ".join(kind)
    if kind is float:
        return "a number"
    return "true or false" if kind is bool else "a whole number"
