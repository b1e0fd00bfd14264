"""Subject name strategies: the subjects whose schemas a topic's records may carry, and the reason."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal
from uuid import UUID

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import topic_subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.report import StrategyUse
from contractlog.serdes.subject_names import SubjectNameStrategyType as Kind
from contractlog.serdes.subject_names import parse_strategy

__all__ = ["GivenStrategies", "SubjectStrategy", "VersionCatalogue", "choose_strategy"]

#: Minimum percentage of records with a known id that must match a strategy for it to be chosen.
MIN_MATCHING_PERCENT: Final = 95
_NAMES: Final[Mapping[Kind, str]] = {
    Kind.TOPIC: "TopicNameStrategy",
    Kind.RECORD: "RecordNameStrategy",
    Kind.TOPIC_RECORD: "TopicRecordNameStrategy",
    Kind.ASSOCIATED: "AssociatedNameStrategy",
}
_NO_STRATEGY: Final = "none"
_NAMED_TYPES: Final = frozenset({"record", "enum", "fixed", "error"})

Choice = Literal["given", "association", "evidence", "default"]


@dataclass(frozen=True, slots=True)
class SubjectStrategy:
    """The subject name strategy of one part of a topic."""

    name: str  #: as in confluent-kafka; ``none`` if no strategy fits
    chosen_by: Choice
    reason: str  #: for people
    subjects: frozenset[str] | None  #: allowed subjects; None: all

    def body(self) -> StrategyUse:
        """Return the strategy as an entry of the report."""
        return {"name": self.name, "chosen_by": self.chosen_by, "reason": self.reason}


@dataclass(frozen=True)
class VersionCatalogue:
    """The versions of every subject in the default context, ascending, soft-deleted ones included."""

    versions: Mapping[str, Sequence[RegisteredSchema]]

    @cached_property
    def ids(self) -> frozenset[int]:
        """Every schema id."""
        return frozenset(self.subjects)

    @cached_property
    def subjects(self) -> Mapping[int, tuple[tuple[str, int], ...]]:
        """Every (subject, version) of each id, sorted by subject; the highest version of each subject."""
        versions_by_id: dict[int, dict[str, int]] = {}
        for subject, versions in sorted(self.versions.items()):
            for version in versions:
                versions_by_id.setdefault(int(version.schema_id), {})[subject] = int(version.version or 0)
        return {schema_id: tuple(uses.items()) for schema_id, uses in versions_by_id.items()}

    @cached_property
    def by_id(self) -> Mapping[int, RegisteredSchema]:
        """One version of each id."""
        return {int(version.schema_id): version for versions in self.versions.values() for version in versions}

    @cached_property
    def guids(self) -> Mapping[bytes, tuple[int, ...]]:
        """The ids of each guid, ascending; registries before Confluent's 8.0 have no guids."""
        ids_by_guid: dict[bytes, set[int]] = {}
        for versions in self.versions.values():
            for version in versions:
                with suppress(ValueError):
                    ids_by_guid.setdefault(UUID(version.guid or "").bytes, set()).add(int(version.schema_id))
        return {guid: tuple(sorted(ids)) for guid, ids in ids_by_guid.items()}

    @cached_property
    def record_subjects(self) -> frozenset[str]:
        """Subjects named after the record of one of their versions."""
        return frozenset(name for name, records in self._records.items() if name in records)

    def topic_record_subjects(self, topic: str) -> frozenset[str]:
        """Return the subjects named ``<topic>-<record>`` after the record of one of their versions."""
        return frozenset(self._topic_record_subjects.get(topic, ()))

    def ids_of(self, subjects: frozenset[str] | None) -> frozenset[int]:
        """Return the ids of all versions of the given subjects, or of all subjects if None."""
        if subjects is None:
            return self.ids
        histories = (self.versions.get(subject, ()) for subject in subjects)
        return frozenset(int(version.schema_id) for versions in histories for version in versions)

    @cached_property
    def _topic_record_subjects(self) -> Mapping[str, Sequence[str]]:
        by_topic: defaultdict[str, list[str]] = defaultdict(list)
        for name, records in self._records.items():
            for ending in {topic_subject("", record) for record in records}:
                if name.endswith(ending):
                    by_topic[name.removesuffix(ending)].append(name)
        return by_topic

    @cached_property
    def _records(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(map(_record_name, versions)) for name, versions in self.versions.items()}


