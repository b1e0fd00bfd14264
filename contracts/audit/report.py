"""Data model of ``report.json``, the result of an audit.

``report.html`` and the conformance in the registry are derived from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NotRequired, TypedDict

__all__ = [
    "FAIL_UNDER",
    "FORMAT",
    "FORMER_VERDICTS",
    "PARTS",
    "THRESHOLD",
    "AuditReport",
    "AuditScope",
    "AuditSource",
    "AuditVerdict",
    "AuditedPart",
    "Counts",
    "LineageEdge",
    "LineageField",
    "Part",
    "PartitionCounts",
    "RecordPosition",
    "SchemaUse",
    "SelectionBody",
    "SeriesPoint",
    "StrategyUse",
    "Thresholds",
    "TopicPart",
    "ViolationLine",
]

FORMAT: Final = "contractlog.audit/1"
THRESHOLD: Final = 0.999  #: conformance below this is ``failing``, by default
FAIL_UNDER: Final = 1.0  #: conformance below this makes an audit exit with code 1, by default

AuditVerdict = Literal["passing", "degraded", "failing", "unknown"]
FORMER_VERDICTS: Final[Mapping[str, AuditVerdict]] = MappingProxyType({"keeps": "passing", "broken": "failing"})
#: verdicts of earlier reports, still accepted
Part = Literal["key", "value"]
PARTS: Final[tuple[Part, ...]] = ("value", "key")  #: in display order


class Counts(TypedDict):
    """Record counts by result; ``records`` is the number of records read."""

    records: int
    conforming: int
    violating: int
    tombstones: int
    unaudited: NotRequired[int]  # no schema, or validators cannot use it; earlier releases did not write it
    absent: int


class PartitionCounts(Counts):
    """One partition: conforming + violating + tombstones + unaudited + absent = to_offset - from_offset."""

    partition: int
    from_offset: int
    to_offset: int  # exclusive


class SchemaUse(TypedDict):
    """Use of a schema id in a topic."""

    schema_id: int
    subject: str | None  # None if the registry does not have the id
    version: int | None
    expected: bool  # the topic's strategy allows the subject; else its records are ``WRONG_SUBJECT``
    records: int
    conforming: int
    violating: int  # all further records could not be checked: validators cannot use the schema
    first_seen: str  # ISO 8601, UTC, as all times here
    last_seen: str


class RecordPosition(TypedDict):
    """Position of a record."""

    partition: int
    offset: int


class ViolationLine(TypedDict):
    """A group of records that broke their contract in the same way."""

    code: str
    records: int
    schema_id: int | None
    path: str  # JSON Pointer to the deepest failing node of the schema
    field: str  # path of the value, as legs[].carrier
    detail: str
    first_seen: str
    last_seen: str
    examples: list[RecordPosition]


class SeriesPoint(TypedDict):
    """Records of one schema id on one UTC day."""

    window: str
    schema_id: int | None
    records: int
    violating: int


class StrategyUse(TypedDict):
    """The subject name strategy with which a part was audited."""

    name: str  # name as in confluent-kafka; "none" if every registered id is allowed
    chosen_by: Literal["given", "association", "evidence", "default"]
    reason: str


class AuditedPart(Counts):
    """Members of a ``TopicPart`` that every release writes, and by which a registry verifies it."""

    topic: str
    part: Part
    verdict: AuditVerdict
    conformance: float | None  # conforming / (conforming + violating); None if no record was audited
    partitions: list[PartitionCounts]


class TopicPart(AuditedPart):
    """Audit result of one part (key or value) of one topic."""

    threshold: float  # conformance below it makes the verdict ``failing``
    missed: list[Literal["all versions", "newest version"]]  # what has a conformance below the threshold
    strategy: StrategyUse | None  # None if the part has no subject and was not audited
    schemas: list[SchemaUse]
    violations: list[ViolationLine]
    series: list[SeriesPoint]
    fields: list[dict[str, object]]
    notes: list[str]  # sentences about what was not checked, and why


class LineageField(TypedDict):
    """A field of a topic."""

    topic: str
    field: str


# "from" is a keyword, hence the functional syntax.
LineageEdge = TypedDict(
    "LineageEdge",
    {
        "from": LineageField,
        "to": LineageField,
        "method": str,
        "score": float,
        "support": int,
        "lag_ms": float | None,
    },
)


class AuditSource(TypedDict, total=False):
    """Origin of the records."""

    kind: Literal["kafka", "archive"]
    bootstrap_servers: str
    registry: str  # URL of the registry, without credentials
    archive: str


class Thresholds(TypedDict):
    """The two thresholds for conformance."""

    verdict: float  # for the verdict of each part
    fail_under: float  # for the exit code


class SelectionBody(TypedDict, total=False):
    """The records that were selected; a member that is absent selects all."""

    topics: list[str]  # names and globs
    excluded: list[str]  # names and globs
    partitions: str  # such as 0,2-4
    since: str
    until: str  # exclusive


class AuditScope(SelectionBody):
    """The selected records, and the parts of the audit besides conformance."""

    new_offsets: NotRequired[int]  # if offsets of a former audit were not read again
    audited_before: NotRequired[int]  # number of these offsets
    lineage: bool
    samples: bool  # True if the state has samples of values, which lineage needs


class AuditReport(TypedDict):
    """An audit of one or more topics."""

    format: str
    tool: str
    audited_at: str
    source: AuditSource
    thresholds: Thresholds
    scope: AuditScope
    topics: list[TopicPart]
    lineage: list[LineageEdge]
