"""Result of a back-test: the JSON object of ``contractlog backtest``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.backtest_state import (
    ReadabilityState,
    ReadCounts,
    ReadOutcome,
    UnreadableCounts,
    UnreadableKey,
)
from contractlog.contracts.audit.report import Part
from contractlog.contracts.audit.time_text import format_time

__all__ = ["BACKTEST_FORMAT", "OtherSubjects", "summarize_backtest"]

BACKTEST_FORMAT: Final = "contractlog.backtest/1"

OtherSubjects = Mapping[int, tuple[str, ...] | None]
"""Subjects of each id that no version of the tested subject has; None if the registry does not have the id."""


def summarize_backtest(
    state: ReadabilityState, versions: Iterable[RegisteredSchema], others: OtherSubjects, *, part: Part
) -> dict[str, Any]:
    """Return the members of the JSON object that contain counts.

    Args:
        state: the merged state of all topics.
        versions: the versions of the tested subject.
        others: the subjects of the ids that no version of the tested subject has.
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
