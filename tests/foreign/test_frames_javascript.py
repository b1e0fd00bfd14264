"""Exchange of frames with Confluent's JavaScript client, in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import header_schema_id_serializer

from support.exchange_cases import EVOLVED, JSON, PLAIN, Case
from support.third_party_clients import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def registry(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as client:
        yield client


@pytest.fixture
def exchange(javascript: Program, registry_url: str, tmp_path: Path) -> Any:
    """Let the other side read frames and write values: one run for many topics."""

    def run(wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
        file = tmp_path / "cases.json"
        file.write_text(json.dumps(wanted))
        found: list[dict[str, Any]] = javascript("serdes.js", registry_url, str(file))["found"]
        assert len(found) == len(wanted)
        return found

    return run


def own(topic: str, part: str = "value", headers: Any = None) -> SerializationContext:
    return SerializationContext(topic, MessageField(part), headers)


def asked(topic: str, kind: str, frames: list[bytes | None], values: Any, **more: Any) -> dict[str, Any]:
    sent = [{"data": (frame or b"").hex()} for frame in frames]
    return {"topic": topic, "type": kind, "frames": sent, "values": values} | more


def writer(kind: str, case: Case, registry: Registry) -> Any:
    return AvroSerializer(registry, case.schema) if kind == "AVRO" else JSONSerializer(case.schema, registry)


def reader(kind: str, registry: Registry) -> Any:
    return AvroDeserializer(registry) if kind == "AVRO" else JSONDeserializer(None, schema_registry_client=registry)


def test_values_go_both_ways(registry: Registry, exchange: Any) -> None:
    both = [("AVRO", case) for case in PLAIN] + [("JSON", case) for case in JSON]
    each = [(part, kind, case, f"js-{case}") for part in ("key", "value") for kind, case in both]
    wanted, written = [], []
    for part, kind, case, topic in each:
        write = writer(kind, case, registry)
        written.append([write(value, own(topic, part)) for value in case.values])
        wanted.append(asked(topic, kind, written[-1], case.values, key=part == "key"))
    for (part, kind, case, topic), mine, found in zip(each, written, exchange(wanted), strict=True):
        assert found["read"] == list(case.values), case
        frames = [bytes.fromhex(one["data"]) for one in found["written"]]
        read = reader(kind, registry)
        assert [read(frame, own(topic, part)) for frame in frames] == list(case.values), case
        if kind == "AVRO":
            assert frames == mine, case
        assert {frame[:5] for frame in frames} == {frame[:5] for frame in mine}, case


def test_records_evolve_both_ways_and_ids_may_be_in_headers(registry: Registry, exchange: Any) -> None:
    topic, headed = "js-evolved", asked_with_ids_in_headers(registry)
    write = AvroSerializer(registry, EVOLVED.schema)
    old = [write(value, own(topic)) for value in EVOLVED.values]
    registry.register(f"{topic}-value", SchemaDraft(EVOLVED.later, SchemaType.AVRO))
    found, *others = exchange([asked(topic, "AVRO", old, EVOLVED.read_later, latest=True), *headed])
    for asked_for, answered in zip(headed, others, strict=True):
        holds_with_ids_in_headers(registry, asked_for, answered)
    assert found["read"] == list(EVOLVED.read_later)
    frames = [bytes.fromhex(one["data"]) for one in found["written"]]
    assert {frame[:5] for frame in frames} & {(frame or b"")[:5] for frame in old} == set()
    assert [AvroDeserializer(registry)(frame, own(topic)) for frame in frames] == list(EVOLVED.read_later)
    fields = [{"name": "id", "type": "long"}]
    narrow = json.dumps({"type": "record", "name": "Order", "namespace": "acme", "fields": fields})
    read = AvroDeserializer(registry, narrow)
    assert [read(frame, own(topic)) for frame in frames] == [{"id": value["id"]} for value in EVOLVED.read_later]


def asked_with_ids_in_headers(registry: Registry) -> list[dict[str, Any]]:
    conf = {"schema.id.serializer": header_schema_id_serializer}
    kinds = (("AVRO", EVOLVED), ("JSON", JSON[0]))
    wanted = []
    for part in ("key", "value"):
        for kind, case in kinds:
            topic = f"js-headed-{kind}"
            if kind == "AVRO":
                write: Any = AvroSerializer(registry, case.schema, conf=conf)
            else:
                write = JSONSerializer(case.schema, registry, conf=conf)
            frames = []
            for value in case.values:
                headers: dict[str, bytes] = {}
                data = write(value, own(topic, part, headers))
                assert list(headers) == [f"__{part}_schema_id"]
                frames.append({"data": data.hex(), "headers": {name: one.hex() for name, one in headers.items()}})
            asked_for = {"topic": topic, "type": kind, "frames": frames, "values": case.values}
            wanted.append(asked_for | {"inHeader": True, "key": part == "key"})
    return wanted


def holds_with_ids_in_headers(registry: Registry, wanted: dict[str, Any], found: dict[str, Any]) -> None:
    assert found["read"] == list(wanted["values"])
    read = reader(wanted["type"], registry)
    for mine, theirs, value in zip(wanted["frames"], found["written"], wanted["values"], strict=True):
        assert theirs["headers"] == mine["headers"]
        headers = {name: bytes.fromhex(one) for name, one in theirs["headers"].items()}
        context = own(wanted["topic"], "key" if wanted["key"] else "value", headers)
        assert read(bytes.fromhex(theirs["data"]), context) == value
