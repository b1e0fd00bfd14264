"""Audit results: recorded by offset ranges, read by topic."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from contractlog.compatibility.errors import ConformanceNotFound, InvalidConformance
from contractlog.contracts.audit.report import FORMER_VERDICTS
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.model import ConformanceRecord
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["ConformanceService"]

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PARTITION_LIMIT: Final = 2**31
_OFFSET_LIMIT: Final = 2**63
_TOLERANCE: Final = 1e-6  #: tolerance for quotients that were written with few digits
_COUNTS: Final = ("records", "conforming", "violating", "tombstones", "unaudited", "absent")


class _RecordCounts(msgspec.Struct, kw_only=True):
    records: int
    conforming: int
    violating: int
    tombstones: int
    absent: int
    unaudited: int = 0  # not sent by audits of earlier releases

    def __post_init__(self) -> None:
        if any(not 0 <= getattr(self, name) < _OFFSET_LIMIT for name in _COUNTS):
            raise ValueError("a count is negative or too large")


class _PartitionEntry(_RecordCounts):
    partition: int
    from_offset: int
    to_offset: int


class _TopicEntry(_RecordCounts):
    topic: str
    part: Literal["key", "value"]
    verdict: Literal["passing", "degraded", "failing", "unknown"]
    conformance: float | None
    partitions: list[_PartitionEntry]
    schemas: list[dict[str, Any]]
    violations: list[dict[str, Any]]
    series: list[dict[str, Any]]
    fields: list[dict[str, Any]]
    notes: list[str]


class ConformanceService(ReadService):
    """Stores audit results of each topic and part, by the ranges that were read."""

    async def record(self, topic: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Store an audit result, and return it with the time of its record; storing it again changes nothing.

        Raises:
            InvalidConformance: a member is missing or wrong, or the counts do not add up.
        """
        entry = _with_current_verdict(entry)
        checked = _parse_entry(topic, entry)
        key = _hash_ranges(checked)
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        recorded_at = await asyncio.wrap_future(
            self._store.transact(lambda change: change.record_conformance(topic, checked.part, key, text))
        )
        return _response_entry(ConformanceRecord(text, recorded_at))

    async def list_newest(self, topic: str, part: str | None = None) -> list[dict[str, Any]]:
        """Return the newest entry of each part of a topic.

        Raises:
            ConformanceNotFound: there is none.
        """
        recorded = await self._query(Snapshot.conformance, topic) if _TOPIC.fullmatch(topic) else ()
        entries = map(_response_entry, recorded)
        selected = [entry for entry in entries if part in {None, entry["part"]}]
        if not selected:
            raise ConformanceNotFound(topic=topic)
        return selected


def _hash_ranges(entry: _TopicEntry) -> str:
    """Return a hash of the ranges that were read; empty if there were none."""
    ranges = sorted((partition.partition, partition.from_offset, partition.to_offset) for partition in entry.partitions)
    return hashlib.sha256(json.dumps(ranges).encode()).hexdigest() if ranges else ""


def _response_entry(recorded: ConformanceRecord) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(recorded.entry)
    return {**_with_current_verdict(entry), "recorded_at": recorded.recorded_at}


def _with_current_verdict(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry with the current word for its verdict; earlier audits wrote others."""
    verdict = entry.get("verdict")
    current = FORMER_VERDICTS.get(verdict) if isinstance(verdict, str) else None
    return entry if current is None else {**entry, "verdict": current}


def _parse_entry(topic: str, entry: Mapping[str, Any]) -> _TopicEntry:
    if not _TOPIC.fullmatch(topic):
        raise InvalidConformance(detail=f"`{topic}` is not a valid topic name")
    try:
        checked = msgspec.convert(entry, _TopicEntry)
    except msgspec.ValidationError as error:
        raise InvalidConformance(detail=str(error)) from error
    if checked.topic != topic:
        raise InvalidConformance(detail=f"it is about topic `{checked.topic}`, the path names `{topic}`")
    _check_sums(checked)
    return checked


def _check_sums(entry: _TopicEntry) -> None:
    for partition in entry.partitions:
        _check_partition_sums(partition, audited=entry.verdict != "unknown")
    if len({partition.partition for partition in entry.partitions}) != len(entry.partitions):
        raise InvalidConformance(detail="a partition occurs twice")
    for name in _COUNTS:
        total = sum(getattr(partition, name) for partition in entry.partitions)
        if total != getattr(entry, name):
            raise InvalidConformance(
                detail=f"the partitions' {name} add up to {total}, the total says {getattr(entry, name)}"
            )
    _check_conformance(entry)


def _check_partition_sums(row: _PartitionEntry, *, audited: bool) -> None:
    """Require that the counts of a partition cover its range exactly once."""
    possible = 0 <= row.partition < _PARTITION_LIMIT and 0 <= row.from_offset <= row.to_offset < _OFFSET_LIMIT
    if not possible:
        raise InvalidConformance(detail=f"partition {row.partition} has no possible range")
    span = row.to_offset - row.from_offset
    if row.records + row.absent != span:
        raise InvalidConformance(
            detail=f"partition {row.partition}: records + absent is {row.records + row.absent}, its range is {span}"
        )
    total = row.conforming + row.violating + row.tombstones + row.unaudited
    # Earlier releases did not count the records of a part that was not audited (verdict `unknown`).
    if total > row.records or (total < row.records and audited):
        raise InvalidConformance(
            detail=f"partition {row.partition}: conforming + violating + tombstones + unaudited is {total} of "
            f"{row.records} records"
        )


def _check_conformance(entry: _TopicEntry) -> None:
    """Require that the conformance is conforming / (conforming + violating), or None if the divisor is 0."""
    total = entry.conforming + entry.violating
    ratio = entry.conformance
    if ratio is None:
        consistent = not total or entry.verdict == "unknown"
    else:
        consistent = 0 <= ratio <= 1 and total > 0 and math.isclose(ratio, entry.conforming / total, abs_tol=_TOLERANCE)
    if not consistent:
        raise InvalidConformance(
            detail=f"a conformance of {ratio} is not what {entry.conforming} conforming of {total} judged records make"
        )
