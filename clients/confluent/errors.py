"""Exceptions that are instances both of the service's classes and of confluent-kafka's.

An error of this package can be caught as ``SubjectNotFound`` of ``compatibility/errors.py``, as ``SchemaRegistryError``
of this package, and as confluent-kafka's ``SchemaRegistryError`` if that is loaded (``compatibility/kinship.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from contractlog.compatibility.errors import ContractlogError, RegistryError, Unreachable, UnreadableAnswer
from contractlog.compatibility.kinship import become_kin

__all__ = ["OAuthTokenError", "SchemaRegistryError", "catchable"]

_THEIRS: Final = ("confluent_kafka.schema_registry.error", "SchemaRegistryError")
_made: dict[type[RegistryError], type[RegistryError]] = {}


class _Base(Exception):
    """Intermediate base class: the bases of a direct subclass of ``Exception`` cannot be changed."""


class SchemaRegistryError(_Base):
    """Error response of the registry, with the constructor and attributes of confluent-kafka's class."""

    UNKNOWN: ClassVar[int] = -1

    def __init__(self, http_status_code: int, error_code: int, error_message: str) -> None:
        become_kin(SchemaRegistryError, *_THEIRS)
        Exception.__init__(self, http_status_code, error_code, error_message)
        self.__dict__.update(http_status_code=http_status_code, error_code=error_code, error_message=error_message)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        said: Any = self
        return f"{said.error_message} (HTTP status code {said.http_status_code}, SR code {said.error_code})"


class OAuthTokenError(Unreachable):
    """No token could be fetched, so no request was sent; also an instance of confluent-kafka's class."""

    def __init__(self, message: str, status_code: int | None = None, response_text: str | None = None) -> None:
        become_kin(OAuthTokenError, _THEIRS[0], "OAuthTokenError")
        ContractlogError.__init__(self, message, status_code=status_code, response_text=response_text)

    def __str__(self) -> str:
        text = self.facts["response_text"]
        return f"{self.message} ({text})" if text else self.message


become_kin(SchemaRegistryError, *_THEIRS)  # also on import: if theirs is loaded, service errors may inherit from it


class _Spoken:
    """Formats an error like confluent-kafka, and makes it picklable although its class is not importable."""

    __str__ = SchemaRegistryError.__str__
    __repr__ = SchemaRegistryError.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        said: Any = self
        return _again, (type(self).__bases__[1], said.message, said.facts)


def catchable(error: RegistryError) -> Exception:
    """Return the same error as an instance of ``SchemaRegistryError`` too."""
    if isinstance(error, UnreadableAnswer):
        status = int(error.facts.get("status", UnreadableAnswer.code))
        return SchemaRegistryError(status, SchemaRegistryError.UNKNOWN, error.message)
    facts = error.facts
    if facts.get("uncoded"):
        facts = facts | {"error_code": SchemaRegistryError.UNKNOWN}
    return _class(type(error))(error.message, **facts)


def _class(kind: type[RegistryError]) -> type[RegistryError]:
    if kind not in _made:
        _made[kind] = type(kind.__name__, (_Spoken, kind, SchemaRegistryError), {"__module__": kind.__module__})
    return _made[kind]


def _again(kind: type[RegistryError], message: str, facts: dict[str, Any]) -> Exception:
    return catchable(kind(message, **facts))
