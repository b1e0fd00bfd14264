"""Corrected values of records, in a file of JSON lines that is read line by line when they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, NoReturn, Self

from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.schema import SchemaType
from contractlog.serdes.avro.readers_and_writers import AvroWriter
from contractlog.serdes.cli.json_values import AvroValueConverter
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.readers_and_writers import JsonWriter
from contractlog.serdes.schema_source import fetch_and_parse
from contractlog.serdes.wire import encode_prefix

__all__ = ["Coordinates", "Corrections"]

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_FORM: Final = 'a line reads {"partition": …, "offset": …, "value": …}, with "topic" and "schema_id" if needed'
_MEMBERS: Final = frozenset({"topic", "partition", "offset", "value", "schema_id"})


class Coordinates(NamedTuple):
    """Position of a record."""

    topic: str
    partition: int
    offset: int


class Corrections:
    """Corrected values by the position of their records; only positions are kept in memory.

    Args:
        path: the file.
        registry: the source of schemas.
        topic: the topic of lines without one; None: each line needs one.
        schema_id: the schema of lines that name none; None: each line needs one.

    Raises:
        UsageError: the file cannot be read, a line has another form, two are for one record, or a value does not fit
            its schema; with the number of the line.
    """

    def __init__(self, path: Path, registry: Registry, topic: str | None, schema_id: int | None) -> None:
        self._registry = registry
        self._topic = topic
        self._schema_id = schema_id
        self._writers: dict[int, _ValueEncoder] = {}
        self._lines: dict[Coordinates, tuple[int, int]] = {}  #: number and position of each line
        if not path.is_file():
            raise UsageError(f"`{path}` is not a regular file: it is read several times")
        self._file = path.open("rb")
        try:
            for number, position, line in self._read_lines():
                self._add_line(number, position, self._encode(number, line)[0])
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, coordinates: object) -> bool:
        return coordinates in self._lines

    def encode(self, coordinates: Coordinates) -> bytes | None:
        """Return the framed value of a corrected record; None is a tombstone."""
        number, position = self._lines[coordinates]
        self._file.seek(position)
        return self._encode(number, self._file.readline(MAX_LINE_BYTES + 1))[1]

    def _add_line(self, number: int, position: int, coordinates: Coordinates) -> None:
        before, _ = self._lines.setdefault(coordinates, (number, position))
        if before != number:
            raise UsageError(f"line {number} corrects the same record as line {before}")

    def _read_lines(self) -> Iterator[tuple[int, int, bytes]]:
        number = position = 0
        while line := self._file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise UsageError(f"line {number} has more than {MAX_LINE_BYTES:,} bytes")
            if line.strip():
                yield number, position, line
            position += len(line)

    def _encode(self, number: int, line: bytes) -> tuple[Coordinates, bytes | None]:
        try:
            return self._encode_document(json.loads(line, parse_float=Decimal, parse_constant=_reject_constant))
        except (SerializationError, UsageError) as error:  # before `ValueError`, which an `EncodeError` is too
            raise UsageError(f"line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"line {number} is not JSON: {error}") from None

    def _encode_document(self, document: Any) -> tuple[Coordinates, bytes | None]:
        if not isinstance(document, dict) or not document.keys() <= _MEMBERS or "value" not in document:
            raise UsageError(_FORM)
        topic = document.get("topic", self._topic)
        partition, offset = document.get("partition"), document.get("offset")
        if type(partition) is not int or type(offset) is not int or not isinstance(topic, str):
            raise UsageError(_FORM)
        coordinates = Coordinates(topic, partition, offset)
        if document["value"] is None:
            return coordinates, None
        schema_id = document.get("schema_id", self._schema_id)
        if type(schema_id) is not int:
            raise UsageError("the value has no schema: add `schema_id` to the line, or pass --schema-id")
        return coordinates, self._writer(schema_id).encode(document["value"])

    def _writer(self, schema_id: int) -> _ValueEncoder:
        if schema_id not in self._writers:
            self._writers[schema_id] = _ValueEncoder(self._registry, schema_id)
        return self._writers[schema_id]


class _ValueEncoder:
    """Encoder of plain JSON with one registered schema."""

    def __init__(self, registry: Registry, schema_id: int) -> None:
        try:
            draft = registry.schema_by_id(schema_id).draft
        except NotFound:
            raise UsageError(f"the registry has no schema {schema_id}") from None
        parsed = fetch_and_parse(registry, draft)
        self._prefix = encode_prefix(schema_id)
        self._converter = AvroValueConverter(parsed.root) if parsed.type is SchemaType.AVRO else None
        self._writer = AvroWriter(parsed) if parsed.type is SchemaType.AVRO else JsonWriter(parsed)

    def encode(self, value: Any) -> bytes:
        """Return the framed value.

        Raises:
            EncodeError: it does not fit the schema.
            UsageError: a member is not in the schema.
        """
        plain = _to_floats(value) if self._converter is None else self._converter.value(value)
        return self._writer.encode(plain, self._prefix)


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value")


def _to_floats(value: Any) -> Any:
    """Return JSON with floats in place of ``Decimal``."""
    if isinstance(value, dict):
        return {name: _to_floats(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_to_floats(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value
