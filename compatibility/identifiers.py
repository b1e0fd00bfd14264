"""Names in a registry: contexts, subjects, versions and schema ids."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, NewType

from contractlog.compatibility.errors import InvalidSubject

__all__ = [
    "DEFAULT_CONTEXT",
    "GLOBAL_CONTEXT",
    "MAX_ID",
    "MAX_VERSION",
    "SchemaId",
    "Subject",
    "Version",
    "topic_subject",
]

SchemaId = NewType("SchemaId", int)
"""The number a record carries; unique within a context. The registry gives out ids from 1; an import may bring 0."""

Version = NewType("Version", int)
"""The ordinal of a schema under its subject, from 1 to 2^31 - 1."""

MAX_VERSION: Final = 2**31 - 1
MAX_ID: Final = 2**31 - 1
DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"

_EVERY_CONTEXT: Final = ":*:"  #: prefix of a qualified name that means every context
_RESERVED: Final = frozenset({"__GLOBAL", "__EMPTY"})


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """A subject: the name of a sequence of versions, within a context.

    >>> Subject.parse(":.staging:orders-value")
    Subject(context='.staging', name='orders-value')
    >>> str(Subject.parse("orders-value")), str(Subject(".staging", "orders-value"))
    ('orders-value', ':.staging:orders-value')
    """

    context: str  #: starts with a dot; ``.`` is the default context
    name: str  #: any text without control characters, further colons included; empty for the context itself

    @classmethod
    def parse(cls, text: str) -> Subject:
        """Parse a plain or qualified (``:.context:name``) subject; only the first two colons are structural."""
        if not text.startswith(":."):
            return cls(DEFAULT_CONTEXT, text)
        context, colon, name = text[1:].partition(":")
        return cls(context, name) if colon else cls(DEFAULT_CONTEXT, text)

    def __str__(self) -> str:
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"

    @property
    def ambiguous(self) -> bool:
        """True if the plain form, used for the default context, means another subject or the wildcard.

        >>> Subject.parse(":.::.staging:orders").ambiguous, Subject.parse(":*:orders").ambiguous
        (True, True)
        """
        plain = str(self)
        return plain.startswith(":") and (plain.startswith(_EVERY_CONTEXT) or Subject.parse(plain) != self)

    def validate(self) -> Subject:
        """Return the subject itself if its name is valid.

        Raises:
            InvalidSubject: a control character, a reserved name, or a name in the default context whose plain form
                means another subject or the wildcard.
        """
        if (
            self.name in _RESERVED
            or self.ambiguous
            or any(unicodedata.category(c) == "Cc" for c in self.context + self.name)
        ):
            raise InvalidSubject(subject=str(self))
        return self


def topic_subject(topic: str, suffix: str) -> str:
    """Return the subject named after a topic and its part (``key`` or ``value``) or its record's name.

    >>> topic_subject("orders", "value"), topic_subject("orders", "com.example.Order")
    ('orders-value', 'orders-com.example.Order')
    """
    return f"{topic}-{suffix}"
