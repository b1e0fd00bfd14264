"""Output of records as JSON lines or an Avro file; undecodable ones are reported with their bytes."""

from __future__ import annotations

import sys
from typing import IO, Any, Final

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from contractlog.clients.cli.output import count_noun, print_json_line, print_json_message, print_message
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.serdes.avro import AvroDeserializer
from contractlog.serdes.cli.avro_files import AvroFileWriter
from contractlog.serdes.cli.headers import headers_to_json
from contractlog.serdes.cli.json_values import to_json_value
from contractlog.serdes.cli.topic_schema_check import TopicSchemaCheck, VersionSource
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.deserializer import SyncDeserializer
from contractlog.serdes.errors import BadFrame, DecodeError, SerializationError
from contractlog.serdes.json_schema import JSONDeserializer
from contractlog.serdes.json_schema.exact_json import compact_json
from contractlog.serdes.read_planner import schema_id_in
from contractlog.serdes.schema_ids import locate_head
from contractlog.serdes.schema_source import fetch_and_parse
from contractlog.serdes.subject_names import SubjectNameStrategyType

__all__ = ["AvroFilePrinter", "RecordPrinter"]

_MAX_HEX_BYTES: Final = 256


class RecordPrinter:
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
        self.printed = 0
        self.damaged = 0
        self._topic = topic
        self._envelope = envelope
        self._as_json = as_json
        conf = {} if strategy is None else {"subject.name.strategy.type": strategy}
        self._avro = AvroDeserializer(registry, conf=conf)
        self._by_type: dict[SchemaType, SyncDeserializer] = {
            SchemaType.AVRO: self._avro,
            SchemaType.JSON: JSONDeserializer(None, schema_registry_client=registry, conf=conf),
        }
        self._topic_subjects = TopicSchemaCheck(registry, topic, strategy)
        self._has_plain_keys = not self._topic_subjects.has_subject(MessageField.KEY)

    def print(self, message: Message) -> None:
        """Print one record, or report its damage."""
        self.printed += 1
        value, fine = self._decode(message, MessageField.VALUE)
        decodes_key = self._envelope or not self._has_plain_keys
        key, key_fine = self._decode(message, MessageField.KEY) if decodes_key else (None, True)
        if not (fine and key_fine):
            self.damaged += 1
        if fine:
            self._print_decoded(message, key, value)

    def flush(self) -> None:
        """Flush the output for a reader that is waiting for it."""
        sys.stdout.flush()

    def end(self) -> None:
        """Finish the output."""

    def _print_decoded(self, message: Message, key: Any, value: Any) -> None:
        self._print_line(self._to_envelope(message, key, value) if self._envelope else to_json_value(value))

    def _to_envelope(self, message: Message, key: Any, value: Any) -> dict[str, Any]:
        kind, timestamp = message.timestamp()
        return {
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
            "headers": headers_to_json(message.headers()),
            "key_schema_id": self._schema_id(message, MessageField.KEY),
            "value_schema_id": self._schema_id(message, MessageField.VALUE),
            "key": to_json_value(key),
            "value": to_json_value(value),
        }

    def _decode(self, message: Message, part: MessageField) -> tuple[Any, bool]:
        data = _part_bytes(message, part)
        if data is None:
            return None, True
        context = SerializationContext(self._topic, part, message.headers())
        try:
            return self._deserializer(part, data, context)(data, context), True
        except SerializationError as error:
            if part is MessageField.KEY and self._has_plain_keys:
                return _text_or_hex(data), True
            self._report_damage(message, part, data, error)
            return None, False

    def _deserializer(self, part: MessageField, data: bytes, context: SerializationContext) -> SyncDeserializer:
        """Return the deserializer for the type of the record's schema; for unknown ids any, which fails.

        Raises:
            DecodeError: the schema belongs to another subject, or is of an unsupported type.
        """
        try:
            head, _ = locate_head(data, context)
            schema = self._topic_subjects.schema(part, head)
        except (BadFrame, NotFound):
            return self._avro
        self._topic_subjects.require_allowed_subject(part, head, schema)
        deserializer = self._by_type.get(schema.type)
        if deserializer is None:
            raise DecodeError(reason=f"this release does not read {schema.type}", schema_id=schema_id_in(head))
        return deserializer

    def _schema_id(self, message: Message, part: MessageField) -> int | None:
        data = _part_bytes(message, part)
        if data is None:
            return None
        try:
            head, _ = locate_head(data, SerializationContext(self._topic, part, message.headers()))
        except BadFrame:
            return None
        return self._topic_subjects.schema_id(part, head)

    def _report_damage(self, message: Message, part: MessageField, data: bytes, error: SerializationError) -> None:
        hex_digits = data[:_MAX_HEX_BYTES].hex() + ("…" if len(data) > _MAX_HEX_BYTES else "")
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
            "hex": hex_digits,
        }
        if self._as_json:
            print_json_message(compact_json(facts))
            return
        location = f"{self._topic} partition {message.partition()} offset {message.offset()} {part}"
        at = f" at `{error.where}`" if error.where else ""
        schema = "" if error.schema_id is None else f" (schema id {error.schema_id})"
        code = facts["code"] or type(error).__name__
        print_message(f"{location}: {code}{at}{schema}: {error.reason}; {len(data)} bytes: {hex_digits}")

    def _print_line(self, value: Any) -> None:
        print_json_line(compact_json(value))


