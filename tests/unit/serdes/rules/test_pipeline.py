"""Rules run in the order of the reference, in sync and async serializers, for both formats."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients import AsyncRegistry
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError, RuleConditionError, RuleFailed, RuleNotRun
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.rules import (
    FieldContext,
    FieldRuleExecutor,
    FieldTransform,
    RuleAction,
    RuleContext,
    RuleExecutor,
    RuleRegistry,
)

from support.recording_source import RecordingSource

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "card", "type": ["null", "string"], "default": None, "confluent:tags": ["PII"]},
        ],
    }
)
VALUE = SerializationContext("orders")


class Append(RuleExecutor):
    """Appends the rule's expression to the id, and to bodies; a condition compares the id with it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def type(self) -> str:
        return "APPEND"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        self.seen.append((ctx.rule.name, ctx.rule_mode.value))
        if isinstance(message, io.BytesIO):
            return io.BytesIO(message.read()[: -len(ctx.rule.expr)])
        if isinstance(message, bytes):
            return message + ctx.rule.expr.encode()
        if ctx.rule.kind == "CONDITION":
            return message["id"] == ctx.rule.expr
        return {**message, "id": message["id"] + ctx.rule.expr}


class Upper(FieldRuleExecutor):
    def type(self) -> str:
        return "UPPER"

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        def change(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
            return value.upper() if ctx.rule.kind == "TRANSFORM" else value == ctx.rule.expr

        return change


class Note(RuleAction):
    def __init__(self, failure: Exception | None = None) -> None:
        self.notes: list[tuple[str, str, str | None]] = []
        self.failure = failure

    def type(self) -> str:
        return "NOTE"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        self.notes.append((ctx.rule.name, ctx.rule_mode.value, None if ex is None else type(ex).__name__))
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def rule_registry() -> RuleRegistry:
    registry = RuleRegistry()
    registry.register_executor(Append())
    registry.register_executor(Upper())
    registry.register_action(Note())
    return registry


def append(name: str, mode: str = "WRITEREAD", **facts: Any) -> Rule:
    return Rule(name, type="APPEND", mode=mode, expr=name, **facts)


def draft(*domain: Rule, encoding: tuple[Rule, ...] = (), **facts: Any) -> SchemaDraft:
    return SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=domain, encoding_rules=encoding), **facts)


def executor(rule_registry: RuleRegistry) -> Append:
    found = rule_registry.get_executor("APPEND")
    assert isinstance(found, Append)
    return found


def notes(rule_registry: RuleRegistry) -> Note:
    action = rule_registry.get_action("NOTE")
    assert isinstance(action, Note)
    return action


def test_rules_run_in_order_on_writing_and_in_reverse_on_reading(
    registry: Registry, rule_registry: RuleRegistry
) -> None:
    schema = draft(append("a"), append("b"), encoding=(append("x"), append("y")))
    record = AvroSerializer(registry, schema, rule_registry=rule_registry)({"id": "-"}, VALUE)
    assert record == b"\0\0\0\0\1" + b"\x06-ab\0" + b"xy"
    assert executor(rule_registry).seen == [("a", "WRITE"), ("b", "WRITE"), ("x", "WRITE"), ("y", "WRITE")]
    executor(rule_registry).seen.clear()
    read = AvroDeserializer(registry, rule_registry=rule_registry)(record, VALUE)
    assert read == {"id": "-abba", "card": None}
    assert executor(rule_registry).seen == [("y", "READ"), ("x", "READ"), ("b", "READ"), ("a", "READ")]


def test_values_of_callers_are_not_changed(registry: Registry, rule_registry: RuleRegistry) -> None:
    schema = draft(Rule("upper", type="UPPER", mode="WRITE", tags=("PII",)))
    value = {"id": "a", "card": "x"}
    record = AvroSerializer(registry, schema, rule_registry=rule_registry)(value, VALUE)
    assert AvroDeserializer(registry, rule_registry=rule_registry)(record, VALUE) == {"id": "a", "card": "X"}
    assert value == {"id": "a", "card": "x"}


def test_a_schema_without_rules_keeps_its_plain_encoder(registry: Registry, rule_registry: RuleRegistry) -> None:
    serializer = AvroSerializer(registry, ORDER, rule_registry=rule_registry)
    record = serializer({"id": "a"}, VALUE)
    deserializer = AvroDeserializer(registry, rule_registry=rule_registry)
    deserializer(record, VALUE)
    writing: Any = serializer._plans.get(("orders", "value"))
    reading: Any = deserializer._plans.get(("orders", "value", b"\0\0\0\0\1"))
    assert (writing.rules, reading.rules) == (None, None)
    assert isinstance(writing.encode.__self__, AvroWriter)
    assert isinstance(reading.decode.__self__, AvroReader)


