"""Audit results: recorded by offset ranges, read by topic."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from contractlog.compatibility.errors import ConformanceNotFound, InvalidConformance
from contractlog.contracts.audit.outcomes import OutcomeGroup
from contractlog.contracts.audit.report import FORMER_VERDICTS, AuditedPart, Counts, PartitionCounts, PublishedAudit
from contractlog.contracts.audit.time_text import parse_timestamp
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import request_work
from contractlog.registry.features.conformance.queries import (
    AuditFigures,
    StoredResult,
    has_room,
    list_history,
    list_newest,
    prune_part,
    record_result,
)
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

__all__ = ["ConformanceService"]

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PARTITION_LIMIT: Final = 2**31
_OFFSET_LIMIT: Final = 2**63
_CHARACTERS_PER_STEP: Final = 200  #: characters of results that count as one step of the caller
_STEPS_PER_RESULT: Final = 20
_TOLERANCE: Final = 1e-6  #: tolerance for quotients that were written with few digits


class _TopicEntry(AuditedPart):
    """A part as audits of any release send it: details are stored, and only their kind is verified."""

    schemas: list[dict[str, Any]]
    violations: list[dict[str, Any]]
    series: list[dict[str, Any]]
    fields: list[dict[str, Any]]
    notes: list[str]


class ConformanceService(ReadService):
    """Stores audit results of each topic and part, by the ranges that were read.

    Args:
        store: the store.
        threads: threads for queries.
        days: days that results other than the newest are stored for; 0 means for ever.
        max_parts: keys and values of topics that may have results; 0 means any number.
    """

    def __init__(self, store: Store, threads: ThreadPools, *, days: int = 0, max_parts: int = 0) -> None:
        super().__init__(store, threads)
        self._days = days
        self._max_parts = max_parts

    async def record(self, topic: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Store an audit result, and return it with the time of its record; storing it again changes nothing.

        Raises:
            InvalidConformance: a member is missing or wrong, the counts do not add up, or too many other parts of
                topics have results.
        """
        entry = _with_current_verdict(entry)
        checked = _parse_entry(topic, entry)
        key = _hash_ranges(checked)
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        part, figures = checked["part"], _find_figures(checked)

        def work(change: Transaction) -> int:
            if self._max_parts and not has_room(change, topic, part, self._max_parts):
                raise InvalidConformance(
                    detail=f"{self._max_parts:,} keys and values of topics have results, which is the maximum "
                    "(CONTRACTLOG_MAX_AUDITED_PARTS)"
                )
            recorded_at = record_result(change, topic, part, ranges=key, entry=text, figures=figures)
            prune_part(change, topic, part, days=self._days)
            return recorded_at

        return _response_entry(StoredResult(text, await self._store.change(work)))

    async def list_newest(self, topic: str, part: str | None = None) -> list[dict[str, Any]]:
        """Return the newest entry of each part of a topic.

        Raises:
            ConformanceNotFound: there is none.
        """
        recorded = await self._query_counted(_read_newest, topic) if _TOPIC.fullmatch(topic) else ()
        entries = map(_response_entry, recorded)
        selected = [entry for entry in entries if part in {None, entry["part"]}]
        if not selected:
            raise ConformanceNotFound(topic=topic)
        return selected

    async def list_history(self, topic: str, part: str | None, *, limit: int) -> list[PublishedAudit]:
        """Return the figures of the stored audits of a topic, newest first.

        Raises:
            ConformanceNotFound: there is none.
        """
        history = await self._query_counted(_read_history, topic, part, limit) if _TOPIC.fullmatch(topic) else []
        if not history:
            raise ConformanceNotFound(topic=topic)
        return history


