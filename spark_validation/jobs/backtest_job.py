"""A whole back-test: the versions of the subject, one pass over the topics, and the result as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from contractlog.clients.cli.operations.lookups import format_time
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidSchema, NotFound, SubjectNotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.backtest import (
    ReadabilityState,
    ReadCounts,
    ReadOutcome,
    UnreadableCounts,
    UnreadableKey,
)
from contractlog.contracts.audit.report import Part
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.expectations import ExpectedSchema, ValidatorCache
from contractlog.spark_validation.jobs.progress import ProgressLine
from contractlog.spark_validation.range_backtest import BacktestPlan, PreparedBacktest
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark_cluster import SparkCluster
from contractlog.spark_validation.spark_ranges import run_on_cluster

__all__ = ["BACKTEST_FORMAT", "BacktestRequest", "run_backtest", "summarize_backtest"]

BACKTEST_FORMAT: Final = "contractlog.backtest/1"

OtherSubjects = Mapping[int, tuple[str, ...] | None]
"""Subjects of ids that are of no version of the tested subject; None if the registry does not know the id."""


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """Parameters of a back-test."""

    registry: Registry
    source: RecordSource
    subject: str
    part: Part
    topics: tuple[str, ...]
    proposed: ResolvedFile
    cluster: SparkCluster = SparkCluster()  # noqa: RUF009 - frozen


def run_backtest(request: BacktestRequest, progress: ProgressLine) -> dict[str, Any]:
    """Read the topics with the proposed schema, and return the result as a JSON object.

    Raises:
        UsageError: a topic does not exist.
        Unreachable: the registry or the broker does not respond.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    versions = _fetch_versions(request.registry, request.subject)
    plan = _make_plan(request, versions)
    prepared = PreparedBacktest(plan)
    for schema_id, expected in plan.versions.items():
        if not expected.fault:
            prepared.reader(schema_id)  # a pair that cannot be resolved fails here, before anything is read
    ranges = request.source.plan(request.topics, span=sys.maxsize)
    state = run_on_cluster(request.cluster, request.source, ranges, plan, progress)
    others = _find_other_subjects(request, state)
    return {
        "format": BACKTEST_FORMAT,
        "subject": request.subject,
        "file": str(request.proposed.file.path),
        "source": {**request.source.body(), "registry": request.registry.url},
        **summarize_backtest(state, versions, others, part=request.part),
    }


def _fetch_versions(registry: Registry, subject: str) -> list[RegisteredSchema]:
    """Return all versions of a subject, soft-deleted ones too; none if it does not exist."""
    versions = []
    with suppress(SubjectNotFound):
        for number in registry.versions(subject, deleted=True):
            with suppress(NotFound):  # it may be deleted meanwhile
                versions.append(registry.version(subject, number, deleted=True))
    return versions


def _make_plan(request: BacktestRequest, versions: Iterable[RegisteredSchema]) -> BacktestPlan:
    schemas: dict[int, ExpectedSchema] = {}
    guids: dict[bytes, int] = {}
    for version in versions:
        schema_id = int(version.schema_id)
        with suppress(ValueError):  # registries before Confluent's 8.0 have no guids
            guids[UUID(version.guid or "").bytes] = schema_id
        if schema_id in schemas:
            continue
        try:
            referenced = dict(request.registry.referenced(version.draft, subject=request.subject))
            expected = ExpectedSchema(version, referenced)
            ValidatorCache(frozenset({schema_id}), {schema_id: expected}, ValidationLimits())[schema_id]
        except (InvalidSchema, NotFound) as error:
            expected = ExpectedSchema(version, fault=error.message)
        schemas[schema_id] = expected
    proposed = request.proposed
    return BacktestPlan(request.part, schemas, guids, proposed.file.draft, dict(proposed.texts))


def _find_other_subjects(request: BacktestRequest, state: ReadabilityState) -> OtherSubjects:
    context = Subject.parse(request.subject).context
    scope = None if context == DEFAULT_CONTEXT else f":{context}:"
    others: dict[int, tuple[str, ...] | None] = {}
    for schema_id in sorted({key.schema_id for key in state.counts if key.outcome is ReadOutcome.OTHER_ID} - {0}):
        try:
            uses = request.registry.versions_of_id(schema_id, subject=scope, deleted=True)
        except NotFound:
            others[schema_id] = None
        else:
            others[schema_id] = tuple(sorted({subject for subject, _ in uses}))
    return others


