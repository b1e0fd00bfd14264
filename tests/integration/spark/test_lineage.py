"""``contractlog lineage`` without a state audits an archive and finds its edges."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_writer
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from support.archives import Record, encode_frame, write_topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]

START = 1_700_000_000_000


def schema_of(fields: dict[str, str]) -> dict[str, Any]:
    members = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Order", "fields": members}


def write(folder: Path, registry: Registry, topic: str, fields: dict[str, str], rows: list[tuple[int, Any]]) -> None:
    schema = schema_of(fields)
    schema_id = int(registry.register(f"{topic}-value", SchemaDraft(json.dumps(schema))).schema_id)
    parsed = parse_schema(schema)
    records = []
    for offset, (time, values) in enumerate(rows):
        out = BytesIO()
        schemaless_writer(out, parsed, dict(zip(fields, values, strict=True)))
        records.append(
            Record(offset // 2, value=encode_frame(schema_id, out.getvalue()), timestamp=time, partition=offset % 2)
        )
    records.append(Record(len(rows), value=b"damaged", timestamp=START))
    write_topic(folder, topic, records)


def test_edges_are_found_in_an_archive(
    registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = [(START + number * 60_000, (f"order {number}", number * 37 % 1009)) for number in range(800)]
    late = [(time + 2000, value) for time, value in orders if value[1] > 300]
    with Registry(registry_url) as registry:
        write(tmp_path, registry, "orders", {"id": "string", "total": "long"}, orders)
        write(tmp_path, registry, "late", {"order": "string", "owed": "double"}, late)
    arguments = ["lineage", "late", "--archive", str(tmp_path), "--registry", registry_url, "--format", "json"]
    assert main(arguments) == 0
    edges = json.loads(capsys.readouterr().out)["lineage"]
    assert [(edge["from"], edge["to"]["field"], edge["lag_ms"]) for edge in edges] == [
        ({"topic": "orders", "field": "id"}, "order", 2000.0),
        ({"topic": "orders", "field": "total"}, "owed", 2000.0),
    ]
    out = tmp_path / "audit"
    assert main(["audit", "--lineage", *arguments[2:6], "--out", str(out)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert "finding lineage: 0 of 4 comparisons of two topics" in said
    report = json.loads((out / "report.json").read_text())
    assert (report["lineage"], report["scope"]["lineage"], report["scope"]["samples"]) == (edges, True, True)
