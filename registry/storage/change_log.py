"""Change log: entries of a transaction, their gapless numbers, and queries in that order.

Settings are recorded as a hash of all of them, and by their values with secrets masked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, insert, select, update

from contractlog.compatibility.identifiers import Subject
from contractlog.contracts.change_log.recorded_change import (
    FIRST_PREVIOUS_HASH,
    ChangeLogHead,
    RecordedChange,
    format_details,
)
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import CHANGE_LOG_COUNTER, ScopeSettings, subject_key

__all__ = [
    "MASK",
    "ChangeLogEntry",
    "chain_entries",
    "each_change",
    "find_schema_ids",
    "hash_settings",
    "list_changes_after",
    "mask_settings",
    "newest_sequence",
    "parse_version_target",
    "read_counter",
    "read_head",
    "read_targets_after",
    "write_entries",
]

_C = tables.changes.c
_WRITTEN: Final = tuple(column.name for column in tables.changes.columns if column.name != "hash")
_DIGITS: Final = 10
MASK: Final = "***"  #: replaces the value of a sensitive property
_METADATA: Final = ("default_metadata", "override_metadata")
_CHUNK: Final = 200  #: keys per statement
_MAX_PAGE_CHARACTERS: Final = 4_000_000  #: characters of the details of listed entries
_BEYOND: Final = 2**62  #: number that no entry has, for a statement that reads only the counter
_COUNTER: Final = tables.change_log_counters.c
_CHAINED_TOGETHER: Final = 1_000  #: entries of a batch
_HASH_BEFORE: Final = select(_C.hash).where(_C.sequence < bindparam("first")).order_by(_C.sequence.desc()).limit(1)
_CHAIN: Final = (
    update(tables.changes)
    .where(_C.sequence == bindparam("number"))
    .values(previous_hash=bindparam("hash_before"), hash=bindparam("own_hash"))
)
_TARGETS_AFTER: Final = (
    select(_COUNTER.next_sequence, _C.sequence, _C.action, _C.target)
    .select_from(tables.change_log_counters.outerjoin(tables.changes, _C.sequence > bindparam("since")))
    .where(_COUNTER.name == CHANGE_LOG_COUNTER)
    .order_by(_C.sequence)
    .limit(bindparam("limit"))
)


def newest_sequence(snapshot: Snapshot) -> int:
    """Return the number of the newest entry, 0 before the first."""
    return int(snapshot.connection.execute(select(func.max(_C.sequence))).scalar() or 0)


def read_head(snapshot: Snapshot) -> ChangeLogHead:
    """Return number and hash of the newest entry; before the first, 0 and no hash."""
    row = snapshot.connection.execute(select(_C.sequence, _C.hash).order_by(_C.sequence.desc()).limit(1)).first()
    return ChangeLogHead(0, None) if row is None else ChangeLogHead(row.sequence, row.hash)


def read_counter(snapshot: Snapshot) -> int:
    """Return the number of the last entry that was written, whether it still exists or not."""
    statement = select(_COUNTER.next_sequence).where(_COUNTER.name == CHANGE_LOG_COUNTER)
    return int(snapshot.connection.execute(statement).scalar_one()) - 1


def each_change(snapshot: Snapshot, since: int) -> Iterator[RecordedChange]:
    """Yield the entries after a number, oldest first, with few of them in memory."""
    while changes := list_changes_after(snapshot, since, _CHAINED_TOGETHER):
        yield from changes
        since = changes[-1].sequence


def read_targets_after(connection: Connection, since: int | None, limit: int) -> tuple[int, list[Any]]:
    """Return the number of the newest entry, and action and target of those after ``since``.

    If ``since`` is None, no entries are returned. One statement reads both, so that they are from one moment.
    """
    rows = connection.execute(_TARGETS_AFTER, {"since": _BEYOND if since is None else since, "limit": limit}).all()
    return rows[0].next_sequence - 1, [row for row in rows if row.sequence is not None]


def list_changes_after(snapshot: Snapshot, since: int, limit: int) -> list[RecordedChange]:
    """List the entries after a number, oldest first.

    There are fewer than ``limit``, but at least one, if their details are long: an entry can have a megabyte.
    """
    sizes = select(_C.sequence, func.length(_C.details)).where(_C.sequence > since).order_by(_C.sequence).limit(limit)
    last, characters = since, 0
    for sequence, length in snapshot.connection.execute(sizes):
        characters += length or 0
        if characters > _MAX_PAGE_CHARACTERS and last > since:
            break
        last = sequence
    if last == since:
        return []
    statement = select(tables.changes).where(_C.sequence > since, _C.sequence <= last).order_by(_C.sequence)
    return [RecordedChange(*row) for row in snapshot.connection.execute(statement)]


def parse_version_target(change: RecordedChange) -> tuple[Subject, int] | None:
    """Return the version that a change concerns; None if it is about something else."""
    if not change.action.startswith("version."):
        return None
    subject, _, number = change.target.rpartition("/")
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        return None
    return Subject.parse(subject), int(number)


def find_schema_ids(snapshot: Snapshot, versions: Iterable[tuple[Subject, int]]) -> dict[tuple[Subject, int], int]:
    """Return the schema ids of versions, live or soft-deleted; hard-deleted versions are left out."""
    requested = set(versions)
    subjects = {subject_key(subject): subject for subject, _ in requested}
    schema_ids: dict[tuple[Subject, int], int] = {}
    every_key = sorted(subjects)
    for start in range(0, len(every_key), _CHUNK):
        keys = every_key[start : start + _CHUNK]
        numbers = {number for subject, number in requested if subject_key(subject) in keys}
        u, v = tables.subjects.c, tables.versions.c
        statement = (
            select(u.key, v.version, v.schema_id)
            .join_from(tables.subjects, tables.versions, v.subject_id == u.id)
            .where(u.key.in_(keys), v.version.in_(numbers))
        )
        rows = snapshot.connection.execute(statement)
        schema_ids.update({(subjects[row.key], row.version): row.schema_id for row in rows})
    return {version: schema_id for version, schema_id in schema_ids.items() if version in requested}


@dataclass(frozen=True, slots=True)
class ChangeLogEntry:
    """One effect: actor, action and target. ``before`` and ``after`` are hashes of contents or settings."""

    actor: str
    action: str
    target: str
    before: str | None = None
    after: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def write_entries(connection: Connection, lines: Sequence[ChangeLogEntry], now: int) -> None:
    """Append entries to the change log; the row of the counter stays locked until the transaction ends."""
    if not lines:
        return
    c = tables.change_log_counters.c
    statement = (
        update(tables.change_log_counters)
        .where(c.name == CHANGE_LOG_COUNTER)
        .values(next_sequence=c.next_sequence + len(lines))
    )
    next_sequence = connection.execute(statement.returning(c.next_sequence)).scalar_one()
    rows: list[dict[str, Any]] = []
    first = next_sequence - len(lines)
    previous_hash = _read_hash_before(connection, first)
    for sequence, line in enumerate(lines, first):
        change = RecordedChange(
            sequence,
            now,
            line.actor,
            line.action,
            line.target,
            line.before,
            line.after,
            format_details(line.details),
            previous_hash,
        )
        values = {name: getattr(change, name) for name in _WRITTEN}
        values["hash"] = previous_hash = change.compute_hash()
        rows.append(values)
    connection.execute(insert(tables.changes), rows)


def _read_hash_before(connection: Connection, first: int) -> str:
    """Return the hash before the entry ``first``; entries of earlier releases are chained before."""
    row = connection.execute(_HASH_BEFORE, {"first": first}).first()
    if row is None:
        return FIRST_PREVIOUS_HASH
    return row.hash or chain_entries(connection)


def chain_entries(connection: Connection) -> str:
    """Chain the entries at the end that have no hash, and return the hash of the last one.

    The caller holds the lock of the counter, or the tables are not in use.
    """
    newest = select(_C.sequence, _C.hash).where(_C.hash.is_not(None)).order_by(_C.sequence.desc()).limit(1)
    row = connection.execute(newest).first()
    sequence, previous_hash = (0, FIRST_PREVIOUS_HASH) if row is None else (row.sequence, row.hash)
    while changes := list_changes_after(Snapshot(connection), sequence, _CHAINED_TOGETHER):
        rows: list[dict[str, Any]] = []
        for change in changes:
            chained = change.follow(previous_hash)
            rows.append({"number": change.sequence, "hash_before": previous_hash, "own_hash": chained.hash})
            previous_hash = chained.hash or ""
        connection.execute(_CHAIN, rows)
        sequence = changes[-1].sequence
    return previous_hash


def hash_settings(configured: ScopeSettings) -> str | None:
    """Return the SHA-256 of the settings' canonical JSON: sorted, without spaces and unset members.

    None if nothing is set.
    """
    if configured.empty:
        return None
    text = json.dumps(_set_members(configured), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def mask_settings(configured: ScopeSettings) -> dict[str, Any]:
    """Return the members that are set, with sensitive properties masked.

    The two metadata overlay each other, so a property that is sensitive in one of them is masked in both.
    """
    values = _set_members(configured)
    sensitive = {name for member in _METADATA for name in values.get(member, {}).get("sensitive", ())}
    for member in _METADATA:
        if properties := values.get(member, {}).get("properties"):
            masked = {name: MASK if name in sensitive else value for name, value in properties.items()}
            values[member] = values[member] | {"properties": masked}
    return values


def _set_members(configured: ScopeSettings) -> dict[str, Any]:
    return {name: value for name, value in configured.members().items() if value is not None}
