"""Settings accept exactly the dotted keys of the reference, also as keyword arguments."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.avro.serde import AvroSerializerOptions
from contractlog.serdes.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)
from contractlog.serdes.json_schema.serde import JSONDeserializerOptions, JSONSerializerOptions
from contractlog.serdes.settings import DeserializerOptions

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
JSON_ORDER = '{"title": "Order", "properties": {"n": {"type": "integer"}}}'
CONTEXT = SerializationContext("orders")

OURS: list[tuple[Any, Any, set[str]]] = [
    (AvroSerializer, AvroSerializerOptions, {"latest.cache.ttl.sec", "lenient"}),
    (AvroDeserializer, DeserializerOptions, {"latest.cache.ttl.sec"}),
    (JSONSerializer, JSONSerializerOptions, {"latest.cache.ttl.sec", "validate.formats", "validate.words"}),
    (JSONDeserializer, JSONDeserializerOptions, {"latest.cache.ttl.sec", "validate.formats", "validate.words"}),
]


def theirs(kind: Any) -> Any:
    from confluent_kafka.schema_registry import avro, json_schema

    return getattr(avro, kind.__name__, None) or getattr(json_schema, kind.__name__)


def made(kind: Any, registry: Registry, conf: dict[str, Any] | None = None, **options: Any) -> Any:
    if "JSON" not in kind.__name__:
        return kind(registry, ORDER, conf=conf, **options)
    return kind(JSON_ORDER, schema_registry_client=registry, conf=conf, **options)


@pytest.mark.parametrize(("kind", "options", "further"), OURS)
def test_keywords_are_the_keys_of_the_reference_and_a_few(kind: Any, options: Any, further: set[str]) -> None:
    keys = {name.replace("_", ".") for name in get_type_hints(options)}
    assert keys == set(theirs(kind)._default_conf) | further


@pytest.mark.parametrize(("kind", "options", "further"), OURS)
def test_every_default_of_the_reference_is_taken(
    registry: Registry, kind: Any, options: Any, further: set[str]
) -> None:
    conf = dict(theirs(kind)._default_conf)
    made(kind, registry, conf)
    for key, value in conf.items():
        made(kind, registry, {key: value})


@pytest.mark.parametrize(
    "pair",
    [
        (AvroSerializer, AsyncAvroSerializer),
        (AvroDeserializer, AsyncAvroDeserializer),
        (JSONSerializer, AsyncJSONSerializer),
        (JSONDeserializer, AsyncJSONDeserializer),
    ],
)
def test_arguments_stand_in_the_order_of_the_reference(pair: tuple[Any, Any]) -> None:
    wanted = [name for name in inspect.signature(theirs(pair[0]).__init__).parameters if name != "self"]
    for kind in pair:
        positional = [
            name for name, each in inspect.signature(kind).parameters.items() if each.kind < each.KEYWORD_ONLY
        ]
        assert positional == wanted


@pytest.mark.parametrize(
    ("conf", "told"),
    [
        ({"no.such.key": 1}, "no.such.key"),
        ({"auto.register.schemas": "yes"}, "auto.register.schemas"),
        ({"normalize.schemas": 1}, "normalize.schemas"),
        ({"use.schema.id": True}, "use.schema.id"),
        ({"use.schema.id": "7"}, "use.schema.id"),
        ({"use.latest.version": True}, "auto.register.schemas"),
        ({"use.latest.with.metadata": "a=b"}, "use.latest.with.metadata"),
        ({"latest.cache.ttl.sec": -1}, "latest.cache.ttl.sec"),
        ({"latest.cache.ttl.sec": "60"}, "latest.cache.ttl.sec"),
        ({"subject.name.strategy": "TOPIC"}, "subject.name.strategy"),
        ({"subject.name.strategy.type": "NONE"}, "TOPIC_RECORD"),
        ({"subject.name.strategy.type": "other"}, "TOPIC_RECORD"),
        ({"subject.name.strategy.conf": {"subject.name.strategy.fallback.type": "ASSOCIATED"}}, "fallback"),
        ({"subject.name.strategy.conf": {"cluster": "x"}}, "cluster"),
        ({"subject.name.strategy.conf": "x"}, "subject.name.strategy.conf"),
        ({"schema.id.serializer": "header"}, "schema.id.serializer"),
        ({"use.deprecated.format": True}, "use.deprecated.format"),
        ({"skip.known.types": True}, "Protobuf"),
        ({"validation.rules.execution": "LATER"}, "AFTER_DOMAIN_RULES"),
        ({"validation.rules.executor": object()}, "method execute"),
        ({"validation.rules.fail.fast": 1}, "fail.fast"),
    ],
)
@pytest.mark.parametrize("kind", [AvroSerializer, AsyncAvroSerializer, JSONSerializer])
def test_unknown_settings_are_rejected_immediately(registry: Registry, kind: Any, conf: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made(kind, registry, conf)


@pytest.mark.parametrize("name", ["rule_conf", "rule_registry"])
@pytest.mark.parametrize("kind", [AvroSerializer, AvroDeserializer, JSONSerializer, JSONDeserializer])
def test_arguments_of_rules_are_checked(registry: Registry, kind: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a"):
        made(kind, registry, **{name: object()})


def test_a_keyword_says_what_its_key_does(registry: Registry) -> None:
    keyed = AvroSerializer(registry, ORDER, conf={"subject.name.strategy.type": "RECORD"})
    named = AvroSerializer(registry, ORDER, subject_name_strategy_type="record")
    assert keyed({"n": 1}, CONTEXT) == named({"n": 1}, CONTEXT)
    assert registry.subjects() == ["Order"]
    with pytest.raises(ValueError, match="given in conf and as"):
        AvroSerializer(registry, ORDER, conf={"normalize.schemas": True}, normalize_schemas=True)
    with pytest.raises(ValueError, match=r"unknown: no\.such"):
        AvroSerializer(registry, ORDER, no_such=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("conf", "lenient"),
    [
        ({}, False),
        ({"lenient": True}, True),
        ({"validate.strict": False}, True),
        ({"validate.strict": True}, False),
        ({"validate.strict": False, "validate.strict.allow.default": True}, False),
        ({"validate.strict": False, "lenient": False}, False),
    ],
)
def test_values_are_written_exactly_unless_it_is_asked_otherwise(
    registry: Registry,
    conf: dict[str, Any],
    lenient: bool,  # noqa: FBT001
) -> None:
    from contractlog.serdes.errors import EncodeError

    serializer = AvroSerializer(registry, ORDER, conf=conf)
    if lenient:
        assert serializer({"n": 1.7}, CONTEXT) == b"\0\0\0\0\1\2"
    else:
        with pytest.raises(EncodeError, match="lenient"):
            serializer({"n": 1.7}, CONTEXT)


def test_lenient_and_strict_contradict_each_other(registry: Registry) -> None:
    with pytest.raises(ValueError, match=r"lenient and validate\.strict"):
        AvroSerializer(registry, ORDER, lenient=True, validate_strict=True)


@pytest.mark.parametrize("client", [None, object(), "http://localhost:8081"])
def test_a_registry_is_asked_for(client: Any) -> None:
    with pytest.raises(TypeError, match="a registry client is needed"):
        AvroSerializer(client, ORDER)


@pytest.mark.parametrize("kind", [kind for kind, _, _ in OURS])
@pytest.mark.parametrize("key", ["rule.executors.encrypt.class", "rule.service.loader.enable", "dlq.topic"])
def test_keys_of_rules_are_refused_with_the_reason(registry: Registry, kind: Any, key: str) -> None:
    with pytest.raises(ValueError, match=rf"{key} is a setting of rules: pass it in rule_conf"):
        made(kind, registry, {key: "x"})


@pytest.mark.parametrize("kind", [AvroSerializer, AvroDeserializer, JSONSerializer, JSONDeserializer])
def test_rules_without_content_are_accepted(registry: Registry, kind: Any) -> None:
    from confluent_kafka.schema_registry.rule_registry import RuleRegistry

    assert made(kind, registry, rule_conf={}, rule_registry=RuleRegistry()) is not None


def test_an_unknown_setting_names_the_nearest_one(registry: Registry) -> None:
    with pytest.raises(ValueError, match=r"auto.register.schema \(did you mean auto.register.schemas\?\)"):
        made(AvroSerializer, registry, {"auto.register.schema": False})
