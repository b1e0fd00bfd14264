"""Conversion of JSON lines and values to records."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from contractlog.clients.cli.schema_folder.collection import collect_files
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.identifiers import topic_subject
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.cli.headers import HeaderPairs, headers_from_json
from contractlog.serdes.cli.json_values import AvroValueConverter, to_json_value
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema import JSONSerializer
from contractlog.serdes.json_schema.exact_json import compact_json
from contractlog.serdes.schema_source import SchemaSource, fetch_and_parse
from contractlog.serdes.serializer import SyncSerializer
from contractlog.serdes.source_requests import run_sync
from contractlog.serdes.subject_names import SubjectNameStrategyType, make_subject_resolver

__all__ = ["RECORD_STRATEGIES", "ProducerRecord", "RecordEncoder", "find_latest_schema", "load_schema"]

#: members that ``consume --envelope`` prints and that the log itself assigns
_ASSIGNED_MEMBERS: Final = frozenset({"topic", "partition", "offset", "key_schema_id", "value_schema_id"})
_ENVELOPE_MEMBERS: Final = frozenset({"key", "value", "headers", "timestamp"})
#: strategies that name a subject after the record of its schema
RECORD_STRATEGIES: Final = frozenset({SubjectNameStrategyType.RECORD, SubjectNameStrategyType.TOPIC_RECORD})
_MAX_TIMESTAMP: Final = 2**63 - 1
_NO_KEY_MESSAGE: Final = (
    "null would be a tombstone, which deletes what has its key, and it has none: "
    'pass --envelope and lines that read {"key": …, "value": null}'
)

PartEncoder = Callable[[Any], bytes | None]


class ProducerRecord(NamedTuple):
    """A record to be sent to a topic."""

    key: bytes | None
    value: bytes | None
    timestamp: int | None
    headers: HeaderPairs
    origin: str = ""  #: for errors, as `` (from orders partition 0 offset 7)``


class RecordEncoder:
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
        value = find_latest_schema(registry, topic, MessageField.VALUE, strategy) if schema is None else schema
        if value is None:
            subject = _find_subject(registry, topic, MessageField.VALUE, strategy)
            raise UsageError(f"nothing is registered as `{subject}`: register a schema, or pass --schema FILE")
        self._parse_float = Decimal if value.type is SchemaType.AVRO else float
        self.parsed = fetch_and_parse(registry, value)
        self._context = SerializationContext(topic, MessageField.VALUE)
        self._encode = self._make_serializer(value, MessageField.VALUE, register=schema is not None, strategy=strategy)
        self._encode_value = self._make_part_encoder(value, self._encode, self._context)
        key = find_latest_schema(registry, topic, MessageField.KEY) if key_field or envelope else None
        self._encode_key: PartEncoder = _encode_text
        if key is not None:
            encode = self._make_serializer(key, MessageField.KEY, register=False, strategy=None)
            self._encode_key = self._make_part_encoder(key, encode, SerializationContext(topic, MessageField.KEY))

    def encode_line(self, number: int, line: str) -> ProducerRecord:
        """Return the record of a line.

        Raises:
            UsageError: the line is not JSON, or its value does not fit the schema; with its number.
        """
        try:
            return self._encode_document(
                json.loads(line, parse_float=self._parse_float, parse_constant=_reject_constant)
            )
        except json.JSONDecodeError as error:
            column = min(error.pos, len(line.rstrip())) + 1
            raise UsageError(f"line {number} is not JSON: {error.msg} (column {column})") from None
        except (SerializationError, UsageError) as error:  # before `ValueError`, which an `EncodeError` is too
            raise UsageError(f"line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"line {number} is not JSON: {error}") from None

    def encode_value(self, number: int, value: Any) -> ProducerRecord:
        """Return the record of a value, as ``AvroFileReader`` reads it.

        Raises:
            UsageError: the value does not fit the schema; with its number.
        """
        try:
            key = self._extract_key(to_json_value(value)) if self._key_field is not None else None
            fitting = value if self.parsed.type is SchemaType.AVRO else to_json_value(value)
            return ProducerRecord(key, self._encode(fitting, self._context), None, self._headers)
        except (SerializationError, UsageError) as error:
            raise UsageError(f"record {number}: {error}") from None

    def _encode_document(self, json_value: Any) -> ProducerRecord:
        if not self._envelope:
            if json_value is None:
                raise UsageError(_NO_KEY_MESSAGE)
            key = self._extract_key(json_value) if self._key_field is not None else None
            return ProducerRecord(key, self._encode_value(json_value), None, self._headers)
        if not isinstance(json_value, dict) or not json_value.keys() <= _ENVELOPE_MEMBERS | _ASSIGNED_MEMBERS:
            raise UsageError(
                'with --envelope a line reads {"key": …, "value": …, "headers": […], "timestamp": milliseconds}'
            )
        timestamp = json_value.get("timestamp")
        if timestamp is not None and (type(timestamp) is not int or not 0 < timestamp <= _MAX_TIMESTAMP):
            raise UsageError("a timestamp is a number of milliseconds since 1970, above 0")
        key = None if json_value.get("key") is None else self._encode_key(json_value["key"])
        if key is None and json_value.get("value") is None:
            raise UsageError(_NO_KEY_MESSAGE)
        headers = [*headers_from_json(json_value.get("headers")), *self._headers]
        return ProducerRecord(key, self._encode_value(json_value.get("value")), timestamp, headers)

    def _extract_key(self, json_value: Any) -> bytes | None:
        if not isinstance(json_value, dict) or json_value.get(self._key_field) is None:
            raise UsageError(f"the value has no `{self._key_field}` to be its key")
        return self._encode_key(json_value[self._key_field])

    def _make_serializer(
        self, draft: SchemaDraft, field: MessageField, *, register: bool, strategy: SubjectNameStrategyType | None
    ) -> SyncSerializer:
        conf: dict[str, Any] = {"auto.register.schemas": register}
        if strategy is not None:
            conf["subject.name.strategy.type"] = strategy
        if draft.type is SchemaType.JSON:
            return JSONSerializer(draft, self._registry, conf=conf)
        if draft.type is not SchemaType.AVRO:
            raise UsageError(
                f"`{topic_subject(self._topic, field)}` is of type {draft.type}, which `produce` does not write"
            )
        return AvroSerializer(self._registry, draft, conf=conf)

    def _make_part_encoder(
        self, draft: SchemaDraft, encode: SyncSerializer, context: SerializationContext
    ) -> PartEncoder:
        if draft.type is SchemaType.JSON:
            return lambda value: encode(value, context)
        plain = AvroValueConverter(fetch_and_parse(self._registry, draft).root)
        return lambda value: None if value is None else encode(plain.value(value), context)


def load_schema(path: str, topic: str, references: Sequence[Reference]) -> SchemaDraft:
    """Return the schema in a file.

    Raises:
        UsageError: the file cannot be read, or is a folder.
    """
    if Path(path).is_dir():
        raise UsageError(f"`{path}` is a folder: --schema takes one file")
    [[file]] = collect_files([path], subject=topic_subject(topic, MessageField.VALUE), references=references).values()
    return file.draft


def find_latest_schema(
    registry: SchemaSource, topic: str, field: MessageField, strategy: SubjectNameStrategyType | None = None
) -> SchemaDraft | None:
    """Return the newest schema of a part's subject, or None if nothing is registered.

    The strategy names the subject: by default the subject associated with the topic, else ``<topic>-<part>``.

    Raises:
        UsageError: the strategy names subjects after records.
    """
    try:
        return registry.version(_find_subject(registry, topic, field, strategy), "latest").draft
    except NotFound:
        return None


def _find_subject(
    registry: SchemaSource, topic: str, field: MessageField, strategy: SubjectNameStrategyType | None
) -> str:
    if strategy in RECORD_STRATEGIES:
        raise UsageError("the subject is named after the record, so its schema has to be given: --schema FILE")
    naming = make_subject_resolver(None, strategy, None)
    return str(run_sync(naming.subject(SerializationContext(topic, field), None), registry))


def _encode_text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else compact_json(value, str).encode()


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value")
