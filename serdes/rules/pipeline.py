"""Serialization and deserialization of the records of a schema with rules.

Writing: inline constraints, domain rules, inline constraints, encoding, encoding rules. Reading: encoding rules in
reverse, decoding, migrations, domain rules in reverse. Plans of schemas without rules have none of this.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS, OriginalRecord
from contractlog.serdes.rules.work import Work

__all__ = ["MessageRules", "ReadRules", "RulesDue", "WriteRules", "track_original"]


class MessageRules(Protocol):
    """Rules that run one after the other on a message."""

    def run(self, message: Any, original: OriginalRecord) -> Work[Any]:
        """Run the rules, and return the resulting message."""


class RulesDue(Exception):
    """The schema has rules: raised by ``encode`` and ``decode``, so that a record takes the longer way."""

    plan: Any  #: the plan that has the rules

    def __init__(self, content: Any, start: int = 0) -> None:
        super().__init__()
        self.content = content  #: the value, or the bytes that hold the body
        self.start = start  #: of the body in the bytes


@dataclass(frozen=True, slots=True)
class WriteRules:
    """Encoding of values with the rules of their schema."""

    encode_body: Callable[[Any, bytes], bytes]
    before_encoding: Sequence[MessageRules] = ()  #: domain rules and inline constraints, in their order
    after_encoding: Sequence[MessageRules] = ()  #: encoding rules

    def encode(self, value: Any, prefix: bytes) -> NoReturn:  # noqa: ARG002 -- the signature of encoders
        """Raise ``RulesDue``: rules need the context of the record."""
        raise RulesDue(value)

    def write(self, value: Any, original: OriginalRecord) -> Work[bytes]:
        """Return the body of a value.

        Raises:
            SerializationError: a rule rejected the value, or it does not fit the schema.
        """
        for rules in self.before_encoding:
            value = yield from rules.run(value, original)
        body = self.encode_body(value, b"")
        if self.after_encoding:
            original = original.with_content(body)
        for rules in self.after_encoding:
            body = require_bytes((yield from rules.run(body, original)))
        return body


@dataclass(frozen=True, slots=True)
class ReadRules:
    """Decoding of bodies with the rules of their schema."""

    decode_body: Callable[[bytes, int], Any]
    before_decoding: Sequence[MessageRules] = ()  #: encoding rules
    after_decoding: Sequence[MessageRules] = ()  #: migrations and domain rules
    check: Callable[[Any], None] | None = None  #: raises an error if a value does not fit the schema that it is read as
    has_migrations: bool = False  #: whether values of the writer schema need not be readable as the reader schema

    def decode(self, data: bytes, start: int) -> NoReturn:
        """Raise ``RulesDue``: rules need the context of the record."""
        raise RulesDue(data, start)

    def read(self, data: bytes, start: int, original: OriginalRecord) -> Work[Any]:
        """Return the value of a body.

        Raises:
            SerializationError: a rule rejected the record, or it does not fit the schema.
        """
        for rules in self.before_decoding:
            payload = yield from rules.run(io.BytesIO(data[start:] if start else data), original)
            data, start = require_bytes(payload), 0
        value = self.decode_body(data, start)
        for rules in self.after_decoding:
            value = yield from rules.run(value, original)
        if self.check is not None:
            self.check(value)
        return value


def require_bytes(payload: Any) -> bytes:
    """Return the bytes that an encoding rule gave.

    Raises:
        SerializationError: it gave something else.
    """
    if isinstance(payload, io.BytesIO):
        return payload.read()
    if not isinstance(payload, (bytes, bytearray, memoryview)):
        raise SerializationError(reason=f"an encoding rule gave {type(payload).__name__} in place of bytes")
    return bytes(payload)


def track_original(
    given: Any, content: Any, context: Context | None, make: Callable[[OriginalRecord], Work[Any]]
) -> Work[Any]:
    """Do the work for a key or value; a key is passed on to the serializer of the value.

    Args:
        given: the key or value as the caller gave it.
        content: the same as rules get it.
        context: the context of the record.
        make: makes the work.
    """
    try:
        return (yield from make(OriginalRecord.of(content, context)))
    finally:
        if context is not None and context.field == MessageField.KEY:
            ORIGINAL_KEYS.set(context, given)
        else:
            ORIGINAL_KEYS.clear()
