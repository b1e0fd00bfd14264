"""Output of records as JSON lines or an Avro file; undecodable ones are reported with their bytes."""

from __future__ import annotations

import sys
from typing import IO, Any, Final

import orjson
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from contractlog.clients.cli.output import count, result_json_line, say
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.serdes.avro import AvroDeserializer
from contractlog.serdes.belonging import Belonging, VersionSource
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.deserializing import Deserializer
from contractlog.serdes.errors import BadFrame, DecodeError, SerializationError
from contractlog.serdes.headers import to_json
from contractlog.serdes.json_schema import JSONDeserializer
from contractlog.serdes.json_schema.documents import compact
from contractlog.serdes.object_files import ObjectFileWriter
from contractlog.serdes.plain import to_plain
from contractlog.serdes.reading import id_of
from contractlog.serdes.schema_ids import locate
from contractlog.serdes.source import parsed_of
from contractlog.serdes.subjects import SubjectNameStrategyType

__all__ = ["AvroPrinter", "Printer"]

_SHOWN_BYTES: Final = 256


class Printer:
    """Printer of a topic's records: values to stdout, damage to stderr.

    Keys are checked too if they have a schema.

    Args:
        registry: the source of schemas.
        topic: the topic of the records.
        envelope: print key, headers, partition and offset, timestamp and schema ids as well.
        as_json: report damage as JSON, too.
        strategy: names the topic's subjects; None: any that a serializer could have used.
    """

    def __init__(
        self,
        registry: VersionSource,
        topic: str,
        *,
        envelope: bool,
        as_json: bool,
        strategy: SubjectNameStrategyType | None = None,
    ) -> None:
        self.seen = 0
        self.damaged = 0
        self._topic = topic
        self._envelope = envelope
        self._as_json = as_json
        conf = {} if strategy is None else {"subject.name.strategy.type": strategy}
        self._avro = AvroDeserializer(registry, conf=conf)
        self._by_type: dict[SchemaType, Deserializer] = {
            SchemaType.AVRO: self._avro,
            SchemaType.JSON: JSONDeserializer(None, schema_registry_client=registry, conf=conf),
        }
        self._belonging = Belonging(registry, topic, strategy)
        self._plain_keys = not self._belonging.has_subject(MessageField.KEY)

    def print(self, message: Message) -> None:
        """Print one record, or report its damage."""
        self.seen += 1
        value, fine = self._decoded(message, MessageField.VALUE)
        asked = self._envelope or not self._plain_keys
        key, key_fine = self._decoded(message, MessageField.KEY) if asked else (None, True)
        if not (fine and key_fine):
            self.damaged += 1
        if fine:
            self._put(message, key, value)

    def flush(self) -> None:
        """Flush the output for a reader that is waiting for it."""
        sys.stdout.flush()

    def end(self) -> None:
        """Finish the output."""

    def _put(self, message: Message, key: Any, value: Any) -> None:
        self._line(self._record(message, key, value) if self._envelope else to_plain(value))

    def _record(self, message: Message, key: Any, value: Any) -> dict[str, Any]:
        kind, timestamp = message.timestamp()
        return {
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
            "headers": to_json(message.headers()),
            "key_schema_id": self._schema_id(message, MessageField.KEY),
            "value_schema_id": self._schema_id(message, MessageField.VALUE),
            "key": to_plain(key),
            "value": to_plain(value),
        }

    def _decoded(self, message: Message, part: MessageField) -> tuple[Any, bool]:
        data = _data(message, part)
        if data is None:
            return None, True
        context = SerializationContext(self._topic, part, message.headers())
        try:
            return self._deserializer(part, data, context)(data, context), True
        except SerializationError as error:
            if part is MessageField.KEY and self._plain_keys:
                return _text(data), True
            self._tell(message, part, data, error)
            return None, False

    def _deserializer(self, part: MessageField, data: bytes, context: SerializationContext) -> Deserializer:
        """Return the deserializer for the type of the record's schema; for unknown ids any, which fails.

        Raises:
            DecodeError: the schema belongs to another subject, or is of an unsupported type.
        """
        try:
            head, _ = locate(data, context)
            schema = self._belonging.schema(part, head)
        except (BadFrame, NotFound):
            return self._avro
        self._belonging.refuse_foreign(part, head, schema)
        found = self._by_type.get(schema.type)
        if found is None:
            raise DecodeError(reason=f"this release does not read {schema.type}", schema_id=id_of(head))
        return found

    def _schema_id(self, message: Message, part: MessageField) -> int | None:
        data = _data(message, part)
        if data is None:
            return None
        try:
            head, _ = locate(data, SerializationContext(self._topic, part, message.headers()))
        except BadFrame:
            return None
        return self._belonging.schema_id(part, head)

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
        say(f"{place}: {code}{at}{schema}: {error.reason}; {len(data)} bytes: {shown}")

    def _line(self, value: Any) -> None:
        result_json_line(compact(value))


