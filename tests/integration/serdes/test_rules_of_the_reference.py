"""Rules give the same transcripts in confluent-kafka's serializers and in ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient, avro, json_schema
from confluent_kafka.schema_registry import rule_registry as their_rules
from confluent_kafka.schema_registry import serde as their_serde
from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
from confluent_kafka.schema_registry.rules.dlq.dlq_action import DlqAction
from confluent_kafka.schema_registry.rules.jsonata.jsonata_executor import JsonataExecutor
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

from contractlog.clients import Registry
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.rules import RuleOverride, RuleRegistry
from contractlog.serdes.rules.dlq import DlqAction as OurDlqAction

from support.deadlines import WAIT_SECONDS

if TYPE_CHECKING:
    from support.kafka import Kafka

pytestmark = pytest.mark.integration

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "string", "confluent:rules": [{"name": "short", "expr": "size(this) < 5"}]},
            {"name": "n", "type": "int"},
            {"name": "card", "type": ["null", "string"], "default": None, "confluent:tags": ["PII"]},
            {"name": "notes", "type": {"type": "array", "items": "string"}, "default": [], "confluent:tags": ["NOTE"]},
        ],
    }
)
JSON = json.dumps(
    {
        "type": "object",
        "title": "Order",
        "properties": {
            "id": {"type": "string", "confluent:rules": [{"name": "short", "expr": "size(this) < 5"}]},
            "n": {"type": "integer"},
            "card": {"type": ["null", "string"], "confluent:tags": ["PII"]},
            "notes": {"type": "array", "items": {"type": "string"}, "confluent:tags": ["NOTE"]},
        },
    }
)
ORDERS: list[dict[str, Any]] = [
    {"id": "a", "n": 1, "card": None, "notes": []},
    {"id": "b", "n": 20, "card": "4111", "notes": ["x", "y"]},
    {"id": "too long", "n": -3, "card": "", "notes": ["z"]},
]
LATEST = {"use.latest.version": True, "auto.register.schemas": False}


class Shout(their_serde.FieldRuleExecutor):
    """A custom executor, written for confluent-kafka."""

    def type(self) -> str:
        return "SHOUT"

    def new_transform(self, ctx: Any) -> Any:
        suffix = ctx.get_parameter("suffix") or ""

        def shout(ctx: Any, field: Any, value: Any) -> Any:
            if field.field_type != their_serde.FieldType.STRING or ctx.rule_mode not in (
                their_serde.RuleMode.WRITE,
                their_serde.RuleMode.READ,
            ):
                return value
            return value.upper() + suffix + ",".join(sorted(field.tags))

        return shout


class Reject(their_serde.RuleExecutor):
    """A custom executor that raises confluent-kafka's error."""

    def configure(self, client_conf: dict[str, Any], rule_conf: dict[str, Any]) -> None:
        self.limit = rule_conf.get("limit", 0)

    def type(self) -> str:
        return "REJECT"

    def transform(self, ctx: Any, message: Any) -> Any:
        if message["n"] > self.limit:
            raise their_serde.RuleConditionError(ctx.rule)
        return message


