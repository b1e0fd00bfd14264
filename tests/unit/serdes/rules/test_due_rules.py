"""Rules have to run by mode, direction and place; those that cannot be executed stop the serializer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleNotRun
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.rules import RuleOverride, RuleRegistry
from contractlog.serdes.rules.components import RuleComponents, RuleSettings
from contractlog.serdes.rules.due_rules import has_due_rules

from support.recording_source import RecordingSource

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
VALUE = SerializationContext("orders")
COMPONENTS = RuleComponents(None, RuleSettings())
NEWEST = {"use.latest.version": True}


def rule(mode: str, *, disabled: bool = False, name: str = "guard") -> Rule:
    return Rule(name, kind="CONDITION", type="UNKNOWN", mode=mode, disabled=disabled)


def order(number: int, rule_set: RuleSet | None = None) -> SchemaDraft:
    fields = ", ".join(f'{{"name": "f{n}", "type": "int", "default": 0}}' for n in range(number))
    return SchemaDraft(f'{{"type": "record", "name": "Order", "fields": [{fields}]}}', rule_set=rule_set)


@pytest.mark.parametrize("mode", ["WRITE", "READ", "WRITEREAD"])
@pytest.mark.parametrize("phase", ["domain", "encoding"])
@pytest.mark.parametrize("enable_at", [None, "ALL", "CLIENT", "SERVER", "GATEWAY", "NONE"])
@pytest.mark.parametrize("disabled", [False, True])
def test_rules_are_due_by_direction_and_place(
    mode: str,
    phase: Any,
    enable_at: str | None,
    disabled: bool,  # noqa: FBT001
) -> None:
    kinds: dict[str, Any] = {f"{phase}_rules": (rule(mode, disabled=disabled),)}
    rule_set = RuleSet(**kinds, enable_at=enable_at)
    applies = not disabled and enable_at in {None, "ALL", "CLIENT"}
    for way, due in (("WRITE", mode != "READ"), ("READ", mode != "WRITE")):
        assert has_due_rules(rule_set, phase, way, COMPONENTS) is (applies and due)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["call", "prepare"])
def test_serializers_raise_before_they_write(registry: Registry, way: str) -> None:
    draft = SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=(rule("WRITE"),)))
    serializer = AvroSerializer(registry, draft)
    for _ in range(2):
        with pytest.raises(RuleNotRun, match=r"guard \(UNKNOWN\).*writing.*no executor") as caught:
            serializer({"n": 1}, VALUE) if way == "call" else serializer.prepare("orders")
        assert (caught.value.rule, caught.value.topic, caught.value.subject) == ("guard", "orders", "orders-value")


@pytest.mark.parametrize("way", ["call", "prepare"])
def test_deserializers_raise_before_they_read(registry: Registry, way: str) -> None:
    draft = SchemaDraft("{}", SchemaType.JSON, rule_set=RuleSet(encoding_rules=(rule("READ"),)))
    written = JSONSerializer(draft, registry)({"n": 1}, VALUE)
    deserializer = JSONDeserializer(None, schema_registry_client=registry)
    for _ in range(2):
        with pytest.raises(RuleNotRun, match=r"guard \(UNKNOWN\).*reading.*no executor") as caught:
            deserializer(written, VALUE) if way == "call" else deserializer.prepare("orders")
        assert (caught.value.schema_id, caught.value.topic) == (1, "orders")


def test_rules_of_the_schema_that_is_wanted_are_due_as_well(registry: Registry) -> None:
    plain = registry.register("orders-value", order(1))
    registry.register("orders-value", order(2, RuleSet(domain_rules=(rule("READ"),))))
    record = b"\0" + plain.schema_id.to_bytes(4) + b"\2"
    assert AvroDeserializer(registry)(record, VALUE) == {"f0": 1}
    with pytest.raises(RuleNotRun):
        AvroDeserializer(registry, conf=NEWEST)(record, VALUE)
    with pytest.raises(RuleNotRun):
        AvroDeserializer(registry, order(2, RuleSet(domain_rules=(rule("READ"),))))(record, VALUE)


def test_rules_of_the_own_schema_are_due_whatever_the_registry_answers(registry: Registry) -> None:
    """Confluent's open source drops rule sets: what it answers is no proof that there are none."""

    class Dropping:
        def __getattr__(self, name: str) -> Any:
            return getattr(registry, name)

        def register(self, *args: Any, **kwargs: Any) -> Any:
            return replace(registry.register(*args, **kwargs), rule_set=None)

    draft = SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=(rule("WRITE"),)))
    with pytest.raises(RuleNotRun):
        AvroSerializer(Dropping(), draft)({"n": 1}, VALUE)


