"""What can be set about the service, and from where it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self, get_type_hints

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.level import Level

__all__ = ["PREFIX", "Settings"]

PREFIX: Final = "CONTRACTLOG_"


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
    max_pending_writes: int = 1_000  #: more are answered with 503 at once
    cache_bytes: int = 64 * 1024 * 1024  #: answers by id that are kept in memory
    read_threads: int = 8  #: requests that parse, judge or read at the same time
    statement_timeout_ms: int = 30_000  #: PostgreSQL: longer statements are given up

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
        return cls(**values)


def _read(variable: str, text: str, kind: type) -> Any:
    try:
        return Level.parse(text) if kind is Level else kind(text)
    except (ValueError, ContractlogError):
        raise UsageError(f"{variable} cannot be `{text}`: it takes {_takes(kind)}") from None


def _takes(kind: type) -> str:
    return "one of " + ", ".join(Level) if kind is Level else "a whole number"
