"""Import of a registry state into a store: everything in one transaction, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import delete

from contractlog.compatibility.names import Subject
from contractlog.registry.access.actor import current_actor
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.planning import Plan, planned
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.understanding import Identified, identified
from contractlog.registry.storage import contexts, tables, transfer
from contractlog.registry.storage.finding import ids_of
from contractlog.registry.storage.lines import Line
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.settings_lines import digest, shown
from contractlog.registry.storage.values import Configured, key_of
from contractlog.registry.storage.writes import Transaction

__all__ = ["bring", "foreseen"]

_ACTOR: Final = "contractlog import"  #: in the journal
_CHUNK: Final = 1_000


class _Refused(Exception):
    """Rolls the transaction back without an error."""


def bring(
    store: Store,
    picture: Picture,
    report: Report,
    *,
    whole: Picture | None = None,
    actor: str = _ACTOR,
    told: Callable[[int], None] = lambda _: None,
    allow_id_gap: bool = False,
) -> Plan:
    """Import a registry state into a store; what the store already contains stays unchanged.

    Args:
        store: the target.
        picture: the state to import.
        report: receives counts, conflicts and oddities; with conflicts nothing is written.
        whole: the state in which references are looked up, if ``picture`` is only a part of it.
        actor: in the journal.
        told: called with the number of schemas parsed so far.
        allow_id_gap: whether ids may be far above all others.
    """
    understood = _understood(whole or picture, picture, report, told)
    return _reported(_carried_out(store, picture, understood, actor, allow_id_gap=allow_id_gap), report)


def foreseen(
    snapshot: Snapshot,
    picture: Picture,
    report: Report,
    told: Callable[[int], None] = lambda _: None,
    *,
    allow_id_gap: bool = False,
) -> Plan:
    """Return the plan that ``bring`` would carry out on the snapshot's store; nothing is written."""
    understood = _understood(picture, picture, report, told)
    now = time.time_ns() // 1_000_000
    return _reported(planned(snapshot, picture, understood, now, allow_id_gap=allow_id_gap), report)


def _understood(
    whole: Picture, picture: Picture, report: Report, told: Callable[[int], None]
) -> dict[tuple[str, int], Identified]:
    understood = identified(whole, picture.schemas.values(), told)
    for one in understood.values():
        if one.verbatim is not None:
            where = f"id {one.schema.id} of context {one.schema.context}"
            report.odd(Strange.VERBATIM, where, f"{one.schema.type.value}: {one.verbatim[:200]}")
    return understood


def _reported(plan: Plan, report: Report) -> Plan:
    report.conflicts += plan.conflicts
    if not plan.conflicts:
        for what, number in plan.counts():
            report.done[what] += number
    return plan


def _carried_out(
    store: Store, picture: Picture, understood: dict[tuple[str, int], Identified], actor: str, *, allow_id_gap: bool
) -> Plan:
    plans: list[Plan] = []

    def work(transaction: Transaction) -> None:
        plan = planned(transaction, picture, understood, transaction.now, allow_id_gap=allow_id_gap)
        plans[:] = [plan]
        if plan.conflicts:
            raise _Refused
        with transfer.large(transaction):
            _write(transaction, plan)

    token = current_actor.set(actor)
    try:
        with suppress(_Refused):
            store.change(work).result()
    finally:
        current_actor.reset(token)
    return plans[0]


def _write(transaction: Transaction, plan: Plan) -> None:
    for subject, numbers in plan.removed.items():
        transaction.hard_delete(subject, plan.subject_ids[key_of(subject)], numbers)
    for context, following in plan.counters.items():
        transfer.raise_counter(transaction, context, following)
    ids = plan.subject_ids | transfer.add_subjects(transaction, list(plan.subjects.values()))
    _write_schemas(transaction, plan, ids)
    _write_versions(transaction, plan, ids)
    settings = list(_write_settings(transaction, plan))
    transfer.replace_rows(transaction, tables.associations, "guid", plan.associations)
    for guid, _ in plan.unbound:
        transaction.connection.execute(delete(tables.associations).where(tables.associations.c.guid == guid))
    transfer.insert_rows(transaction, tables.retired, plan.retired)
    transaction.lines += [
        Line(transaction.actor, line.action, line.target, line.before, line.after, line.details) for line in plan.lines
    ]
    transaction.lines += settings


def _write_settings(transaction: Transaction, plan: Plan) -> Iterator[Line]:
    """Replace settings; yield the journal entries, in the form of a change through the API."""
    scopes = plan.scopes
    before = dict(_set_at(transaction, scopes))
    transfer.replace_rows(transaction, tables.settings, "key", plan.settings)
    for key, _ in plan.unset:
        transaction.connection.execute(delete(tables.settings).where(tables.settings.c.key == key))
    for scope, after in _set_at(transaction, scopes):
        if scope.name:
            transaction.touched |= ids_of(transaction, scope)  # its name may now mean another subject, or itself again
        details = {"set": shown(after), "bypass": "IMPORT"}
        yield Line(transaction.actor, "settings.changed", str(scope), digest(before[scope]), digest(after), details)


def _set_at(transaction: Transaction, scopes: list[Subject]) -> Iterator[tuple[Subject, Configured]]:
    for start in range(0, len(scopes), _CHUNK):
        chunk = scopes[start : start + _CHUNK]
        found = transaction.configured(chunk)
        yield from ((scope, found[scope]) for scope in chunk)


def _write_schemas(transaction: Transaction, plan: Plan, ids: dict[str, int]) -> None:
    for context, schema_id in plan.returned:
        transfer.forget_retired(transaction, context, schema_id)
    transfer.insert_rows(transaction, tables.schemas, plan.schemas)
    rows: list[dict[str, Any]] = [
        {"context": context, "hash": hash_, "schema_id": schema_id}
        for (context, hash_), schema_id in plan.contents.items()
    ]
    transfer.replace_contents(transaction, rows)
    references = [
        {"context": context, "schema_id": schema_id, "target_subject_id": ids[key], "target_version": version}
        for (context, schema_id), subject, version in plan.references
        if (key := key_of(subject)) in ids
    ]
    transfer.insert_rows(transaction, tables.schema_references, references)


def _write_versions(transaction: Transaction, plan: Plan, ids: dict[str, int]) -> None:
    rows = [
        {
            "subject_id": ids[key_of(one.subject)],
            "version": one.version,
            "context": one.subject.context,
            "schema_id": one.schema_id,
            "created_at": transaction.now if one.created_at is None else one.created_at,
            "deleted_at": one.deleted_at,
        }
        for one in plan.versions
    ]
    transfer.insert_rows(transaction, tables.versions, rows)
    contexts.list_again(transaction, {one.subject.context for one in plan.versions})
    for one in plan.marked:
        transfer.mark_versions(transaction, ids[key_of(one.subject)], one.version, one.deleted_at)
    changed = [one for one in (*plan.versions, *plan.marked) if key_of(one.subject) in plan.subject_ids]
    transfer.touch_subjects(transaction, {ids[key_of(one.subject)] for one in changed})
    transaction.touched.update(one.schema for one in (*plan.versions, *plan.marked))
