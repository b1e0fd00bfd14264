"""Impact of a new schema: clients of versions that it breaks, and records that it cannot read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from contractlog.clients.cli.check.file_findings import locate_findings
from contractlog.clients.cli.check.recorded_usage import USAGE_DAYS, RecordedTopic, RecordedUsage, RecordedVersion
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.common_check_catalogue import DATA_UNREADABLE, SCHEMA_TYPE_CHANGED
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import RegistryError, UnreadableResponse
from contractlog.compatibility.finding import Finding, Verdict
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.text.number_text import format_share
from contractlog.contracts.audit.time_text import describe_time, format_time

__all__ = ["Consumer", "Impact", "ImpactCheck", "NewSchema", "TopicImpact", "UnreadableRecords"]

_MAX_COMPARED: Final = 50  #: versions that schemas of a subject are compared with; each is a request
_MAX_CAUSES: Final = 100  #: causes of unreadable records that are located


@dataclass(frozen=True, slots=True)
class Consumer:
    """A client that fetched a version."""

    client: str
    version: int
    last_day: str
    #: directions in which the new schema and the version are incompatible; None if they could not be compared
    incompatible: tuple[Direction, ...] | None

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        incompatible = None if self.incompatible is None else [direction.value for direction in self.incompatible]
        return {
            "client": self.client,
            "version": self.version,
            "last_day": self.last_day,
            "incompatible": incompatible,
        }


@dataclass(frozen=True, slots=True)
class TopicImpact:
    """Records of an audited topic, by whether the new schema reads them."""

    subject: str  #: of the new schema
    recorded: RecordedTopic
    readable: Mapping[int, bool]  #: by schema id; ids whose schema could not be compared are left out

    @property
    def audited_at(self) -> str:
        """Time of the audit, for people."""
        return describe_time(self.recorded.recorded_at) or "an unknown time"

    @property
    def name(self) -> str:
        """The topic, and the part if it is the key, for people."""
        return f"topic `{self.recorded.topic}`" + (" (keys)" if self.recorded.part == "key" else "")

    def identify(self, version: RecordedVersion) -> str:
        """Return an identity of the records of a version, independent of their number."""
        return f"{self.recorded.topic} {self.recorded.part} {version.schema_id}"

    def describe_version(self, version: RecordedVersion) -> str:
        """Return the name of a version for people."""
        of = "" if version.subject == self.subject else f" of `{version.subject}`"
        return f"version {version.version}{of}"

    def list_versions(self, *, readable: bool | None) -> list[RecordedVersion]:
        """Return the versions whose records the new schema reads, or not; None: it is unknown."""
        return [each for each in self.recorded.versions if self.readable.get(each.schema_id) is readable]

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        versions = [
            {
                "schema_id": each.schema_id,
                "subject": each.subject,
                "version": each.version,
                "records": each.records,
                "readable": self.readable.get(each.schema_id),
            }
            for each in self.recorded.versions
        ]
        return {
            "topic": self.recorded.topic,
            "part": self.recorded.part,
            "audited_at": format_time(self.recorded.recorded_at),
            "records": self.recorded.records,
            "versions": versions,
        }


@dataclass(frozen=True, slots=True)
class UnreadableRecords:
    """Records of one version that the new schema cannot read, though the previous one can."""

    finding: LocatedFinding
    causes: tuple[LocatedFinding, ...]  #: reasons why the new schema cannot read the version
    severity: Severity  #: an error if the level promises that the new schema reads earlier records
    identity: str  #: of the records, independent of their number

    @property
    def is_error(self) -> bool:
        """True if they prevent registration, unless a waiver covers them."""
        return self.severity is Severity.ERROR

    @property
    def has_all_causes(self) -> bool:
        """True if no cause was left out."""
        return len(self.causes) < _MAX_CAUSES


@dataclass(frozen=True, slots=True)
class Impact:
    """Impact of a new schema, as far as the registry knows it."""

    consumers: tuple[Consumer, ...] | None  #: the latest first; None: unknown
    client_count: int  #: of all clients, listed or not
    topics: tuple[TopicImpact, ...]
    findings: tuple[UnreadableRecords, ...]

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        consumers = None if self.consumers is None else [each.body() for each in self.consumers]
        return {
            "days": USAGE_DAYS,
            "client_count": None if self.consumers is None else self.client_count,
            "consumers": consumers,
            "topics": [topic.body() for topic in self.topics],
        }


@dataclass(frozen=True, slots=True)
class NewSchema:
    """A schema whose impact is checked."""

    file: SchemaFile
    parsed: ParsedSchema
    previous: ParsedSchema | None  #: the schema before it; None: the latest registered one, if there is any
    level: Level  #: of the subject
    policy: Policy
    reported: Collection[str]  #: versions that it cannot read by findings of the level, as these name them


@dataclass(frozen=True, slots=True)
class _EarlierVersion:
    text: str
    parsed: ParsedSchema


@dataclass
class ImpactCheck:
    """Compares new schemas of a subject with the versions that clients and topics use."""

    registry: Registry | FileRegistry
    subject: str
    usage: RecordedUsage
    _versions: dict[tuple[str, int], _EarlierVersion | None] = field(default_factory=dict)

    def check(self, schema: NewSchema) -> Impact:
        """Return the impact of a new schema."""
        verdicts: dict[tuple[str, int], Verdict | None] = {}

        def compare(subject: str, version: int) -> Verdict | None:
            key = (subject, version)
            if key not in verdicts:
                earlier = self._load(*key)
                verdicts[key] = (
                    None if earlier is None else _compare(schema.parsed, earlier.parsed, Level.FULL, schema.policy)
                )
            return verdicts[key]

        topics = []
        findings: list[UnreadableRecords] = []
        for topic in self.usage.topics:
            readable = {}
            for use in topic.versions:
                verdict = None if use.subject is None or use.version is None else compare(use.subject, use.version)
                if verdict is not None:
                    readable[use.schema_id] = Direction.BACKWARD not in _directions(verdict)
            topics.append(TopicImpact(self.subject, topic, readable))
            for use in topics[-1].list_versions(readable=False):
                if use.expected and topics[-1].describe_version(use) not in schema.reported:
                    findings += self._find_unreadable(schema, topics[-1], use)
        consumers = None
        if self.usage.fetches is not None:
            uses = ((use, compare(self.subject, use.version)) for use in self.usage.fetches)
            consumers = tuple(
                Consumer(use.client, use.version, use.last_day, None if verdict is None else _directions(verdict))
                for use, verdict in uses
            )
        return Impact(consumers, self.usage.client_count, tuple(topics), tuple(findings))

    def _find_unreadable(
        self, schema: NewSchema, topic: TopicImpact, use: RecordedVersion
    ) -> Iterator[UnreadableRecords]:
        """Yield a finding for records that the new schema cannot read and the previous one can."""
        earlier = self._load(str(use.subject), use.version or 0)
        before = schema.previous or self._load_latest()
        if earlier is None or (
            before and not _compare(before, earlier.parsed, Level.BACKWARD, schema.policy).compatible
        ):
            return
        writer = ParsedVersion(0, earlier.parsed)
        others = [] if before is None else [ParsedVersion(-1, before)]  # which a suggested fix must not break
        description = topic.describe_version(use)
        verdict = _compare(schema.parsed, earlier.parsed, Level.BACKWARD, schema.policy)
        located = locate_findings(
            schema.file,
            schema.parsed,
            verdict,
            [writer, *others],
            {0: (description, earlier.text)},
            policy=schema.policy,
        )
        causes = tuple(islice(located, _MAX_CAUSES))
        more = f" (and {len(causes) - 1} more reasons)" if len(causes) > 1 else ""
        share = format_share(use.records, topic.recorded.records)
        detail = (
            f"{share} records of {topic.name}, as of the audit of {topic.audited_at}; {causes[0].finding.detail}{more}"
        )
        first = causes[0].finding
        finding = Finding(DATA_UNREADABLE.id, first.reader_at, first.writer_at, detail, fix=first.fix)
        is_promised = Direction.BACKWARD in schema.level.directions and before is not None
        yield UnreadableRecords(
            replace(causes[0], finding=finding),
            causes,
            Severity.ERROR if is_promised else Severity.WARNING,
            identity=topic.identify(use),
        )

    def _load_latest(self) -> ParsedSchema | None:
        try:
            latest = self.registry.versions(self.subject)[-1]
        except (RegistryError, IndexError):
            return None
        earlier = self._load(self.subject, latest)
        return None if earlier is None else earlier.parsed

    def _load(self, subject: str, version: int) -> _EarlierVersion | None:
        """Return a version, or None if it cannot be read here."""
        key = (subject, version)
        if key not in self._versions:
            self._versions[key] = self._fetch(*key) if len(self._versions) < _MAX_COMPARED else None
        return self._versions[key]

    def _fetch(self, subject: str, version: int) -> _EarlierVersion | None:
        if isinstance(self.registry, FileRegistry):
            return None
        try:
            stored = self.registry.version(subject, version, deleted=True)
            referenced = self.registry.referenced(stored.draft, subject=subject)
            return _EarlierVersion(stored.draft.text, parse_schema(stored.draft, referenced, strict=False))
        except (RegistryError, UnreadableResponse):
            return None


def _compare(candidate: ParsedSchema, earlier: ParsedSchema, level: Level, policy: Policy) -> Verdict:
    return check_compatibility(candidate, [ParsedVersion(0, earlier)], level, policy=policy)


def _directions(verdict: Verdict) -> tuple[Direction, ...]:
    """Return the directions in which the schemas are incompatible; those of different types are in both."""
    if any(finding.check == SCHEMA_TYPE_CHANGED.id for finding in verdict.findings):
        return tuple(Direction)
    failed = {comparison.direction for comparison in verdict.comparisons if comparison.findings}
    return tuple(direction for direction in Direction if direction in failed)
