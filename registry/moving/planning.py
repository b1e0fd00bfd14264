"""Compare a store with a registry state: the plan of the import, and conflicts that prevent it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.errors import way_out
from contractlog.compatibility.names import Subject
from contractlog.registry.moving.picture import HeldVersion, Picture, SchemaKey, VersionKey
from contractlog.registry.moving.scopes import columns_of
from contractlog.registry.moving.understanding import Identified, leads_to
from contractlog.registry.storage import transfer
from contractlog.registry.storage.lines import Line
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import MAX_ID_GAP, key_of

__all__ = ["Plan", "planned"]

_MAX_TEXT: Final = 255


@dataclass(slots=True)
class Plan:
    """Rows to add and to change, by table; ``conflicts`` prevent the whole import."""

    conflicts: list[str] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)  #: numbers of existing items, by kind
    counters: dict[str, int] = field(default_factory=dict)
    schemas: list[dict[str, Any]] = field(default_factory=list)
    contents: dict[tuple[str, str], int] = field(default_factory=dict)
    references: list[tuple[SchemaKey, Subject, int]] = field(default_factory=list)
    subjects: dict[str, dict[str, Any]] = field(default_factory=dict)  #: by key
    subject_ids: dict[str, int] = field(default_factory=dict)  #: row ids of existing subjects, by key
    versions: list[HeldVersion] = field(default_factory=list)
    marked: list[HeldVersion] = field(default_factory=list)  #: existing versions to soft-delete or to restore
    restored: set[VersionKey] = field(default_factory=set)  #: keys of those in ``marked`` to restore
    removed: dict[Subject, list[int]] = field(default_factory=dict)
    settings: list[dict[str, Any]] = field(default_factory=list)
    unset: list[tuple[str, Subject]] = field(default_factory=list)  #: key and scope
    associations: list[dict[str, Any]] = field(default_factory=list)
    unbound: list[tuple[str, str]] = field(default_factory=list)  #: guid, and its name in the journal
    retired: list[dict[str, Any]] = field(default_factory=list)
    returned: list[SchemaKey] = field(default_factory=list)  #: retired here, with the same content as the imported one
    lines: list[Line] = field(default_factory=list)  #: of the journal

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the number of changes of each kind."""
        yield "contexts raised", len(self.counters)
        yield "schemas added", len(self.schemas)
        yield "subjects added", len(self.subjects)
        yield "versions added", len(self.versions)
        yield "versions soft-deleted", sum(one.deleted_at is not None for one in self.marked)
        yield "versions restored", sum(one.deleted_at is None for one in self.marked)
        yield "versions removed", sum(map(len, self.removed.values()))
        yield "settings changed", len(self.settings) + len(self.unset)
        yield "associations changed", len(self.associations) + len(self.unbound)
        yield "ids retired", len(self.retired)

    @property
    def scopes(self) -> list[Subject]:
        """Scopes whose settings or modes change."""
        return [Subject(row["context"], row["name"]) for row in self.settings] + [scope for _, scope in self.unset]

    @property
    def empty(self) -> bool:
        """True if the store already contains the state."""
        return not any(number for _, number in self.counts()) and not self.contents


def planned(
    snapshot: Snapshot,
    picture: Picture,
    identified: Mapping[SchemaKey, Identified],
    now: int,
    *,
    allow_id_gap: bool = False,
) -> Plan:
    """Compare a store with a registry state.

    Args:
        snapshot: of the store; if the plan is carried out, taken under the lock.
        picture: the state that the store should contain.
        identified: the parsed schemas of the state.
        now: the time for items without one.
        allow_id_gap: whether ids may be far above all others.
    """
    plan = Plan()
    _contexts(snapshot, picture, plan)
    if not allow_id_gap:
        _id_gaps(snapshot, picture, plan)
    _subjects(snapshot, picture, plan)
    removed = _versions(snapshot, picture, plan)
    _schemas(snapshot, picture, identified, plan, now)
    _retired(snapshot, picture, plan, removed, now)
    _scopes(snapshot, picture, plan)
    _associations(snapshot, picture, plan, now)
    _journal(identified, plan)
    return plan


def _contexts(snapshot: Snapshot, picture: Picture, plan: Plan) -> None:
    current = transfer.counters_of(snapshot)
    plan.counters = {
        name: following for name, following in picture.contexts.items() if current.get(name, 0) < following
    }
    plan.conflicts += [
        f"the context {name[:_MAX_TEXT]}… has a name of {len(name)} characters, over the limit of {_MAX_TEXT}"
        for name in picture.contexts
        if len(name) > _MAX_TEXT
    ]


