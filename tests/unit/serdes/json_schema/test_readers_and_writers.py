"""The validated document is the one sent, for all inputs of a serializer."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import SerializationContext
from contractlog.serdes.errors import BadFrame, DecodeError, EncodeError, SerializationError
from contractlog.serdes.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer, JSONDeserializer, JSONSerializer
from contractlog.serdes.json_schema.exact_json import read_document
from contractlog.serdes.json_schema.readers_and_writers import JsonReader, JsonWriter

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
    return parse_schema(SchemaDraft(text, SchemaType.JSON), strict=False)


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


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, VALUES)
def test_a_value_is_written_if_its_text_is_admitted(schema: Any, value: Any) -> None:
    try:
        body = orjson.dumps(value)
    except TypeError as problem:
        body = None if "64-bit" not in str(problem) else _written(JsonWriter(parsed(True)), value)  # noqa: FBT003
    admitted = body is not None and jsonschema_rs.Draft7Validator(schema).is_valid(read_document(body))
    try:
        written = JsonWriter(parsed(schema)).encode(value, b"head")
    except EncodeError as error:
        wanted = Outcome.NOT_JSON if body is None or has_lost(value) else Outcome.SCHEMA_VIOLATION
        assert (error.outcome, admitted and not has_lost(value)) == (wanted, False)  # noqa: PT017
    else:
        assert admitted
        assert not has_lost(value)
        assert written == b"head" + (body or b"")


def _written(writer: JsonWriter, value: Any) -> bytes | None:
    try:
        return writer.encode(value)
    except EncodeError:
        return None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
FAILING: dict[str, Any] = {
    "NaN": lambda _: json.dumps({"wind": math.nan}),
    "no JSON": lambda _: "wind: 1",
    "no text": lambda _: None,
    "a number": lambda _: 5,
    "no characters": lambda _: '{"a": "\ud800"}',
    "cut": lambda _: b'{"wind": ',
    "forbidden": lambda _: '{"wind": "strong"}',
    "a circle": lambda _: json.dumps(CIRCLE),
    "an error": lambda _: {}["wind"],
    "deep": lambda _: b"[" * 2_000,
}


@pytest.mark.parametrize("name", FAILING)
def test_results_of_user_functions_are_validated(registry: Registry, name: str) -> None:
    for validate in (True, False):
        serializer = JSONSerializer(WEATHER, registry, json_encode=FAILING[name], validate=validate)
        if name == "forbidden" and not validate:
            assert serializer({"wind": 1}, CONTEXT)
            continue
        with pytest.raises(EncodeError) as caught:
            serializer({"wind": 1}, CONTEXT)
        assert (caught.value.topic, caught.value.schema_id) == ("weather", 1)
        wanted = Outcome.SCHEMA_VIOLATION if name == "forbidden" else Outcome.NOT_JSON
        assert caught.value.outcome is wanted


@pytest.mark.parametrize(
    "decode",
    [
        json.loads,
        lambda body: json.loads(body.decode()),
        lambda _: {}["a"],
        lambda _: object(),
        lambda _: {1: 2},
        lambda _: {"wind": 1j},
    ],
)
@pytest.mark.parametrize("body", [b"{", b'"\xff"', b"[" * 100_000, b"1" * 5_000, b'{"wind": "strong"}'])
def test_exceptions_of_user_functions_are_wrapped(decode: Any, body: bytes) -> None:
    deserializer = JSONDeserializer(WEATHER, json_decode=decode)
    with pytest.raises(DecodeError) as caught:
        deserializer(b"\0\0\0\0\7" + body, CONTEXT)
    assert (caught.value.topic, caught.value.schema_id) == ("weather", 7)


class Label(str, Enum):  # noqa: UP042 -- text and value are each its own
    """A string whose text is not its value."""

    OTHER = "other"

    def __new__(cls, value: str) -> Self:
        made = str.__new__(cls, "label")
        made._value_ = value
        return made


@pytest.mark.parametrize(
    "inner", [Label.OTHER, [Label.OTHER], {"a": [Label.OTHER, 2**70, Text("t")]}, [None, Label.OTHER]]
)
def test_an_enum_is_validated_and_sent_as_its_value(inner: Any) -> None:
    body = JsonWriter(parsed(True)).encode(inner)  # noqa: FBT003
    assert b"label" not in body
    for const in ("other", "label"):
        schema = {"const": json.loads(body.replace(b"other", const.encode()))}
        if const == "other":
            assert JsonWriter(parsed(schema)).encode(inner) == body
        else:
            with pytest.raises(EncodeError):
                JsonWriter(parsed(schema)).encode(inner)


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
