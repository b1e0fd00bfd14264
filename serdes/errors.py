"""Errors of serialization and deserialization, which always have the path of the value.

ContractlogError
└── SerializationError        topic, subject, schema_id, field (``legs[].carrier``), where (``legs[2].carrier``), reason
    ├── ContextMissing        the subject is named after a topic, and none was given; also a ``ValueError``
    ├── EncodeError           the value does not fit its schema; ``outcome`` if the catalogue has a code;
    │                         also a ``ValueError`` and a ``TypeError``
    ├── DecodeError           the bytes do not fit their schema; ``outcome`` is the code that an audit would give
    │   ├── BadFrame          the record does not start with a schema id
    │   └── SchemaIdNotFound  the registry has no schema with the id of the record; also a ``SchemaRegistryError``
    ├── ReaderMismatch        the reader schema cannot read what the writer schema wrote
    ├── SchemaNotUsable       the schema is registered, but no value can be checked against it
    └── RuleNotRun            the schema has a rule that this release does not run
"""

from __future__ import annotations

from typing import Any, Final, Self

from contractlog.compatibility.confluent_bases import add_loaded_base
from contractlog.compatibility.errors import ContractlogError, NotFound, SchemaNotFound
from contractlog.contracts.audit.outcomes import Outcome

__all__ = [
    "BadFrame",
    "ContextMissing",
    "DecodeError",
    "EncodeError",
    "ReaderMismatch",
    "RuleNotRun",
    "SchemaIdNotFound",
    "SchemaNotUsable",
    "SerializationError",
]

_MAX_REASON: Final = 500


class SerializationError(ContractlogError):
    """A value could not be serialized, or bytes could not be deserialized."""

    reason: str  #: one sentence that quotes at most a few hundred characters of data
    field: str  #: the value's path without positions, as in reports; empty for the value as a whole
    where: str  #: the value's path with positions
    outcome: Outcome | None  #: the code under which an audit would count it
    schema_id: int | None
    subject: str | None
    topic: str | None

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        values = {
            "reason": "",
            "field": "",
            "where": facts.get("field", ""),
            "outcome": None,
            "schema_id": None,
            "subject": None,
            "topic": None,
        } | facts
        values["reason"] = _shorten_reason(str(values["reason"]))
        add_loaded_base(SerializationError, "confluent_kafka.serialization", "SerializationError")
        super().__init__(_format_message(values) if message is None else message, **values)

    def within(self, **facts: Any) -> Self:
        """Return the same error with further facts: topic, subject, schema id."""
        return type(self)(**(self.facts | {name: fact for name, fact in facts.items() if fact is not None}))


class ContextMissing(SerializationError, ValueError):
    """The subject is named after a topic, and none was given."""


class EncodeError(SerializationError, ValueError, TypeError):
    """The value does not fit its schema.

    Serializers of confluent-kafka raise ``ValueError`` for some values and ``TypeError`` for others; code that catches
    these continues to work.
    """


class DecodeError(SerializationError):
    """The bytes do not fit their schema."""


class BadFrame(DecodeError):
    """The record does not start with a schema id."""

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        super().__init__(message, **({"outcome": Outcome.NOT_FRAMED} | facts))


class SchemaIdNotFound(DecodeError):
    """The registry has no schema with the id or guid of the record.

    It is a ``SchemaRegistryError`` of confluent-kafka and of ``contractlog.clients.confluent`` too, if a program has
    imported them, with ``error_code`` 40403 and ``http_status_code`` 404; the registry's error is its cause.
    """

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        # Ours first: it inherits from theirs, or will once an instance of it is made.
        for module in ("contractlog.clients.confluent.errors", "confluent_kafka.schema_registry.error"):
            add_loaded_base(SchemaIdNotFound, module, "SchemaRegistryError")
        codes = {"error_code": SchemaNotFound.code, "http_status_code": NotFound.code}
        super().__init__(message, **({"outcome": Outcome.UNKNOWN_SCHEMA_ID, "error_message": ""} | codes | facts))


class ReaderMismatch(SerializationError):
    """The reader schema cannot read what the writer schema wrote."""


class SchemaNotUsable(SerializationError):
    """The registry accepts the schema but its draft's meta-schema does not, so it cannot check values."""


class RuleNotRun(SerializationError):
    """The schema has an enabled rule that this release does not run; ``rule`` names it."""


def _format_message(facts: dict[str, Any]) -> str:
    outcome = f"{facts['outcome'].name}: " if facts["outcome"] is not None else ""
    at = f"{facts['where']}: " if facts["where"] else ""
    names = {"topic": "topic", "subject": "subject", "schema_id": "schema id"}
    context = ", ".join(f"{word} {facts[name]}" for name, word in names.items() if facts[name] is not None)
    return f"{outcome}{at}{facts['reason']}" + (f" ({context})" if context else "")


def _shorten_reason(reason: str) -> str:
    return reason if len(reason) <= _MAX_REASON else reason[: _MAX_REASON - 2] + " …"
