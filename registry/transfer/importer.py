"""Import of a registry's contents into a store: in one transaction, once or continuously."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.contracts.queries import import_contracts
from contractlog.registry.storage import bulk_transfer, contexts, id_counters, tables
from contractlog.registry.storage.change_log import hash_settings, mask_settings
from contractlog.registry.storage.name_and_id_lookup import list_ids
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import ScopeSettings, subject_key
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer.import_plan import IdentifiedSchema, ImportPlan, build_plan, identify_schemas
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.transferred_keys import write_keys

__all__ = ["follow", "import_contents", "plan_import"]

_ACTOR: Final = "contractlog import"  #: in the change log
_EVERYTHING: Final = "*"  #: target of an import in the change log
_CHUNK: Final = 1_000


class _Conflicting(Exception):
    """Rolls the transaction back without an error."""


def import_contents(
    store: Store,
    source: RegistryContents,
    report: TransferReport,
    *,
    whole: RegistryContents | None = None,
    actor: str = _ACTOR,
    report_progress: Callable[[int], None] = lambda _: None,
    allow_id_gap: bool = False,
) -> None:
    """Import a registry's contents into a store; what the store already contains stays unchanged.

    Args:
        store: the target.
        source: the state to import.
        report: receives counts, conflicts and oddities; with conflicts nothing is written.
        whole: the state in which references are looked up, if ``source`` is only a part of it.
        actor: in the change log.
        report_progress: called with the number of schemas parsed so far.
        allow_id_gap: whether ids may be far above all others.
    """
    identified = _identify(whole or source, source, report, report_progress)
    plans: list[ImportPlan] = []

    def work(transaction: Transaction) -> None:
        bulk_transfer.extend_pauses(transaction)
        plan = build_plan(transaction, source, identified, transaction.now, allow_id_gap=allow_id_gap)
        plans[:] = [plan]
        if plan.conflicts:
            raise _Conflicting
        _record_source(transaction, plan, source)
        with bulk_transfer.enlarge_page_cache(transaction):
            _write(transaction, plan)

    with suppress(_Conflicting):
        store.transact(work, actor=actor).result()
    _report_plan(plans[0], report)


def plan_import(
    snapshot: Snapshot,
    source: RegistryContents,
    report: TransferReport,
    report_progress: Callable[[int], None] = lambda _: None,
    *,
    allow_id_gap: bool = False,
) -> None:
    """Report what ``import_contents`` would do; nothing is written."""
    identified = _identify(source, source, report, report_progress)
    now = time.time_ns() // 1_000_000
    _report_plan(build_plan(snapshot, source, identified, now, allow_id_gap=allow_id_gap), report)


def _identify(
    whole: RegistryContents, source: RegistryContents, report: TransferReport, report_progress: Callable[[int], None]
) -> dict[tuple[str, int], IdentifiedSchema]:
    identified = identify_schemas(whole, source.schemas.values(), report_progress)
    for identified_schema in identified.values():
        if identified_schema.verbatim is not None:
            where = f"id {identified_schema.schema.id} of context {identified_schema.schema.context}"
            report.odd(
                OddityKind.VERBATIM, where, f"{identified_schema.schema.type.value}: {identified_schema.verbatim[:200]}"
            )
    return identified


def _report_plan(plan: ImportPlan, report: TransferReport) -> None:
    report.conflicts += plan.conflicts
    if not plan.conflicts:
        for name, number in plan.counts():
            report.done[name] += number


def _record_source(transaction: Transaction, plan: ImportPlan, source: RegistryContents) -> None:
    """Begin the entries of an import that changes anything with the head of the source's change log."""
    head = source.change_log_head
    if head is not None and any(number for _, number in plan.counts()):
        details = {"source": {"sequence": head.sequence, "hash": head.hash}}
        transaction.record_change("import.started", _EVERYTHING, details=details)


def _write(transaction: Transaction, plan: ImportPlan) -> None:
    for subject, numbers in plan.removed.items():
        transaction.hard_delete(subject, plan.subject_ids[subject_key(subject)], numbers)
    for context, next_id in plan.counters.items():
        id_counters.raise_counter(transaction, context, next_id)
    ids = plan.subject_ids | bulk_transfer.add_subjects(transaction, list(plan.subjects.values()))
    _write_schemas(transaction, plan, ids)
    _write_versions(transaction, plan, ids)
    associations = [association.row() for association in plan.associations]
    bulk_transfer.replace_rows(transaction, tables.associations, "guid", associations)
    removed = [association.guid for association in plan.removed_associations]
    bulk_transfer.delete_rows(transaction, tables.associations, "guid", removed)
    bulk_transfer.insert_rows(transaction, tables.retired, plan.retired)
    write_keys(transaction, plan.keys)
    import_contracts(transaction, [*plan.contracts.added, *plan.contracts.changed])
    transaction.entries += [replace(line, actor=transaction.actor) for line in plan.lines]
    _write_settings(transaction, plan)


