"""Exceptions that are instances both of the service's classes and of confluent-kafka's.

An error of this package can be caught as ``SubjectNotFound`` of ``compatibility/errors.py``, as ``SchemaRegistryError``
of this package, and as confluent-kafka's ``SchemaRegistryError`` if that is loaded
(``compatibility/confluent_bases.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from contractlog.compatibility.confluent_bases import add_loaded_base
from contractlog.compatibility.errors import ContractlogError, RegistryError, Unreachable, UnreadableAnswer

__all__ = ["OAuthTokenError", "SchemaRegistryError", "as_confluent_error"]

_CONFLUENT_CLASS: Final = ("confluent_kafka.schema_registry.error", "SchemaRegistryError")
_combined_classes: dict[type[RegistryError], type[RegistryError]] = {}


class _ErrorBase(Exception):
    """Intermediate base class: the bases of a direct subclass of ``Exception`` cannot be changed."""


class SchemaRegistryError(_ErrorBase):
    """Error response of the registry, with the constructor and attributes of confluent-kafka's class."""

    UNKNOWN: ClassVar[int] = -1

    def __init__(self, http_status_code: int, error_code: int, error_message: str) -> None:
        add_loaded_base(SchemaRegistryError, *_CONFLUENT_CLASS)
        Exception.__init__(self, http_status_code, error_code, error_message)
        self.__dict__.update(http_status_code=http_status_code, error_code=error_code, error_message=error_message)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        error: Any = self
        return f"{error.error_message} (HTTP status code {error.http_status_code}, SR code {error.error_code})"


class OAuthTokenError(Unreachable):
    """No token could be fetched, so no request was sent; also an instance of confluent-kafka's class."""

    def __init__(self, message: str, status_code: int | None = None, response_text: str | None = None) -> None:
        add_loaded_base(OAuthTokenError, _CONFLUENT_CLASS[0], "OAuthTokenError")
        ContractlogError.__init__(self, message, status_code=status_code, response_text=response_text)

    def __str__(self) -> str:
        text = self.facts["response_text"]
        return f"{self.message} ({text})" if text else self.message


add_loaded_base(
    SchemaRegistryError, *_CONFLUENT_CLASS
)  # also on import: if theirs is loaded, service errors may inherit from it


class _ConfluentFormat:
    """Formats an error like confluent-kafka, and makes it picklable although its class is not importable."""

    __str__ = SchemaRegistryError.__str__
    __repr__ = SchemaRegistryError.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        error: Any = self
        return _rebuild, (type(self).__bases__[1], error.message, error.facts)


def as_confluent_error(error: RegistryError) -> Exception:
    """Return the same error as an instance of ``SchemaRegistryError`` too."""
    if isinstance(error, UnreadableAnswer):
        status = int(error.facts.get("status", UnreadableAnswer.code))
        return SchemaRegistryError(status, SchemaRegistryError.UNKNOWN, error.message)
    facts = error.facts
    if facts.get("uncoded"):
        facts = facts | {"error_code": SchemaRegistryError.UNKNOWN}
    return _combined_class(type(error))(error.message, **facts)


def _combined_class(kind: type[RegistryError]) -> type[RegistryError]:
    if kind not in _combined_classes:
        _combined_classes[kind] = type(
            kind.__name__, (_ConfluentFormat, kind, SchemaRegistryError), {"__module__": kind.__module__}
        )
    return _combined_classes[kind]


def _rebuild(kind: type[RegistryError], message: str, facts: dict[str, Any]) -> Exception:
    return as_confluent_error(kind(message, **facts))