class Collect(their_serde.RuleAction):
    """A custom action, written for confluent-kafka."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def type(self) -> str:
        return "COLLECT"

    def run(self, ctx: Any, message: Any, ex: Any) -> None:
        facts = ctx.rule.name, ctx.rule_mode.value, ctx.subject, None if ex is None else str(ex)
        self.calls.append(facts)


def cel(expr: str, **facts: Any) -> Rule:
    return Rule("check", kind="CONDITION", type="CEL", expr=expr, **{"mode": "WRITE"} | facts)


def field(expr: str, **facts: Any) -> Rule:
    return Rule("change", type="CEL_FIELD", expr=expr, **{"mode": "WRITE"} | facts)


CASES: dict[str, tuple[Rule, ...]] = {
    "condition": (cel("message.n < 10", doc="n is small"),),
    "guarded condition": (cel("message.card != null ; message.n < 10"),),
    "decimals": (
        cel("decimals.lt(decimals.mul(message.n, '0.5'), decimal('1.5')) || string(decimals.neg(message.n)) == '3'"),
    ),
    "ignored failure": (cel("message.n < 10", on_failure="NONE"),),
    "disabled": (cel("false", disabled=True),),
    "condition on reading": (cel("message.n < 10", mode="READ"),),
    "message transform": (
        Rule("t", type="CEL", mode="WRITE", expr="{'id': 'n', 'n': message.n + 1, 'card': message.card, 'notes': []}"),
    ),
    "field transform": (field("typeName == 'STRING' ; value + '!'", tags=("PII",)),),
    "items of arrays": (field("value + name + fullName", tags=("NOTE",), mode="READ"),),
    "tags by path": (field("value + '!'", tags=("PATH",)),),
    "field condition": (
        Rule("c", kind="CONDITION", type="CEL_FIELD", mode="WRITE", expr="name == 'id' ; value != 'b'"),
    ),
    "two in order": (field("name == 'id' ; value + '1'", mode="WRITEREAD"), Rule(
        "second", type="CEL_FIELD", mode="WRITEREAD", expr="name == 'id' ; value + '2'")),
    "equal transforms": tuple(
        Rule(name, type="CEL_FIELD", mode="WRITEREAD", expr=f"typeName == 'STRING' ; value + '{name}'", tags=("PII",))
        for name in ("first", "last")
    ),
    "jsonata": (Rule("j", type="JSONATA", mode="WRITE", expr="$merge([$, {'n': n * 2}])"),),
    "custom executor": (Rule("s", type="SHOUT", tags=("PII",), params={"suffix": "?"}),),
    "custom condition": (Rule("r", type="REJECT", mode="WRITE", expr="n <= limit"),),
    "custom action": (cel("message.n < 10", mode="WRITEREAD", on_failure="COLLECT,NONE", on_success="NONE,COLLECT"),),
    "unknown action": (cel("message.n < 10", on_failure="PAGER"),),
    "dead letter queue": (cel("message.n < 10", on_failure="DLQ"),),
    "dead letter queue on reading": (cel("message.n < 10", mode="READ", on_failure="DLQ"),),
}  # fmt: skip


@pytest.fixture
def ours(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as client:
        yield client


@pytest.fixture
def theirs(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


class Side:
    """The serializers of one package, with all executors and actions."""

    def __init__(self, form: str, client: Any, rules: Any, dlq: Any, *, reference: bool, conf: dict[str, Any]) -> None:
        self.rules, self.collect, self.dlq = rules, Collect(), dlq
        for executor in (Shout(), Reject()):
            rules.register_executor(executor)
        for action in (self.collect, dlq):
            rules.register_action(action)
        options = {"rule_conf": {"limit": 10}, "rule_registry": rules}
        module = avro if form == "AVRO" else json_schema
        if form == "AVRO":
            writer, reader = (
                (module.AvroSerializer, module.AvroDeserializer) if reference else (AvroSerializer, AvroDeserializer)
            )
            self.write = writer(client, conf=conf, **options)
            self.read = reader(client, **options)
        else:
            writer, reader = (
                (module.JSONSerializer, module.JSONDeserializer) if reference else (JSONSerializer, JSONDeserializer)
            )
            self.write = writer(None, client, conf=conf, **options)
            self.read = reader(None, schema_registry_client=client, **options)


def make_sides(  # noqa: PLR0917 -- fixtures
    form: str, ours: Registry, theirs: SchemaRegistryClient, servers: str, dlq: str, conf: dict[str, Any]
) -> tuple[Side, Side]:
    their_registry = their_rules.RuleRegistry()
    for executor in (CelExecutor(), CelFieldExecutor(), JsonataExecutor()):
        their_registry.register_executor(executor)
    settings = {"dlq.topic": dlq, "dlq.auto.flush": True, "bootstrap.servers": servers}
    return (
        Side(form, theirs, their_registry, DlqAction(settings), reference=True, conf=conf),
        Side(form, ours, RuleRegistry(), OurDlqAction(settings), reference=False, conf=conf),
    )


def outcome(work: Callable[[], Any]) -> Any:
    """Return a result, or the kinds of the error and of its cause."""
    try:
        return work()
    except (SerializationError, their_serde.RuleError) as error:  # the latter if an action is not registered
        cause = error.__cause__ or error.__context__
        return "SerializationError", str(cause) if isinstance(cause, their_serde.RuleConditionError) else None


def content(form: str, record: Any) -> Any:
    return json.loads(record[5:]) if form == "JSON" and isinstance(record, bytes) else record


def drain(kafka: Kafka, topic: str, count: int) -> list[tuple[Any, Any, Any]]:
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": uuid4().hex, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    try:
        messages = [consumer.poll(WAIT_SECONDS) for _ in range(count)]
    finally:
        consumer.close()
    return [(message.key(), message.value(), message.headers()) for message in messages if message is not None]


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
@pytest.mark.parametrize("case", CASES)
def test_transcripts_are_equal(
    kafka: Kafka, ours: Registry, theirs: SchemaRegistryClient, form: str, case: str
) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    uses_dlq = case.startswith("dead letter")
    dlq = kafka.create_topic() if uses_dlq else "unused"
    rule_set = RuleSet(domain_rules=CASES[case])
    metadata = Metadata(tags={"shop.*.id": ("PATH",), "$.id": ("PATH",)})
    draft = SchemaDraft(AVRO if form == "AVRO" else JSON, SchemaType(form), rule_set=rule_set, metadata=metadata)
    ours.register(f"{topic}-value", draft)
    transcripts = []
    sides = make_sides(form, ours, theirs, kafka.bootstrap_servers, dlq, LATEST)
    for side in sides:
        transcript = []
        for order in ORDERS:
            context = SerializationContext(topic, MessageField.VALUE, [("trace", b"1")])
            record = outcome(
                lambda order=order, context=context, side=side: side.write(json.loads(json.dumps(order)), context)
            )
            read = [outcome(lambda record=record, context=context, each=each: each.read(record, context))
                    for each in sides if isinstance(record, bytes)]  # fmt: skip
            transcript.append((content(form, record), read))
        transcripts.append(transcript)
    assert transcripts[0] == transcripts[1]
    assert all(not read or read[0] == read[1] for transcript in transcripts for _, read in transcript)
    assert sorted(sides[0].collect.calls, key=str) == sorted(sides[1].collect.calls, key=str)
    if uses_dlq:
        reads = 4 if "reading" in case else 2  # each side reads the records of both
        records = drain(kafka, dlq, reads)
        assert len(records) == reads
        assert len({(key, value, tuple(headers)) for key, value, headers in records}) == 1


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
@pytest.mark.parametrize("execution", ["BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES"])
def test_inline_constraints_give_the_same_errors(
    ours: Registry, theirs: SchemaRegistryClient, form: str, execution: str
) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    rule = field("name == 'id' ; value + 'xyz'")
    ours.register(
        f"{topic}-value",
        SchemaDraft(AVRO if form == "AVRO" else JSON, SchemaType(form), rule_set=RuleSet(domain_rules=(rule,))),
    )
    texts = []
    for side in make_sides(
        form, ours, theirs, "localhost:1", "unused", LATEST | {"validation.rules.execution": execution}
    ):
        for order in ORDERS:
            try:
                texts.append(content(form, side.write(dict(order), SerializationContext(topic, MessageField.VALUE))))
            except SerializationError as error:
                texts.append(str(error).partition(" (topic")[0])
    assert texts[:3] == texts[3:]


@pytest.mark.parametrize("target", ["latest", "1"])
def test_migrations_give_the_same_values(ours: Registry, theirs: SchemaRegistryClient, target: str) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    names = ["size", "height", "level"]
    ours.set_level("NONE", f"{topic}-value")
    for number, name in enumerate(names, 1):
        before = names[number - 2] if number > 1 else name
        rules = RuleSet(
            migration_rules=(
                Rule("up", type="JSONATA", mode="UPGRADE", expr=f"{{'{name}': {before}}}"),
                Rule("down", type="JSONATA", mode="DOWNGRADE", expr=f"{{'{before}': {name}}}"),
            )
        )
        text = json.dumps({"type": "record", "name": "R", "fields": [{"name": name, "type": "int"}]})
        metadata = Metadata(properties={"major": str(number)})
        ours.register(f"{topic}-value", SchemaDraft(text, rule_set=rules, metadata=metadata))
    conf: dict[str, Any] = (
        {"use.latest.version": True} if target == "latest" else {"use.latest.with.metadata": {"major": "1"}}
    )
    their_registry = their_rules.RuleRegistry()
    their_registry.register_executor(JsonataExecutor())
    readers = [
        avro.AvroDeserializer(theirs, conf=conf, rule_registry=their_registry),
        AvroDeserializer(ours, conf=conf),
    ]
    context = SerializationContext(topic, MessageField.VALUE)
    for number in (1, 2, 3):
        schema_id = int(ours.version(f"{topic}-value", number).schema_id)
        record = b"\0" + schema_id.to_bytes(4) + b"\x0e"
        values = [reader(record, context) for reader in readers]
        assert values == [{"level" if target == "latest" else "size": 7}] * 2


def test_overrides_of_both_packages_are_the_same(ours: Registry, theirs: SchemaRegistryClient) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    ours.register(f"{topic}-value", SchemaDraft(AVRO, rule_set=RuleSet(domain_rules=(cel("message.n < 10"),))))
    for their_kind in (True, False):
        registry: Any = their_rules.RuleRegistry() if their_kind else RuleRegistry()
        registry.register_executor(CelExecutor())
        override = their_rules.RuleOverride if their_kind else RuleOverride
        registry.register_override(override("CEL", None, "NONE", None))
        context = SerializationContext(topic, MessageField.VALUE)
        assert AvroSerializer(ours, conf=LATEST, rule_registry=registry)(ORDERS[1], context)
        assert avro.AvroSerializer(theirs, conf=LATEST, rule_registry=registry)(dict(ORDERS[1]), context)