def _write_settings(transaction: Transaction, plan: ImportPlan) -> None:
    """Replace settings; the change log entries have the form of a change through the API."""
    scopes = plan.scopes
    before = dict(_configured_scopes(transaction, scopes))
    bulk_transfer.replace_rows(transaction, tables.settings, "key", plan.settings)
    bulk_transfer.delete_rows(transaction, tables.settings, "key", [key for key, _ in plan.removed_settings])
    for scope, after in _configured_scopes(transaction, scopes):
        if scope.name:
            # Its name may now mean another subject, or itself again.
            transaction.touched |= list_ids(transaction, scope)
        details = {"set": mask_settings(after), "bypass": "IMPORT"}
        hashes = {"before": hash_settings(before[scope]), "after": hash_settings(after)}
        transaction.record_change("settings.changed", str(scope), **hashes, details=details)


def _configured_scopes(transaction: Transaction, scopes: list[Subject]) -> Iterator[tuple[Subject, ScopeSettings]]:
    for start in range(0, len(scopes), _CHUNK):
        chunk = scopes[start : start + _CHUNK]
        settings = transaction.read_settings(chunk)
        yield from ((scope, settings[scope]) for scope in chunk)


def _write_schemas(transaction: Transaction, plan: ImportPlan, ids: dict[str, int]) -> None:
    for context, schema_id in plan.returned:
        bulk_transfer.forget_retired(transaction, context, schema_id)
    bulk_transfer.insert_rows(transaction, tables.schemas, plan.schemas)
    rows: list[dict[str, Any]] = [
        {"context": context, "hash": hash_, "schema_id": schema_id}
        for (context, hash_), schema_id in plan.contents.items()
    ]
    bulk_transfer.replace_contents(transaction, rows)
    references = [
        {"context": context, "schema_id": schema_id, "target_subject_id": ids[key], "target_version": version}
        for (context, schema_id), subject, version in plan.references
        if (key := subject_key(subject)) in ids
    ]
    bulk_transfer.insert_rows(transaction, tables.schema_references, references)


def _write_versions(transaction: Transaction, plan: ImportPlan, ids: dict[str, int]) -> None:
    rows = [
        {
            "subject_id": ids[subject_key(version.subject)],
            "version": version.version,
            "context": version.subject.context,
            "schema_id": version.schema_id,
            "created_at": transaction.now if version.created_at is None else version.created_at,
            "deleted_at": version.deleted_at,
        }
        for version in plan.versions
    ]
    bulk_transfer.insert_rows(transaction, tables.versions, rows)
    contexts.relist_contexts(transaction, {version.subject.context for version in plan.versions})
    for version in plan.changed_versions:
        bulk_transfer.mark_versions(transaction, ids[subject_key(version.subject)], version.version, version.deleted_at)
    changed = [
        version
        for version in (*plan.versions, *plan.changed_versions)
        if subject_key(version.subject) in plan.subject_ids
    ]
    bulk_transfer.touch_subjects(transaction, {ids[subject_key(version.subject)] for version in changed})
    transaction.touched.update(version.schema for version in (*plan.versions, *plan.changed_versions))


POLL_SECONDS: Final = 1.0  #: seconds


def follow(
    store: Store,
    before: RegistryContents,
    look: Callable[[], RegistryContents | None],
    report: TransferReport,
    stop: threading.Event,
    *,
    every: float = POLL_SECONDS,
    caught_up: Callable[[RegistryContents], None] = lambda _: None,
    allow_id_gap: bool = False,
) -> None:
    """Poll the source until told to stop, or until it conflicts with the store.

    Args:
        store: the target.
        before: the state of the source that the store already contains.
        look: returns the source's state; None if nothing has changed.
        report: receives changes and conflicts; a conflict ends the import.
        stop: ends it, after one last poll.
        every: seconds between two polls.
        caught_up: called with each change that was imported.
        allow_id_gap: whether ids may be far above all others.
    """
    last = False
    while not last:
        last = stop.wait(every)
        now = look()
        if now is None:
            continue
        change = now.changes_since(before)
        before = now
        if change.empty:
            continue
        import_contents(store, change, report, whole=now, allow_id_gap=allow_id_gap)
        if report.conflicts:
            return
        caught_up(change)
