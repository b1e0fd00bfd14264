"""Report entries of violations and of the producers of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contractlog.contracts.audit.mergeable_state import ViolationCounts, ViolationExample, ViolationKey
from contractlog.contracts.audit.producers import OTHER_PRODUCERS, ProducerCounts, ProducerKey
from contractlog.contracts.audit.report import ProducerUse, ViolatingProducer, ViolatingRecord, ViolationLine
from contractlog.contracts.audit.time_text import format_timestamp

__all__ = ["list_producers", "list_violations"]


def list_violations(
    violations: Iterable[tuple[ViolationKey, ViolationCounts]], *, producers_named: bool
) -> list[ViolationLine]:
    """Return an entry for each kind of violation, those with the most records first.

    Args:
        violations: the kinds with their counts.
        producers_named: whether any record of the part names its producer.
    """
    return [
        _violation(key, violation, producers_named=producers_named)
        for key, violation in sorted(violations, key=_by_weight)
    ]


def _by_weight(item: tuple[ViolationKey, ViolationCounts]) -> tuple[int, ViolationKey]:
    return -item[1].records, item[0]


def list_producers(
    producers: Sequence[tuple[ProducerKey, ProducerCounts]], records: int, violating: int
) -> list[ProducerUse]:
    """Return the producers of a part, those with the most violations first; none if no record names one.

    Args:
        producers: the named producers.
        records: number of all records of the part.
        violating: number of those that violate their schema.
    """
    if not producers:
        return []
    uses: list[ProducerUse] = [
        {
            **_violating_producer(key.producer, counts.records),
            "violating": counts.violating,
            "first_seen": format_timestamp(counts.first_seen),
            "last_seen": format_timestamp(counts.last_seen),
        }
        for key, counts in producers
    ]
    unnamed_records = records - sum(counts.records for _, counts in producers)
    unnamed_violating = violating - sum(counts.violating for _, counts in producers)
    if unnamed_records:
        unnamed: ViolatingProducer = {"producer": None, "kind": "none", "records": unnamed_records}
        uses.append({**unnamed, "violating": unnamed_violating, "first_seen": "", "last_seen": ""})
    return sorted(uses, key=lambda use: (-use["violating"], -use["records"], use["kind"], use["producer"] or ""))


def _violating_producers(violation: ViolationCounts) -> list[ViolatingProducer]:
    """Return the producers of a kind of violation, those with the most records first."""
    producers = [_violating_producer(name, records) for name, records in violation.producers.items()]
    unnamed = violation.records - sum(violation.producers.values())
    if unnamed:
        producers.append({"producer": None, "kind": "none", "records": unnamed})
    return sorted(producers, key=lambda use: (-use["records"], use["kind"], use["producer"] or ""))


def _violating_producer(name: str, records: int) -> ViolatingProducer:
    if name == OTHER_PRODUCERS:
        return {"producer": None, "kind": "others", "records": records}
    return {"producer": name, "kind": "named", "records": records}


def _violation(key: ViolationKey, violation: ViolationCounts, *, producers_named: bool) -> ViolationLine:
    first = violation.first
    if first is not None and first.timestamp != violation.first_seen:
        first = None  # a merged state of an earlier release has an earlier record
    return {
        "code": key.outcome.name,
        "records": violation.records,
        "schema_id": key.schema_id or None,
        "path": key.path,
        "field": key.field,
        "detail": violation.detail,
        "first_seen": format_timestamp(violation.first_seen),
        "last_seen": format_timestamp(violation.last_seen),
        "producers": _violating_producers(violation) if producers_named else [],
        "first": None if first is None else _violating_record(first),
        "examples": [_violating_record(example) for example in sorted(violation.examples)],
    }


def _violating_record(example: ViolationExample) -> ViolatingRecord:
    return {
        "partition": example.partition,
        "offset": example.offset,
        "timestamp": format_timestamp(example.timestamp),
        "producer": example.producer or None,
        "size": None if example.size < 0 else example.size,
        "failed_at": None if example.failed_at < 0 else example.failed_at,
        "key": example.key,
        "headers": [{"name": name, "value": value} for name, value in example.headers],
        "decoded": example.decoded,
        "excerpt": example.excerpt,
    }