def _part_bytes(message: Message, part: MessageField) -> bytes | None:
    data = message.key() if part is MessageField.KEY else message.value()
    return data if isinstance(data, bytes) else None


def _text_or_hex(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data[:_MAX_HEX_BYTES].hex()}


class AvroFilePrinter(RecordPrinter):
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
        self._file: AvroFileWriter | None = None
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
            self._open(self._find_latest(self._topic_subjects.subject(MessageField.VALUE)))
        self.flush()
        if self._tombstones:
            print_message(f"{count_noun(self._tombstones, 'tombstone')} left out: an Avro file holds values alone")

    def _deserializer(self, part: MessageField, data: bytes, context: SerializationContext) -> SyncDeserializer:
        deserializer = super()._deserializer(part, data, context)
        if part is MessageField.KEY:
            return deserializer
        if deserializer is not self._avro:
            raise DecodeError(reason="the value has no Avro schema, so an Avro file cannot hold it")
        if self._file is None:
            try:
                head, _ = locate_head(data, context)
                self._open(self._subject_schema(head) or self._topic_subjects.schema(part, head))
            except (BadFrame, NotFound):
                return deserializer
        return self._value_deserializer

    def _subject_schema(self, head: bytes) -> RegisteredSchema | None:
        """Return the newest version of the subject that a schema belongs to."""
        schema = self._topic_subjects.schema(MessageField.VALUE, head)
        for subject in self._topic_subjects.subjects(MessageField.VALUE, head, schema):
            newest = self._find_latest(subject)
            if newest is not None:
                return newest
        return None

    def _find_latest(self, subject: str) -> RegisteredSchema | None:
        try:
            latest = self._registry.version(subject, "latest")
        except NotFound:
            return None
        return latest if latest.type is SchemaType.AVRO else None

    def _open(self, schema: RegisteredSchema | None) -> None:
        if schema is None:
            raise UsageError(
                f"topic `{self._topic}` contains no values, and its subject no Avro schema to write a file in"
            )
        conf = {} if self._strategy is None else {"subject.name.strategy.type": self._strategy}
        self._value_deserializer = AvroDeserializer(self._registry, schema.draft, return_record_name=True, conf=conf)
        self._file = AvroFileWriter(self._stream, fetch_and_parse(self._registry, schema.draft))

    def _print_decoded(self, message: Message, key: Any, value: Any) -> None:
        del key
        data = _part_bytes(message, MessageField.VALUE)
        if data is None:
            self._tombstones += 1
        elif self._file is not None:
            try:
                self._file.write(value)
            except SerializationError as error:
                self.damaged += 1
                self._report_damage(message, MessageField.VALUE, data, error)
