"""Audit results as ``contractlog audit --publish`` sends them, with given counts by schema."""

from __future__ import annotations

from typing import Any


def create_audit(topic: str, *uses: dict[str, Any], part: str = "value") -> dict[str, Any]:
    """Return the entry of a part whose records carry these schemas."""
    records = sum(use["records"] for use in uses)
    counts = {"records": records, "conforming": records, "violating": 0, "tombstones": 0, "absent": 0}
    partition = {"partition": 0, "from_offset": 0, "to_offset": records, **counts}
    nothing = {name: [] for name in ("violations", "series", "fields", "notes")}
    return {"topic": topic, "part": part, "verdict": "passing", "conformance": 1.0 if records else None, **counts,
            "partitions": [partition], "schemas": list(uses), **nothing}  # fmt: skip


def use(schema_id: int, records: int, subject: str | None, version: int | None, **members: Any) -> dict[str, Any]:
    """Return the use of a schema id."""
    seen = {"first_seen": "2026-11-01T00:00:00Z", "last_seen": "2026-11-20T00:00:00Z"}
    counts = {"records": records, "conforming": records, "violating": 0}
    return {"schema_id": schema_id, "subject": subject, "version": version, "expected": True, **counts, **seen,
            **members}  # fmt: skip
