"""Requests of serializers to a registry, their number, and behaviour during outages."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from contractlog.clients import AsyncRegistry, Registry
from contractlog.clients.cache import TtlCache
from contractlog.clients.confluent import Schema, SchemaRegistryClient
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema, SubjectNotFound, Unreachable, UnreadableResponse
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError, ReaderMismatch, SerializationError
from contractlog.serdes.serde_base import SingleFlight, TaskSingleFlight
from contractlog.serdes.wire import encode_frame

from support.deadlines import WAIT_SECONDS
from support.recording_source import RecordingSource

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
WIDER = (
    '{"type": "record", "name": "Order", "fields": '
    '[{"name": "n", "type": "int"}, {"name": "note", "type": "string", "default": ""}]}'
)
OTHER = '{"type": "record", "name": "Order", "fields": [{"name": "m", "type": "int"}]}'
VALUE = SerializationContext("orders")
LATEST: dict[str, Any] = {"auto_register_schemas": False, "use_latest_version": True}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def timed(serializer: Any) -> Clock:
    """Give a serializer a clock that the test turns."""
    clock = Clock()
    serializer._clock = serializer._planner._clock = clock
    return clock


def test_a_place_is_asked_about_once(registry: Registry) -> None:
    watched = RecordingSource(registry)
    serializer, deserializer = AvroSerializer(watched, ORDER), AvroDeserializer(watched)
    for n in range(3):
        assert deserializer(serializer({"n": n}, VALUE), VALUE) == {"n": n}
    assert watched.method_names == [
        "associations_by_resource_name",
        "register",
        "associations_by_resource_name",
        "schema_by_id",
    ]


def test_one_schema_is_made_ready_once_for_all_subjects(registry: Registry) -> None:
    serializer = AvroSerializer(registry, ORDER)
    deserializer = AvroDeserializer(registry)
    for topic in ("one", "two", "three"):
        context = SerializationContext(topic)
        assert deserializer(serializer({"n": 1}, context), context) == {"n": 1}
    assert len({serializer._plans.get(key).encode.__self__ for key in serializer._plans}) == 1
    assert len({deserializer._plans.get(key).decode.__self__ for key in deserializer._plans}) == 1
    assert registry.subjects() == ["one-value", "three-value", "two-value"]


def test_64_threads_that_want_one_id_ask_once(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    watched = RecordingSource(registry, before=lambda: time.sleep(0.02))
    deserializer = AvroDeserializer(watched)
    begin = threading.Barrier(64)

    def read(_: int) -> Any:
        begin.wait()
        return deserializer(b"\0\0\0\0\1\2", VALUE)

    with ThreadPoolExecutor(64) as pool:
        assert list(pool.map(read, range(64))) == [{"n": 1}] * 64
    assert watched.method_names == ["associations_by_resource_name", "schema_by_id"]


def test_64_threads_that_meet_one_error_all_hear_of_it(registry: Registry) -> None:
    watched = RecordingSource(registry, before=lambda: time.sleep(0.02))
    deserializer = AvroDeserializer(watched)
    begin = threading.Barrier(64)

    def read(_: int) -> Any:
        begin.wait()
        with pytest.raises(DecodeError) as caught:
            deserializer(b"\0\0\0\0\1\2", VALUE)
        return caught.value.outcome, caught.value.topic, caught.value.schema_id

    with ThreadPoolExecutor(64) as pool:
        assert set(pool.map(read, range(64))) == {(Outcome.UNKNOWN_SCHEMA_ID, "orders", 1)}
    assert watched.method_names.count("schema_by_id") == 1


def test_1000_tasks_that_want_one_id_ask_once(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    asked = RecordingSource(registry)

    class Slow:
        async def schema_by_id(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0.02)
            return asked.schema_by_id(*args, **kwargs)

        async def associations_by_resource_name(self, *args: Any, **kwargs: Any) -> Any:
            return asked.associations_by_resource_name(*args, **kwargs)

    async def run() -> list[Any]:
        deserializer = AsyncAvroDeserializer(Slow())
        reading = [deserializer(b"\0\0\0\0\1\2", VALUE) for _ in range(1000)]
        first = asyncio.ensure_future(deserializer(b"\0\0\0\0\1\2", VALUE))
        await asyncio.sleep(0.005)
        first.cancel()  # the one that began it: the others have their answer all the same
        return await asyncio.gather(*reading)

    assert asyncio.run(run()) == [{"n": 1}] * 1000
    assert asked.method_names == ["associations_by_resource_name", "schema_by_id"]


def test_a_thread_that_is_stopped_leaves_its_work_to_the_next() -> None:
    flights: SingleFlight[int] = SingleFlight()
    begun, let = threading.Event(), threading.Event()

    def stopped() -> int:
        begun.set()
        let.wait(WAIT_SECONDS)
        raise KeyboardInterrupt

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            flights.run_once("key", stopped)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first)
        begun.wait(WAIT_SECONDS)
        two = pool.submit(flights.run_once, "key", lambda: 7)
        let.set()
        assert two.result(WAIT_SECONDS) == 7
        one.result(WAIT_SECONDS)


def test_flights_of_tasks_do_not_outlive_their_loop() -> None:
    flights: TaskSingleFlight[int] = TaskSingleFlight()

    async def seven() -> int:
        return 7

    for _ in range(2):
        assert asyncio.run(flights.run_once("key", seven)) == 7
    assert not flights._running


def test_the_newest_version_is_believed_for_a_minute(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    serializer = AvroSerializer(registry, **LATEST)
    deserializer = AvroDeserializer(registry, use_latest_version=True)
    clocks = [timed(serializer), timed(deserializer)]
    old = serializer({"n": 1}, VALUE)
    assert deserializer(old, VALUE) == {"n": 1}
    with Registry(app=registry._transport.app) as other:
        other.register("orders-value", SchemaDraft(WIDER))
    for now, schema_id, read in ((59.0, 1, {"n": 1}), (61.0, 2, {"n": 1, "note": ""})):
        for clock in clocks:
            clock.now = now
        written = serializer({"n": 1, "note": ""}, VALUE)
        assert written is not None
        assert written[:5] == encode_frame(schema_id)  # type: ignore[arg-type]
        assert deserializer(old, VALUE) == read


@pytest.mark.parametrize(("seconds", "asked"), [(0, 3), (None, 1), (60, 1)])
def test_its_life_can_be_chosen(registry: Registry, seconds: float | None, asked: int) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    watched = RecordingSource(registry)
    serializer = AvroSerializer(watched, **LATEST, latest_cache_ttl_sec=seconds)
    for _ in range(3):
        serializer({"n": 1}, VALUE)
    assert watched.method_names.count("version") == asked


@pytest.mark.parametrize("seconds", [60, None])
def test_the_newest_version_is_asked_for_again_once_the_client_has_forgotten_it(
    registry: Registry, seconds: float | None
) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    keys: dict[str, Any] = {"latest_cache_ttl_sec": seconds}
    serializer = AvroSerializer(registry, **LATEST, **keys)
    deserializer = AvroDeserializer(registry, use_latest_version=True, **keys)
    old = serializer({"n": 1}, VALUE)
    assert deserializer(old, VALUE) == {"n": 1}
    with Registry(app=registry._transport.app) as other:
        other.register("orders-value", SchemaDraft(WIDER))
    assert (serializer({"n": 1}, VALUE), deserializer(old, VALUE)) == (old, {"n": 1})
    registry.forget()
    assert serializer({"n": 1, "note": ""}, VALUE) == b"\0\0\0\0\2\2\0"
    assert deserializer(old, VALUE) == {"n": 1, "note": ""}
    registry.delete_version("orders-value", 2)
    assert (serializer({"n": 1}, VALUE), deserializer(old, VALUE)) == (old, {"n": 1})


def test_clients_of_confluent_s_shape_tell_serializers_what_they_forgot(registry: Registry) -> None:
    client = SchemaRegistryClient.over(registry)
    client.register_schema("orders-value", Schema(ORDER))
    serializer = AvroSerializer(client, **LATEST)
    deserializer = AvroDeserializer(client, use_latest_version=True)
    old = serializer({"n": 1}, VALUE)
    assert deserializer(old, VALUE) == {"n": 1}
    client.register_schema("orders-value", Schema(WIDER))
    assert serializer({"n": 1, "note": ""}, VALUE) == b"\0\0\0\0\2\2\0"
    assert deserializer(old, VALUE) == {"n": 1, "note": ""}
    registry.delete_version("orders-value", 2)  # behind the client's back
    assert serializer({"n": 1, "note": ""}, VALUE) == b"\0\0\0\0\2\2\0"
    client.clear_latest_caches()
    assert (serializer({"n": 1}, VALUE), deserializer(old, VALUE)) == (old, {"n": 1})


def test_old_plans_serve_while_the_registry_is_away(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    watched = RecordingSource(registry)
    serializer = AvroSerializer(watched, **LATEST)
    deserializer = AvroDeserializer(watched, use_latest_version=True)
    clocks = [timed(serializer), timed(deserializer)]
    written = serializer({"n": 1}, VALUE)
    deserializer(written, VALUE)
    watched.is_unavailable = True
    for now in (61.0, 70.0):
        for clock in clocks:
            clock.now = now
        asked = len(watched.method_names)
        for _ in range(10):
            assert serializer({"n": 1}, VALUE) == written
            assert deserializer(written, VALUE) == {"n": 1}
        assert len(watched.method_names) == asked + 2  # each asks once in a while, and not for each record
    with pytest.raises(Unreachable):
        serializer({"n": 1}, SerializationContext("never seen"))


def test_the_newest_with_metadata_writes_and_reads(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER, metadata=Metadata(properties={"app": "one"})))
    registry.register("orders-value", SchemaDraft(WIDER, metadata=Metadata(properties={"app": "two"})))
    wanted = {"app": "one"}
    serializer = AvroSerializer(registry, conf={"use.latest.with.metadata": wanted})
    assert serializer({"n": 1}, VALUE) == b"\0\0\0\0\1\2"
    deserializer = AvroDeserializer(registry, use_latest_with_metadata=wanted)
    assert deserializer(b"\0\0\0\0\2\2\2x", VALUE) == {"n": 1}


def test_prepare_fails_before_the_first_record(registry: Registry) -> None:
    with pytest.raises(SubjectNotFound):
        AvroSerializer(registry, **LATEST).prepare("orders")
    with pytest.raises(SubjectNotFound):
        AvroDeserializer(registry).prepare("orders")
    registry.register("orders-value", SchemaDraft(ORDER))
    with pytest.raises(ReaderMismatch, match="orders"):
        AvroDeserializer(registry, OTHER).prepare("orders")
    with pytest.raises(InvalidSchema):
        AvroSerializer(registry, "{")


def test_prepared_plans_send_no_requests(registry: Registry) -> None:
    registry.register("orders-key", SchemaDraft('"string"'))
    for draft in (ORDER, WIDER):
        registry.register("orders-value", SchemaDraft(draft))
    watched = RecordingSource(registry)
    serializer, deserializer = AvroSerializer(watched, WIDER), AvroDeserializer(watched)
    assert serializer.prepare("orders").version == 2
    assert [found.version for found in deserializer.prepare("orders", versions="all")] == [1, 2]
    assert [found.version for found in deserializer.prepare("orders", MessageField.KEY)] == [1]
    guid = registry.version("orders-value", 1).guid or ""
    asked = len(watched.method_names)
    written = serializer({"n": 1, "note": "x"}, VALUE)
    assert deserializer(written, VALUE) == {"n": 1, "note": "x"}
    assert deserializer(b"\0\0\0\0\2\2", VALUE) == {"n": 1}
    assert deserializer(b"\1" + UUID(guid).bytes + b"\2", VALUE) == {"n": 1}
    assert deserializer(b"\0\0\0\0\1\2x", SerializationContext("orders", MessageField.KEY)) == "x"
    assert len(watched.method_names) == asked


def test_a_record_s_name_is_needed_to_prepare_for_it(registry: Registry) -> None:
    AvroSerializer(registry, ORDER, subject_name_strategy_type="RECORD").prepare("orders")
    with pytest.raises(SerializationError, match="none is known"):
        AvroDeserializer(registry, subject_name_strategy_type="RECORD").prepare("orders")
    prepared = AvroDeserializer(registry, ORDER, subject_name_strategy_type="RECORD").prepare("orders")
    assert [str(found.subject) for found in prepared] == ["Order"]


def test_places_share_the_text_of_their_schema(registry: Registry) -> None:
    serializer = AvroSerializer(registry, ORDER)
    texts = {id(serializer.prepare(f"topic-{n}").text) for n in range(5)}
    assert len(texts) == 1


@pytest.mark.parametrize("kind", ["TOPIC", "ASSOCIATED"])
def test_invalid_frames_are_reported_with_topic_and_subject(registry: Registry, kind: str) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    deserializer = AvroDeserializer(registry, subject_name_strategy_type=kind)
    assert deserializer(b"\0\0\0\0\1\2", VALUE) == {"n": 1}
    for damage, outcome in (
        (b"text", Outcome.NOT_FRAMED),
        (b"\0\0\0\0\7\2", Outcome.UNKNOWN_SCHEMA_ID),
        (b"\0\0\0\0\1", Outcome.TRUNCATED),
    ):
        with pytest.raises(DecodeError) as caught:
            deserializer(damage, VALUE)
        error = caught.value
        assert (error.outcome, error.topic, error.subject) == (outcome, "orders", "orders-value")
        assert "topic orders, subject orders-value" in str(error)


def test_bytes_are_asked_for(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    deserializer = AvroDeserializer(registry)
    for data in (bytearray(b"\0\0\0\0\1\2"), memoryview(b"\0\0\0\0\1\2")):
        assert deserializer(data, VALUE) == {"n": 1}
    with pytest.raises(SerializationError, match="a record is bytes, not str"):
        deserializer("text", VALUE)  # type: ignore[arg-type]


def test_async_twins_do_the_same(registry: Registry) -> None:
    async def run() -> None:
        async with AsyncRegistry(app=registry._transport.app) as client:
            serializer = await AsyncAvroSerializer(client, ORDER)
            deserializer = AsyncAvroDeserializer(client, use_latest_version=True)
            assert (await serializer.prepare("orders")).version == 1
            written = await serializer({"n": 1}, VALUE)
            assert written == b"\0\0\0\0\1\2"
            assert await serializer(None, VALUE) is None
            assert await deserializer(None, VALUE) is None
            assert await deserializer(written, VALUE) == {"n": 1}
            assert [found.version for found in await deserializer.prepare("orders")] == [1]
            with pytest.raises(DecodeError) as caught:
                await deserializer(b"\0\0\0\0\1", VALUE)
            assert (caught.value.topic, caught.value.subject, caught.value.schema_id) == ("orders", "orders-value", 1)
            await serializer.close()
            await deserializer.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "failure", [InvalidSchema("too large"), SubjectNotFound(subject="a"), UnreadableResponse("is larger than 64 MiB")]
)
def test_a_schema_that_cannot_be_used_is_fetched_again_only_after_a_while(
    registry: Registry, failure: Exception
) -> None:
    failing = True

    def fail() -> None:
        if failing and source.method_names[-1] == "referenced":
            raise failure

    source = RecordingSource(registry, before=fail)
    registry.register("item-value", SchemaDraft(ORDER))
    references = (Reference("Order", "item-value", 1),)
    draft = SchemaDraft('{"type":"array","items":"Order"}', references=references)
    schema_id = int(registry.register("orders-value", draft).schema_id)
    deserializer, clock = AvroDeserializer(source), Clock()
    deserializer._planner.unusable = TtlCache(10, 100, clock)
    for _ in range(3):
        with pytest.raises(type(failure), match=str(failure)):
            deserializer(encode_frame(schema_id, b"\x00"), VALUE)  # type: ignore[arg-type]
    assert source.method_names.count("referenced") == 1
    failing, clock.now = False, 11.0
    assert deserializer(encode_frame(schema_id, b"\x00"), VALUE) == []  # type: ignore[arg-type]
