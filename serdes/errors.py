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
    ├── RuleNotRun            the schema has a rule that cannot be executed
    └── RuleFailed            a rule rejected the value; ``rule`` and ``mode`` name it, its failure is the cause
ContractlogError
└── RuleError                 failure of a rule, which its action handles; also a ``RuleError`` of confluent-kafka
    └── RuleConditionError    the condition of a rule is not satisfied
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
    "RuleConditionError",
    "RuleError",
    "RuleFailed",
    "RuleNotRun",
    "SchemaIdNotFound",
    "SchemaNotUsable",
    "SerializationError",
]

_MAX_REASON: Final = 500
_CONFLUENT_SERDE: Final = "confluent_kafka.schema_registry.common.serde"
_DIRECTIONS: Final = {"WRITE": "writing", "READ": "reading", "UPGRADE": "upgrading", "DOWNGRADE": "downgrading"}


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
    """The schema has an enabled rule that cannot be executed; ``rule`` names it."""


class RuleFailed(SerializationError):
    """A rule of the schema rejected the value, or could not be applied to it; its failure is the cause.

    ``rule`` and ``mode`` are the rule's name and the direction.
    """

    @classmethod
    def of(cls, rule: Any, mode: Any, failure: BaseException | None = None, *, detail: str = "") -> Self:
        """Return the error of a rule; without a failure, a transform gave no value."""
        reason = f"the rule {rule.name} ({rule.type}) failed on {_DIRECTIONS[str(mode.value)]}: "
        reason += str(failure) or type(failure).__name__ if failure is not None else "it gave no value"
        return cls(reason=reason + detail, rule=rule.name, mode=str(mode.value))


class RuleError(ContractlogError):
    """Failure of a rule, to which the rule's action for failures is applied."""

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        add_loaded_base(RuleError, _CONFLUENT_SERDE, "RuleError")
        super().__init__(message or "", **facts)


class RuleConditionError(RuleError):
    """The condition of a rule is not satisfied; the message is the rule's documentation or expression.

    Args:
        rule: the rule, or the message.
    """

    def __init__(self, rule: Any, /, **facts: Any) -> None:
        add_loaded_base(RuleConditionError, _CONFLUENT_SERDE, "RuleConditionError")
        super().__init__(rule if isinstance(rule, str) else self.error_message(rule), **facts)

    @staticmethod
    def error_message(rule: Any) -> str:
        """Return the message for a rule, which is confluent-kafka's."""
        if rule.doc:
            return str(rule.doc)
        return f"Rule expr failed: {rule.expr}" if rule.expr else f"Rule failed: {rule.name}"


def _format_message(facts: dict[str, Any]) -> str:
    outcome = f"{facts['outcome'].name}: " if facts["outcome"] is not None else ""
    at = f"{facts['where']}: " if facts["where"] else ""
    names = {"topic": "topic", "subject": "subject", "schema_id": "schema id"}
    context = ", ".join(f"{word} {facts[name]}" for name, word in names.items() if facts[name] is not None)
    return f"{outcome}{at}{facts['reason']}" + (f" ({context})" if context else "")


def _shorten_reason(reason: str) -> str:
    return reason if len(reason) <= _MAX_REASON else reason[: _MAX_REASON - 2] + " …"
