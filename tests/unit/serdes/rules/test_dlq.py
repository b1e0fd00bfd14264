"""The action DLQ sends the original record with the reference's headers, without secrets, and raises."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleFailed
from contractlog.serdes.rules import FieldRuleExecutor, RuleContext, RuleExecutor, RuleRegistry
from contractlog.serdes.rules.dlq import DlqAction
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "card", "type": "string", "confluent:tags": ["PII"]},
            {"name": "pin", "type": "bytes", "confluent:tags": ["PII"]},
        ],
    }
)
ORDER_VALUE = {"id": "a", "card": "4111", "pin": b"\xff"}
CHECK = Rule("check", kind="CONDITION", type="CEL", expr="message.id == 'b'", on_failure="DLQ")
READ_CHECK = Rule("check", kind="CONDITION", type="CEL", mode="READ", expr="message.id == 'b'", on_failure="DLQ")
HEADERS = [
    ("__rule.name", b"check"),
    ("__rule.mode", b"WRITE"),
    ("__rule.subject", b"orders-value"),
    ("__rule.topic", b"orders"),
    ("__rule.exception", b"Rule expr failed: message.id == 'b'"),
]


class Producer:
    """A producer that a program passes in."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any, Any, Any]] = []
        self.flushed = 0

    def produce(self, topic: str, *, key: Any, value: Any, headers: Any, on_delivery: Any) -> None:
        self.sent.append((topic, key, value, headers))

    def poll(self, seconds: float) -> int:
        return 0

    def flush(self, *seconds: float) -> int:
        self.flushed += 1
        return 0


class Encrypt(FieldRuleExecutor):
    def type(self) -> str:
        return "ENCRYPT"

    def new_transform(self, ctx: RuleContext) -> Any:
        return lambda _ctx, _field, value: value


class Fail(RuleExecutor):
    def type(self) -> str:
        return "ENCRYPT_PAYLOAD"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        raise ValueError("no key")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ORIGINAL_KEYS, "enabled", False)
    ORIGINAL_KEYS.clear()


@pytest.fixture
def rule_registry() -> RuleRegistry:
    registry = RuleRegistry()
    registry.register_executor(Encrypt())
    registry.register_executor(Fail())
    return registry


def rule_conf(producer: Producer, **settings: Any) -> dict[str, Any]:
    return {"dlq.topic": "dlq", "producer": producer} | settings


def draft(*rules: Rule, encoding: tuple[Rule, ...] = ()) -> SchemaDraft:
    return SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=rules, encoding_rules=encoding))


def test_values_are_sent_as_json_and_the_error_is_raised(registry: Registry) -> None:
    producer = Producer()
    serializer = AvroSerializer(registry, draft(CHECK), rule_conf=rule_conf(producer))
    context = SerializationContext("orders", "value", [("trace", b"1")])
    with pytest.raises(RuleFailed, match="check"):
        serializer(ORDER_VALUE, context)
    value = b'{"id": "a", "card": "4111", "pin": "\\u00ff"}'
    assert producer.sent == [("dlq", None, value, [("trace", b"1"), *HEADERS])]
    assert serializer(ORDER_VALUE | {"id": "b"}, context)
    assert len(producer.sent) == 1


@pytest.mark.parametrize("given", [list, dict])
def test_the_headers_of_the_rule_replace_those_of_the_record(registry: Registry, given: Any) -> None:
    producer = Producer()
    serializer = AvroSerializer(registry, draft(CHECK), rule_conf=rule_conf(producer))
    headers = given([("__rule.name", b"other"), ("trace", b"1"), ("__rule.topic", b"elsewhere"), ("__rule.x", b"")])
    with pytest.raises(RuleFailed):
        serializer(ORDER_VALUE, SerializationContext("orders", "value", headers))
    [(_, _, _, sent)] = producer.sent
    assert sent == [("trace", b"1"), *HEADERS]


def test_records_that_are_read_are_sent_as_they_are(registry: Registry) -> None:
    producer = Producer()
    context = SerializationContext("orders")
    record = AvroSerializer(registry, draft(READ_CHECK))(ORDER_VALUE, context)
    with pytest.raises(RuleFailed):
        AvroDeserializer(registry, rule_conf=rule_conf(producer))(record, context)
    [(_, _, value, headers)] = producer.sent
    assert value == record
    assert dict(headers)["__rule.mode"] == b"READ"
    replayed = SerializationContext("orders", "value", headers)
    assert AvroDeserializer(registry)(record, replayed) == ORDER_VALUE


