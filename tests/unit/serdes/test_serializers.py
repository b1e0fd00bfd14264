"""Common behaviour of both formats: subjects, ids, frames and rules, with the real registry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients.cache import TtlCache
from contractlog.compatibility.errors import InvalidSchema, SubjectNotFound
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError, EncodeError, SerializationError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.subject_names import record_subject_name, topic_record_subject_name
from contractlog.serdes.wire import decode_frame, encode_frame

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "n", "type": "int"}]})
WIDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "n", "type": "int"}, {"name": "note", "type": ["null", "string"], "default": None}],
    }
)
JSON_ORDER = json.dumps({"title": "Order", "type": "object", "properties": {"n": {"type": "integer"}}})
VALUE = SerializationContext("orders", MessageField.VALUE)
KEY = SerializationContext("orders", MessageField.KEY)


def test_none_stays_none(registry: Registry) -> None:
    assert AvroSerializer(registry, ORDER)(None, VALUE) is None
    assert AvroDeserializer(registry)(None, VALUE) is None
    assert registry.subjects() == []


def test_the_schema_is_registered_under_topic_and_part(registry: Registry) -> None:
    serializer = AvroSerializer(registry, ORDER)
    serializer({"n": 1}, VALUE)
    serializer({"n": 1}, KEY)
    assert registry.subjects() == ["orders-key", "orders-value"]


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [(record_subject_name, "shop.Order"), (topic_record_subject_name, "orders-shop.Order"), (lambda _c, _n: "x", "x")],
)
def test_subjects_follow_the_strategy(registry: Registry, strategy: Any, subject: str) -> None:
    written = AvroSerializer(registry, ORDER, conf={"subject.name.strategy": strategy})({"n": 1}, VALUE)
    assert registry.subjects() == [subject]
    assert AvroDeserializer(registry, conf={"subject.name.strategy": strategy})(written, VALUE) == {"n": 1}


def test_ids_are_kept_by_subject(registry: Registry) -> None:
    """Defect 3 of the reference's client: after a second subject, the first one was stamped with the second's id."""
    registry.register(":.other:unrelated", SchemaDraft('"string"'))
    serializer = AvroSerializer(registry, ORDER)
    contexts = [SerializationContext(topic) for topic in ("one", ":.other:two", "one", ":.other:two")]
    ids = [decode_frame(serializer({"n": 1}, context) or b"")[0] for context in contexts]
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]


def test_a_record_without_fields_is_read_back(registry: Registry) -> None:
    """Defect 2 of the reference's client: a body of no bytes was refused."""
    written = AvroSerializer(registry, '{"type": "record", "name": "Nothing", "fields": []}')({}, VALUE)
    assert written is not None
    assert len(written) == 5
    assert AvroDeserializer(registry)(written, VALUE) == {}


def test_misfits_are_told_with_all_that_is_known(registry: Registry) -> None:
    """Defect 4 of the reference's client: 2^31 in an int was written, and read as 0 by Java."""
    for misfit in (2**31, 1.7, True):
        with pytest.raises(EncodeError) as caught:
            AvroSerializer(registry, ORDER)({"n": misfit}, VALUE)
        error = caught.value
        assert (error.field, error.topic, error.subject, error.schema_id) == ("n", "orders", "orders-value", 1)


def test_without_auto_register_the_schema_has_to_be_there(registry: Registry) -> None:
    conf = {"auto.register.schemas": False}
    with pytest.raises(SubjectNotFound):
        AvroSerializer(registry, ORDER, conf=conf)({"n": 1}, VALUE)
    registry.register("orders-value", SchemaDraft(ORDER))
    assert AvroSerializer(registry, ORDER, conf=conf)({"n": 1}, VALUE) == encode_frame(1, b"\x02")  # type: ignore[arg-type]


def test_the_latest_version_writes_and_reads(registry: Registry) -> None:
    old = AvroSerializer(registry, ORDER)({"n": 1}, VALUE)
    registry.register("orders-value", SchemaDraft(WIDER))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    new = AvroSerializer(registry, None, conf=conf)({"n": 1, "note": "x"}, VALUE)
    reader = AvroDeserializer(registry, conf={"use.latest.version": True})
    assert [reader(old, VALUE), reader(new, VALUE)] == [{"n": 1, "note": None}, {"n": 1, "note": "x"}]


def test_a_schema_id_can_be_pinned(registry: Registry) -> None:
    schema_id = registry.register("elsewhere", SchemaDraft(ORDER)).schema_id
    written = AvroSerializer(registry, None, conf={"use.schema.id": schema_id})({"n": 1}, VALUE)
    assert written == encode_frame(schema_id, b"\x02")
    assert registry.subjects() == ["elsewhere"]


