"""Our serializers and deserializers and those of confluent-kafka, as users call them.

Each side has its own client of one registry.
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

from documents import document, json_schema
from shapes import Shape

__all__ = ["DIRECTIONS", "Call", "Makers", "Pair", "connected"]

Call = Callable[[Any], Any]
DIRECTIONS: Final = ("avro write", "avro read", "avro evolved", "json write", "json read")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two functions with the same purpose, and their arguments."""

    ours: Call
    theirs: Call
    arguments: list[Any]
    back: Call | None = None  #: reads what ours wrote


class Makers:
    """Maker of pairs; every pair has new serializers on the two clients."""

    def __init__(self, url: str, ours: Registry) -> None:
        self.ours, self.theirs = ours, reference.SchemaRegistryClient({"url": url})

    def pair(self, direction: str, shape: Shape, number: int) -> Pair:
        """Return the pair of a direction, after checking that both agree on every argument."""
        kind, _, what = direction.partition(" ")
        topic = f"{shape.name}-{kind}"
        schema = json.dumps(shape.schema if kind == "avro" else json_schema(shape.schema))
        values: list[Any] = shape.values(number)
        if kind == "json":
            values = [document(value) for value in values]
        ours, theirs = self.writers(kind, schema, topic)
        frames = _agreed(ours, theirs, values)
        if what == "write":
            return Pair(ours, theirs, values, self.readers(kind, None, topic)[0])
        wanted = json.dumps(shape.evolved()) if what == "evolved" else schema if kind == "json" else None
        ours, theirs = self.readers(kind, wanted, topic)
        read = _agreed(ours, theirs, frames)
        assert what == "evolved" or all(_holds(one, other) for one, other in zip(values, read, strict=True))
        return Pair(ours, theirs, frames)

    def writers(self, kind: str, schema: str, topic: str) -> tuple[Call, Call]:
        """Return two serializers."""
        if kind == "avro":
            return _called(AvroSerializer(self.ours, schema), ReferenceAvroSerializer(self.theirs, schema), topic)
        ours = JSONSerializer(schema, self.ours)
        return _called(ours, ReferenceJSONSerializer(schema, self.theirs), topic)

    def readers(self, kind: str, schema: str | None, topic: str) -> tuple[Call, Call]:
        """Return two deserializers."""
        if kind == "avro":
            return _called(AvroDeserializer(self.ours, schema), ReferenceAvroDeserializer(self.theirs, schema), topic)
        ours = JSONDeserializer(None, schema_registry_client=self.ours)
        return _called(ours, ReferenceJSONDeserializer(None, schema_registry_client=self.theirs), topic)


@contextmanager
def connected(url: str) -> Iterator[Makers]:
    """Connect both clients."""
    with Registry(url) as ours:
        yield Makers(url, ours)


def _called(ours: Any, theirs: Any, topic: str) -> tuple[Call, Call]:
    """Call each with a context of its own package, as programs do."""
    own, other = SerializationContext(topic, MessageField.VALUE), ReferenceContext(topic, ReferenceField.VALUE)
    return lambda value: ours(value, own), lambda value: theirs(value, other)


def _agreed(ours: Call, theirs: Call, arguments: list[Any]) -> list[Any]:
    found = []
    for argument in arguments:
        one, other = ours(argument), theirs(argument)
        if isinstance(argument, dict) and argument and _is_json(one):
            assert json.loads(one[5:]) == json.loads(other[5:])
            assert one[:5] == other[:5]
        else:
            assert one == other, f"{one!r} is not {other!r}"
        found.append(one)
    return found


def _is_json(frame: bytes) -> bool:
    return frame[5:6] == b"{"


def _holds(value: Any, read: Any) -> bool:
    """Return whether a value was read back; fields that were left out may be defaults."""
    if isinstance(value, Mapping):
        return isinstance(read, Mapping) and all(_holds(item, read[key]) for key, item in value.items())
    return bool(value == read)
