"""Audit results in the database: the history of each part of a topic, and figures of the newest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, delete, exists, false, func, insert, or_, select, tuple_, update

from contractlog.contracts.audit.windows import merge_to_days
from contractlog.registry.features.conformance.fair_shares import select_fairly
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "HOURLY_DAYS",
    "MAX_RESULTS",
    "MAX_RESULT_BYTES",
    "AuditFigures",
    "AuditSummary",
    "PrunedBatch",
    "StoredResult",
    "has_room",
    "list_history",
    "list_newest",
    "list_summaries",
    "prune_part",
    "prune_results",
    "record_result",
]

_C: Final = tables.conformance.c
_S: Final = tables.audit_summaries.c
MAX_RESULTS: Final = 10_000  #: stored results of a part of a topic
MAX_RESULT_BYTES: Final = 64 * 1024 * 1024  #: stored bytes of them; the newest one may be longer
HOURLY_DAYS: Final = 30  #: counts by hour of older results are merged to days
_DAY_MS: Final = 86_400_000
_BATCH: Final = 200  #: results of all topics in one transaction
_MERGED_PER_RESULT: Final = 2  #: those of a part that each new result of it merges: merging takes the writer's time
_NEWER: Final = tables.conformance.alias("newer")
#: There is a newer result of the same part.
_SUPERSEDED: Final = exists().where(
    _NEWER.c.topic == _C.topic, _NEWER.c.part == _C.part, _NEWER.c.sequence > _C.sequence
)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """An audit result as it is stored."""

    entry: str
    recorded_at: int  #: milliseconds since 1970, UTC


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """Figures of an audit result, for metrics."""

    verdict: str
    conforming: int
    violating: int
    last_record_at: int | None  #: milliseconds since 1970, UTC; None if no record has a time


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """Figures of the newest audit result of a part of a topic."""

    topic: str
    part: str
    figures: AuditFigures
    published_at: int  #: milliseconds since 1970, UTC


def record_result(change: Transaction, topic: str, part: str, *, ranges: str, entry: str, figures: AuditFigures) -> int:
    """Append an audit result, and return the time of its record; a repeated result is not stored again.

    A result repeats another if it equals the newest one of the same ranges, and the topic has the same version of a
    contract. Without ranges it must equal the newest
    one of all, because nothing else identifies its audit.
    """
    contract_version = _read_contract_version(change, topic)
    results = select(_C.sequence, _C.entry, _C.recorded_at, _C.contract_version)
    results = results.where(_C.topic == topic, _C.part == part)
    results = results.order_by(_C.sequence.desc()).limit(1)
    newest = change.connection.execute(results).first()
    same = change.connection.execute(results.where(_C.ranges == ranges)).first() if ranges else newest
    if same is not None and (same.entry, same.contract_version) == (entry, contract_version):
        if newest is not None and newest.sequence == same.sequence:
            _replace_summary(change, topic, part, figures)
        return int(same.recorded_at)
    values = {"topic": topic, "part": part, "ranges": ranges, "entry": entry, "recorded_at": change.now}
    values["contract_version"] = contract_version
    change.connection.execute(insert(tables.conformance).values(**values))
    _replace_summary(change, topic, part, figures)
    details = {} if contract_version is None else {"contract_version": contract_version}
    change.record_change("conformance.recorded", f"{topic}/{part}", after=ranges, details=details)
    return change.now


def _read_contract_version(change: Transaction, topic: str) -> int | None:
    """Return the newest version of the contract of a topic."""
    contracts = tables.contracts.c
    statement = select(func.max(contracts.version)).where(contracts.topic == topic, contracts.deleted_at.is_(None))
    version: int | None = change.connection.execute(statement).scalar()
    return version


def _replace_summary(change: Transaction, topic: str, part: str, figures: AuditFigures) -> None:
    values = {**asdict(figures), "published_at": change.now}
    updated = update(tables.audit_summaries).where(_S.topic == topic, _S.part == part).values(**values)
    if not change.connection.execute(updated).rowcount:
        change.connection.execute(insert(tables.audit_summaries).values(topic=topic, part=part, **values))


def has_room(change: Transaction, topic: str, part: str, max_parts: int) -> bool:
    """Return whether a part has results already, or fewer parts of topics than the maximum have some."""
    own = select(_S.topic).where(_S.topic == topic, _S.part == part)
    if change.connection.execute(own).first() is not None:
        return True
    parts = select(func.count()).select_from(tables.audit_summaries)
    return int(change.connection.execute(parts).scalar_one()) < max_parts


def list_newest(snapshot: Snapshot, topic: str) -> list[StoredResult]:
    """List the newest result of each part of a topic."""
    newest = select(func.max(_C.sequence)).where(_C.topic == topic).group_by(_C.part)
    rows = snapshot.connection.execute(
        select(_C.entry, _C.recorded_at).where(_C.sequence.in_(newest)).order_by(_C.part)
    )
    return [StoredResult(row.entry, row.recorded_at) for row in rows]


def list_history(snapshot: Snapshot, topic: str, part: str | None, limit: int) -> Iterator[StoredResult]:
    """Yield the results of a topic, newest first; one is in memory at a time, because each may be large."""
    numbers = select(_C.sequence).where(_C.topic == topic).order_by(_C.sequence.desc()).limit(limit)
    if part is not None:
        numbers = numbers.where(_C.part == part)
    for number in snapshot.connection.execute(numbers).scalars().all():
        row = snapshot.connection.execute(select(_C.entry, _C.recorded_at).where(_C.sequence == number)).one()
        yield StoredResult(row.entry, row.recorded_at)


def list_summaries(snapshot: Snapshot, limit: int) -> tuple[list[AuditSummary], int]:
    """Return at most ``limit`` summaries, and the number of the others.

    If there are more, those with the most violating records are half of the result; the other half is shared fairly
    between topics, so that the numbers of one publisher do not displace all others.
    """
    ordered = select(tables.audit_summaries).order_by(_S.violating.desc(), _S.topic, _S.part)
    rows = {(row.topic, row.part): row for row in snapshot.connection.execute(ordered.limit(limit))}
    total = snapshot.connection.execute(select(func.count()).select_from(tables.audit_summaries)).scalar_one()
    if total > limit:
        names = snapshot.connection.execute(ordered.with_only_columns(_S.topic, _S.part))
        chosen = select_fairly([(topic, part) for topic, part in names], limit)
        others = iter([key for key in chosen if key not in rows])
        while chunk := list(islice(others, _BATCH)):
            of_chunk = select(tables.audit_summaries).where(tuple_(_S.topic, _S.part).in_(chunk))
            rows.update({(row.topic, row.part): row for row in snapshot.connection.execute(of_chunk)})
        rows = {key: rows[key] for key in chosen}
    return [_to_summary(row) for row in rows.values()], total - len(rows)


def _to_summary(row: Row[Any]) -> AuditSummary:
    figures = AuditFigures(row.verdict, row.conforming, row.violating, row.last_record_at)
    return AuditSummary(row.topic, row.part, figures, row.published_at)


@dataclass(frozen=True, slots=True)
class PrunedBatch:
    """Numbers of audit results that were removed, and whose counts were merged."""

    removed: int
    merged: int
    last: int | None  #: number of the last result that was looked at; None if no other is left


def prune_part(change: Transaction, topic: str, part: str, *, days: int) -> None:
    """Remove old and excess results of a part of a topic, and merge hourly counts of a few others.

    The newest result stays, however old and long it is.

    Args:
        change: the transaction.
        topic: name of the topic.
        part: ``key`` or ``value``.
        days: days that results are stored for; 0 means for ever.
    """
    of_part = select(_C.sequence).where(_C.topic == topic, _C.part == part, _SUPERSEDED).order_by(_C.sequence)
    if days:
        _remove(change, change.connection.execute(of_part.where(_is_older(change, days)).limit(_BATCH)).scalars())
    _remove(change, _list_excess(change, topic, part))
    hourly = of_part.where(_is_older(change, HOURLY_DAYS), _C.daily.is_(False)).limit(_MERGED_PER_RESULT)
    _merge(change, change.connection.execute(hourly).scalars())


def _list_excess(change: Transaction, topic: str, part: str) -> list[int]:
    """List the oldest results of a part of a topic beyond the limits on their number and bytes."""
    # SQLite has `octet_length` since 3.43 only; entries are ASCII.
    size = func.length(_C.entry) if change.connection.dialect.name == "sqlite" else func.octet_length(_C.entry)
    newest_first = _C.sequence.desc()
    rank = func.row_number().over(order_by=newest_first).label("rank")
    size_so_far = func.sum(size).over(order_by=newest_first).label("size_so_far")
    ranked = select(_C.sequence, rank, size_so_far).where(_C.topic == topic, _C.part == part).subquery().c
    excess = or_(ranked.rank > MAX_RESULTS, ranked.size_so_far > MAX_RESULT_BYTES)
    oldest = select(ranked.sequence).where(ranked.rank > 1, excess).order_by(ranked.sequence).limit(_BATCH)
    return list(change.connection.execute(oldest).scalars())


def prune_results(change: Transaction, *, days: int, after: int = 0) -> PrunedBatch:
    """Remove or merge a batch of results of all topics, as ``prune_part`` does.

    Args:
        change: the transaction.
        days: days that results are stored for; 0 means for ever.
        after: number of the last result of the batch before.
    """
    removable = _is_older(change, days) if days else false()
    batch = (
        select(_C.sequence, removable.label("removable"))
        .where(_C.sequence > after, _SUPERSEDED)
        .where(or_(removable, and_(_is_older(change, HOURLY_DAYS), _C.daily.is_(False))))
        .order_by(_C.sequence)
        .limit(_BATCH)
    )
    rows = change.connection.execute(batch).all()
    removed = _remove(change, [row.sequence for row in rows if row.removable])
    merged = _merge(change, [row.sequence for row in rows if not row.removable])
    return PrunedBatch(removed, merged, rows[-1].sequence if rows else None)


def _is_older(change: Transaction, days: int) -> ColumnElement[bool]:
    return _C.recorded_at < change.now - days * _DAY_MS


def _remove(change: Transaction, numbers: Iterable[int]) -> int:
    chosen = list(numbers)
    change.connection.execute(delete(tables.conformance).where(_C.sequence.in_(chosen)))
    return len(chosen)


def _merge(change: Transaction, numbers: Iterable[int]) -> int:
    chosen = list(numbers)
    for number in chosen:
        entry = change.connection.execute(select(_C.entry).where(_C.sequence == number)).scalar_one()
        values = {"entry": _merge_counts(entry), "daily": True}
        change.connection.execute(update(tables.conformance).where(_C.sequence == number).values(**values))
    return len(chosen)


def _merge_counts(text: str) -> str:
    """Return an entry with its counts by hour merged to days, if they are well-formed."""
    try:
        entry: dict[str, Any] = json.loads(text)
        entry["series"] = merge_to_days(entry["series"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return text
    return json.dumps(entry, sort_keys=True, separators=(",", ":"))
