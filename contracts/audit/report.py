"""Data model of ``report.json``, the result of an audit.

``report.html`` and the conformance in the registry are derived from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NotRequired, TypedDict

from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = [
    "FAIL_UNDER",
    "FORMAT",
    "FORMER_VERDICTS",
    "PARTS",
    "THRESHOLD",
    "AuditChanges",
    "AuditReport",
    "AuditScope",
    "AuditSource",
    "AuditVerdict",
    "AuditedPart",
    "Counts",
    "FieldEntry",
    "FieldValue",
    "FrequentKey",
    "KeyStatistics",
    "MovedKey",
    "NumberBins",
    "Part",
    "PartChange",
    "PartitionCounts",
    "PersonalData",
    "ProducerKind",
    "ProducerUse",
    "PublishedAudit",
    "QualityOutcome",
    "QualityResult",
    "RecordHeader",
    "RuleUse",
    "SchemaUse",
    "SelectionBody",
    "SeriesPoint",
    "SizeStatistics",
    "StrategyUse",
    "Thresholds",
    "TimeOrder",
    "TopicPart",
    "TrendPoint",
    "ValueEnds",
    "ViolatingProducer",
    "ViolatingRecord",
    "ViolationLine",
]

FORMAT: Final = "contractlog.audit/1"
THRESHOLD: Final = 0.999  #: conformance below this is ``failing``, by default
FAIL_UNDER: Final = 1.0  #: conformance below this makes an audit exit with code 1, by default

AuditVerdict = Literal["passing", "degraded", "failing", "unknown"]
FORMER_VERDICTS: Final[Mapping[str, AuditVerdict]] = MappingProxyType({"keeps": "passing", "broken": "failing"})
#: verdicts of earlier reports, still accepted
ProducerKind = Literal["named", "others", "none"]  # ``others``: those beyond a limit; ``none``: no header names one
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


class RecordHeader(TypedDict):
    """A header of a record."""

    name: str
    value: str


class ViolatingRecord(RecordPosition):
    """A record that serves as an example; values are masked unless the audit was to show them.

    Texts are empty, and other members None, if they are unknown: states of earlier releases have positions only.
    """

    timestamp: str
    producer: str | None
    size: int | None  # bytes of the key or value
    failed_at: int | None  # byte of the body, which is the key or value without its frame
    key: str  # of examples of values
    headers: list[RecordHeader]
    decoded: str  # the body as far as it can be read
    excerpt: str  # bytes around the failure, in hexadecimal digits; only if values are shown


class ViolatingProducer(TypedDict):
    """Records of a kind of violation that one producer wrote."""

    producer: str | None  # None unless ``kind`` is ``named``
    kind: ProducerKind
    records: int


class ProducerUse(ViolatingProducer):
    """Records of a part that one producer wrote."""

    violating: int
    first_seen: str  # empty if unknown
    last_seen: str


class ViolationLine(TypedDict):
    """A group of records that broke their contract in the same way."""

    code: str
    records: int
    schema_id: int | None
    path: str  # JSON Pointer to the deepest failing node of the schema; of RULE_BROKEN and UNDECRYPTABLE, to the rule
    field: str  # path of the value, as legs[].carrier
    detail: str
    first_seen: str
    last_seen: str
    producers: list[ViolatingProducer]  # empty if no record of the part names a producer
    first: ViolatingRecord | None  # the first by time; None if a state of an earlier release has an earlier one
    examples: list[ViolatingRecord]


class RuleUse(TypedDict):
    """A rule of a schema, and the records that break it, of those that conform to the schema."""

    schema_id: int
    rule: str
    type: str
    path: str  # JSON Pointer to the rule in the registered version, as the lines of violations have it
    sentence: str  # the rule in English; empty if it is not evaluated
    reason: str  # why it is not evaluated; empty if it is
    records: int  # on which it was evaluated
    broken: int  # that break it, also if they break another rule before; of encryption, that cannot be decrypted
    failed: int  # of these, those on which the evaluation failed
    per_record: int  # evaluated one by one, not by columns
    undecoded: int  # on which it was not evaluated, as the record cannot be decoded


class SeriesPoint(TypedDict):
    """Records of one schema id in one time window, in UTC."""

    window: str  # an hour, 2013-07-01T04; if there are many hours, a day, 2013-07-01, a month or a year
    schema_id: int | None
    records: int
    violating: int


class StrategyUse(TypedDict):
    """The subject name strategy with which a part was audited."""

    name: str  # name as in confluent-kafka; "none" if every registered id is allowed
    chosen_by: Literal["given", "association", "evidence", "default"]
    reason: str


class FieldValue(TypedDict):
    """A value of a field, and how often it occurs."""

    value: str | None  # None if the text is confidential and values are not shown
    records: int


class ValueEnds(TypedDict):
    """The lowest and the highest value of one kind."""

    kind: str  # number, time, date or text
    lowest: float | str
    highest: float | str


NumberBins = TypedDict(
    "NumberBins", {"from": float, "to": float, "counts": list[int]}
)  #: counts in bins of equal width


class PersonalData(TypedDict):
    """Values that look like personal data of one kind."""

    pattern: str  # such as e-mail address
    values: int


class FieldEntry(TypedDict):
    """Summary of the values of a field, of conforming records."""

    field: str  # path of the value, as legs[].carrier
    records: int  # records with a value or null
    absent: int  # records with neither
    nulls: int
    values: int
    kinds: dict[str, int]  # values by kind: boolean, number, text, bytes, time, date
    distinct: int  # number of distinct values
    distinct_error: float  # relative standard error of this number; 0 if it is exact
    listed: list[FieldValue]  # the most frequent values, if the field has few distinct ones
    ranges: list[ValueEnds]
    quantiles: dict[str, float]  # of numbers, by name, as p50; off by at most 1.6 %
    bins: NumberBins | None  # of numbers
    lengths: dict[str, float]  # quantiles of the lengths of texts (in characters) and bytes
    sizes: dict[str, float]  # quantiles of the number of values per record that has any, if there may be several
    personal_data: list[PersonalData]
    drift: NotRequired[DriftEntry]  # of the new values; absent if the audit continues none, or there is no distribution


class DriftEntry(TypedDict):
    """Population stability index of a field: new values compared with those that were audited before."""

    index: float
    lowest: float  # the index less what may be due to chance
    before: int  # values and nulls
    after: int


class SizeStatistics(TypedDict):
    """Sizes of the keys or values that are not null, in bytes, with their frames."""

    bytes: int  # of all together
    largest: int
    quantiles: dict[str, float]  # by name, as p50; off by at most 1.6 %


class TimeOrder(TypedDict):
    """Records whose timestamp is earlier than that of the record before them in their partition."""

    backward: int
    largest_step_ms: int


class FrequentKey(TypedDict):
    """A key that many of the records with a key have."""

    share: float
    low: float  # of the share's 95 % interval; the share itself if it is exact
    high: float
    example: RecordPosition


class MovedKey(TypedDict):
    """A key that occurs in more than one partition."""

    records: int
    positions: list[RecordPosition]  # of its first record in each of two partitions


class KeyStatistics(TypedDict):
    """Keys of a topic, compared by their bytes without the frame."""

    null: int  # records without a key
    distinct: int
    distinct_error: float  # relative standard error of this number; 0 if it is exact
    sampled: int  # keys of a uniform sample, or all; the numbers below are of them
    repeated: int  # keys that several records have
    moved: int  # keys that occur in more than one partition
    moved_examples: list[MovedKey]
    frequent: list[FrequentKey]  # most frequent first; none below 2 % of the records


class AuditedPart(Counts):
    """Members of a ``TopicPart`` that every release writes, and by which a registry verifies it."""

    topic: str
    part: Part
    verdict: AuditVerdict
    conformance: float | None  # conforming / (conforming + violating); None if no record was audited
    partitions: list[PartitionCounts]


class TrendPoint(TypedDict):
    """Result of a part in one audit."""

    audited_at: str
    verdict: AuditVerdict
    conformance: float | None
    records: int
    violating: int


QualityOutcome = Literal["passed", "failed", "muted", "not evaluated"]


class QualityResult(TypedDict):
    """Result of a quality rule."""

    rule: str
    field: str  # empty for a rule about the topic
    metric: str
    outcome: QualityOutcome
    actual: float | None  # the measured number; None if it is unknown, or known as an interval only
    expected: str  # such as: must be less than 5
    unit: Literal["rows", "percent", "seconds"]
    severity: Literal["error", "warning", "info"]
    owner: str
    muted_until: str | None  # day until which a failure does not count
    reason: str  # why the rule was not evaluated
    line: int  # in the file of the rules


class PublishedAudit(Counts):
    """Figures of a published audit of one part of a topic, as the registry stores them."""

    part: Part
    verdict: AuditVerdict
    conformance: float | None  # None if nothing was audited
    recorded_at: int  # milliseconds since 1970, UTC


class TopicPart(AuditedPart):
    """Audit result of one part (key or value) of one topic."""

    threshold: float  # conformance below it makes the verdict ``failing``
    missed: list[Literal["all versions", "newest version"]]  # what has a conformance below the threshold
    strategy: StrategyUse | None  # None if the part has no subject and was not audited
    schemas: list[SchemaUse]
    violations: list[ViolationLine]
    rules: NotRequired[list[RuleUse]]  # of the schemas that records carry; absent if they have none
    producers: list[ProducerUse]  # empty if no record names a producer
    series: list[SeriesPoint]
    fields: list[FieldEntry]  # by name; empty if fields were not profiled
    sizes: NotRequired[SizeStatistics | None]  # None if all are null; absent, as below, if the state lacks records
    time_order: NotRequired[TimeOrder]  # for the values
    keys: NotRequired[KeyStatistics]  # for the keys
    notes: list[str]  # sentences about what was not checked, and why
    quality: NotRequired[list[QualityResult]]  # if there are quality rules for the topic
    trend: NotRequired[list[TrendPoint]]  # the last audits of the same folder, oldest first, this one included


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
    producer_headers: list[str]  # headers that name a record's producer, the first that it has
    values_shown: bool  # True if examples have values, instead of their types and lengths
    samples: bool  # True if the state has samples of values, which lineage needs
    profiles: bool  # True if fields were profiled


class PartChange(TypedDict):
    """Difference of a part from the former audit."""

    topic: str
    part: Part
    before: AuditVerdict | None  # None if the former audit does not have the part
    after: AuditVerdict
    violating_before: int
    violating: int
    codes: list[str]  # kinds of violation that the former audit does not have
    producers: list[str]  # producers of violating records that had none
    versions: list[str]  # versions of subjects that no record carried


class AuditChanges(TypedDict):
    """Differences from the former audit of the same folder."""

    since: str  # time of the former audit
    parts: list[PartChange]


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
    changes: NotRequired[AuditChanges]  # if the folder had a former audit
