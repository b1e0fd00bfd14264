"""Reports of many sizes and verdicts, for tests that render them."""

from __future__ import annotations

import json
from datetime import date, timedelta
from importlib.resources import files
from typing import Final

import jsonschema_rs

from contractlog.contracts.audit.report import FORMAT, AuditReport, TopicPart, ViolatingRecord, ViolationLine
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["REPORT_VALIDATOR", "edge", "example", "flights", "part", "report", "traced_edge", "violation"]


REPORT_VALIDATOR: Final = jsonschema_rs.validator_for(
    json.loads((files("contractlog.contracts.audit") / "report.schema.json").read_text())
)


def violation(
    code: str, records: int, *, schema_id: int | None = 7, path: str = "/fields/3", field: str = "legs[].carrier"
) -> ViolationLine:
    """Make a line of violations with three examples."""
    return {
        "code": code,
        "records": records,
        "schema_id": schema_id,
        "path": path,
        "field": field,
        "detail": "the string of 12 bytes ends after 3",
        "first_seen": "2013-07-01T04:12:00Z",
        "last_seen": "2013-12-31T23:59:00Z",
        "producers": [],
        "first": example(42),
        "examples": [example(offset) for offset in (42, 99, 12345)],
    }


def example(offset: int) -> ViolatingRecord:
    """Make an example at an offset, with masked values."""
    return {
        "partition": 0,
        "offset": offset,
        "timestamp": "2013-07-01T04:12:00Z",
        "producer": None,
        "size": 27,
        "failed_at": 19,
        "key": "text(7)",
        "headers": [{"name": "trace", "value": "text(16)"}],
        "decoded": "{flight: long, legs: [{carrier: ✗",
        "excerpt": "",
    }


def part(
    topic: str, *, name: str = "value", records: int = 336_776, violations: list[ViolationLine] | None = None
) -> TopicPart:
    """Make the audit of a part over 2013: two schema versions, the second from July on."""
    lines = violations or []
    violating = sum(line["records"] for line in lines)
    day = date(2013, 1, 1)
    series = [
        {
            "window": (day + timedelta(index)).isoformat(),
            "schema_id": 7 if index > 180 else 3,
            "records": records // 365 + index % 7,
            "violating": violating // 180 if index > 180 else 0,
        }
        for index in range(365)
    ]
    return {
        "topic": topic,
        "part": name,
        "verdict": "unknown"
        if not records
        else "passing"
        if not violating
        else "degraded"
        if violating < records / 1000
        else "failing",
        "threshold": 0.999,
        "missed": ["all versions"] if records and violating >= records / 1000 else [],
        "conformance": (records - violating) / records if records else None,
        "strategy": {
            "name": "TopicNameStrategy",
            "chosen_by": "default",
            "reason": f"the default, as `{topic}-{name}` exists",
        }
        if records
        else None,
        "records": records,
        "conforming": records - violating,
        "violating": violating,
        "tombstones": 0,
        "unaudited": 0,
        "absent": 12,
        "partitions": [
            {
                "partition": 0,
                "from_offset": 0,
                "to_offset": records + 12,
                "records": records,
                "conforming": records - violating,
                "violating": violating,
                "tombstones": 0,
                "unaudited": 0,
                "absent": 12,
            }
        ],
        "schemas": [
            {
                "schema_id": id_,
                "subject": f"{topic}-{name}",
                "version": version,
                "expected": True,
                "records": records // 2,
                "conforming": records // 2,
                "violating": 0,
                "first_seen": "2013-01-01T10:17:00Z",
                "last_seen": "2013-12-31T23:59:00Z",
            }
            for id_, version in ((3, 1), (7, 2))
        ]
        if records
        else [],
        "violations": lines,
        "producers": [],
        "series": series if records else [],
        "fields": [],
        "notes": [] if records else ["The topic contains no records."],
    }


def edge(source: str, target: str, field: str, method: str = "copy") -> LineageEdge:
    """Make a lineage edge between fields of one name."""
    return {
        "from": {"topic": source, "field": field},
        "to": {"topic": target, "field": field},
        "direction": "known",
        "method": method,
        "score": 0.98,
        "support": 812,
        "lag_ms": 15_400.0 if method == "copy" else None,
    }


def traced_edge(source: str, target: str, job: str = "", *, directed: bool = True) -> LineageEdge:
    """Make an edge between whole topics, as headers show it."""
    traced: LineageEdge = {
        "from": {"topic": source, "field": ""},
        "to": {"topic": target, "field": ""},
        "direction": "known" if directed else "unknown",
        "method": "origin" if directed else "trace",
        "score": 1.0,
        "support": 1234,
        "lag_ms": 1500.0,
        "evidence": "traced",
        "description": "1,234 records name it in the header `contractlog.origin`" if directed else "same traces",
        "lag_quantiles_ms": {"p05": 100.0, "p50": 1500.0, "p95": 9000.0},
        "first_seen": "2013-07-01T04:12:00Z",
        "last_seen": "2013-12-31T23:59:00Z",
        "example": {"from": {"partition": 3, "offset": 42}, "to": {"partition": 0, "offset": 5}},
    }
    if job:
        traced["job"] = job
    return traced


def report(*parts: TopicPart, edges: list[LineageEdge] | None = None) -> AuditReport:
    """Make a report of parts."""
    return {
        "format": FORMAT,
        "tool": "contractlog 0.1.0",
        "audited_at": "2026-11-21T08:00:00Z",
        "source": {"kind": "kafka", "bootstrap_servers": "127.0.0.1:9092"},
        "thresholds": {"verdict": 0.999, "fail_under": 1.0},
        "scope": {
            "lineage": bool(edges),
            "samples": True,
            "profiles": True,
            "producer_headers": ["producer", "service"],
            "values_shown": False,
        },
        "topics": list(parts),
        "lineage": edges or [],
    }


def flights() -> AuditReport:
    """Make a report like the demo's: one topic failing, one degraded, the rest fine."""
    return report(
        part(
            "flights.departed",
            violations=[violation("TRUNCATED", 168), violation("NOT_FRAMED", 20, schema_id=None, path="", field="")],
        ),
        part("flights.departed", name="key"),
        part(
            "flights.delayed",
            records=60_000,
            violations=[violation("BAD_ENUM_INDEX", 400, field="origin", path="/fields/2/type")],
        ),
        part("weather.hourly", records=26_115),
        part("airports", records=1458),
        part("empty", records=0),
        edges=[edge("flights.departed", "flights.delayed", field) for field in ("carrier", "flight", "origin")]
        + [edge("airports", "flights.delayed", field, "lookup") for field in ("name", "lat")],
    )
