"""Compare a store with a registry state: the plan of the import, and conflicts that prevent it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.errors import way_out
from contractlog.compatibility.names import Subject
from contractlog.registry.storage import bulk_transfer, contexts
from contractlog.registry.storage.journal import JournalEntry
from contractlog.registry.storage.model import MAX_ID_GAP, subject_key
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.transfer.schema_identity import IdentifiedSchema, reference_target
from contractlog.registry.transfer.scope_settings import config_to_columns
from contractlog.registry.transfer.snapshot import RegistrySnapshot, SchemaKey, SnapshotVersion, VersionKey

__all__ = ["ImportPlan", "build_plan"]

_MAX_TEXT: Final = 255


@dataclass(slots=True)
class ImportPlan:
    """Rows to add and to change, by table; ``conflicts`` prevent the whole import."""

    conflicts: list[str] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)  #: numbers of existing items, by kind
    counters: dict[str, int] = field(default_factory=dict)
    schemas: list[dict[str, Any]] = field(default_factory=list)
    contents: dict[tuple[str, str], int] = field(default_factory=dict)
    references: list[tuple[SchemaKey, Subject, int]] = field(default_factory=list)
    subjects: dict[str, dict[str, Any]] = field(default_factory=dict)  #: by key
    subject_ids: dict[str, int] = field(default_factory=dict)  #: row ids of existing subjects, by key
    versions: list[SnapshotVersion] = field(default_factory=list)
    changed_versions: list[SnapshotVersion] = field(
        default_factory=list
    )  #: existing versions to soft-delete or to restore
    restored: set[VersionKey] = field(default_factory=set)  #: keys of those in ``changed_versions`` to restore
    removed: dict[Subject, list[int]] = field(default_factory=dict)
    settings: list[dict[str, Any]] = field(default_factory=list)
    removed_settings: list[tuple[str, Subject]] = field(default_factory=list)  #: key and scope
    associations: list[dict[str, Any]] = field(default_factory=list)
    removed_associations: list[tuple[str, str]] = field(default_factory=list)  #: guid, and its name in the journal
    retired: list[dict[str, Any]] = field(default_factory=list)
    returned: list[SchemaKey] = field(default_factory=list)  #: retired here, with the same content as the imported one
    lines: list[JournalEntry] = field(default_factory=list)  #: of the journal

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the number of changes of each kind."""
        yield "contexts raised", len(self.counters)
        yield "schemas added", len(self.schemas)
        yield "subjects added", len(self.subjects)
        yield "versions added", len(self.versions)
        yield "versions soft-deleted", sum(one.deleted_at is not None for one in self.changed_versions)
        yield "versions restored", sum(one.deleted_at is None for one in self.changed_versions)
        yield "versions removed", sum(map(len, self.removed.values()))
        yield "settings changed", len(self.settings) + len(self.removed_settings)
        yield "associations changed", len(self.associations) + len(self.removed_associations)
        yield "ids retired", len(self.retired)

    @property
    def scopes(self) -> list[Subject]:
        """Scopes whose settings or modes change."""
        return [Subject(row["context"], row["name"]) for row in self.settings] + [
            scope for _, scope in self.removed_settings
        ]

    @property
    def empty(self) -> bool:
        """True if the store already contains the state."""
        return not any(number for _, number in self.counts()) and not self.contents


def build_plan(
    snapshot: Snapshot,
    source: RegistrySnapshot,
    identified: Mapping[SchemaKey, IdentifiedSchema],
    now: int,
    *,
    allow_id_gap: bool = False,
) -> ImportPlan:
    """Compare a store with a registry state.

    Args:
        snapshot: of the store; if the plan is carried out, taken under the lock.
        source: the state that the store should contain.
        identified: the parsed schemas of the state.
        now: the time for items without one.
        allow_id_gap: whether ids may be far above all others.
    """
    plan = ImportPlan()
    _plan_contexts(snapshot, source, plan)
    if not allow_id_gap:
        _check_id_gaps(snapshot, source, plan)
    _plan_subjects(snapshot, source, plan)
    removed = _plan_versions(snapshot, source, plan)
    _schemas(snapshot, source, identified, plan, now)
    _plan_retired_ids(snapshot, source, plan, removed, now)
    _plan_settings(snapshot, source, plan)
    _plan_associations(snapshot, source, plan, now)
    _plan_journal(identified, plan)
    return plan


