"""``report.json``: what an audit answers, as data.

``report.html`` and conformance in the registry are made from it alone.
"""

from __future__ import annotations

from typing import Final, Literal, TypedDict

__all__ = [
    "BROKEN_BELOW",
    "FORMAT",
    "PARTS",
    "Counts",
    "Edge",
    "EdgeEnd",
    "Part",
    "PartitionCounts",
    "Place",
    "Report",
    "SchemaUse",
    "SeriesPoint",
    "Source",
    "TopicPart",
    "Verdict",
    "ViolationLine",
]

FORMAT: Final = "contractlog.audit/1"
BROKEN_BELOW: Final = 0.999  #: conformance below this is ``broken``

Verdict = Literal["keeps", "degraded", "broken", "unknown"]
Part = Literal["key", "value"]
PARTS: Final[tuple[Part, ...]] = ("value", "key")  #: in the order in which they are told


class Counts(TypedDict):
    """How the records of something came out; ``records`` counts what was read."""

    records: int
    conforming: int
    violating: int
    tombstones: int
    absent: int


class PartitionCounts(Counts):
    """One partition: conforming + violating + tombstones + absent = to_offset - from_offset.

    Of a part that was not held against anything (``unknown``) the records are only read:
    records + absent = to_offset - from_offset, and conforming = violating = 0.
    """

    partition: int
    from_offset: int
    to_offset: int  # exclusive


class SchemaUse(TypedDict):
    """What one schema id was used for in a topic."""

    schema_id: int
    subject: str | None
    version: int | None
    records: int
    conforming: int
    first_seen: str  # ISO 8601, UTC, as all times here
    last_seen: str


class Place(TypedDict):
    """Where a record can be looked at."""

    partition: int
    offset: int


class ViolationLine(TypedDict):
    """One way in which records broke their contract."""

    code: str
    records: int
    schema_id: int | None
    path: str  # JSON Pointer to the deepest failing node of the schema
    field: str  # the value's path, as legs[].carrier
    detail: str
    first_seen: str
    last_seen: str
    examples: list[Place]


class SeriesPoint(TypedDict):
    """Records of one schema id on one UTC day."""

    window: str
    schema_id: int | None
    records: int
    violating: int


class TopicPart(Counts):
    """The audit of one part (key or value) of one topic."""

    topic: str
    part: Part
    verdict: Verdict
    conformance: float | None  # conforming / (conforming + violating); None when nothing was audited
    partitions: list[PartitionCounts]
    schemas: list[SchemaUse]
    violations: list[ViolationLine]
    series: list[SeriesPoint]
    fields: list[dict[str, object]]
    notes: list[str]  # what was not looked at and why, in sentences


class EdgeEnd(TypedDict):
    """A field of a topic."""

    topic: str
    field: str


# "from" is a keyword, hence the functional form.
Edge = TypedDict(
    "Edge",
    {
        "from": EdgeEnd,
        "to": EdgeEnd,
        "method": str,
        "score": float,
        "support": int,
        "lag_ms": float | None,
    },
)


class Source(TypedDict, total=False):
    """Where the records were read."""

    kind: Literal["kafka", "archive"]
    bootstrap_servers: str
    registry: str  # the registry that was asked, without credentials
    archive: str


class Report(TypedDict):
    """An audit of one or more topics."""

    format: str
    tool: str
    audited_at: str
    source: Source
    topics: list[TopicPart]
    lineage: list[Edge]
