"""What is validated is what is sent, whichever way it was found out; and the ways in and out of a serializer."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

import jsonschema_rs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes import SerializationContext
from contractlog.serdes.errors import BadFrame, DecodeError, EncodeError, SerializationError
from contractlog.serdes.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer, JSONDeserializer, JSONSerializer
from contractlog.serdes.json_schema.plan import JsonReader, JsonWriter

if TYPE_CHECKING:
    from contractlog.clients import Registry

CONTEXT = SerializationContext("weather")
WEATHER = '{"title": "Weather", "type": "object", "properties": {"wind": {"type": "number"}}}'


class Word(StrEnum):
    A = "a"
    LONG = "a long one"


class Number(IntEnum):
    ONE = 1
    TEN = 10


class Kind(Enum):
    NONE = None
    TEXT = "text"
    NAN = math.nan


class Text(str):
    __slots__ = ()


class Members(dict[str, Any]):
    pass


@dataclass
class Wind:
    speed: Any


LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, 1, 2, 10, 1.0, 1.5, math.nan, math.inf, "", "a", "null", "a long one", 2**63, 2**70),
        *(Word.A, Word.LONG, Number.ONE, Number.TEN, Kind.NONE, Kind.TEXT, Kind.NAN, Text("a"), Text("a long one")),
        *(datetime(2024, 1, 1, tzinfo=UTC), UUID(int=1), b"a", 1j, object),
    ]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["a", "b", "speed"]), inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=3).map(Members)
        | inner.map(Wind)
    ),
    max_leaves=8,
)
LEAF_SCHEMAS = st.sampled_from(
    [
        *({"type": "null"}, {"type": "string", "maxLength": 4}, {"type": "integer", "maximum": 5}, {"type": "number"}),
        *({"type": ["null", "string"]}, {"enum": ["a", 1, None]}, {"const": 1}, True, False, {"type": "boolean"}),
        *({"minLength": 30}, {"not": {"type": "string"}}, {"multipleOf": 0.5}),
    ]
)
SCHEMAS = st.recursive(
    LEAF_SCHEMAS,
    lambda inner: (
        st.fixed_dictionaries({"items": inner})
        | st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from(["a", "speed"]), inner)})
        | st.fixed_dictionaries({"additionalProperties": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
        | st.fixed_dictionaries({"uniqueItems": st.sampled_from([True]), "items": inner})
    ),
    max_leaves=4,
)


def parsed(schema: Any) -> ParsedSchema:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return parse(SchemaDraft(text, SchemaType.JSON), strict=False)


def has_lost(given: Any) -> bool:
    """Whether a number would become null; walks values as orjson does."""
    while isinstance(given, Enum):
        given = given.value
    if isinstance(given, Wind):
        return has_lost(given.speed)
    if isinstance(given, dict):
        return any(map(has_lost, given.values()))
    if isinstance(given, list | tuple):
        return any(map(has_lost, given))
    return isinstance(given, float) and not math.isfinite(given)


@given(SCHEMAS, VALUES)
def test_a_value_is_written_if_its_text_is_admitted(schema: Any, value: Any) -> None:
    try:
        body = orjson.dumps(value)
    except TypeError:
        body = None
    admitted = body is not None and jsonschema_rs.Draft7Validator(schema).is_valid(orjson.loads(body))
    try:
        written = JsonWriter(parsed(schema)).encode(value, b"head")
    except EncodeError as error:
        wanted = Outcome.NOT_JSON if body is None or has_lost(value) else Outcome.SCHEMA_VIOLATION
        assert (error.outcome, admitted and not has_lost(value)) == (wanted, False)  # noqa: PT017
    else:
        assert admitted
        assert not has_lost(value)
        assert written == b"head" + (body or b"")


@given(SCHEMAS, VALUES)
def test_without_validation_only_lost_numbers_are_refused(schema: Any, value: Any) -> None:
    try:
        written = JsonWriter(parsed(schema), None).encode(value)
    except EncodeError as error:
        assert error.outcome is Outcome.NOT_JSON  # noqa: PT017
    else:
        assert not has_lost(value)
        assert JsonReader(parsed(schema), None, None).decode(written) is not ...


def test_own_functions_make_the_text_and_the_value(registry: Registry) -> None:
    def encode(value: Any) -> str:
        return json.dumps({"wind": value})

    def decode(body: bytes) -> Any:
        return json.loads(body)

    serializer = JSONSerializer(WEATHER, registry, json_encode=encode)
    written = serializer(1.5, CONTEXT)
    assert written == b'\0\0\0\0\1{"wind": 1.5}'
    with pytest.raises(EncodeError, match="wind: type"):
        serializer("strong", CONTEXT)
    deserializer = JSONDeserializer(None, schema_registry_client=registry, json_decode=decode)
    assert deserializer(written, CONTEXT) == {"wind": 1.5}


def test_a_schema_is_enough_to_read_without_a_registry() -> None:
    deserializer = JSONDeserializer(WEATHER)
    assert deserializer(b'\0\0\0\0\7{"wind": 1.5}', CONTEXT) == {"wind": 1.5}
    assert deserializer.prepare("weather") == []
    with pytest.raises(DecodeError) as caught:
        deserializer(b'\0\0\0\0\7{"wind": "1.5"}', CONTEXT)
    assert (caught.value.topic, caught.value.schema_id, caught.value.field) == ("weather", 7, "wind")
    with pytest.raises(BadFrame):
        deserializer(b'{"wind": 1.5}', CONTEXT)
    with pytest.raises(ValueError, match="a registry is needed"):
        JSONDeserializer(None)


def test_async_twins_do_the_same(registry: Registry) -> None:
    from contractlog.clients import AsyncRegistry

    async def run() -> None:
        async with AsyncRegistry(app=registry._transport.app) as client:
            serializer = await AsyncJSONSerializer(WEATHER, client)
            deserializer = AsyncJSONDeserializer(None, schema_registry_client=client)
            written = await serializer({"wind": 1.5}, CONTEXT)
            assert await deserializer(written, CONTEXT) == {"wind": 1.5}
            with pytest.raises(SerializationError, match=r"wind.*topic weather"):
                await serializer({"wind": "strong"}, CONTEXT)

    asyncio.run(run())
