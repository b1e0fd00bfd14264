"""``report.json``: what an audit answers, as data.

``report.html`` and conformance in the registry are made from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypedDict

__all__ = [
    "FAIL_UNDER",
    "FORMAT",
    "FORMER_VERDICTS",
    "PARTS",
    "THRESHOLD",
    "Counts",
    "Edge",
    "EdgeEnd",
    "Part",
    "PartitionCounts",
    "Place",
    "Report",
    "SchemaUse",
    "Scope",
    "SeriesPoint",
    "Source",
    "StrategyUse",
    "Thresholds",
    "TopicPart",
    "Verdict",
    "ViolationLine",
]

FORMAT: Final = "contractlog.audit/1"
THRESHOLD: Final = 0.999  #: conformance below this is ``failing``, unless another threshold is given
FAIL_UNDER: Final = 1.0  #: conformance below this makes an audit's exit code 1, unless another share is given

Verdict = Literal["passing", "degraded", "failing", "unknown"]
FORMER_VERDICTS: Final[Mapping[str, Verdict]] = MappingProxyType({"keeps": "passing", "broken": "failing"})
#: words of earlier reports, still read
Part = Literal["key", "value"]
PARTS: Final[tuple[Part, ...]] = ("value", "key")  #: in the order in which they are told


class Counts(TypedDict):
    """How the records of something came out; ``records`` counts what was read."""

    records: int
    conforming: int
    violating: int
    tombstones: int
    unaudited: int  # nothing to check them against, or a schema that validators cannot use
    absent: int


class PartitionCounts(Counts):
    """One partition: conforming + violating + tombstones + unaudited + absent = to_offset - from_offset."""

    partition: int
    from_offset: int
    to_offset: int  # exclusive


class SchemaUse(TypedDict):
    """What one schema id was used for in a topic."""

    schema_id: int
    subject: str | None  # None for an id that the registry does not know
    version: int | None
    expected: bool  # the topic's strategy allows the subject; else its records are ``WRONG_SUBJECT``
    records: int
    conforming: int
    violating: int  # the rest of the records could not be checked: validators cannot use the schema
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


class StrategyUse(TypedDict):
    """Which subject name strategy a part was audited by."""

    name: str  # as confluent-kafka calls it; "none" where any known id is allowed
    chosen_by: Literal["given", "association", "evidence", "default"]
    reason: str


class TopicPart(Counts):
    """The audit of one part (key or value) of one topic."""

    topic: str
    part: Part
    verdict: Verdict
    threshold: float  # the verdict is failing below it
    missed: list[Literal["all versions", "newest version"]]  # whose conformance is below the threshold
    conformance: float | None  # conforming / (conforming + violating); None when nothing was audited
    strategy: StrategyUse | None  # None when the part has no subject and was not audited
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


class Thresholds(TypedDict):
    """The two shares that conformance is compared with."""

    verdict: float  # of each part's verdict
    fail_under: float  # of the exit code


class Scope(TypedDict):
    """What was asked of an audit beside conformance."""

    lineage: bool
    samples: bool  # whether the state holds samples of values, in which lineage can be found


class Report(TypedDict):
    """An audit of one or more topics."""

    format: str
    tool: str
    audited_at: str
    source: Source
    thresholds: Thresholds
    scope: Scope
    topics: list[TopicPart]
    lineage: list[Edge]