def test_values_are_read_as_the_reader_wants_them(registry: Registry) -> None:
    written = AvroSerializer(registry, ORDER)({"n": 1}, VALUE)
    assert AvroDeserializer(registry, WIDER)(written, VALUE) == {"n": 1, "note": None}


@dataclass
class Order:
    n: int


def test_objects_are_taken_and_given(registry: Registry) -> None:
    serializer = AvroSerializer(registry, ORDER, lambda order, _: {"n": order.n})
    deserializer = AvroDeserializer(registry, None, lambda found, ctx: (Order(**found), ctx.topic))
    assert deserializer(serializer(Order(1), VALUE), VALUE) == (Order(1), "orders")


def test_references_are_followed(registry: Registry) -> None:
    from contractlog.compatibility.schema import Reference

    registry.register("money", SchemaDraft('{"type": "fixed", "name": "shop.Money", "size": 2}'))
    text = '{"type": "record", "name": "Bill", "fields": [{"name": "sum", "type": "shop.Money"}]}'
    draft = SchemaDraft(text, references=(Reference("shop.Money", "money", 1),))
    written = AvroSerializer(registry, draft)({"sum": b"ab"}, VALUE)
    assert AvroDeserializer(registry)(written, VALUE) == {"sum": b"ab"}


@pytest.mark.parametrize(
    "conf",
    [
        {"no.such.key": 1},
        {"auto.register.schemas": "yes"},
        {"use.schema.id": True},
        {"subject.name.strategy": "TOPIC"},
        {"use.latest.version": True},
        {"validate": True},
    ],
)
def test_unknown_settings_are_rejected_immediately(registry: Registry, conf: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        AvroSerializer(registry, ORDER, conf=conf)


def test_a_text_that_is_no_schema_is_refused_at_once(registry: Registry) -> None:
    with pytest.raises(InvalidSchema):
        AvroSerializer(registry, "{")
    with pytest.raises(ValueError, match="without a schema"):
        AvroSerializer(registry)


def test_a_topic_is_asked_for(registry: Registry) -> None:
    with pytest.raises(SerializationError, match="SerializationContext"):
        AvroSerializer(registry, ORDER)({"n": 1})


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (b"plain text", Outcome.NOT_FRAMED),
        (b"\0\0\0", Outcome.NOT_FRAMED),
        (b"\0\0\0\0\x63\x02", Outcome.UNKNOWN_SCHEMA_ID),
        (b"\0\xff\xff\xff\xff\x02", Outcome.UNKNOWN_SCHEMA_ID),
        (b"\0\0\0\0\x02\x02", Outcome.WRONG_SUBJECT),
        (b"\0\0\0\0\x01", Outcome.TRUNCATED),
    ],
)
def test_damage_has_its_code(registry: Registry, record: bytes, outcome: Outcome) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    registry.register("json-value", SchemaDraft(JSON_ORDER, SchemaType.JSON))
    with pytest.raises(DecodeError) as caught:
        AvroDeserializer(registry)(record, VALUE)
    assert caught.value.outcome is outcome
    assert caught.value.topic == "orders"


def test_the_header_of_the_other_part_is_not_looked_at(registry: Registry) -> None:
    key = SerializationContext("orders", MessageField.KEY, {"__value_schema_id": b"x"})
    assert AvroDeserializer(registry)(AvroSerializer(registry, ORDER)({"n": 1}, key), key) == {"n": 1}


def test_an_unknown_id_is_asked_for_again_after_a_while(registry: Registry) -> None:
    now = [0.0]
    deserializer = AvroDeserializer(registry)
    deserializer._planner.unknown_ids = TtlCache(10, 100, lambda: now[0])
    with pytest.raises(DecodeError):
        deserializer(encode_frame(1, b"\x02"), VALUE)  # type: ignore[arg-type]
    registry.register("orders-value", SchemaDraft(ORDER))
    now[0] = 11.0
    assert deserializer(encode_frame(1, b"\x02"), VALUE) == {"n": 1}  # type: ignore[arg-type]


def test_the_two_formats_do_not_read_each_other(registry: Registry) -> None:
    written = AvroSerializer(registry, ORDER)({"n": 1}, VALUE)
    with pytest.raises(DecodeError, match="AVRO"):
        JSONDeserializer(None, schema_registry_client=registry)(written, VALUE)
    with pytest.raises(SerializationError, match="JSON"):
        AvroSerializer(registry, SchemaDraft(JSON_ORDER, SchemaType.JSON))({"n": 1}, VALUE)
    assert JSONSerializer(JSON_ORDER, registry)({"n": 1}, SerializationContext("j")) is not None