@pytest.mark.parametrize("written", [1, 2, 3])
def test_migrations_are_due_on_the_way_to_the_newest(registry: Registry, written: int) -> None:
    """Neither end of the way from 1 to 3 has a rule; version 2 has."""
    upward = RuleSet(migration_rules=(rule("UPGRADE"),))
    ids = [registry.register("orders-value", order(n, upward if n == 2 else RuleSet())).schema_id for n in (1, 2, 3)]
    assert registry.version("orders-value", 3).rule_set in (None, RuleSet())
    record = b"\0" + ids[written - 1].to_bytes(4) + b"\2" * written
    deserializer = AvroDeserializer(registry, conf=NEWEST)
    if written == 1:
        with pytest.raises(RuleNotRun, match="guard"):
            deserializer(record, VALUE)
    else:
        assert deserializer(record, VALUE) == {"f0": 1, "f1": 1, "f2": 1 if written == 3 else 0}


def test_the_way_to_the_newest_is_looked_up_once(registry: Registry) -> None:
    ids = [registry.register("orders-value", order(n)).schema_id for n in (1, 2, 3)]
    watched = RecordingSource(registry)
    deserializer = AvroDeserializer(watched, conf=NEWEST)
    for _ in range(3):
        assert deserializer(b"\0" + ids[0].to_bytes(4) + b"\2", VALUE) == {"f0": 1, "f1": 0, "f2": 0}
    assert sorted(watched.method_names) == [
        "associations_by_resource_name",
        "lookup",
        "schema_by_id",
        *["version"] * 2,
    ]


def test_migrations_downward_are_due_when_the_newest_with_metadata_is_older(registry: Registry) -> None:
    from contractlog.compatibility.data_contract import Metadata

    old = replace(order(1), metadata=Metadata(properties={"app": "1"}))
    registry.register("orders-value", old)
    downward = RuleSet(migration_rules=(rule("UPDOWN"),))
    new = replace(order(2, downward), metadata=Metadata(properties={"app": "2"}))
    schema_id = registry.register("orders-value", new).schema_id
    deserializer = AvroDeserializer(registry, use_latest_with_metadata={"app": "1"})
    with pytest.raises(RuleNotRun):
        deserializer(b"\0" + schema_id.to_bytes(4) + b"\2\2", VALUE)


@pytest.mark.parametrize("mode", ["UPGRADE", "DOWNGRADE", "UPDOWN"])
def test_migrations_are_due_by_direction(mode: str) -> None:
    rule_set = RuleSet(migration_rules=(rule(mode),))
    assert has_due_rules(rule_set, "migration", "UPGRADE", COMPONENTS) is (mode != "DOWNGRADE")
    assert has_due_rules(rule_set, "migration", "DOWNGRADE", COMPONENTS) is (mode != "UPGRADE")
    assert not has_due_rules(rule_set, "domain", "WRITE", COMPONENTS)


def test_a_disabled_rule_of_an_unknown_kind_is_not_passed_over_silently(registry: Registry) -> None:
    registered = registry.register("orders-value", SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=(rule("WRITE"),))))
    unknown = replace(rule("WRITE", disabled=True, name="odd"), kind="WISH")

    class Odd(RecordingSource):
        def register(self, *_: Any, **__: Any) -> Any:
            return replace(registered, rule_set=RuleSet(domain_rules=(rule("WRITE"), unknown)))

    with pytest.raises(RuleNotRun, match="WISH"):
        AvroSerializer(Odd(registry), ORDER)({"n": 1}, VALUE)