def summarize_backtest(
    state: ReadabilityState, versions: Iterable[RegisteredSchema], others: OtherSubjects, *, part: Part
) -> dict[str, Any]:
    """Return the members of the JSON object that follow from the state.

    Args:
        state: the state of all topics.
        versions: the versions of the tested subject.
        others: subjects of the ids that are not of these versions.
        part: the part of the records that was read.
    """
    newest = {int(version.schema_id): version for version in versions}
    topics = [
        _summarize_topic(state, topic, newest, others, part)
        for topic in sorted({coverage.topic for coverage in state.coverage})
    ]
    return {
        "readable": not any(topic["unreadable"] for topic in topics),
        "records": sum(topic["records"] for topic in topics),
        "unreadable": sum(topic["unreadable"] for topic in topics),
        "topics": topics,
    }


def _summarize_topic(
    state: ReadabilityState, topic: str, newest: Mapping[int, RegisteredSchema], others: OtherSubjects, part: Part
) -> dict[str, Any]:
    counts = {(key.schema_id, key.outcome): count for key, count in state.counts.items() if key.topic == topic}

    def total(outcome: ReadOutcome) -> int:
        return sum(count.records for (_, counted), count in counts.items() if counted is outcome)

    identified = {
        schema_id: count.records
        for (schema_id, outcome), count in counts.items()
        if outcome is ReadOutcome.OTHER_ID and others.get(schema_id) is not None
    }
    tested = sorted(newest.items(), key=lambda item: int(item[1].version or 0))
    return {
        "topic": topic,
        "part": part,
        "records": sum(count.records for count in counts.values()),
        **{outcome.value: total(outcome) for outcome in ReadOutcome if outcome is not ReadOutcome.OTHER_ID},
        "other_subjects": sum(identified.values()),
        "unknown_ids": total(ReadOutcome.OTHER_ID) - sum(identified.values()),
        "partitions": list(_list_partitions(state, topic)),
        "versions": [
            _summarize_version(state, topic, version, {key[1]: counts[key] for key in counts if key[0] == schema_id})
            for schema_id, version in tested
        ],
        "others": [
            {"schema_id": schema_id, "subjects": others.get(schema_id), "records": count.records}
            for (schema_id, outcome), count in sorted(counts.items())
            if outcome is ReadOutcome.OTHER_ID
        ],
    }


def _list_partitions(state: ReadabilityState, topic: str) -> Iterator[dict[str, int]]:
    """Yield the range of each partition, with the number of records read."""
    coverages = sorted(coverage for coverage in state.coverage if coverage.topic == topic)
    for partition in sorted({coverage.partition for coverage in coverages}):
        ranges = [coverage for coverage in coverages if coverage.partition == partition]
        yield {
            "partition": partition,
            "from_offset": ranges[0].from_offset,
            "to_offset": max(coverage.to_offset for coverage in ranges),
            "records": sum(coverage.records for coverage in ranges),
        }


def _summarize_version(
    state: ReadabilityState, topic: str, version: RegisteredSchema, counts: Mapping[ReadOutcome, ReadCounts]
) -> dict[str, Any]:
    causes = [
        (key, count)
        for key, count in state.unreadable.items()
        if (key.topic, key.schema_id) == (topic, int(version.schema_id))
    ]
    outcomes = (ReadOutcome.READABLE, ReadOutcome.UNREADABLE, ReadOutcome.VIOLATING, ReadOutcome.NOT_USABLE)
    return {
        "version": version.version,
        "schema_id": int(version.schema_id),
        "deleted": version.deleted,
        "records": sum(count.records for count in counts.values()),
        **{outcome.value: counts[outcome].records if outcome in counts else 0 for outcome in outcomes},
        **_time_range(counts.values()),
        "causes": [_describe_cause(*each) for each in sorted(causes, key=lambda each: (-each[1].records, each[0]))],
    }


def _describe_cause(key: UnreadableKey, count: UnreadableCounts) -> dict[str, Any]:
    return {
        "code": key.code,
        "field": key.field,
        "pointer": key.pointer,
        "detail": count.detail,
        "records": count.records,
        **_time_range([count]),
        "examples": [
            {"partition": example.partition, "offset": example.offset, "path": example.path}
            for example in count.examples
        ],
    }


def _time_range(counts: Iterable[ReadCounts | UnreadableCounts]) -> dict[str, str | None]:
    """Return the times of the first and last record; null if no record has a time."""
    timed = [count for count in counts if count.first_seen <= count.last_seen]
    return {
        "first_seen": format_time(min((count.first_seen for count in timed), default=None)),
        "last_seen": format_time(max((count.last_seen for count in timed), default=None)),
    }