@pytest.mark.parametrize("client_rules", [True, False])
def test_the_rules_in_the_registry_apply_to_a_plain_schema(
    registry: Registry,
    rule_registry: RuleRegistry,
    client_rules: bool,  # noqa: FBT001
) -> None:
    registry.register("orders-value", draft(append("a", "WRITE")))
    schema = draft(append("a", "WRITE")) if client_rules else SchemaDraft(ORDER)
    conf = {"auto.register.schemas": client_rules}
    serializer = AvroSerializer(registry, schema, conf=conf, rule_registry=rule_registry)
    assert serializer({"id": "-"}, VALUE) == b"\0\0\0\0\1\x04-a\0"
    assert serializer.prepare("orders").rule_set == draft(append("a", "WRITE")).rule_set


def test_an_unsatisfied_condition_raises_its_documentation(registry: Registry, rule_registry: RuleRegistry) -> None:
    rule = Rule("is_a", kind="CONDITION", type="APPEND", mode="WRITE", expr="a", doc="the id is a")
    serializer = AvroSerializer(registry, draft(rule), rule_registry=rule_registry)
    assert serializer({"id": "a"}, VALUE)
    with pytest.raises(RuleFailed, match="the id is a") as caught:
        serializer({"id": "b"}, VALUE)
    error = caught.value
    assert isinstance(error.__cause__, RuleConditionError)
    assert (error.rule, error.mode, error.topic, error.subject, error.schema_id) == (
        "is_a", "WRITE", "orders", "orders-value", 1,
    )  # fmt: skip


def test_a_condition_about_fields_covers_items_of_arrays(registry: Registry, rule_registry: RuleRegistry) -> None:
    text = json.dumps(
        {
            "type": "record",
            "name": "Order",
            "fields": [
                {"name": "paid", "type": "boolean"},
                {"name": "tags", "type": {"type": "array", "items": "string"}, "confluent:tags": ["T"]},
            ],
        }
    )
    rule = Rule("only_a", kind="CONDITION", type="UPPER", mode="WRITE", expr="a", tags=("T",))
    schema = SchemaDraft(text, rule_set=RuleSet(domain_rules=(rule,)))
    serializer = AvroSerializer(registry, schema, rule_registry=rule_registry)
    assert serializer({"paid": False, "tags": ["a", "a"]}, VALUE)
    with pytest.raises(RuleFailed, match="only_a"):
        serializer({"paid": False, "tags": ["a", "b"]}, VALUE)


def test_actions_are_chosen_by_outcome_and_direction(registry: Registry, rule_registry: RuleRegistry) -> None:
    rule = Rule("is_a", kind="CONDITION", type="APPEND", expr="a", on_success="NOTE,NONE", on_failure="NONE, NOTE")
    serializer = AvroSerializer(registry, draft(rule), rule_registry=rule_registry)
    deserializer = AvroDeserializer(registry, rule_registry=rule_registry)
    for value in ("a", "b"):
        assert deserializer(serializer({"id": value}, VALUE), VALUE)["id"] == value
    assert notes(rule_registry).notes == [("is_a", "WRITE", None), ("is_a", "READ", "RuleConditionError")]


def test_a_failure_whose_action_fails_rejects_the_record(registry: Registry, rule_registry: RuleRegistry) -> None:
    notes(rule_registry).failure = ValueError("disk full")
    rule = Rule("is_a", kind="CONDITION", type="APPEND", expr="a", on_success="NOTE", on_failure="NOTE")
    serializer = AvroSerializer(registry, draft(rule), rule_registry=rule_registry)
    assert serializer({"id": "a"}, VALUE)
    with pytest.raises(RuleFailed, match="disk full"):
        serializer({"id": "b"}, VALUE)


def test_an_unregistered_action_rejects_the_record(registry: Registry, rule_registry: RuleRegistry) -> None:
    rule = Rule("is_a", kind="CONDITION", type="APPEND", expr="a", on_failure="PAGER")
    serializer = AvroSerializer(registry, draft(rule), rule_registry=rule_registry)
    assert serializer({"id": "a"}, VALUE)
    with pytest.raises(RuleFailed, match="PAGER is not registered"):
        serializer({"id": "b"}, VALUE)