def _id_gaps(snapshot: Snapshot, picture: Picture, plan: Plan) -> None:
    """Reject ids far above all others: new ids continue after the highest one, and ids are finite."""
    following, every = transfer.counters_of(snapshot), picture.ids()
    for context in sorted(picture.contexts.keys() | every.keys()):
        highest = following.get(context, 1) - 1
        above = [one for one in every.get(context, ()) if one > highest]
        given = transfer.given_of(snapshot, context, above)
        for schema_id in above:
            if schema_id in given:  # an isolated id that already exists here changes nothing
                continue
            if schema_id - highest > MAX_ID_GAP:
                plan.conflicts.append(_gap(picture, (context, schema_id), f"the id {schema_id}", context, highest))
            highest = schema_id
        counter = picture.contexts.get(context, 1)
        if counter - 1 - highest > MAX_ID_GAP:
            plan.conflicts.append(_gap(picture, context, f"the next id {counter}", context, highest))


def _gap(picture: Picture, key: SchemaKey | str, what: str, context: str, highest: int) -> str:
    return (
        f"{_place(picture, key)}{what} of context {context} is more than {MAX_ID_GAP:,} above {highest}, the "
        "next lower id: new ids would go on from there. If that is meant, give --allow-id-gap (a registry that is "
        "running needs CONTRACTLOG_ALLOW_ID_GAP=true)"
    )


def _place(picture: Picture, key: SchemaKey | str) -> str:
    """Return the position of a schema or a context in the source, as a prefix of a message."""
    place = picture.places.get(key)
    return f"{place}: " if place else ""


def _subjects(snapshot: Snapshot, picture: Picture, plan: Plan) -> None:
    held, gone = picture.subjects, {subject for subject, _, _ in picture.gone.versions}
    by_key = {key_of(subject): subject for subject in held | gone}
    leant_on = {key_of(target) for target in _leant_on(picture)}
    plan.subject_ids = transfer.subjects_of(snapshot, by_key.keys() | leant_on)
    plan.subjects = {
        key: {"key": key, "context": subject.context, "name": subject.name, "revision": 1}
        for key, subject in by_key.items()
        if key not in plan.subject_ids and subject in held
    }


def _leant_on(picture: Picture) -> set[Subject]:
    return {leads_to(one.context, reference)[0] for one in picture.schemas.values() for reference in one.references}


def _versions(snapshot: Snapshot, picture: Picture, plan: Plan) -> set[tuple[int, int]]:
    """Plan versions; return those to remove, by the subject's row id and version number."""
    found = transfer.versions_of(snapshot, _ids(plan, picture.subjects | {one[0] for one in picture.gone.versions}))
    removed: set[tuple[int, int]] = set()
    for subject, number, schema_id in sorted(picture.gone.versions):
        at = (plan.subject_ids.get(key_of(subject), 0), number)
        if at in found and found[at].schema_id == schema_id:
            removed.add(at)
            plan.removed.setdefault(subject, []).append(number)
    for version in picture.versions.values():
        at = (plan.subject_ids.get(key_of(version.subject), 0), version.version)
        row = None if at in removed else found.get(at)
        if row is None:
            plan.versions.append(version)
        elif row.schema_id != version.schema_id:
            plan.conflicts.append(
                f"version {version.version} of {version.subject} has the id {version.schema_id} in the source "
                f"and {row.schema_id} here"
            )
        elif (row.deleted_at is None) != (version.deleted_at is None):
            plan.marked.append(version)
            plan.restored |= {version.key} if version.deleted_at is None else set()
    plan.known["versions"] = len(picture.versions) - len(plan.versions)
    return removed


def _ids(plan: Plan, subjects: Iterable[Subject]) -> set[int]:
    keys = map(key_of, subjects)
    return {plan.subject_ids[key] for key in keys if key in plan.subject_ids}


def _schemas(
    snapshot: Snapshot, picture: Picture, identified: Mapping[SchemaKey, Identified], plan: Plan, now: int
) -> None:
    for context, ids in _by_context(picture.schemas):
        found = transfer.schemas_of(snapshot, context, ids)
        retired = transfer.retired_of(snapshot, context, ids)
        for schema_id in ids:
            one = identified[context, schema_id]
            row = found.get(schema_id)
            if schema_id in retired and retired[schema_id] != one.hash:
                former = "a content that was not recorded" if retired[schema_id] is None else "another content"
                plan.conflicts.append(
                    f"{_place(picture, one.schema.key)}the id {schema_id} of context {context} was deleted for good "
                    f"here, and stood for {former}: {way_out(context)}"
                )
            elif row is None:
                _add(one, plan, now)
                plan.returned += [one.schema.key] if schema_id in retired else []
            elif row.hash != one.hash and (row.guid, row.text) != (one.guid, one.schema.text):
                plan.conflicts.append(f"the id {schema_id} of context {context} stands for another content here")
    plan.known["schemas"] = len(picture.schemas) - len(plan.schemas)


