"""Exchange of frames with Flink's format ``avro-confluent``, in both directions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer

from support.exchange_cases import AVRO, EVOLVED
from support.third_party_clients import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def own(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_records_go_both_ways_and_evolve(flink: Program, registry_url: str, tmp_path: Path) -> None:
    records = [case for case in AVRO if isinstance(json.loads(case.schema), dict)]
    with Registry(registry_url) as registry:
        lines, expected = [], []
        for case in records:
            write = AvroSerializer(registry, case.schema)
            frames = [write(value, own(f"fl-{case}")) for value in case.values]
            lines.append(line(f"fl-{case}", case.schema, frames))
            expected.append((f"fl-{case}", frames, case.values))
        write = AvroSerializer(registry, EVOLVED.schema)
        old = [write(value, own("fl-evolved")) for value in EVOLVED.values]
        registry.register("fl-evolved-value", SchemaDraft(EVOLVED.later, SchemaType.AVRO))
        write = AvroSerializer(registry, EVOLVED.later)
        new = [write(value, own("fl-evolved")) for value in EVOLVED.read_later]
        lines.append(line("fl-evolved", EVOLVED.later, old))
        expected.append(("fl-evolved", new, EVOLVED.read_later))
        file = tmp_path / "frames.tsv"
        file.write_text("\n".join(lines))
        found: list[list[str]] = flink(registry_url, str(file))["found"]
        read = AvroDeserializer(registry)
        for (topic, ours, values), written in zip(expected, found, strict=True):
            theirs = [bytes.fromhex(one) for one in written]
            assert [read(frame, own(topic)) for frame in theirs] == list(values), topic
            if topic != "fl-collections":  # Java's maps have an order of their own
                assert theirs == ours, topic


def line(topic: str, schema: str, frames: Sequence[Any]) -> str:
    return "\t".join([f"{topic}-value", json.dumps(json.loads(schema)), *(frame.hex() for frame in frames)])