@pytest.mark.parametrize("tags", [("PII",), ()])
def test_fields_of_encryption_rules_are_redacted(
    registry: Registry, rule_registry: RuleRegistry, tags: tuple[str, ...]
) -> None:
    producer = Producer()
    schema = draft(Rule("encrypt", type="ENCRYPT", mode="WRITE", tags=tags), CHECK)
    with pytest.raises(RuleFailed):
        AvroSerializer(registry, schema, rule_conf=rule_conf(producer), rule_registry=rule_registry)(
            ORDER_VALUE, SerializationContext("orders")
        )
    [(_, _, value, _)] = producer.sent
    expected = {"id": "a" if tags else "<REDACTED>", "card": "<REDACTED>", "pin": "<REDACTED>"}
    assert json.loads(value) == expected
    assert ORDER_VALUE["card"] == "4111"


def test_bodies_that_should_have_been_encrypted_are_not_sent(registry: Registry, rule_registry: RuleRegistry) -> None:
    producer = Producer()
    schema = draft(encoding=(Rule("encrypt", type="ENCRYPT_PAYLOAD", mode="WRITE", on_failure="DLQ"),))
    with pytest.raises(RuleFailed, match="no key"):
        AvroSerializer(registry, schema, rule_conf=rule_conf(producer), rule_registry=rule_registry)(
            ORDER_VALUE, SerializationContext("orders")
        )
    assert [value for _, _, value, _ in producer.sent] == [b"<REDACTED>"]


def test_the_topic_may_be_a_parameter_of_the_rule(registry: Registry) -> None:
    producer = Producer()
    rule = Rule("check", kind="CONDITION", type="CEL", expr="false", on_failure="DLQ", params={"dlq.topic": "own"})
    with pytest.raises(RuleFailed):
        AvroSerializer(registry, draft(rule), rule_conf={"producer": producer})(
            ORDER_VALUE, SerializationContext("orders")
        )
    assert [topic for topic, *_ in producer.sent] == ["own"]


@pytest.mark.parametrize(
    ("conf", "message"), [({}, r"has dlq\.topic"), ({"dlq.topic": "dlq"}, r"dlq\.producer\.bootstrap\.servers")]
)
def test_without_topic_or_producer_the_error_says_so(registry: Registry, conf: dict[str, Any], message: str) -> None:
    with pytest.raises(RuleFailed, match=message):
        AvroSerializer(registry, draft(CHECK), rule_conf=conf)(ORDER_VALUE, SerializationContext("orders"))


def test_the_key_is_that_of_the_record_and_never_an_earlier_one(registry: Registry) -> None:
    producer = Producer()
    values = AvroSerializer(registry, draft(CHECK), rule_conf=rule_conf(producer))
    values.prepare("orders")
    keys = AvroSerializer(registry, '"string"')
    keys("k1", SerializationContext("orders", "key"))
    for _ in range(2):
        with pytest.raises(RuleFailed):
            values(ORDER_VALUE, SerializationContext("orders"))
    keys("k2", SerializationContext("others", "key"))
    with pytest.raises(RuleFailed):
        values(ORDER_VALUE, SerializationContext("orders"))
    assert [key for _, key, _, _ in producer.sent] == [b"k1", None, None]


def test_async_serializers_pass_on_keys(registry: Registry) -> None:
    from contractlog.clients import AsyncRegistry
    from contractlog.registry.app import create_app
    from contractlog.registry.settings import Settings
    from contractlog.serdes.avro import AsyncAvroSerializer

    producer = Producer()

    async def run() -> None:
        async with AsyncRegistry(app=create_app(Settings(database_url="sqlite://"))) as client:
            conf = rule_conf(producer, **{"dlq.auto.flush": True})
            values = AsyncAvroSerializer(client, draft(CHECK), rule_conf=conf)
            await values.prepare("orders")
            keys = AsyncAvroSerializer(client, '"string"')
            for key in ("k1", "k2"):
                await keys(key, SerializationContext("orders", "key"))
                with pytest.raises(RuleFailed):
                    await values(ORDER_VALUE, SerializationContext("orders"))

    asyncio.run(run())
    assert [key for _, key, _, _ in producer.sent] == [b"k1", b"k2"]
    assert producer.flushed == 2


def test_numbers_are_sent_as_java_does() -> None:
    action = DlqAction()
    context: Any = None
    assert action._to_bytes(context, 1) == b"\0" * 7 + b"\1"
    assert action._to_bytes(context, 1.0) == b"\x3f\xf0" + b"\0" * 6
    assert action._to_bytes(context, "a") == b"a"