def _add(one: Identified, plan: Plan, now: int) -> None:
    schema = one.schema
    plan.schemas.append(
        {
            "context": schema.context,
            "id": schema.id,
            "hash": one.hash,
            "normalized_hash": one.normalized_hash,
            "verbatim": one.verbatim is not None,
            "guid": one.guid,
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
        plan.contents[schema.context, one.hash] = schema.id
    plan.references += [(schema.key, subject, version) for subject, version in one.targets]


def _retired(snapshot: Snapshot, picture: Picture, plan: Plan, removed: set[tuple[int, int]], now: int) -> None:
    for context, ids in _by_context(picture.retired):
        known = transfer.retired_of(snapshot, context, ids)
        holders = transfer.holders_of(snapshot, context, ids)
        for schema_id in ids:
            held = holders.get(schema_id, set())
            if schema_id in known or (held and held <= removed):  # removing its versions retires the id
                continue
            if held:
                plan.conflicts.append(
                    f"the id {schema_id} of context {context} was deleted for good in the source and is in use here"
                )
                continue
            one = picture.retired[context, schema_id]
            at = now if one.at is None else one.at
            row = {"context": context, "schema_id": schema_id, "at": at, "actor": one.actor, "hash": one.hash}
            plan.retired.append(row)


def _by_context(keys: Iterable[SchemaKey]) -> Iterator[tuple[str, list[int]]]:
    by_context: dict[str, list[int]] = {}
    for context, schema_id in keys:
        by_context.setdefault(context, []).append(schema_id)
    for context, ids in sorted(by_context.items()):
        yield context, sorted(ids)


def _scopes(snapshot: Snapshot, picture: Picture, plan: Plan) -> None:
    gone = picture.gone.settings | picture.gone.modes
    scopes = picture.settings.keys() | picture.modes.keys() | gone
    found = transfer.settings_of(snapshot, [key_of(scope) for scope in scopes])
    for scope in sorted(scopes):
        key = key_of(scope)
        before = {name: value for name, value in found.get(key, {}).items() if name not in {"key", "context", "name"}}
        after = dict.fromkeys((*columns_of({}), "mode")) | before
        if scope in picture.gone.settings or scope in picture.settings:
            after |= columns_of(picture.settings.get(scope, {}))
        if scope in picture.gone.modes or scope in picture.modes:
            after["mode"] = picture.modes.get(scope)
        if _decoded(before) == _decoded(after):
            continue
        if any(value is not None for value in after.values()):
            plan.settings.append({"key": key, "context": scope.context, "name": scope.name, **after})
        elif before:
            plan.unset.append((key, scope))


def _decoded(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name.endswith(("_metadata", "_rule_set")) else value
        for name, value in columns.items()
        if value is not None
    }


def _associations(snapshot: Snapshot, picture: Picture, plan: Plan, now: int) -> None:
    asked = picture.associations or picture.gone.associations
    known = {row.guid: dict(row._mapping) for row in transfer.all_associations(snapshot)} if asked else {}  # noqa: SLF001
    for one in picture.associations.values():
        row = {
            "guid": one.guid,
            "context": one.subject.context,
            "subject_key": key_of(one.subject),
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
    plan.unbound = [(guid, _bound(known[guid])) for guid in sorted(picture.gone.associations & known.keys())]


def _journal(identified: Mapping[SchemaKey, Identified], plan: Plan) -> None:
    for one in plan.versions:
        content = identified[one.schema]
        details = {"id": one.schema_id, "type": content.schema.type.value, "bypass": "IMPORT"}
        plan.lines.append(Line("", "version.registered", _name(one), after=content.hash, details=details))
    for one in (*plan.versions, *plan.marked):
        if one.deleted_at is not None or one.key in plan.restored:
            action = "version.restored" if one.deleted_at is None else "version.soft_deleted"
            before = identified[one.schema].hash
            plan.lines.append(Line("", action, _name(one), before=before, details={"id": one.schema_id}))
    plan.lines += [Line("", "association.updated", _bound(row)) for row in plan.associations]
    plan.lines += [Line("", "association.deleted", target) for _, target in plan.unbound]


def _name(version: HeldVersion) -> str:
    return f"{version.subject}/{version.version}"


def _bound(row: Mapping[str, Any]) -> str:
    return f"{row['resource_namespace']}:{row['resource_name']}/{row['association_type']}"