def _data(message: Message, part: MessageField) -> bytes | None:
    data = message.key() if part is MessageField.KEY else message.value()
    return data if isinstance(data, bytes) else None


def _text(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data[:_SHOWN_BYTES].hex()}


class AvroPrinter(Printer):
    """Writer of the values of a topic as an Avro object container file; damage goes to stderr.

    All values are written in one schema: the newest version of the first one's subject.
    """

    def __init__(
        self, registry: VersionSource, topic: str, stream: IO[bytes], *, strategy: SubjectNameStrategyType | None
    ) -> None:
        super().__init__(registry, topic, envelope=False, as_json=False, strategy=strategy)
        self._registry = registry
        self._stream = stream
        self._strategy = strategy
        self._file: ObjectFileWriter | None = None
        self._tombstones = 0

    def flush(self) -> None:
        """Write the pending values as a block."""
        if self._file is not None:
            self._file.flush()

    def end(self) -> None:
        """Finish the file; without any value it has the newest schema of the topic's subject.

        Raises:
            UsageError: there is no value, and no schema.
        """
        if self._file is None:
            self._open(self._newest(self._belonging.subject(MessageField.VALUE)))
        self.flush()
        if self._tombstones:
            say(f"{count(self._tombstones, 'tombstone')} left out: an Avro file holds values alone")

    def _deserializer(self, part: MessageField, data: bytes, context: SerializationContext) -> Deserializer:
        found = super()._deserializer(part, data, context)
        if part is MessageField.KEY:
            return found
        if found is not self._avro:
            raise DecodeError(reason="the value has no Avro schema, so an Avro file cannot hold it")
        if self._file is None:
            try:
                head, _ = locate(data, context)
                self._open(self._subject_schema(head) or self._belonging.schema(part, head))
            except (BadFrame, NotFound):
                return found
        return self._reading

    def _subject_schema(self, head: bytes) -> RegisteredSchema | None:
        """Return the newest version of the subject that a schema belongs to."""
        schema = self._belonging.schema(MessageField.VALUE, head)
        for subject in self._belonging.subjects(MessageField.VALUE, head, schema):
            newest = self._newest(subject)
            if newest is not None:
                return newest
        return None

    def _newest(self, subject: str) -> RegisteredSchema | None:
        try:
            found = self._registry.version(subject, "latest")
        except NotFound:
            return None
        return found if found.type is SchemaType.AVRO else None

    def _open(self, schema: RegisteredSchema | None) -> None:
        if schema is None:
            raise UsageError(
                f"topic `{self._topic}` holds no values, and its subject no Avro schema to write a file in"
            )
        conf = {} if self._strategy is None else {"subject.name.strategy.type": self._strategy}
        self._reading = AvroDeserializer(self._registry, schema.draft, return_record_name=True, conf=conf)
        self._file = ObjectFileWriter(self._stream, parsed_of(self._registry, schema.draft))

    def _put(self, message: Message, key: Any, value: Any) -> None:
        del key
        data = _data(message, MessageField.VALUE)
        if data is None:
            self._tombstones += 1
        elif self._file is not None:
            try:
                self._file.write(value)
            except SerializationError as error:
                self.damaged += 1
                self._tell(message, MessageField.VALUE, data, error)