def test_a_rule_is_not_run_again_on_a_record_from_its_dead_letter_queue(
    registry: Registry, rule_registry: RuleRegistry
) -> None:
    schema = draft(append("a", "READ"), append("b", "READ"))
    record = AvroSerializer(registry, schema, rule_registry=rule_registry)({"id": "-"}, VALUE)
    deserializer = AvroDeserializer(registry, rule_registry=rule_registry)
    replayed = SerializationContext("orders.dlq", "value", [("__rule.name", b"b")])
    deserializer = AvroDeserializer(registry, rule_registry=rule_registry)
    assert deserializer(record, replayed)["id"] == "-a"


def test_no_header_keeps_a_rule_from_running_on_writing(registry: Registry, rule_registry: RuleRegistry) -> None:
    serializer = AvroSerializer(registry, draft(append("a", "WRITE")), rule_registry=rule_registry)
    context = SerializationContext("orders", "value", [("__rule.name", b"a")])
    assert serializer({"id": "-"}, context) == b"\0\0\0\0\1\x04-a\0"


def test_parameters_fall_back_to_the_metadata(registry: Registry, rule_registry: RuleRegistry) -> None:
    seen: list[str | None] = []

    class Read(RuleExecutor):
        def type(self) -> str:
            return "READ_PARAMETERS"

        def transform(self, ctx: RuleContext, message: Any) -> Any:
            seen.extend(ctx.get_parameter(name) for name in ("own", "shared", "none"))
            return message

    rule_registry.register_executor(Read())
    rule = Rule("read", type="READ_PARAMETERS", mode="WRITE", params={"own": "1"})
    schema = draft(rule, metadata=Metadata(properties={"own": "2", "shared": "3"}))
    AvroSerializer(registry, schema, rule_registry=rule_registry)({"id": "-"}, VALUE)
    assert seen == ["1", "3", None]


def test_of_equal_field_transforms_the_outermost_runs(registry: Registry, rule_registry: RuleRegistry) -> None:
    calls: list[tuple[str, str]] = []

    class Count(FieldRuleExecutor):
        def type(self) -> str:
            return "COUNT"

        def new_transform(self, ctx: RuleContext) -> FieldTransform:
            calls.append((ctx.rule.name, ctx.rule_mode.value))
            return lambda _ctx, _field, value: value

    rule_registry.register_executor(Count())
    rules = [Rule(name, type="COUNT", tags=("PII",)) for name in ("first", "second")]
    other = Rule("other", type="COUNT", tags=("PII", "CARD"))
    serializer = AvroSerializer(registry, draft(*rules, other), rule_registry=rule_registry)
    AvroDeserializer(registry, rule_registry=rule_registry)(serializer({"id": "-", "card": "x"}, VALUE), VALUE)
    assert calls == [("first", "WRITE"), ("other", "WRITE"), ("other", "READ"), ("first", "READ")]


def test_migrations_run_step_by_step_and_backwards(registry: Registry, rule_registry: RuleRegistry) -> None:
    def version(number: int) -> SchemaDraft:
        fields = [
            {"name": "id", "type": "string"},
            *({"name": f"f{n}", "type": "int", "default": 0} for n in range(number - 1)),
        ]
        rules = RuleSet(migration_rules=(append(f"up{number}", "UPGRADE"), append(f"down{number}", "DOWNGRADE")))
        text = json.dumps({"type": "record", "name": "Order", "fields": fields})
        return SchemaDraft(text, rule_set=rules, metadata=Metadata(properties={"major": str(number)}))

    for number in (1, 2, 3):
        registry.register("orders-value", version(number))
    records = [b"\0\0\0\0\1\x02-", b"\0\0\0\0\2\x02-\0", b"\0\0\0\0\3\x02-\0\0"]
    latest = AvroDeserializer(registry, use_latest_version=True, rule_registry=rule_registry)
    assert [latest(record, VALUE)["id"] for record in records] == ["-up2up3", "-up3", "-"]
    first = AvroDeserializer(registry, use_latest_with_metadata={"major": "1"}, rule_registry=rule_registry)
    assert [first(record, VALUE)["id"] for record in records] == ["-", "-down2", "-down3down2"]


def test_a_reader_schema_without_rules_has_those_of_the_writer(registry: Registry, rule_registry: RuleRegistry) -> None:
    record = AvroSerializer(registry, draft(append("a", "READ")), rule_registry=rule_registry)({"id": "-"}, VALUE)
    plain = AvroDeserializer(registry, ORDER, rule_registry=rule_registry)
    assert plain(record, VALUE)["id"] == "-a"
    own = AvroDeserializer(registry, draft(append("b", "READ")), rule_registry=rule_registry)
    assert own(record, VALUE)["id"] == "-b"


