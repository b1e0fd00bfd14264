"""Known defects of ``confluent_kafka`` 2.16, which contractlog does not have."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirJSONSerializer
from confluent_kafka.serialization import MessageField as TheirField
from confluent_kafka.serialization import SerializationContext as TheirContext
from confluent_kafka.serialization import SerializationError as TheirError
from fastavro.schema import expand_schema

from contractlog.clients import Registry
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import header_schema_id_serializer as our_header_serializer

pytestmark = pytest.mark.e2e

INT: Final = json.dumps({"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]})
EMPTY: Final = json.dumps({"type": "record", "name": "Empty", "fields": []})


@dataclass(frozen=True, slots=True)
class Clients:
    """A client of each maker, on one registry."""

    ours: Registry
    theirs: SchemaRegistryClient


@pytest.fixture
def clients(registry_url: str) -> Iterator[Clients]:
    with Registry(registry_url) as ours, SchemaRegistryClient({"url": registry_url}) as theirs:
        yield Clients(ours, theirs)


def own(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def their(topic: str) -> TheirContext:
    return TheirContext(topic, TheirField.VALUE)


def test_1_a_short_record_with_its_guid_in_a_header_is_read(clients: Clients) -> None:
    headers: list[tuple[str, bytes]] = []
    conf = {"schema.id.serializer": header_schema_id_serializer}
    context = TheirContext("short", TheirField.VALUE, headers)
    body = TheirAvroSerializer(clients.theirs, '"int"', conf=conf)(7, context)
    assert (body, [name for name, _ in headers]) == (b"\x0e", ["__value_schema_id"])
    with pytest.raises(TheirError):
        TheirAvroDeserializer(clients.theirs)(body, context)
    assert AvroDeserializer(clients.ours)(body, SerializationContext("short", MessageField.VALUE, headers)) == 7
    mine = SerializationContext("short", MessageField.VALUE, [])
    own_conf = {"schema.id.serializer": our_header_serializer}
    assert AvroSerializer(clients.ours, '"int"', conf=own_conf)(7, mine) == body
    assert mine.headers == headers


def test_2_a_record_without_fields_is_read(clients: Clients) -> None:
    frame = AvroSerializer(clients.ours, EMPTY)({}, own("empty"))
    assert frame == TheirAvroSerializer(clients.theirs, EMPTY)({}, their("empty"))
    assert len(frame or b"") == 5
    with pytest.raises(TheirError):
        TheirAvroDeserializer(clients.theirs)(frame, their("empty"))
    assert AvroDeserializer(clients.ours)(frame, own("empty")) == {}


def test_3_each_subject_keeps_its_id(clients: Clients) -> None:
    clients.ours.register(":.other:before", SchemaDraft('"long"', SchemaType.AVRO))
    clients.ours.register(":.other:second", SchemaDraft('"string"', SchemaType.AVRO))
    clients.ours.register(":.other:third", SchemaDraft('"bytes"', SchemaType.AVRO))
    clients.ours.register(":.other:fourth", SchemaDraft('"boolean"', SchemaType.AVRO))
    conf = {"subject.name.strategy": lambda context, _: context.topic}
    topics = ["default-side", ":.other:its-side", "default-side"]
    serializer = TheirAvroSerializer(clients.theirs, INT, conf=conf)
    first, other, wrong = [serializer({"n": 1}, their(topic))[:5] for topic in topics]
    assert first != other
    assert wrong == other  # the record of the first subject carries the id of the second
    ours = AvroSerializer(clients.ours, INT, conf=conf)
    frames = [ours({"n": 1}, own(topic)) for topic in topics]
    assert [frame[:5] for frame in frames if frame] == [first, other, first]


@pytest.mark.parametrize(("value", "written"), [(1.7, 1), (True, 1), (2**31, 2**31)])
def test_4_what_is_no_int_is_refused(clients: Clients, value: Any, written: int) -> None:
    frame = TheirAvroSerializer(clients.theirs, INT)({"n": value}, their("exact"))
    assert TheirAvroDeserializer(clients.theirs)(frame, their("exact")) == {"n": written}
    with pytest.raises(EncodeError, match=": n: ") as caught:
        AvroSerializer(clients.ours, INT)({"n": value}, own("exact"))
    assert (caught.value.field, caught.value.topic, caught.value.subject) == ("n", "exact", "exact-value")
    assert "lenient=True" in str(caught.value)
    assert AvroSerializer(clients.ours, INT, lenient=True)({"n": value}, own("exact")) == frame
    if value == 2**31:  # what the reference wrote is no record that others could read
        with pytest.raises(DecodeError) as refused:
            AvroDeserializer(clients.ours)(frame, own("exact"))
        assert refused.value.outcome is Outcome.INT_OUT_OF_RANGE


LINES: Final = json.dumps(
    {
        "title": "Order",
        "type": "object",
        "properties": {"lines": {"type": "array", "items": {"properties": {"quantity": {"type": "integer"}}}}},
    }
)


def test_5_errors_of_json_say_where(clients: Clients) -> None:
    value = {"lines": [{"quantity": 1}, {"quantity": "x"}]}
    with pytest.raises(TheirError) as theirs:
        TheirJSONSerializer(LINES, clients.theirs)(value, their("placed"))
    assert str(theirs.value) == "'x' is not of type 'integer'"
    with pytest.raises(EncodeError) as caught:
        JSONSerializer(LINES, clients.ours)(value, own("placed"))
    assert (caught.value.where, caught.value.field) == ("lines[1].quantity", "lines[].quantity")
    assert "lines[1].quantity" in str(caught.value)
    good = JSONSerializer(LINES, clients.ours)({"lines": []}, own("placed"))
    bad = (good or b"")[:5] + json.dumps(value).encode()
    with pytest.raises(TheirError) as theirs:
        TheirJSONDeserializer(None, schema_registry_client=clients.theirs)(bad, their("placed"))
    assert "quantity" not in str(theirs.value)
    with pytest.raises(DecodeError) as read:
        JSONDeserializer(None, schema_registry_client=clients.ours)(bad, own("placed"))
    assert (read.value.where, read.value.outcome) == ("lines[1].quantity", Outcome.SCHEMA_VIOLATION)


MOMENT: Final = json.dumps(
    {"title": "Moment", "type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
)


def test_6_formats_are_asserted_where_that_is_asked(clients: Clients) -> None:
    good, bad = {"at": "2024-02-29T12:00:00Z"}, {"at": "yesterday"}
    frame = TheirJSONSerializer(MOMENT, clients.theirs)(bad, their("moments"))
    assert JSONSerializer(MOMENT, clients.ours)(bad, own("moments")) is not None  # as the reference, unless asked
    serializer = JSONSerializer(MOMENT, clients.ours, validate_formats=True)
    assert serializer(good, own("moments")) is not None
    with pytest.raises(EncodeError) as caught:
        serializer(bad, own("moments"))
    assert caught.value.where == "at"
    deserializer = JSONDeserializer(None, schema_registry_client=clients.ours, validate_formats=True)
    with pytest.raises(DecodeError) as refused:
        deserializer(frame, own("moments"))
    assert (refused.value.where, refused.value.outcome) == ("at", Outcome.SCHEMA_VIOLATION)


ADDRESS: Final = json.dumps({"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]})
CUSTOMER: Final = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://acme.example/schemas/customer.json",
        "title": "Customer",
        "type": "object",
        "properties": {"address": {"$ref": "address.json"}},
    }
)


def test_7_a_reference_is_found_where_the_schema_s_own_address_leads(clients: Clients) -> None:
    clients.ours.register("address", SchemaDraft(ADDRESS, SchemaType.JSON))
    good = {"address": {"zip": "50667"}}
    reference = SchemaReference("address.json", "address", 1)
    with pytest.raises(Exception, match="Unresolvable"):
        TheirJSONSerializer(Schema(CUSTOMER, "JSON", [reference]), clients.theirs)(good, their("customers"))
    draft = SchemaDraft(CUSTOMER, SchemaType.JSON, (Reference("address.json", "address", 1),))
    serializer = JSONSerializer(draft, clients.ours)
    frame = serializer(good, own("customers"))
    assert json.loads((frame or b"")[5:]) == good
    with pytest.raises(EncodeError) as caught:
        serializer({"address": {}}, own("customers"))
    assert caught.value.where == "address"
    assert JSONDeserializer(None, schema_registry_client=clients.ours)(frame, own("customers")) == good


def test_8_nothing_of_a_schema_is_worked_out_for_each_record(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    expanded: list[Any] = []

    def expand(schema: Any) -> Any:
        expanded.append(schema)
        return expand_schema(schema)

    monkeypatch.setattr("confluent_kafka.schema_registry._sync.avro.expand_schema", expand)
    frame = AvroSerializer(clients.ours, INT)({"n": 1}, own("often"))
    theirs, ours = TheirAvroDeserializer(clients.theirs), AvroDeserializer(clients.ours)
    for _ in range(200):  # until code is written for the schema
        theirs(frame, their("often"))
        ours(frame, own("often"))
    expanded.clear()
    their_calls = calls(lambda: [theirs(frame, their("often")) for _ in range(100)])
    assert len(expanded) == their_calls["get_inline_tags"] == 100
    own_calls = calls(lambda: [ours(frame, own("often")) for _ in range(100)])
    assert not {"parse", "parsed_of", "refuse_rules", "schema_by_id", "plan", "reader"} & set(own_calls)
    assert own_calls.total() * 3 < their_calls.total(), own_calls


def calls(work: Callable[[], object]) -> Counter[str]:
    """Return how often functions of Python are called by some work."""
    counted: Counter[str] = Counter()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            counted[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted
