"""Names in a registry: contexts, subjects, versions and schema ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NewType
from urllib.parse import quote

from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.limits import truncate

__all__ = [
    "DEFAULT_CONTEXT",
    "GLOBAL_CONTEXT",
    "INVALID_SUBJECT_REASONS",
    "MAX_CONTEXT_LENGTH",
    "MAX_ENCODED_SUBJECT",
    "MAX_ID",
    "MAX_VERSION",
    "SchemaId",
    "Subject",
    "Version",
    "apply_alias",
    "describe_long_context",
    "find_context_problem",
    "qualify_subject",
    "scope_name",
    "split_topic_subject",
    "topic_subject",
    "validate_schema_subject",
    "validate_scope",
]

SchemaId = NewType("SchemaId", int)
"""The number a record carries; unique within a context. The registry gives out ids from 1; an import may bring 0."""

Version = NewType("Version", int)
"""The ordinal of a schema under its subject, from 1 to 2^31 - 1."""

MAX_VERSION: Final = 2**31 - 1
MAX_ID: Final = 2**31 - 1
MAX_CONTEXT_LENGTH: Final = 255  #: characters of a context's name; the columns of databases are as wide
#: bytes of a subject in a URL, percent-encoded; a longer one could not be requested (a request head has 65,536 bytes)
MAX_ENCODED_SUBJECT: Final = 60_000
DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"

_EVERY_CONTEXT: Final = ":*:"  #: prefix of a qualified name that means every context
_RESERVED: Final = frozenset({"__GLOBAL", "__EMPTY"})
_UNSTORABLE: Final = frozenset({"Cc", "Cs"})  #: categories of characters
_BYTES_PER_CHARACTER: Final = 12  #: most that percent-encoding makes of a character: four bytes of UTF-8
_PARTS: Final[Mapping[str, Literal["key", "value"]]] = {"key": "key", "value": "value"}
_MAX_SHOWN: Final = 60  #: characters of a subject that is too long, in a message


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

    @property
    def storable(self) -> bool:
        """True if databases can store the name: without NUL, and in a context that is not too long."""
        return len(self.context) <= MAX_CONTEXT_LENGTH and "\0" not in self.context + self.name

    @property
    def too_long(self) -> bool:
        """True if the subject takes more than ``MAX_ENCODED_SUBJECT`` bytes in a URL."""
        length = len(self.context) + len(self.name)
        return length * _BYTES_PER_CHARACTER > MAX_ENCODED_SUBJECT and (
            len(quote(str(self), safe="", errors="surrogatepass")) > MAX_ENCODED_SUBJECT
        )

    def validate(self) -> Subject:
        """Return the subject itself if its name is valid.

        Raises:
            InvalidSubject: a control character, half of a surrogate pair, a reserved name, a name in the default
                context whose plain form means another subject or the wildcard, or a name too long for a URL.
        """
        if self.too_long:
            raise InvalidSubject(subject=f"{str(self)[:_MAX_SHOWN]}…")
        if (
            self.name in _RESERVED
            or self.ambiguous
            or any(unicodedata.category(c) in _UNSTORABLE for c in self.context + self.name)
        ):
            raise InvalidSubject(subject=str(self))
        return self


#: why ``Subject.validate`` rejects a name, and why an empty one is rejected, as part of a sentence
INVALID_SUBJECT_REASONS: Final = (
    "the name is empty, reserved or too long, or has a control character or half of a surrogate pair"
)


def scope_name(scope: Subject) -> str:
    """Return the name of a subject or context; that of the default context is ``:.:``."""
    return str(scope) or f":{scope.context}:"


def validate_schema_subject(subject: Subject) -> Subject:
    """Return a subject that can have schemas.

    Raises:
        InvalidSubject: its name is not allowed, or it stands for a context or for all, which have only settings.
    """
    if not subject.name or subject.context == GLOBAL_CONTEXT:
        raise InvalidSubject(subject=str(subject))
    return subject.validate()


def validate_scope(scope: Subject) -> Subject:
    """Return a scope of settings: a subject, a context, or all contexts together.

    Raises:
        InvalidSubject: it is a subject whose name is not allowed.
    """
    return scope.validate() if scope.name else scope


def describe_long_context(name: str) -> str:
    """Return the sentence about a context whose name is longer than ``MAX_CONTEXT_LENGTH``."""
    return (
        f"the context {name[:_MAX_SHOWN]}… has a name of {len(name)} characters, over the limit of {MAX_CONTEXT_LENGTH}"
    )


def find_context_problem(name: str) -> str | None:
    """Return why no context can have a name, as a sentence without its full stop; None if one can.

    >>> find_context_problem("eu")
    "'eu' is not a valid context name: one starts with a dot and has no colon"
    """
    if len(name) > MAX_CONTEXT_LENGTH:
        return describe_long_context(name)
    try:
        subject = Subject.parse(f":{name}:s").validate()
    except InvalidSubject:
        subject = None
    if subject is None or subject != Subject(name, "s") or name == GLOBAL_CONTEXT:
        return f"{truncate(repr(name), _MAX_SHOWN)} is not a valid context name: one starts with a dot and has no colon"
    return None


def qualify_subject(subject: str, context: str) -> str:
    """Return a subject in a context, unless it names its own; an empty context is the default one.

    >>> qualify_subject("orders", ".eu"), qualify_subject(":.us:orders", ".eu"), qualify_subject("orders", "")
    (':.eu:orders', ':.us:orders', 'orders')

    A colon alone names no context:

    >>> qualify_subject(":orders", ".eu")
    ':.eu::orders'
    """
    return subject if subject.startswith(":.") or context in {"", DEFAULT_CONTEXT} else f":{context}:{subject}"


def apply_alias(alias: str | None, subject: Subject) -> Subject:
    """Return the subject that a name with this alias refers to."""
    if not alias:
        return subject
    target = Subject.parse(alias)
    return target if alias.startswith(":.") else Subject(subject.context, target.name)


def topic_subject(topic: str, suffix: str) -> str:
    """Return the subject named after a topic and its part (``key`` or ``value``) or its record's name.

    >>> topic_subject("orders", "value"), topic_subject("orders", "com.example.Order")
    ('orders-value', 'orders-com.example.Order')
    """
    return f"{topic}-{suffix}"


def split_topic_subject(name: str) -> tuple[str, Literal["key", "value"]] | None:
    """Return the topic and the part that a subject is named after; None if there is no topic.

    >>> split_topic_subject("orders-value"), split_topic_subject("orders-eu"), split_topic_subject("-key")
    (('orders', 'value'), None, None)

    Args:
        name: of the subject, without its context.
    """
    topic, _, suffix = name.rpartition("-")
    part = _PARTS.get(suffix)
    return (topic, part) if topic and part else None
