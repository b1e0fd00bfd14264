"""Rules of type CEL and CEL_FIELD, and inline constraints, run on the values of both formats."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.rules.compiled_rules import FIELD_VARIABLES
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleFailed, RuleNotRun
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

from support.recording_source import RecordingSource

if TYPE_CHECKING:
    from contractlog.clients import Registry

VALUE = SerializationContext("orders")
POSITIVE = {"name": "positive", "expr": "this > 0", "doc": "n is positive"}
NOT_X = {"name": "not_x", "expr": "this.id == 'x' ? 'x is reserved' : ''"}
ADDRESS = {
    "type": "record",
    "name": "Address",
    "fields": [{"name": "street", "type": "string", "confluent:tags": ["PII"]}, {"name": "zip", "type": "string"}],
}
AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "confluent:rules": [NOT_X],
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "n", "type": "int", "default": 1, "confluent:rules": [POSITIVE]},
        {"name": "to", "type": {"type": "array", "items": ["null", ADDRESS]}, "default": []},
        {"name": "old", "type": ["null", "string", {"type": "map", "values": "Address"}], "default": None},
    ],
}
JSON = {
    "type": "object",
    "confluent:rules": [NOT_X],
    "properties": {
        "id": {"type": "string"},
        "n": {"type": ["integer", "null"], "confluent:rules": [POSITIVE]},
        "to": {"type": "array", "items": {"$ref": "#/$defs/address"}},
        "old": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/address"}]},
    },
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string", "confluent:tags": ["PII"]}, "zip": {"type": "string"}},
            "required": ["street"],
        }
    },
}
VALUES: dict[str, Any] = {
    "AVRO": {
        "id": "a",
        "n": 1,
        "to": [None, {"street": "s", "zip": "1"}],
        "old": {"home": {"street": "t", "zip": "2"}},
    },
    "JSON": {"id": "a", "n": 1, "to": [{"street": "s", "zip": "1"}], "old": {"street": "t", "zip": "2"}},
}


def serializer(form: str, registry: Registry, *rules: Rule, metadata: Metadata | None = None, **options: Any) -> Any:
    rule_set = RuleSet(domain_rules=rules) if rules else None
    if form == "AVRO":
        return AvroSerializer(registry, SchemaDraft(json.dumps(AVRO), rule_set=rule_set, metadata=metadata), **options)
    draft = SchemaDraft(json.dumps(JSON), SchemaType.JSON, rule_set=rule_set, metadata=metadata)
    return JSONSerializer(draft, registry, **options)


def read(form: str, registry: Registry, record: bytes) -> Any:
    if form == "AVRO":
        return AvroDeserializer(registry)(record, VALUE)
    return JSONDeserializer(None, schema_registry_client=registry)(record, VALUE)


def condition(expr: str, kind: str = "CEL", **facts: Any) -> Rule:
    return Rule("check", kind="CONDITION", type=kind, mode="WRITE", expr=expr, **facts)


def transform(expr: str, kind: str = "CEL_FIELD", mode: str = "WRITE", **facts: Any) -> Rule:
    return Rule("change", type=kind, mode=mode, expr=expr, **facts)


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
def test_conditions_about_messages_are_evaluated(registry: Registry, form: str) -> None:
    write = serializer(form, registry, condition("message.n < 10 && size(message.id) == 1"))
    assert write(VALUES[form], VALUE)
    with pytest.raises(RuleFailed, match=r"message\.n < 10"):
        write(VALUES[form] | {"n": 10}, VALUE)


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
def test_messages_are_replaced_by_the_result(registry: Registry, form: str) -> None:
    write = serializer(form, registry, transform("{'id': message.id + '!', 'n': 2}", "CEL"))
    assert read(form, registry, write(VALUES[form], VALUE)) | {"to": [], "old": None} == {
        "id": "a!", "n": 2, "to": [], "old": None,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
def test_fields_with_inline_tags_are_changed_wherever_they_are(registry: Registry, form: str) -> None:
    write = serializer(form, registry, transform("value + '!'", tags=("PII",)))
    value = VALUES[form]
    changed = read(form, registry, write(value, VALUE))
    assert changed["to"][-1] == {"street": "s!", "zip": "1"}
    assert (changed["old"]["home"] if form == "AVRO" else changed["old"])["street"] == "t!"
    assert value == VALUES[form]
    assert changed["id"] == "a"


@pytest.mark.parametrize(
    ("form", "path"), [("AVRO", "shop.Order.id"), ("AVRO", "**.id"), ("JSON", "$.id"), ("JSON", "$.?d")]
)
def test_fields_with_tags_by_path_are_changed(registry: Registry, form: str, path: str) -> None:
    metadata = Metadata(tags={path: ("PATH",)})
    write = serializer(form, registry, transform("value + '!'", tags=("PATH",)), metadata=metadata)
    assert read(form, registry, write(VALUES[form], VALUE)) == VALUES[form] | {"id": "a!"}


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
def test_guards_limit_rules_to_fields(registry: Registry, form: str) -> None:
    write = serializer(form, registry, transform("typeName == 'STRING' && name == 'zip' ; value + fullName"))
    zips = [place["zip"] for place in read(form, registry, write(VALUES[form], VALUE))["to"] if place]
    assert zips == ["1shop.Address.zip" if form == "AVRO" else "1$.to.zip"]


@pytest.mark.parametrize("name", ["message", "value", *FIELD_VARIABLES])
def test_every_variable_of_field_rules_has_a_value(registry: Registry, name: str) -> None:
    check = condition(f"dyn({name}) != null", "CEL_FIELD", tags=["PII"])
    assert serializer("AVRO", registry, check)(VALUES["AVRO"], VALUE)


def test_field_variables_have_tags_and_the_record(registry: Registry) -> None:
    expr = "name == 'street' ; value + dyn(message).zip + ('PII' in tags ? 'p' : 'q')"
    write = serializer("AVRO", registry, transform(expr))
    assert read("AVRO", registry, write(VALUES["AVRO"], VALUE))["to"][1]["street"] == "s1p"


@pytest.mark.parametrize("expr", ["message.n <", "message.nothing > 1", "'text'", ""])
def test_invalid_expressions_fail_closed_before_the_first_record(registry: Registry, expr: str) -> None:
    """Our registry rejects such rules; others store them."""
    registered = registry.register("orders-value", SchemaDraft(json.dumps(AVRO)))
    rule_set = RuleSet(domain_rules=(condition(expr, on_failure="NONE"),))

    class Careless(RecordingSource):
        def register(self, *_: Any, **__: Any) -> Any:
            return replace(registered, rule_set=rule_set)

    with pytest.raises(RuleNotRun, match=r"check.*expression"):
        AvroSerializer(Careless(registry), json.dumps(AVRO)).prepare("orders")


def test_errors_of_evaluation_are_failures_of_the_rule(registry: Registry) -> None:
    write = serializer("AVRO", registry, condition("10 / message.n > 1", on_failure="NONE"))
    assert write(VALUES["AVRO"] | {"n": 0}, VALUE)
    write = serializer("AVRO", registry, condition("10 / message.n > 0"))
    with pytest.raises(RuleFailed, match="check"):
        write(VALUES["AVRO"] | {"n": 0}, SerializationContext("others"))


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
@pytest.mark.parametrize("kind", ["CEL", "CEL_FIELD"])
@pytest.mark.parametrize("expr", ["dyn('false')", "dyn(1)", "dyn([true])", "dyn(null)", "dyn('true') ; true"])
def test_conditions_and_guards_that_are_no_bool_are_failures(
    registry: Registry, form: str, kind: str, expr: str
) -> None:
    write = serializer(form, registry, condition(expr, kind))
    with pytest.raises(RuleFailed, match="Expected a bool, not"):
        write(VALUES[form], VALUE)


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
@pytest.mark.parametrize("execution", ["BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES"])
def test_inline_constraints_are_checked_when_configured(registry: Registry, form: str, execution: str) -> None:
    plain = serializer(form, registry)
    assert plain(VALUES[form] | {"n": 0, "id": "x"}, VALUE)
    write = serializer(form, registry, validation_rules_execution=execution)
    assert write(VALUES[form], VALUE)
    with pytest.raises(RuleFailed) as caught:
        write(VALUES[form] | {"n": 0, "id": "x"}, VALUE)
    root, at = ("<root>", "n") if form == "AVRO" else ("$", "$.n")
    assert caught.value.violations == (f"{root}: not_x: x is reserved", f"{at}: positive: n is positive")
    fast = serializer(form, registry, validation_rules_execution=execution, validation_rules_fail_fast=True)
    with pytest.raises(RuleFailed) as caught:
        fast(VALUES[form] | {"n": 0, "id": "x"}, VALUE)
    assert len(caught.value.violations) == 1


@pytest.mark.parametrize(("execution", "accepted"), [("BEFORE_DOMAIN_RULES", True), ("AFTER_DOMAIN_RULES", False)])
def test_inline_constraints_come_before_or_after_domain_rules(
    registry: Registry, execution: str, *, accepted: bool
) -> None:
    rule = transform("name == 'n' ; -value")
    write = serializer("AVRO", registry, rule, validation_rules_execution=execution)
    if accepted:
        assert write(VALUES["AVRO"], VALUE)
    else:
        with pytest.raises(RuleFailed, match="n is positive"):
            write(VALUES["AVRO"], VALUE)


def test_other_executors_of_inline_constraints_are_accepted(registry: Registry) -> None:
    class Names:
        def execute(self, rule: Any, schema: Any, message: Any) -> Any:
            return rule.name != "positive"

    write = serializer(
        "AVRO", registry, validation_rules_execution="BEFORE_DOMAIN_RULES", validation_rules_executor=Names()
    )
    with pytest.raises(RuleFailed, match="positive"):
        write(VALUES["AVRO"], VALUE)