def test_an_override_decides_about_all_rules_of_its_type() -> None:
    registry = RuleRegistry()
    components = RuleComponents(None, RuleSettings(registry=registry))
    enabled, elsewhere = (
        RuleSet(domain_rules=(rule("WRITE"),)),
        RuleSet(domain_rules=(rule("WRITE"),), enable_at="SERVER"),
    )
    registry.register_override(RuleOverride("UNKNOWN", disabled=True))
    assert not has_due_rules(enabled, "domain", "WRITE", components)
    registry.register_override(RuleOverride("UNKNOWN", disabled=False))
    assert has_due_rules(elsewhere, "domain", "WRITE", components)
    registry.register_override(RuleOverride("OTHER", disabled=True))
    assert has_due_rules(elsewhere, "domain", "WRITE", components)


@pytest.mark.parametrize("members", [{"mode": "LATER"}, {"kind": "WISH"}])
def test_unknown_modes_and_kinds_are_not_passed_over(members: dict[str, str]) -> None:
    rule_set = RuleSet(domain_rules=(replace(rule("WRITE"), **members),))  # type: ignore[arg-type]
    with pytest.raises(RuleNotRun, match="guard"):
        has_due_rules(rule_set, "domain", "READ", COMPONENTS)


def test_a_record_of_another_subject_has_no_way_to_the_newest(registry: Registry) -> None:
    foreign = registry.register("elsewhere", order(1)).schema_id
    registry.register("orders-value", order(2))
    assert AvroDeserializer(registry, conf=NEWEST)(b"\0" + foreign.to_bytes(4) + b"\2", VALUE) == {"f0": 1, "f1": 0}
    upward = RuleSet(migration_rules=(rule("UPGRADE"),))
    registry.register("orders-value", order(3, upward))
    with pytest.raises(RuleNotRun):
        AvroDeserializer(registry, conf=NEWEST)(b"\0" + foreign.to_bytes(4) + b"\2", VALUE)


@pytest.mark.parametrize("disabled", ["false", "true", 1, [0]])
def test_only_true_disables_a_rule(disabled: object) -> None:
    body = {"name": "encrypt", "kind": "TRANSFORM", "type": "ENCRYPT", "mode": "WRITE", "disabled": disabled}
    rules = RuleSet.from_body({"encodingRules": [body]})
    assert has_due_rules(rules, "encoding", "WRITE", COMPONENTS)
    assert Rule.from_body(body | {"disabled": True}).disabled


@pytest.mark.parametrize(
    ("kind", "mode", "on_failure", "reason"),
    [
        ("CONDITION", "WRITEREAD", None, "CONDITION changes nothing"),
        ("TRANSFORM", "WRITE", "NONE", "onFailure"),
        ("TRANSFORM", "WRITEREAD", "NONE,ERROR", "onFailure"),
        ("TRANSFORM", "WRITEREAD", "NONE", "onFailure"),
    ],
)
@pytest.mark.parametrize("type_", ["ENCRYPT", "ENCRYPT_PAYLOAD"])
def test_a_rule_that_might_write_a_value_unencrypted_is_rejected_before_the_first_record(
    registry: Registry, type_: str, *, kind: str, mode: str, on_failure: str | None, reason: str
) -> None:
    encryption = Rule("hide", type=type_, kind=kind, mode=mode, tags=("PII",), on_failure=on_failure)
    phase: Any = "encoding_rules" if type_ == "ENCRYPT_PAYLOAD" else "domain_rules"
    serializer = AvroSerializer(registry, SchemaDraft(ORDER, rule_set=RuleSet(**{phase: (encryption,)})))
    with pytest.raises(RuleNotRun, match=reason):
        serializer({"n": 1}, VALUE)


def test_an_override_cannot_let_an_encryption_rule_fail_silently(registry: Registry) -> None:
    encryption = Rule("hide", type="ENCRYPT", tags=("PII",))
    rule_registry = RuleRegistry()
    rule_registry.register_override(RuleOverride("ENCRYPT", on_failure="NONE"))
    draft = SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=(encryption,)))
    with pytest.raises(RuleNotRun, match="onFailure"):
        AvroSerializer(registry, draft, rule_registry=rule_registry)({"n": 1}, VALUE)