@dataclass(frozen=True)
class GivenStrategies:
    """Strategies given by the user, for the values of all topics or for single topics."""

    for_all: Kind | None = None
    by_topic: Mapping[tuple[str, str], Kind] = field(default_factory=dict)  #: (topic, part) -> strategy

    @classmethod
    def parse(cls, arguments: Iterable[str]) -> GivenStrategies:
        """Parse ``STRATEGY``, ``TOPIC=STRATEGY`` and ``TOPIC:key=STRATEGY``.

        Raises:
            UsageError: an argument has none of these forms, or two contradict each other.
        """
        for_all: Kind | None = None
        by_topic: dict[tuple[str, str], Kind] = {}
        for argument in arguments:
            target, equals, name = argument.rpartition("=")
            kind = _parse_strategy(name, argument)
            topic, colon, part = target.partition(":")
            if (equals and not topic) or (colon and part not in {"key", "value"}):
                raise UsageError(f"`--strategy {argument}` names no topic. Write TOPIC=STRATEGY or TOPIC:key=STRATEGY")
            existing = by_topic.setdefault((topic, part or "value"), kind) if equals else for_all or kind
            if existing is not kind:
                raise UsageError(f"`--strategy {argument}` contradicts another --strategy for the same topic")
            if not equals:
                for_all = kind
        return cls(for_all, by_topic)

    def of(self, topic: str, part: str) -> Kind | None:
        """Return the strategy given for a part of a topic; one for all topics applies to values only."""
        return self.by_topic.get((topic, part)) or (self.for_all if part == "value" else None)

    def require_topics(self, topics: Iterable[str]) -> None:
        """Check that every topic with a strategy is audited.

        Raises:
            UsageError: a topic is not audited.
        """
        missing = sorted({topic for topic, _ in self.by_topic} - set(topics))
        if missing:
            raise UsageError(f"--strategy names the topic `{missing[0]}`, which is not audited", topic=missing[0])


def choose_strategy(
    topic: str,
    part: str,
    catalogue: VersionCatalogue,
    counts: Mapping[int, int],
    *,
    given: Kind | None,
    associated: Sequence[str],
) -> SubjectStrategy | None:
    """Choose the strategy of a part: the given one, else an association, else by the ids in records.

    Args:
        topic: the topic.
        part: ``key`` or ``value``.
        catalogue: the registry's versions.
        counts: number of records by schema id; ids unknown to the registry are ignored.
        given: the strategy given by the user.
        associated: the subjects associated with the topic.

    Returns:
        The strategy, or None if none is given, the part has no subject, and no record carries a known id.
    """
    named = topic_subject(topic, part)
    topic_subjects = frozenset({named})
    if given not in {None, Kind.ASSOCIATED}:
        subjects = {
            Kind.TOPIC: lambda: topic_subjects,
            Kind.RECORD: lambda: catalogue.record_subjects,
            Kind.TOPIC_RECORD: lambda: catalogue.topic_record_subjects(topic),
        }[given]()
        return SubjectStrategy(_NAMES[given], "given", "given by `--strategy`", subjects)
    if associated:
        bound = " and ".join(f"`{subject}`" for subject in sorted(associated))
        reason = f"the registry associates the topic with {bound}"
        return SubjectStrategy(_NAMES[Kind.ASSOCIATED], "association", reason, frozenset(associated))
    carried = {schema_id: records for schema_id, records in counts.items() if schema_id in catalogue.ids}
    total = sum(carried.values())
    fits = {
        kind: (_count_records(carried, catalogue.ids_of(subjects)), subjects)
        for kind, subjects in (
            (Kind.TOPIC, topic_subjects),
            (Kind.TOPIC_RECORD, catalogue.topic_record_subjects(topic)),
            (Kind.RECORD, catalogue.record_subjects),
        )
    }
    best = max((Kind.TOPIC_RECORD, Kind.RECORD), key=lambda kind: fits[kind][0])  # the first of equal ones
    fitting, subjects_of_best = fits[best]
    if total and 100 * fitting >= MIN_MATCHING_PERCENT * total and fitting > fits[Kind.TOPIC][0]:
        match = _describe_match(fitting, total, "a subject named after its record")
        return SubjectStrategy(_NAMES[best], "evidence", f"found in the records: {match}", subjects_of_best)
    if named in catalogue.versions:
        match = f"; {_describe_match(fits[Kind.TOPIC][0], total, f'`{named}`')}" if total else ""
        return SubjectStrategy(
            _NAMES[Kind.TOPIC], "default", f"the default, as `{named}` exists{match}", topic_subjects
        )
    if not total:
        return None
    reason = (
        f"`{named}` does not exist, "
        f"and no strategy fits {MIN_MATCHING_PERCENT} % of the {total:,} records with a known id"
    )
    return SubjectStrategy(_NO_STRATEGY, "evidence", f"{reason}; any known id is allowed", None)


def _describe_match(fitting: int, total: int, of: str) -> str:
    return f"{fitting:,} of {total:,} records with a known id carry one of {of}"


def _count_records(carried: Mapping[int, int], ids: frozenset[int]) -> int:
    return sum(records for schema_id, records in carried.items() if schema_id in ids)


def _parse_strategy(name: str, argument: str) -> Kind:
    try:
        return parse_strategy(name)
    except ValueError:
        raise UsageError(
            f"`--strategy {argument}` names no strategy. Use topic, record, topic-record or associated", given=argument
        ) from None


def _record_name(version: RegisteredSchema) -> str:
    """Return the full name of an Avro named type or the title of a JSON Schema; empty for others."""
    try:
        schema: Any = json.loads(version.text)
    except ValueError:
        return ""
    if version.type is SchemaType.JSON:
        title = schema.get("title") if isinstance(schema, dict) else None
        return title if isinstance(title, str) else ""
    while isinstance(schema, dict) and isinstance(schema.get("type"), dict):
        schema = schema["type"]
    if isinstance(schema, str):
        return schema  # name of a referenced type; no subject is named like a primitive
    if not isinstance(schema, dict) or schema.get("type") not in _NAMED_TYPES:
        return ""
    namespace, name = schema.get("namespace"), str(schema.get("name", ""))
    return f"{namespace}.{name}" if namespace and "." not in name else name
