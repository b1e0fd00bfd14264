"""Defects that are planted in a node's code, each of which the checker must detect."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

STALE: Final = "no answer is stale"
LOST: Final = "what was acknowledged is there"
EFFECTS: Final = "the journal equals effects"
ANSWERS: Final = "answers tell what was done"
ONE_TO_ONE: Final = "ids and contents are one to one"
AGAIN: Final = "ids are never used again"
HASHES: Final = "hashes and contents are one to one"
GAPS: Final = "the journal has no gaps"
FOLLOWERS: Final = "followers miss nothing"
ORDER: Final = "the journal keeps the order of time"
VERSIONS: Final = "versions are what the journal tells"
RETIRED: Final = "hard-deleted ids are retired"


@dataclass(frozen=True, slots=True)
class Defect:
    """How to plant it, and the laws of which at least one is then seen broken."""

    plant: Callable[[], None]
    laws: frozenset[str]
    many: bool = False  #: whether it takes several nodes


def _replace(owner: Any, name: str, by: Any) -> None:
    """Replace a part of the real code, which has to be there."""
    assert hasattr(owner, name), f"{owner} has no {name}: the defect cannot be planted any more"
    setattr(owner, name, by)


def _lock_dropped() -> None:
    """Writes do not lock their contexts; and they take a moment, so that they meet."""
    from contractlog.registry.storage import store

    write_down = store.write_entries

    def slowly(*of: Any) -> None:
        time.sleep(0.02)
        write_down(*of)

    _replace(store, "lock_contexts", lambda *_of: None)
    _replace(store, "write_entries", slowly)


def _id_reused() -> None:
    """The counter goes back to the largest id that is held."""
    from sqlalchemy import func, select

    from contractlog.registry.storage import append_state, tables

    def counters(connection: Any, contexts: set[str]) -> dict[str, int]:
        c = tables.schemas.c
        known = set(
            connection.execute(select(tables.contexts.c.name).where(tables.contexts.c.name.in_(contexts))).scalars()
        )
        largest = dict(connection.execute(select(c.context, func.max(c.id)).group_by(c.context)).all())
        return {context: append_state.IdCounter(largest.get(context, 0) + 1, listed=True) for context in known}

    _replace(append_state, "read_counters", counters)


def _answer_before_commit() -> None:
    """The answer comes a moment before its commit."""
    from contractlog.registry.storage.store import Store, _run, _touched_contexts, lock_contexts

    def transact(store: Any, batch: Sequence[Any]) -> list[Any]:
        connection = store._engines.writer.connect()
        transaction = connection.begin()
        lock_contexts(connection, _touched_contexts(batch))
        outcomes, touched, entries = _run(connection, batch, store._clock(), store._guard)

        def commit() -> None:
            transaction.commit()
            connection.close()
            for listener in store._listeners:
                listener(frozenset(touched))
            for after in store._after_commit:
                after(entries)

        threading.Timer(0.1, commit).start()
        return outcomes

    _replace(Store, "_commit_batch", transact)


def _stale_level() -> None:
    """Level, mode and group are those of a second ago, and nobody asks again under the lock."""
    from contractlog.registry.registration.draft_checker import DraftChecker
    from contractlog.registry.storage import append_state

    configured, known = DraftChecker.read_settings, {}

    def remembered(judging: Any, snapshot: Any, subject: Any) -> Any:
        at, found = known.get(subject, (float("-inf"), None))
        if time.monotonic() - at > 1.0:
            found = configured(judging, snapshot, subject)
            known[subject] = (time.monotonic(), found)
        return found

    _replace(DraftChecker, "read_settings", remembered)
    _replace(append_state, "read_settings", lambda _connection, batch: {one.subject: one.configured for one in batch})


def _row_lost() -> None:
    """One row in ten is not written, and takes no number."""
    from contractlog.registry.storage import store

    write_down, number = store.write_entries, count(1)

    def most(connection: Any, lines: Sequence[Any], now: int) -> None:
        write_down(connection, [line for line in lines if next(number) % 10], now)

    _replace(store, "write_entries", most)


def _number_lost() -> None:
    """One number in ten is given to no row, as sequences of databases do when a transaction fails."""
    from contractlog.registry.storage import change_log, store

    write_down, number = store.write_entries, count(1)

    def skipping(connection: Any, written: Sequence[Any], now: int) -> None:
        if written and not next(number) % 10:
            c = change_log.tables.change_log_counters.c
            connection.execute(
                change_log.update(change_log.tables.change_log_counters).values(next_sequence=c.next_sequence + 1)
            )
        write_down(connection, written, now)

    _replace(store, "write_entries", skipping)


def _numbers_unlocked() -> None:
    """The journal's numbers are given out at once, and its rows come when they come, as with a sequence.

    Contexts are locked one by one, so that many writes are under way beside each other.
    """
    from sqlalchemy import NullPool, create_engine

    from contractlog.registry.storage import change_log, locks, store

    def lock_some(connection: Any, contexts: Any) -> None:
        for name in sorted(contexts if contexts is not None else {".", ".eu", ".us"}):
            locks._lock_row(connection, name)

    def numbered_beside(connection: Any, written: Sequence[Any], now: int) -> None:
        if not written:
            return
        c = change_log.tables.change_log_counters.c
        statement = change_log.update(change_log.tables.change_log_counters).values(
            next_sequence=c.next_sequence + len(written)
        )
        with create_engine(connection.engine.url, poolclass=NullPool).begin() as other:
            following = other.execute(statement.returning(c.next_sequence)).scalar_one()
        time.sleep(0.3 * (following % 2))
        rows = [
            {
                "sequence": following - len(written) + place,
                "at": now,
                "actor": line.actor,
                "action": line.action,
                "target": line.target,
                "before": line.before,
                "after": line.after,
                "details": json.dumps(dict(line.details)),
            }
            for place, line in enumerate(written)
        ]
        connection.execute(change_log.insert(change_log.tables.changes), rows)

    _replace(store, "lock_contexts", lock_some)
    _replace(store, "write_entries", numbered_beside)


def _not_retired() -> None:
    """A hard deletion lets go of the versions and forgets the id."""
    from contractlog.registry.storage.transaction import Transaction

    _replace(Transaction, "retire", lambda *_of: None)


def _not_forgotten() -> None:
    """What is in memory stays there, whatever happens."""
    from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache

    create = ByteCache.__init__
    _replace(ByteCache, "__init__", lambda cache, limit, **_more: create(cache, limit, seconds=3_600.0))
    _replace(ByteCache, "forget", lambda *_of: None)
    _replace(ByteCache, "forget_all", lambda *_of: None)


def _memory_used_without_a_check() -> None:
    """Responses come from memory although nobody knows whether anything changed."""
    from contractlog.registry.http.fastpath.change_checks import SharedDatabaseChecks

    _replace(SharedDatabaseChecks, "when_checked", lambda checks, function: function(int(checks._memory.revision)))


def _check_from_before_the_request() -> None:
    """A request takes the result of the check before, which began up to a quarter of a second before it arrived."""
    from contractlog.registry.http.fastpath.change_checks import SharedDatabaseChecks

    ask, last = SharedDatabaseChecks.when_checked, {"at": float("-inf"), "revision": None}

    def when_checked(checks: Any, function: Any) -> None:
        def remember(revision: int | None) -> None:
            last["revision"] = revision
            function(revision)

        if time.monotonic() - last["at"] > 0.25:
            last["at"] = time.monotonic()
            ask(checks, remember)
        else:
            function(last["revision"])

    _replace(SharedDatabaseChecks, "when_checked", when_checked)


def _version_skipped() -> None:
    """A number is left out now and then."""
    from contractlog.registry.storage import append_state

    states, number = append_state.read_states, count(1)

    def higher(*of: Any) -> tuple[dict[Any, Any], dict[Any, int]]:
        more = not next(number) % 4
        found, highest = states(*of)
        return found, {subject: version + more for subject, version in highest.items()}

    _replace(append_state, "read_states", higher)


def _group_skipped() -> None:
    """Versions of other groups are compared with, too."""
    from contractlog.registry.registration import draft_checker

    _replace(draft_checker, "_in_same_group", lambda *_of: True)


def _hashes_collide() -> None:
    """The hash of a content is the first half byte of it."""
    from contractlog.registry.registration import candidate

    content = candidate.build_content

    def colliding(*of: Any, **more: Any) -> Any:
        found = content(*of, **more)
        return replace(found, hash=found.hash[0] * 64, normalized_hash=found.hash[0] * 64)

    _replace(candidate, "build_content", colliding)


def _read_late() -> None:
    """Versions are read in the state of a quarter of a second ago."""
    from contractlog.registry.features.read_service import ReadService
    from contractlog.registry.storage.snapshot import Snapshot

    kept: dict[str, Any] = {"at": float("-inf")}
    alone = threading.Lock()

    async def ask_late(service: Any, question: Any, *of: Any, **more: Any) -> Any:
        def ask() -> Any:
            with alone:
                if time.monotonic() - kept["at"] > 0.25:
                    if "connection" in kept:
                        kept["connection"].close()
                    kept.update(connection=service._store._engines.readers.connect(), at=time.monotonic())
                return question(Snapshot(kept["connection"]), *of, **more)

        return await service._threads.run(ask)

    _replace(ReadService, "_query", ask_late)


def _mode_ignored() -> None:
    """READONLY refuses nothing."""
    from contractlog.registry.features.config_and_mode import service as config_service
    from contractlog.registry.registration import deletion, write_preconditions

    for module in (config_service, write_preconditions, deletion):
        _replace(module, "require_writable_mode", lambda *_of: None)


def _half_deleted() -> None:
    """Of the versions of a subject, the newest is left."""
    from contractlog.registry.storage.transaction import Transaction

    hide = Transaction.soft_delete
    _replace(
        Transaction,
        "soft_delete",
        lambda transaction, subject, key, numbers: hide(
            transaction, subject, key, sorted(numbers)[: max(1, len(list(numbers)) - 1)]
        ),
    )


def _refused_and_done() -> None:
    """One write in ten is answered with an error after it was done."""
    from contractlog.compatibility.errors import OperationNotPermitted
    from contractlog.registry.storage.store import Store

    transact, number = Store._commit_batch, count(1)

    def lying(store: Any, batch: Sequence[Any]) -> list[Any]:
        return [one if next(number) % 10 else OperationNotPermitted("no") for one in transact(store, batch)]

    _replace(Store, "_commit_batch", lying)


DEFECTS: Final = {
    "lock dropped": Defect(_lock_dropped, frozenset({EFFECTS, ANSWERS, LOST}), many=True),
    "id reused": Defect(_id_reused, frozenset({AGAIN, ONE_TO_ONE})),
    "answer before commit": Defect(_answer_before_commit, frozenset({STALE, ORDER})),
    "stale level": Defect(_stale_level, frozenset({EFFECTS})),
    "journal row lost": Defect(_row_lost, frozenset({LOST, VERSIONS})),
    "journal number lost": Defect(_number_lost, frozenset({GAPS})),
    "journal numbers not locked": Defect(_numbers_unlocked, frozenset({FOLLOWERS}), many=True),
    "hard-deleted id not retired": Defect(_not_retired, frozenset({RETIRED})),
    "cache not forgotten": Defect(_not_forgotten, frozenset({STALE})),
    "memory without a check": Defect(_memory_used_without_a_check, frozenset({STALE}), many=True),
    "check from before the request": Defect(_check_from_before_the_request, frozenset({STALE}), many=True),
    "version number skipped": Defect(_version_skipped, frozenset({EFFECTS})),
    "group check skipped": Defect(_group_skipped, frozenset({EFFECTS})),
    "hashes collide": Defect(_hashes_collide, frozenset({HASHES, LOST})),
    "reads from the past": Defect(_read_late, frozenset({STALE})),
    "mode ignored": Defect(_mode_ignored, frozenset({EFFECTS})),
    "subject half deleted": Defect(_half_deleted, frozenset({EFFECTS})),
    "refused and done": Defect(_refused_and_done, frozenset({ANSWERS})),
}
