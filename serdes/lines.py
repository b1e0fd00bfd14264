"""A line of JSON to the bytes of a record."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from contractlog.clients.cli.files import collect
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema import JSONSerializer
from contractlog.serdes.json_schema.documents import compact
from contractlog.serdes.plain import FromPlain
from contractlog.serdes.source import SchemaSource, parsed_of

__all__ = ["LineReader"]

#: members that ``consume --envelope`` prints and that the log itself assigns
_ASSIGNED: Final = frozenset({"topic", "partition", "offset", "key_schema_id", "value_schema_id"})
_ENVELOPE: Final = frozenset({"key", "value", "timestamp"})
_MAX_TIMESTAMP: Final = 2**63 - 1
_NO_KEY: Final = (
    "null would be a tombstone, which deletes what has its key, and it has none: "
    'give --envelope and lines that read {"key": …, "value": null}'
)

Part = Callable[[Any], bytes | None]


class LineReader:
    """Makes records of lines, with the schemas of a topic.

    Args:
        registry: where schemas are.
        topic: where records go.
        schema: a file with the values' schema; None: the newest of ``<topic>-value``.
        key_field: the member of a value that is its key.
        envelope: lines hold key, value and timestamp.
    """

    def __init__(
        self, registry: SchemaSource, topic: str, *, schema: str | None, key_field: str | None, envelope: bool
    ) -> None:
        self._registry = registry
        self._topic = topic
        self._key_field = key_field
        self._envelope = envelope
        value = _latest(registry, f"{topic}-value") if schema is None else _from_file(schema, topic)
        if value is None:
            raise UsageError(f"nothing is registered as `{topic}-value`: register a schema, or give --schema FILE")
        self._fractions = Decimal if value.type is SchemaType.AVRO else float
        self._value = self._part(value, MessageField.VALUE, register=schema is not None)
        key = _latest(registry, f"{topic}-key") if key_field or envelope else None
        self._key = _as_text if key is None else self._part(key, MessageField.KEY, register=False)

    def record(self, number: int, line: str) -> tuple[bytes | None, bytes | None, int | None]:
        """Return key, value and timestamp of the record that a line stands for.

        Raises:
            UsageError: the line is no JSON, or its value does not fit the schema; with its number.
        """
        try:
            return self._record(json.loads(line, parse_float=self._fractions, parse_constant=_refuse))
        except json.JSONDecodeError as error:
            column = min(error.pos, len(line.rstrip())) + 1
            raise UsageError(f"line {number} is no JSON: {error.msg} (column {column})") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"line {number} is no JSON: {error}") from None
        except (SerializationError, UsageError) as error:
            raise UsageError(f"line {number}: {error}") from None

    def _record(self, json_value: Any) -> tuple[bytes | None, bytes | None, int | None]:
        if not self._envelope:
            if json_value is None:
                raise UsageError(_NO_KEY)
            key = self._picked(json_value) if self._key_field is not None else None
            return key, self._value(json_value), None
        if not isinstance(json_value, dict) or not json_value.keys() <= _ENVELOPE | _ASSIGNED:
            raise UsageError('with --envelope a line reads {"key": …, "value": …, "timestamp": milliseconds}')
        timestamp = json_value.get("timestamp")
        if timestamp is not None and (type(timestamp) is not int or not 0 < timestamp <= _MAX_TIMESTAMP):
            raise UsageError("a timestamp is a number of milliseconds since 1970, above 0")
        key = None if json_value.get("key") is None else self._key(json_value["key"])
        if key is None and json_value.get("value") is None:
            raise UsageError(_NO_KEY)
        return key, self._value(json_value.get("value")), timestamp

    def _picked(self, json_value: Any) -> bytes | None:
        if not isinstance(json_value, dict) or json_value.get(self._key_field) is None:
            raise UsageError(f"the value has no `{self._key_field}` to be its key")
        return self._key(json_value[self._key_field])

    def _part(self, draft: SchemaDraft, field: MessageField, *, register: bool) -> Part:
        context = SerializationContext(self._topic, field)
        conf = {"auto.register.schemas": register}
        if draft.type is SchemaType.JSON:
            to_json = JSONSerializer(draft, self._registry, conf=conf)
            return lambda value: to_json(value, context)
        if draft.type is not SchemaType.AVRO:
            raise UsageError(f"`{self._topic}-{field}` is of type {draft.type}, which `produce` does not write")
        to_avro = AvroSerializer(self._registry, draft, conf=conf)
        plain = FromPlain(parsed_of(self._registry, draft).root)
        return lambda value: None if value is None else to_avro(plain.value(value), context)


def _latest(registry: SchemaSource, subject: str) -> SchemaDraft | None:
    try:
        return registry.version(subject, "latest").draft
    except NotFound:
        return None


def _from_file(path: str, topic: str) -> SchemaDraft:
    if Path(path).is_dir():
        raise UsageError(f"`{path}` is a folder: --schema takes one file")
    [[file]] = collect([path], subject=f"{topic}-value").values()
    return file.draft


def _as_text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else compact(value, str).encode()


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value")
