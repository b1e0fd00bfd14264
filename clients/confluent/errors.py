"""Exceptions that belong both to our own classes of errors and to those of confluent-kafka.

An error of this package can be caught as ``SubjectNotFound`` of ``compatibility/errors.py``, as ``SchemaRegistryError``
of this package, and as confluent-kafka's ``SchemaRegistryError`` if that is installed.
"""

from __future__ import annotations

from contractlog.clients.confluent.bases import ConfluentTokenError
from contractlog.compatibility.confluent_bases import SchemaRegistryError
from contractlog.compatibility.errors import ContractlogError, RegistryError, Unreachable, UnreadableResponse

__all__ = ["OAuthTokenError", "SchemaRegistryError", "as_confluent_error"]


class OAuthTokenError(Unreachable, ConfluentTokenError):
    """No token could be fetched, so no request was sent; also an instance of confluent-kafka's class."""

    def __init__(self, message: str, status_code: int | None = None, response_text: str | None = None) -> None:
        ContractlogError.__init__(self, message, status_code=status_code, response_text=response_text)

    def __str__(self) -> str:
        text = self.facts["response_text"]
        return f"{self.message} ({text})" if text else self.message


def as_confluent_error(error: RegistryError) -> Exception:
    """Return the error with confluent-kafka's text, and with its code if the response had none."""
    if isinstance(error, UnreadableResponse):
        status = int(error.facts.get("status", UnreadableResponse.code))
        return SchemaRegistryError(status, SchemaRegistryError.UNKNOWN, error.message)
    facts = error.facts | {"confluent_format": True}
    if facts.get("uncoded"):
        facts |= {"error_code": SchemaRegistryError.UNKNOWN}
    return type(error)(error.message, **facts)
