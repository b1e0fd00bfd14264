"""Records as JSON lines for people and programs; what cannot be decoded is told with its place and its bytes."""

from __future__ import annotations

import sys
from typing import Any, Final

import orjson
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from contractlog.clients.cli.output import harmless, result, say
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.names import SchemaId
from contractlog.compatibility.schema import SchemaType
from contractlog.serdes.avro import AvroDeserializer
from contractlog.serdes.belonging import Belonging, VersionSource
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.deserializing import Deserializer
from contractlog.serdes.errors import BadFrame, DecodeError, SerializationError
from contractlog.serdes.json_schema import JSONDeserializer
from contractlog.serdes.json_schema.documents import compact
from contractlog.serdes.plain import to_plain
from contractlog.serdes.wire import unframe

__all__ = ["Printer"]

_SHOWN_BYTES: Final = 256


class Printer:
    """Prints records of a topic: values on stdout, damage on stderr, that of keys too where keys have a schema.

    Args:
        registry: where schemas are.
        topic: whose records these are.
        envelope: print key, place, timestamp and schema ids as well.
        as_json: tell damage as JSON, too.
    """

    def __init__(self, registry: VersionSource, topic: str, *, envelope: bool, as_json: bool) -> None:
        self.seen = 0
        self.damaged = 0
        self._registry = registry
        self._topic = topic
        self._envelope = envelope
        self._as_json = as_json
        self._avro = AvroDeserializer(registry)
        self._by_type: dict[SchemaType, Deserializer] = {
            SchemaType.AVRO: self._avro,
            SchemaType.JSON: JSONDeserializer(None, schema_registry_client=registry),
        }
        self._belonging = Belonging(registry, topic)
        self._plain_keys = not self._belonging.has_subject(MessageField.KEY)
        self._escaped = sys.stdout.isatty()

    def print(self, message: Message) -> None:
        """Print one record, or what is wrong with it."""
        self.seen += 1
        value, fine = self._decoded(message, MessageField.VALUE)
        asked = self._envelope or not self._plain_keys
        key, key_fine = self._decoded(message, MessageField.KEY) if asked else (None, True)
        if not (fine and key_fine):
            self.damaged += 1
        if fine:
            self._line(self._record(message, key, value) if self._envelope else to_plain(value))

    def _record(self, message: Message, key: Any, value: Any) -> dict[str, Any]:
        kind, timestamp = message.timestamp()
        return {
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
            "key_schema_id": _schema_id(message.key()),
            "value_schema_id": _schema_id(message.value()),
            "key": to_plain(key),
            "value": to_plain(value),
        }

    def _decoded(self, message: Message, part: MessageField) -> tuple[Any, bool]:
        data = message.key() if part is MessageField.KEY else message.value()
        if not isinstance(data, bytes):
            return None, True
        context = SerializationContext(self._topic, part, message.headers())
        try:
            return self._deserializer(part, data)(data, context), True
        except SerializationError as error:
            if part is MessageField.KEY and self._plain_keys:
                return _text(data), True
            self._tell(message, part, data, error)
            return None, False

    def _deserializer(self, part: MessageField, data: bytes) -> Deserializer:
        """Return what reads the type that the record's id stands for; ids that stand for nothing fail in any.

        Raises:
            DecodeError: the id belongs to another subject, or is of a type that is not read.
        """
        try:
            schema_id, _ = unframe(data)
            known = self._registry.schema_by_id(schema_id).type
        except (BadFrame, NotFound):
            return self._avro
        self._belonging.refuse_foreign(part, schema_id)
        found = self._by_type.get(known)
        if found is None:
            raise DecodeError(reason=f"this release does not read {known}", schema_id=schema_id)
        return found

    def _tell(self, message: Message, part: MessageField, data: bytes, error: SerializationError) -> None:
        shown = data[:_SHOWN_BYTES].hex() + ("…" if len(data) > _SHOWN_BYTES else "")
        facts = {
            "topic": self._topic,
            "partition": message.partition(),
            "offset": message.offset(),
            "part": str(part),
            "code": None if error.outcome is None else error.outcome.name,
            "field": error.field,
            "schema_id": error.schema_id,
            "detail": error.reason,
            "bytes": len(data),
            "hex": shown,
        }
        if self._as_json:
            say(orjson.dumps(facts).decode())
            return
        place = f"{self._topic} partition {message.partition()} offset {message.offset()} {part}"
        at = f" at `{error.where}`" if error.where else ""
        schema = "" if error.schema_id is None else f" (schema id {error.schema_id})"
        code = facts["code"] or type(error).__name__
        say(harmless(f"{place}: {code}{at}{schema}: {error.reason}; {len(data)} bytes: {shown}"))

    def _line(self, value: Any) -> None:
        text = compact(value)
        result(harmless(text) if self._escaped else text)


def _schema_id(data: bytes | str | None) -> SchemaId | None:
    try:
        return unframe(data)[0] if isinstance(data, bytes) else None
    except BadFrame:
        return None


def _text(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data[:_SHOWN_BYTES].hex()}