def _read_history(snapshot: Snapshot, topic: str, part: str | None, limit: int) -> list[PublishedAudit]:
    history = []
    for stored in list_history(snapshot, topic, part, limit):
        history.append(_summarize_result(stored))
        request_work().charge(_STEPS_PER_RESULT + len(stored.entry) // _CHARACTERS_PER_STEP)
    return history


def _read_newest(snapshot: Snapshot, topic: str) -> list[StoredResult]:
    newest = list_newest(snapshot, topic)
    request_work().charge(sum(len(stored.entry) for stored in newest) // _CHARACTERS_PER_STEP)
    return newest


def _summarize_result(stored: StoredResult) -> PublishedAudit:
    """Return the figures of a stored result; earlier releases counted no ``unaudited`` records.

    The other members, which may have a mebibyte, are skipped, which takes a small part of the time of parsing them.
    """
    entry = msgspec.json.decode(stored.entry, type=dict[str, msgspec.Raw])
    figures = {name: msgspec.json.decode(entry[name]) for name in PublishedAudit.__annotations__ if name in entry}
    return cast("PublishedAudit", {"unaudited": 0, **_with_current_verdict(figures), "recorded_at": stored.recorded_at})


def _find_figures(entry: _TopicEntry) -> AuditFigures:
    times = [parse_timestamp(schema.get("last_seen")) for schema in entry["schemas"]]
    last = max((at for at in times if at is not None), default=None)
    return AuditFigures(entry["verdict"], entry["conforming"], entry["violating"], last)


def _hash_ranges(entry: _TopicEntry) -> str:
    """Return a hash of the ranges that were read; empty if there were none."""
    ranges = sorted((row["partition"], row["from_offset"], row["to_offset"]) for row in entry["partitions"])
    return hashlib.sha256(json.dumps(ranges).encode()).hexdigest() if ranges else ""


def _response_entry(recorded: StoredResult) -> dict[str, Any]:
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
    if checked["topic"] != topic:
        raise InvalidConformance(detail=f"it is about topic `{checked['topic']}`, the path names `{topic}`")
    _check_sums(checked)
    return checked


def _check_sums(entry: _TopicEntry) -> None:
    partitions = entry["partitions"]
    total, *rows = (_counts(row) for row in (entry, *partitions))
    if any(not 0 <= count < _OFFSET_LIMIT for row in (total, *rows) for count in row.values()):
        raise InvalidConformance(detail="a count is negative or too large")
    for partition in partitions:
        _check_partition_sums(partition, audited=entry["verdict"] != "unknown")
    if len({partition["partition"] for partition in partitions}) != len(partitions):
        raise InvalidConformance(detail="a partition occurs twice")
    for name, count in total.items():
        added = sum(row[name] for row in rows)
        if added != count:
            raise InvalidConformance(detail=f"the partitions' {name} add up to {added}, the total says {count}")
    _check_conformance(entry)


def _counts(row: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of a part or a partition."""
    return {name: row.get(name, 0) for name in Counts.__annotations__}


def _check_partition_sums(row: PartitionCounts, *, audited: bool) -> None:
    """Require that the counts of a partition cover its range exactly once."""
    number, start, end, records = row["partition"], row["from_offset"], row["to_offset"], row["records"]
    if not (0 <= number < _PARTITION_LIMIT and 0 <= start <= end < _OFFSET_LIMIT):
        raise InvalidConformance(detail=f"partition {number} has no possible range")
    read = records + row["absent"]
    if read != end - start:
        raise InvalidConformance(detail=f"partition {number}: records + absent is {read}, its range is {end - start}")
    counts = _counts(row)
    total = sum(counts[group] for group in OutcomeGroup)
    # Earlier releases did not count the records of a part that was not audited (verdict `unknown`).
    if total > records or (total < records and audited):
        raise InvalidConformance(
            detail=f"partition {number}: {' + '.join(OutcomeGroup)} is {total} of {records} records"
        )


def _check_conformance(entry: _TopicEntry) -> None:
    """Require that the conformance is conforming / (conforming + violating), or None if the divisor is 0."""
    conforming, ratio = entry["conforming"], entry["conformance"]
    total = conforming + entry["violating"]
    if ratio is None:
        consistent = not total or entry["verdict"] == "unknown"
    else:
        consistent = 0 <= ratio <= 1 and total > 0 and math.isclose(ratio, conforming / total, abs_tol=_TOLERANCE)
    if not consistent:
        raise InvalidConformance(
            detail=f"a conformance of {ratio} is not what {conforming} conforming of {total} audited records make"
        )
