"""Subjects by topic, by record, and by association."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import schema_registry as theirs

from contractlog.clients import AssociationDraft, AsyncRegistry, Resource
from contractlog.compatibility.errors import RegistryError, ServerError, Unreachable
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.subject_names import AssociatedNameStrategy, SubjectNameStrategyType, topic_record_subject_name

from support.recording_source import RecordingSource

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = '{"type": "record", "name": "shop.Order", "fields": [{"name": "n", "type": "int"}]}'
VALUE = SerializationContext("orders")
FALLBACK = "subject.name.strategy.fallback.type"
CLUSTER = "subject.name.strategy.kafka.cluster.id"


def associate(registry: Registry, topic: str, subject: str, cluster: str = "lkc") -> None:
    registry.register(subject, SchemaDraft(ORDER))
    resource = Resource(topic, cluster, f"id-{topic}-{cluster}", "topic")
    registry.bind(resource, [AssociationDraft(subject=subject)])


def test_the_subject_that_a_topic_is_associated_with_is_taken(registry: Registry) -> None:
    associate(registry, "orders", "the-orders")
    serializer, deserializer = AvroSerializer(registry, ORDER), AvroDeserializer(registry, use_latest_version=True)
    assert str(serializer.prepare("orders").subject) == "the-orders"
    assert deserializer(serializer({"n": 1}, VALUE), VALUE) == {"n": 1}
    serializer({"n": 1}, SerializationContext("orders", MessageField.KEY))
    serializer({"n": 1}, SerializationContext("others"))
    assert registry.subjects() == ["orders-key", "others-value", "the-orders"]


@pytest.mark.parametrize(
    ("fallback", "subject"),
    [
        (None, "orders-value"),
        ("TOPIC", "orders-value"),
        ("record", "shop.Order"),
        (SubjectNameStrategyType.TOPIC_RECORD, "orders-shop.Order"),
    ],
)
def test_topics_without_association_fall_back(registry: Registry, fallback: Any, subject: str) -> None:
    conf = {"subject.name.strategy.type": "ASSOCIATED", "subject.name.strategy.conf": {FALLBACK: fallback}}
    written = AvroSerializer(registry, ORDER, conf=conf)({"n": 1}, VALUE)
    assert registry.subjects() == [subject]
    assert AvroDeserializer(registry, conf=conf | {"use.latest.version": True})(written, VALUE) == {"n": 1}


def test_without_a_fall_back_it_is_an_error(registry: Registry) -> None:
    strategy = AssociatedNameStrategy({FALLBACK: "NONE"})
    with pytest.raises(SerializationError, match=r"associated with no subject \(topic orders\)"):
        AvroSerializer(registry, ORDER, subject_name_strategy=strategy)({"n": 1}, VALUE)


def test_two_subjects_of_one_topic_are_an_error(registry: Registry) -> None:
    associate(registry, "orders", "one", "lkc-1")
    associate(registry, "orders", "two", "lkc-2")
    with pytest.raises(SerializationError, match="2 subjects"):
        AvroSerializer(registry, ORDER)({"n": 1}, VALUE)
    chosen = AvroSerializer(registry, ORDER, subject_name_strategy_conf={CLUSTER: "lkc-2"})
    assert str(chosen.prepare("orders").subject) == "two"


def test_the_cluster_s_id_comes_from_the_kafka_client(registry: Registry) -> None:
    associate(registry, "orders", "one", "lkc-1")
    associate(registry, "orders", "two", "lkc-2")
    serializer = AvroSerializer(registry, ORDER)
    serializer.set_cluster_id_resolver(lambda: "lkc-1")
    assert str(serializer.prepare("orders").subject) == "one"

    async def awaited() -> Any:
        async def resolver() -> str:
            return "lkc-2"

        async with AsyncRegistry(app=registry._transport.app) as client:
            twin = AsyncAvroSerializer(client, ORDER)
            twin.set_cluster_id_resolver(resolver)
            return (await twin.prepare("orders")).subject

    assert str(asyncio.run(awaited())) == "two"
    for answer, told in ((lambda: "", "empty"), (lambda: 1 / 0, "division by zero")):
        serializer = AvroSerializer(registry, ORDER)
        serializer.set_cluster_id_resolver(answer)
        with pytest.raises(SerializationError, match=told):
            serializer.prepare("orders")


def test_only_absence_falls_back(registry: Registry) -> None:
    class Failing:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def __getattr__(self, name: str) -> Any:
            return getattr(registry, name)

        def associations_by_resource_name(self, *_: Any, **__: Any) -> Any:
            raise self.error

    for error in (ServerError(), RegistryError.of(403, "no"), Unreachable("away")):
        with pytest.raises(type(error)):
            AvroSerializer(Failing(error), ORDER)({"n": 1}, VALUE)
    assert registry.subjects() == []
    AvroSerializer(Failing(RegistryError.of(40410, "none")), ORDER)({"n": 1}, VALUE)
    AvroSerializer(Failing(RegistryError.of(404, "an older server")), ORDER)({"n": 1}, VALUE)
    assert registry.subjects() == ["orders-value"]


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        (theirs.topic_subject_name_strategy, "orders-value"),
        (theirs.record_subject_name_strategy, "shop.Order"),
        (theirs.topic_record_subject_name_strategy, "orders-shop.Order"),
    ],
)
def test_strategies_of_the_reference_are_taken(registry: Registry, strategy: Any, subject: str) -> None:
    conf = {"subject.name.strategy": strategy}
    written = AvroSerializer(registry, ORDER, conf=conf)({"n": 1}, VALUE)
    assert registry.subjects() == [subject]
    deserializer = AvroDeserializer(registry, conf=conf | {"use.latest.version": True})
    assert deserializer(written, VALUE) == {"n": 1}


def test_the_reference_s_associated_strategy_is_ours(registry: Registry) -> None:
    from confluent_kafka.schema_registry._sync.serde import AssociatedNameStrategy as Theirs

    associate(registry, "orders", "the-orders")
    serializer = AvroSerializer(registry, ORDER, subject_name_strategy=Theirs())
    assert str(serializer.prepare("orders").subject) == "the-orders"


def test_an_own_strategy_is_asked_for_each_record(registry: Registry) -> None:
    def by_header(context: Any, name: str | None) -> str:
        return f"{context.headers[0][1]}.{name}"

    watched = RecordingSource(registry)
    serializer = AvroSerializer(watched, ORDER, subject_name_strategy=by_header)
    for tenant in ("a", "b", "a"):
        serializer({"n": 1}, SerializationContext("orders", headers=[("tenant", tenant)]))
    assert registry.subjects() == ["a.shop.Order", "b.shop.Order"]
    assert watched.method_names == ["register", "register"]


def test_an_own_strategy_that_wants_the_name_has_it_when_reading(registry: Registry) -> None:
    wider = ORDER.replace("]}", ', {"name": "m", "type": "int", "default": 7}]}')
    for tenant in ("a", "b"):
        registry.register(f"{tenant}.shop.Order", SchemaDraft(ORDER))
    registry.register("b.shop.Order", SchemaDraft(wider))

    def by_header(context: Any, name: str | None) -> str | None:
        return None if name is None else f"{context.headers[0][1]}.{name}"

    deserializer = AvroDeserializer(registry, subject_name_strategy=by_header, use_latest_version=True)
    read = [
        deserializer(b"\0\0\0\0\1\2", SerializationContext("orders", headers=[("tenant", tenant)]))
        for tenant in ("a", "b", "a", "b")
    ]
    assert read == [{"n": 1}, {"n": 1, "m": 7}] * 2


def test_a_strategy_that_fails_is_told(registry: Registry) -> None:
    failing = AvroSerializer(registry, ORDER, subject_name_strategy=lambda _c, _n: 1 / 0)
    for _ in range(2):
        with pytest.raises(SerializationError, match=r"ZeroDivisionError.*topic orders"):
            failing({"n": 1}, VALUE)
    with pytest.raises(SerializationError, match="gave no subject"):
        AvroSerializer(registry, ORDER, subject_name_strategy=lambda _c, _n: None)({"n": 1}, VALUE)
    with pytest.raises(SerializationError, match="no name or title"):
        AvroSerializer(registry, '"int"', subject_name_strategy=topic_record_subject_name)(1, VALUE)