def _plan_contexts(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan) -> None:
    current = contexts.read_counters(snapshot)
    plan.counters = {name: following for name, following in source.contexts.items() if current.get(name, 0) < following}
    plan.conflicts += [
        f"the context {name[:_MAX_TEXT]}… has a name of {len(name)} characters, over the limit of {_MAX_TEXT}"
        for name in source.contexts
        if len(name) > _MAX_TEXT
    ]


def _check_id_gaps(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan) -> None:
    """Reject ids far above all others: new ids continue after the highest one, and ids are finite."""
    following, every = contexts.read_counters(snapshot), source.ids()
    for context in sorted(source.contexts.keys() | every.keys()):
        highest = following.get(context, 1) - 1
        above = [one for one in every.get(context, ()) if one > highest]
        given = bulk_transfer.find_assigned_ids(snapshot, context, above)
        for schema_id in above:
            if schema_id in given:  # an isolated id that already exists here changes nothing
                continue
            if schema_id - highest > MAX_ID_GAP:
                plan.conflicts.append(
                    _describe_gap(source, (context, schema_id), f"the id {schema_id}", context, highest)
                )
            highest = schema_id
        counter = source.contexts.get(context, 1)
        if counter - 1 - highest > MAX_ID_GAP:
            plan.conflicts.append(_describe_gap(source, context, f"the next id {counter}", context, highest))


def _describe_gap(source: RegistrySnapshot, key: SchemaKey | str, what: str, context: str, highest: int) -> str:
    return (
        f"{_position_prefix(source, key)}{what} of context {context} is more than {MAX_ID_GAP:,} above {highest}, the "
        "next lower id: new ids would continue from there. If that is intended, pass --allow-id-gap (a running "
        "registry needs CONTRACTLOG_ALLOW_ID_GAP=true)"
    )


def _position_prefix(source: RegistrySnapshot, key: SchemaKey | str) -> str:
    """Return the position of a schema or a context in the source, as a prefix of a message."""
    place = source.positions.get(key)
    return f"{place}: " if place else ""


def _plan_subjects(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan) -> None:
    held, gone = source.subjects, {subject for subject, _, _ in source.deletions.versions}
    by_key = {subject_key(subject): subject for subject in held | gone}
    leant_on = {subject_key(target) for target in _referenced_subjects(source)}
    plan.subject_ids = bulk_transfer.find_subjects(snapshot, by_key.keys() | leant_on)
    plan.subjects = {
        key: {"key": key, "context": subject.context, "name": subject.name, "revision": 1}
        for key, subject in by_key.items()
        if key not in plan.subject_ids and subject in held
    }


def _referenced_subjects(source: RegistrySnapshot) -> set[Subject]:
    return {
        reference_target(one.context, reference)[0] for one in source.schemas.values() for reference in one.references
    }


