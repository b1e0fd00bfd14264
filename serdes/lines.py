"""Conversion of JSON lines and values to records."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from contractlog.clients.cli.files import collect
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.serdes.asking import answered
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.headers import HeaderPairs, from_json
from contractlog.serdes.json_schema import JSONSerializer
from contractlog.serdes.json_schema.documents import compact
from contractlog.serdes.naming import naming_of
from contractlog.serdes.plain import FromPlain, to_plain
from contractlog.serdes.serializing import Serializer
from contractlog.serdes.source import SchemaSource, parsed_of
from contractlog.serdes.subjects import SubjectNameStrategyType

__all__ = ["BY_RECORD", "LineReader", "Record", "latest", "schema_in"]

#: members that ``consume --envelope`` prints and that the log itself assigns
_ASSIGNED: Final = frozenset({"topic", "partition", "offset", "key_schema_id", "value_schema_id"})
_ENVELOPE: Final = frozenset({"key", "value", "headers", "timestamp"})
#: strategies that name a subject after the record of its schema
BY_RECORD: Final = frozenset({SubjectNameStrategyType.RECORD, SubjectNameStrategyType.TOPIC_RECORD})
_MAX_TIMESTAMP: Final = 2**63 - 1
_NO_KEY: Final = (
    "null would be a tombstone, which deletes what has its key, and it has none: "
    'give --envelope and lines that read {"key": …, "value": null}'
)

Part = Callable[[Any], bytes | None]


class Record(NamedTuple):
    """A record to be sent to a topic."""

    key: bytes | None
    value: bytes | None
    timestamp: int | None
    headers: HeaderPairs


class LineReader:
    """Converter of JSON lines, and of values, to records with the schemas of a topic.

    Args:
        registry: the source of schemas.
        topic: the topic of the records.
        schema: the values' schema, which is registered; None: the newest of their subject.
        key_field: the member of a value that is its key.
        envelope: lines hold key, value, headers and timestamp.
        strategy: names the values' subject; None: an associated one, else the topic's.
        headers: headers of every record.

    Raises:
        UsageError: no schema is given or registered, or the strategy needs one.
    """

    def __init__(
        self,
        registry: SchemaSource,
        topic: str,
        *,
        schema: SchemaDraft | None,
        key_field: str | None,
        envelope: bool,
        strategy: SubjectNameStrategyType | None = None,
        headers: HeaderPairs | None = None,
    ) -> None:
        self._registry = registry
        self._topic = topic
        self._key_field = key_field
        self._envelope = envelope
        self._headers = headers or []
        value = latest(registry, topic, MessageField.VALUE, strategy) if schema is None else schema
        if value is None:
            subject = _subject(registry, topic, MessageField.VALUE, strategy)
            raise UsageError(f"nothing is registered as `{subject}`: register a schema, or give --schema FILE")
        self._fractions = Decimal if value.type is SchemaType.AVRO else float
        self.parsed = parsed_of(registry, value)
        self._context = SerializationContext(topic, MessageField.VALUE)
        self._encode = self._serializer(value, MessageField.VALUE, register=schema is not None, strategy=strategy)
        self._value = self._part(value, self._encode, self._context)
        key = latest(registry, topic, MessageField.KEY) if key_field or envelope else None
        self._key: Part = _as_text
        if key is not None:
            encode = self._serializer(key, MessageField.KEY, register=False, strategy=None)
            self._key = self._part(key, encode, SerializationContext(topic, MessageField.KEY))

    def record(self, number: int, line: str) -> Record:
        """Return the record of a line.

        Raises:
            UsageError: the line is not JSON, or its value does not fit the schema; with its number.
        """
        try:
            return self._record(json.loads(line, parse_float=self._fractions, parse_constant=_refuse))
        except json.JSONDecodeError as error:
            column = min(error.pos, len(line.rstrip())) + 1
            raise UsageError(f"line {number} is no JSON: {error.msg} (column {column})") from None
        except (SerializationError, UsageError) as error:  # before `ValueError`, which an `EncodeError` is too
            raise UsageError(f"line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"line {number} is no JSON: {error}") from None

    def record_of(self, number: int, value: Any) -> Record:
        """Return the record of a value, as ``ObjectFile`` reads it.

        Raises:
            UsageError: the value does not fit the schema; with its number.
        """
        try:
            key = self._picked(to_plain(value)) if self._key_field is not None else None
            fitting = value if self.parsed.type is SchemaType.AVRO else to_plain(value)
            return Record(key, self._encode(fitting, self._context), None, self._headers)
        except (SerializationError, UsageError) as error:
            raise UsageError(f"record {number}: {error}") from None

    def _record(self, json_value: Any) -> Record:
        if not self._envelope:
            if json_value is None:
                raise UsageError(_NO_KEY)
            key = self._picked(json_value) if self._key_field is not None else None
            return Record(key, self._value(json_value), None, self._headers)
        if not isinstance(json_value, dict) or not json_value.keys() <= _ENVELOPE | _ASSIGNED:
            raise UsageError(
                'with --envelope a line reads {"key": …, "value": …, "headers": […], "timestamp": milliseconds}'
            )
        timestamp = json_value.get("timestamp")
        if timestamp is not None and (type(timestamp) is not int or not 0 < timestamp <= _MAX_TIMESTAMP):
            raise UsageError("a timestamp is a number of milliseconds since 1970, above 0")
        key = None if json_value.get("key") is None else self._key(json_value["key"])
        if key is None and json_value.get("value") is None:
            raise UsageError(_NO_KEY)
        headers = [*from_json(json_value.get("headers")), *self._headers]
        return Record(key, self._value(json_value.get("value")), timestamp, headers)

    def _picked(self, json_value: Any) -> bytes | None:
        if not isinstance(json_value, dict) or json_value.get(self._key_field) is None:
            raise UsageError(f"the value has no `{self._key_field}` to be its key")
        return self._key(json_value[self._key_field])

    def _serializer(
        self, draft: SchemaDraft, field: MessageField, *, register: bool, strategy: SubjectNameStrategyType | None
    ) -> Serializer:
        conf: dict[str, Any] = {"auto.register.schemas": register}
        if strategy is not None:
            conf["subject.name.strategy.type"] = strategy
        if draft.type is SchemaType.JSON:
            return JSONSerializer(draft, self._registry, conf=conf)
        if draft.type is not SchemaType.AVRO:
            raise UsageError(f"`{self._topic}-{field}` is of type {draft.type}, which `produce` does not write")
        return AvroSerializer(self._registry, draft, conf=conf)

    def _part(self, draft: SchemaDraft, encode: Serializer, context: SerializationContext) -> Part:
        if draft.type is SchemaType.JSON:
            return lambda value: encode(value, context)
        plain = FromPlain(parsed_of(self._registry, draft).root)
        return lambda value: None if value is None else encode(plain.value(value), context)


def schema_in(path: str, topic: str, references: Sequence[Reference]) -> SchemaDraft:
    """Return the schema in a file.

    Raises:
        UsageError: the file cannot be read, or is a folder.
    """
    if Path(path).is_dir():
        raise UsageError(f"`{path}` is a folder: --schema takes one file")
    [[file]] = collect([path], subject=f"{topic}-value", references=references).values()
    return file.draft


def latest(
    registry: SchemaSource, topic: str, field: MessageField, strategy: SubjectNameStrategyType | None = None
) -> SchemaDraft | None:
    """Return the newest schema of a part's subject, or None if nothing is registered.

    The strategy names the subject; by default it is an associated one, else the topic's.

    Raises:
        UsageError: the strategy names subjects after records.
    """
    try:
        return registry.version(_subject(registry, topic, field, strategy), "latest").draft
    except NotFound:
        return None


def _subject(registry: SchemaSource, topic: str, field: MessageField, strategy: SubjectNameStrategyType | None) -> str:
    if strategy in BY_RECORD:
        raise UsageError("the subject is named after the record, so its schema has to be given: --schema FILE")
    naming = naming_of(None, strategy, None)
    return str(answered(naming.subject(SerializationContext(topic, field), None), registry))


def _as_text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else compact(value, str).encode()


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value")