def test_a_reader_schema_without_tags_has_those_of_the_writer(registry: Registry, rule_registry: RuleRegistry) -> None:
    schema = draft(Rule("upper", type="UPPER", mode="READ", tags=("PII",)))
    record = AvroSerializer(registry, schema, rule_registry=rule_registry)({"id": "a", "card": "x"}, VALUE)
    plain = '{"type": "record", "name": "shop.Order", "fields": [{"name": "card", "type": ["null", "string"]}]}'
    assert AvroDeserializer(registry, plain, rule_registry=rule_registry)(record, VALUE) == {"card": "X"}


def test_json_values_that_rules_gave_are_validated(registry: Registry, rule_registry: RuleRegistry) -> None:
    text = json.dumps({"type": "object", "properties": {"id": {"type": "string", "maxLength": 2}}})
    schema = SchemaDraft(text, SchemaType.JSON, rule_set=RuleSet(domain_rules=(append("a"),)))
    record = JSONSerializer(schema, registry, rule_registry=rule_registry)({"id": "-"}, VALUE)
    assert record == b'\0\0\0\0\1{"id":"-a"}'
    with pytest.raises(DecodeError, match="maxLength"):
        JSONDeserializer(None, schema_registry_client=registry, rule_registry=rule_registry)(record, VALUE)


def test_rules_that_the_registry_drops_are_noticed(registry: Registry, rule_registry: RuleRegistry) -> None:
    class Dropping(RecordingSource):
        def register(self, *args: Any, **kwargs: Any) -> Any:
            return replace(registry.register(*args, **kwargs), rule_set=None)

    with pytest.raises(RuleNotRun, match="without its rules"):
        AvroSerializer(Dropping(registry), draft(append("a")), rule_registry=rule_registry)({"id": "-"}, VALUE)


def test_async_serializers_run_the_same_rules_and_block_in_threads(rule_registry: RuleRegistry) -> None:
    import threading

    from contractlog.registry.app import create_app
    from contractlog.registry.settings import Settings

    threads: list[bool] = []

    class Blocking(RuleExecutor):
        may_block = True

        def type(self) -> str:
            return "BLOCKING"

        def transform(self, ctx: RuleContext, message: Any) -> Any:
            threads.append(threading.current_thread() is threading.main_thread())
            return message

    rule_registry.register_executor(Blocking())
    failing = Rule("is_a", kind="CONDITION", type="APPEND", mode="READ", expr="-a")
    schema = draft(append("a", "WRITE"), Rule("slow", type="BLOCKING"), failing)

    async def run() -> None:
        async with AsyncRegistry(app=create_app(Settings(database_url="sqlite://"))) as client:
            serializer = AsyncAvroSerializer(client, schema, rule_registry=rule_registry)
            deserializer = AsyncAvroDeserializer(client, rule_registry=rule_registry)
            records = [await serializer({"id": value}, VALUE) for value in ("-", "=")]
            assert (await deserializer(records[0], VALUE))["id"] == "-a"
            with pytest.raises(RuleFailed, match="is_a"):
                await deserializer(records[1], VALUE)
            await serializer.close()

    asyncio.run(run())
    assert threads == [False] * 3  # the condition fails first on reading


def test_dedicated_registries_are_closed_with_the_serializer(registry: Registry) -> None:
    closed: list[str] = []

    class Closing(Append):
        def close(self) -> None:
            closed.append("executor")

    own, shared = RuleRegistry(), RuleRegistry.get_global_instance()
    own.register_executor(Closing())
    AvroSerializer(registry, ORDER, rule_registry=own).close()
    AvroSerializer(registry, ORDER, rule_registry=shared).close()
    assert closed == ["executor"]


_BARE = """
import sys
sys.modules["confluent_kafka.schema_registry"] = sys.modules["confluent_kafka.schema_registry.common"] = None
from contractlog.clients import Registry
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer

text = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'
rule = Rule("mark", type="CEL_FIELD", mode="WRITE", tags=("ID",), expr="value + '!'")
draft = SchemaDraft(text, metadata=Metadata(tags={"*.id": ("ID",)}), rule_set=RuleSet(domain_rules=(rule,)))
registry, context = Registry(app=create_app(Settings(database_url="sqlite://"))), SerializationContext("orders")
print(AvroDeserializer(registry)(AvroSerializer(registry, draft)({"id": "a"}, context), context))
"""


def test_rules_run_without_the_registry_client_of_confluent_kafka() -> None:
    done = subprocess.run([sys.executable, "-c", _BARE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{'id': 'a!'}\n", "")