def _plan_versions(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan) -> set[tuple[int, int]]:
    """Plan versions; return those to remove, by the subject's row id and version number."""
    found = bulk_transfer.find_versions(
        snapshot, _subject_row_ids(plan, source.subjects | {one[0] for one in source.deletions.versions})
    )
    removed: set[tuple[int, int]] = set()
    for subject, number, schema_id in sorted(source.deletions.versions):
        at = (plan.subject_ids.get(subject_key(subject), 0), number)
        if at in found and found[at].schema_id == schema_id:
            removed.add(at)
            plan.removed.setdefault(subject, []).append(number)
    for version in source.versions.values():
        at = (plan.subject_ids.get(subject_key(version.subject), 0), version.version)
        row = None if at in removed else found.get(at)
        if row is None:
            plan.versions.append(version)
        elif row.schema_id != version.schema_id:
            plan.conflicts.append(
                f"version {version.version} of {version.subject} has the id {version.schema_id} in the source "
                f"and {row.schema_id} here"
            )
        elif (row.deleted_at is None) != (version.deleted_at is None):
            plan.changed_versions.append(version)
            plan.restored |= {version.key} if version.deleted_at is None else set()
    plan.known["versions"] = len(source.versions) - len(plan.versions)
    return removed


def _subject_row_ids(plan: ImportPlan, subjects: Iterable[Subject]) -> set[int]:
    keys = map(subject_key, subjects)
    return {plan.subject_ids[key] for key in keys if key in plan.subject_ids}


def _schemas(
    snapshot: Snapshot,
    source: RegistrySnapshot,
    identified: Mapping[SchemaKey, IdentifiedSchema],
    plan: ImportPlan,
    now: int,
) -> None:
    for context, ids in _group_by_context(source.schemas):
        found = bulk_transfer.find_schemas(snapshot, context, ids)
        retired = bulk_transfer.find_retired(snapshot, context, ids)
        for schema_id in ids:
            one = identified[context, schema_id]
            row = found.get(schema_id)
            if schema_id in retired and retired[schema_id] != one.hash:
                former = "a content that was not recorded" if retired[schema_id] is None else "another content"
                plan.conflicts.append(
                    f"{_position_prefix(source, one.schema.key)}the id {schema_id} of context {context} "
                    f"was deleted for good here, and stood for {former}: {way_out(context)}"
                )
            elif row is None:
                _add_schema(one, plan, now)
                plan.returned += [one.schema.key] if schema_id in retired else []
            elif row.hash != one.hash and (row.guid, row.text) != (one.guid, one.schema.text):
                plan.conflicts.append(f"the id {schema_id} of context {context} stands for another content here")
    plan.known["schemas"] = len(source.schemas) - len(plan.schemas)


def _add_schema(identified: IdentifiedSchema, plan: ImportPlan, now: int) -> None:
    schema = identified.schema
    plan.schemas.append(
        {
            "context": schema.context,
            "id": schema.id,
            "hash": identified.hash,
            "normalized_hash": identified.normalized_hash,
            "verbatim": identified.verbatim is not None,
            "guid": identified.guid,
            "type": schema.type.value,
            "text": schema.text,
            "submitted": schema.submitted,
            "references": json.dumps([r.body() for r in schema.references]) if schema.references else None,
            "metadata": None if schema.metadata is None else json.dumps(schema.metadata.body()),
            "rule_set": None if schema.rule_set is None else json.dumps(schema.rule_set.body()),
            "created_at": now if schema.created_at is None else schema.created_at,
        }
    )
    if schema.reused:
        plan.contents[schema.context, identified.hash] = schema.id
    plan.references += [(schema.key, subject, version) for subject, version in identified.targets]


def _plan_retired_ids(
    snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan, removed: set[tuple[int, int]], now: int
) -> None:
    for context, ids in _group_by_context(source.retired):
        known = bulk_transfer.find_retired(snapshot, context, ids)
        holders = bulk_transfer.find_versions_by_id(snapshot, context, ids)
        for schema_id in ids:
            held = holders.get(schema_id, set())
            if schema_id in known or (held and held <= removed):  # removing its versions retires the id
                continue
            if held:
                plan.conflicts.append(
                    f"the id {schema_id} of context {context} was deleted for good in the source and is in use here"
                )
                continue
            one = source.retired[context, schema_id]
            at = now if one.at is None else one.at
            row = {"context": context, "schema_id": schema_id, "at": at, "actor": one.actor, "hash": one.hash}
            plan.retired.append(row)


