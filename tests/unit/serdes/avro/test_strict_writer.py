"""``validate.strict`` requires exactly the fields of the schema, as the reference does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.avro.readers_and_writers import StrictWriter
from contractlog.serdes.errors import EncodeError

if TYPE_CHECKING:
    from contractlog.clients import Registry

LINE = {
    "type": "record",
    "name": "Line",
    "fields": [{"name": "sku", "type": "string"}, {"name": "n", "type": "int", "default": 1}],
}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "lines", "type": {"type": "array", "items": LINE}, "default": []},
        {"name": "by", "type": {"type": "map", "values": "Line"}, "default": {}},
        {
            "name": "paid",
            "type": ["null", {"type": "record", "name": "Card", "fields": [{"name": "c", "type": "int"}]}],
        },
    ],
}
CONTEXT = SerializationContext("orders", MessageField.VALUE)


def writer(*, or_default: bool = False) -> StrictWriter:
    return StrictWriter(parse_schema(SchemaDraft(json.dumps(ORDER)), strict=False), or_default=or_default)


def lines() -> st.SearchStrategy[Any]:
    required: dict[str, Any] = {"sku": st.just("a")}
    return st.fixed_dictionaries(required, optional={"n": st.just(2), "more": st.just(1)})


ORDERS = st.fixed_dictionaries(
    {"id": st.just(1)},
    optional={
        "note": st.sampled_from([None, "x"]),
        "lines": st.lists(lines(), max_size=2),
        "by": st.dictionaries(st.sampled_from("ab"), lines(), max_size=2),
        "paid": st.sampled_from([None, {"c": 1}, {"c": 1, "d": 2}]),
        "more": st.just(0),
    },
)


def reference(conf: dict[str, Any]) -> Any:
    client = SchemaRegistryClient.new_client({"url": "mock://strict"})
    return TheirSerializer(client, json.dumps(ORDER), conf=conf)


STRICT = {"validate.strict": True}
OR_DEFAULT = {"validate.strict.allow.default": True}
JUDGES = {name: reference(conf) for name, conf in (("strict", STRICT), ("default", OR_DEFAULT))}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ORDERS, st.booleans())
def test_values_rejected_by_the_reference_are_rejected(order: Any, or_default: bool) -> None:  # noqa: FBT001
    judge = JUDGES["default" if or_default else "strict"]
    try:
        wanted = judge(order, CONTEXT)[5:]
    except ValueError:
        wanted = None
    try:
        written = writer(or_default=or_default).encode(order)
    except EncodeError:
        written = None
    assert written == wanted


@pytest.mark.parametrize(
    ("value", "where", "told"),
    [
        ({"id": 1, "note": None, "lines": [], "by": {}}, "", "missing: paid"),
        ({"id": 1, "note": None, "lines": [], "by": {}, "paid": None, "b": 1, "a": 1}, "", "surplus: a, b"),
        ({"id": 1, "note": None, "lines": [{"sku": "a"}], "by": {}, "paid": None}, "lines[0]", "missing: n"),
        ({"id": 1, "note": None, "lines": [], "by": {"k": {"sku": "a"}}, "paid": None}, "by{'k'}", "missing: n"),
        ({"id": 1, "note": None, "lines": [], "by": {}, "paid": ("Card", {"c": 1, "d": 1})}, "paid", "surplus: d"),
    ],
)
def test_the_place_is_told(registry: Registry, value: Any, where: str, told: str) -> None:
    with pytest.raises(EncodeError, match=told) as caught:
        AvroSerializer(registry, json.dumps(ORDER), conf=STRICT)(value, CONTEXT)
    assert (caught.value.where, caught.value.topic) == (where, "orders")


def test_exactness_goes_before() -> None:
    with pytest.raises(EncodeError, match="id"):
        writer().encode({"id": 1.5})
    assert writer(or_default=True).encode({"id": 1, "note": None, "paid": None}, b"x") == b"x\x02\0\0\0\0"


def test_a_hint_of_the_branch_is_no_surplus() -> None:
    value = {"id": 1, "note": None, "lines": [], "by": {}, "paid": {"-type": "Card", "c": 1}}
    assert writer().encode(value) == b"\x02\0\0\0\x02\x02"
