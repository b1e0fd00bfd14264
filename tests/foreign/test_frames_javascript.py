"""Frames between our serializers and those of Confluent's JavaScript client, both ways."""

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

from support.foreign import Program
from support.interop import EVOLVED, JSON, PLAIN, Case

pytestmark = pytest.mark.e2e


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


def test_old_records_are_read_as_the_latest_version_and_new_ones_as_an_old_one(
    registry: Registry, exchange: Any
) -> None:
    topic = "js-evolved"
    write = AvroSerializer(registry, EVOLVED.schema)
    old = [write(value, own(topic)) for value in EVOLVED.values]
    registry.register(f"{topic}-value", SchemaDraft(EVOLVED.later, SchemaType.AVRO))
    (found,) = exchange([asked(topic, "AVRO", old, EVOLVED.read_later, latest=True)])
    assert found["read"] == list(EVOLVED.read_later)
    frames = [bytes.fromhex(one["data"]) for one in found["written"]]
    assert {frame[:5] for frame in frames} & {(frame or b"")[:5] for frame in old} == set()
    assert [AvroDeserializer(registry)(frame, own(topic)) for frame in frames] == list(EVOLVED.read_later)
    fields = [{"name": "id", "type": "long"}]
    narrow = json.dumps({"type": "record", "name": "Order", "namespace": "acme", "fields": fields})
    read = AvroDeserializer(registry, narrow)
    assert [read(frame, own(topic)) for frame in frames] == [{"id": value["id"]} for value in EVOLVED.read_later]