def _group_by_context(keys: Iterable[SchemaKey]) -> Iterator[tuple[str, list[int]]]:
    by_context: dict[str, list[int]] = {}
    for context, schema_id in keys:
        by_context.setdefault(context, []).append(schema_id)
    for context, ids in sorted(by_context.items()):
        yield context, sorted(ids)


def _plan_settings(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan) -> None:
    gone = source.deletions.settings | source.deletions.modes
    scopes = source.settings.keys() | source.modes.keys() | gone
    found = bulk_transfer.find_settings(snapshot, [subject_key(scope) for scope in scopes])
    for scope in sorted(scopes):
        key = subject_key(scope)
        before = {name: value for name, value in found.get(key, {}).items() if name not in {"key", "context", "name"}}
        after = dict.fromkeys((*config_to_columns({}), "mode")) | before
        if scope in source.deletions.settings or scope in source.settings:
            after |= config_to_columns(source.settings.get(scope, {}))
        if scope in source.deletions.modes or scope in source.modes:
            after["mode"] = source.modes.get(scope)
        if _decode_columns(before) == _decode_columns(after):
            continue
        if any(value is not None for value in after.values()):
            plan.settings.append({"key": key, "context": scope.context, "name": scope.name, **after})
        elif before:
            plan.removed_settings.append((key, scope))


def _decode_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name.endswith(("_metadata", "_rule_set")) else value
        for name, value in columns.items()
        if value is not None
    }


def _plan_associations(snapshot: Snapshot, source: RegistrySnapshot, plan: ImportPlan, now: int) -> None:
    asked = source.associations or source.deletions.associations
    known = {row.guid: dict(row._mapping) for row in bulk_transfer.stream_associations(snapshot)} if asked else {}  # noqa: SLF001
    for one in source.associations.values():
        row = {
            "guid": one.guid,
            "context": one.subject.context,
            "subject_key": subject_key(one.subject),
            "subject": one.subject.name,
            "resource_id": one.resource_id,
            "resource_name": one.resource_name,
            "resource_namespace": one.resource_namespace,
            "resource_type": one.resource_type,
            "association_type": one.association_type,
            "lifecycle": one.lifecycle,
            "frozen": one.frozen,
        }
        there = known.get(one.guid)
        if there is None or any(there[name] != value for name, value in row.items()):
            created = now if one.created_at is None else one.created_at
            row |= {"created_at": created, "updated_at": created if one.updated_at is None else one.updated_at}
            plan.associations.append(row)
    plan.removed_associations = [
        (guid, _association_name(known[guid])) for guid in sorted(source.deletions.associations & known.keys())
    ]


def _plan_journal(identified: Mapping[SchemaKey, IdentifiedSchema], plan: ImportPlan) -> None:
    for one in plan.versions:
        content = identified[one.schema]
        details = {"id": one.schema_id, "type": content.schema.type.value, "bypass": "IMPORT"}
        plan.lines.append(
            JournalEntry("", "version.registered", _version_name(one), after=content.hash, details=details)
        )
    for one in (*plan.versions, *plan.changed_versions):
        if one.deleted_at is not None or one.key in plan.restored:
            action = "version.restored" if one.deleted_at is None else "version.soft_deleted"
            before = identified[one.schema].hash
            plan.lines.append(
                JournalEntry("", action, _version_name(one), before=before, details={"id": one.schema_id})
            )
    plan.lines += [JournalEntry("", "association.updated", _association_name(row)) for row in plan.associations]
    plan.lines += [JournalEntry("", "association.deleted", target) for _, target in plan.removed_associations]


def _version_name(version: SnapshotVersion) -> str:
    return f"{version.subject}/{version.version}"


def _association_name(row: Mapping[str, Any]) -> str:
    return f"{row['resource_namespace']}:{row['resource_name']}/{row['association_type']}"
