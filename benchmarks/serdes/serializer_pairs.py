"""Serializers and deserializers of contractlog and confluent-kafka, as users call them.

Each library has its own client of the same registry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import schema_registry as reference
from confluent_kafka.schema_registry.avro import AvroDeserializer as ReferenceAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as ReferenceAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as ReferenceJSONDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as ReferenceJSONSerializer
from confluent_kafka.serialization import MessageField as ReferenceField
from confluent_kafka.serialization import SerializationContext as ReferenceContext

from contractlog.clients import Registry
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

from json_documents import create_document, create_json_schema
from record_shapes import RecordShape

__all__ = ["DIRECTIONS", "Call", "Pair", "PairFactory", "connect_clients"]

Call = Callable[[Any], Any]
DIRECTIONS: Final = ("avro write", "avro read", "avro evolved", "json write", "json read")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two functions with the same purpose, and their arguments."""

    ours: Call
    theirs: Call
    arguments: list[Any]
    read_back: Call | None = None  #: reads what ours wrote


class PairFactory:
    """Maker of pairs; every pair has new serializers on the two clients."""

    def __init__(self, url: str, ours: Registry) -> None:
        self.ours, self.theirs = ours, reference.SchemaRegistryClient({"url": url})

    def create_pair(self, direction: str, shape: RecordShape, number: int) -> Pair:
        """Return the pair of a direction, after checking that both agree on every argument."""
        format_name, _, operation = direction.partition(" ")
        topic = f"{shape.name}-{format_name}"
        schema = json.dumps(shape.schema if format_name == "avro" else create_json_schema(shape.schema))
        values: list[Any] = shape.create_values(number)
        if format_name == "json":
            values = [create_document(value) for value in values]
        ours, theirs = self.create_serializers(format_name, schema, topic)
        frames = _compare_results(ours, theirs, values)
        if operation == "write":
            return Pair(ours, theirs, values, self.create_deserializers(format_name, None, topic)[0])
        reader_schema = (
            json.dumps(shape.derive_reader_schema())
            if operation == "evolved"
            else schema
            if format_name == "json"
            else None
        )
        ours, theirs = self.create_deserializers(format_name, reader_schema, topic)
        read = _compare_results(ours, theirs, frames)
        assert operation == "evolved" or all(
            _contains_value(value, read_value) for value, read_value in zip(values, read, strict=True)
        )
        return Pair(ours, theirs, frames)

    def create_serializers(self, kind: str, schema: str, topic: str) -> tuple[Call, Call]:
        """Return two serializers."""
        if kind == "avro":
            return _bind_contexts(
                AvroSerializer(self.ours, schema), ReferenceAvroSerializer(self.theirs, schema), topic
            )
        ours = JSONSerializer(schema, self.ours)
        return _bind_contexts(ours, ReferenceJSONSerializer(schema, self.theirs), topic)

    def create_deserializers(self, kind: str, schema: str | None, topic: str) -> tuple[Call, Call]:
        """Return two deserializers."""
        if kind == "avro":
            return _bind_contexts(
                AvroDeserializer(self.ours, schema), ReferenceAvroDeserializer(self.theirs, schema), topic
            )
        ours = JSONDeserializer(None, schema_registry_client=self.ours)
        return _bind_contexts(ours, ReferenceJSONDeserializer(None, schema_registry_client=self.theirs), topic)


@contextmanager
def connect_clients(url: str) -> Iterator[PairFactory]:
    """Connect both clients."""
    with Registry(url) as ours:
        yield PairFactory(url, ours)


def _bind_contexts(ours: Any, theirs: Any, topic: str) -> tuple[Call, Call]:
    """Call each with a context of its own package, as programs do."""
    our_context, their_context = (
        SerializationContext(topic, MessageField.VALUE),
        ReferenceContext(topic, ReferenceField.VALUE),
    )
    return lambda value: ours(value, our_context), lambda value: theirs(value, their_context)


def _compare_results(ours: Call, theirs: Call, arguments: list[Any]) -> list[Any]:
    results = []
    for argument in arguments:
        our_result, their_result = ours(argument), theirs(argument)
        if isinstance(argument, dict) and argument and _is_json(our_result):
            assert json.loads(our_result[5:]) == json.loads(their_result[5:])
            assert our_result[:5] == their_result[:5]
        else:
            assert our_result == their_result, f"{our_result!r} is not {their_result!r}"
        results.append(our_result)
    return results


def _is_json(frame: bytes) -> bool:
    return frame[5:6] == b"{"


def _contains_value(value: Any, read_value: Any) -> bool:
    """Return whether a value was read back; fields that were left out may be defaults."""
    if isinstance(value, Mapping):
        return isinstance(read_value, Mapping) and all(
            _contains_value(item, read_value[key]) for key, item in value.items()
        )
    return bool(value == read_value)
