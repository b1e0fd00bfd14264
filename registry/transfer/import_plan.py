"""Plan of an import: the changes that make a store contain a registry's contents, and conflicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema, way_out
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import MAX_CONTEXT_LENGTH, Subject, describe_long_context
from contractlog.registry.registration.candidate import hash_draft
from contractlog.registry.registration.references import check_reference_depth, reference_not_found, resolve_target
from contractlog.registry.storage import bulk_transfer, id_counters
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.batch_append import schema_row
from contractlog.registry.storage.change_log import ChangeLogEntry
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import MAX_ID_GAP, Content, subject_key
from contractlog.registry.transfer.config_columns import config_to_columns
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    SchemaKey,
    TransferredSchema,
    TransferredVersion,
    is_encrypted,
)
from contractlog.registry.transfer.transferred_contracts import ContractPlan, plan_contracts
from contractlog.registry.transfer.transferred_keys import KeyPlan, plan_keys

__all__ = ["IdentifiedSchema", "ImportPlan", "build_plan", "identify_schemas"]

_SCOPE_COLUMNS: Final = frozenset({"key", "context", "name"})


@dataclass(frozen=True, slots=True)
class IdentifiedSchema:
    """A schema and its content, with hashes as the service would compute them."""

    schema: TransferredSchema
    content: Content
    verbatim: str | None = None  #: why it cannot be parsed, if it cannot


def identify_schemas(
    whole: RegistryContents,
    schemas: Iterable[TransferredSchema],
    report_progress: Callable[[int], None] = lambda _: None,
) -> dict[SchemaKey, IdentifiedSchema]:
    """Parse schemas; references are looked up in the whole state.

    Args:
        whole: the state with all schemas that references may refer to.
        schemas: the schemas to parse.
        report_progress: called with the number of schemas parsed so far.
    """
    identified: dict[SchemaKey, IdentifiedSchema] = {}
    for number, schema in enumerate(schemas, 1):
        identified[schema.key] = _identify_schema(whole, schema)
        report_progress(number)
    return identified


def _identify_schema(whole: RegistryContents, schema: TransferredSchema) -> IdentifiedSchema:
    verbatim, canonical, normalized = None, schema.text, schema.text
    try:
        parsed = parse_schema(schema.draft, dict(_referenced_texts(whole, schema, 1, set())), strict=False)
        canonical, normalized = parsed.canonical, parsed.normalized
    except (InvalidSchema, RecursionError, UnicodeError) as error:
        verbatim = getattr(error, "message", None) or type(error).__name__
    content = Content(
        schema.text,
        schema.submitted or schema.text,
        schema.type,
        *hash_draft(schema.draft, canonical, normalized),
        schema.content_guid,
        schema.references,
        schema.metadata,
        schema.rule_set,
    )
    return IdentifiedSchema(schema, content, verbatim)


def _referenced_texts(
    whole: RegistryContents, schema: TransferredSchema, depth: int, visited: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield name and text of all direct and indirect references, dependencies first."""
    home = Subject(schema.context, "")
    for reference in schema.references:
        if reference.name in visited:
            continue  # the first wins
        check_reference_depth(depth)
        visited.add(reference.name)
        version = whole.versions.get((resolve_target(reference, home), reference.version))
        if version is None:
            raise reference_not_found(reference)
        target = whole.schemas[version.schema]
        yield from _referenced_texts(whole, target, depth + 1, visited)
        yield reference.name, target.text


@dataclass(frozen=True, slots=True)
class _GuidOwner:
    """A schema with a guid, reduced to the parts that its guid identifies."""

    key: SchemaKey
    hash: str
    text: str
    references: str | None
    metadata: Metadata | None
    rule_set: str | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Convert a row of the table of schemas."""
        metadata = None if row["metadata"] is None else Metadata.from_body(json.loads(row["metadata"]))
        key = (row["context"], row["id"])
        return cls(key, row["hash"], row["text"], row["references"], metadata, row["rule_set"])

    def has_content_of(self, other: _GuidOwner) -> bool:
        """Return whether both have one content, as far as a guid identifies it: the type is not part of it.

        The same metadata may be encrypted differently; the guid is that of the plain form.
        """
        if self.hash == other.hash:
            return True
        if (self.text, self.references, self.rule_set) != (other.text, other.references, other.rule_set):
            return False
        return self.metadata == other.metadata or (is_encrypted(self.metadata) and is_encrypted(other.metadata))


@dataclass(slots=True)
class ImportPlan:
    """Rows to add and to change, by table; ``conflicts`` prevent the whole import."""

    conflicts: list[str] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    schemas: list[dict[str, Any]] = field(default_factory=list)
    contents: dict[tuple[str, str], int] = field(default_factory=dict)
    references: list[tuple[SchemaKey, Subject, int]] = field(default_factory=list)
    subjects: dict[str, dict[str, Any]] = field(default_factory=dict)  #: by key
    subject_ids: dict[str, int] = field(default_factory=dict)  #: row ids of existing subjects, by key
    versions: list[TransferredVersion] = field(default_factory=list)
    #: existing versions to soft-delete or to restore
    changed_versions: list[TransferredVersion] = field(default_factory=list)
    removed: dict[Subject, list[int]] = field(default_factory=dict)
    settings: list[dict[str, Any]] = field(default_factory=list)
    removed_settings: list[tuple[str, Subject]] = field(default_factory=list)  #: key and scope
    associations: list[StoredAssociation] = field(default_factory=list)
    removed_associations: list[StoredAssociation] = field(default_factory=list)
    retired: list[dict[str, Any]] = field(default_factory=list)
    returned: list[SchemaKey] = field(default_factory=list)  #: retired here, with the same content as the imported one
    keys: KeyPlan = field(default_factory=KeyPlan)
    contracts: ContractPlan = field(default_factory=ContractPlan)
    lines: list[ChangeLogEntry] = field(default_factory=list)  #: of the change log

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the number of changes of each kind."""
        yield "contexts raised", len(self.counters)
        yield "schemas added", len(self.schemas)
        yield "subjects added", len(self.subjects)
        yield "versions added", len(self.versions)
        yield "versions soft-deleted", sum(version.deleted_at is not None for version in self.changed_versions)
        yield "versions restored", sum(version.deleted_at is None for version in self.changed_versions)
        yield "versions removed", sum(map(len, self.removed.values()))
        yield "settings changed", len(self.settings) + len(self.removed_settings)
        yield "associations changed", len(self.associations) + len(self.removed_associations)
        yield "ids retired", len(self.retired)
        yield from self.keys.counts()
        yield from self.contracts.counts()

    @property
    def scopes(self) -> list[Subject]:
        """Scopes whose settings or modes change."""
        changed = [Subject(row["context"], row["name"]) for row in self.settings]
        return changed + [scope for _, scope in self.removed_settings]


def build_plan(
    snapshot: Snapshot,
    source: RegistryContents,
    identified: Mapping[SchemaKey, IdentifiedSchema],
    now: int,
    *,
    allow_id_gap: bool = False,
) -> ImportPlan:
    """Compare a store with a registry's contents.

    Args:
        snapshot: of the store; if the plan is carried out, taken under the lock.
        source: the state that the store should contain.
        identified: the parsed schemas of the state.
        now: the time for items without one.
        allow_id_gap: whether ids may be far above all others.
    """
    builder = _PlanBuilder(snapshot, source, identified, now)
    builder.plan_contexts()
    if not allow_id_gap:
        builder.reject_id_gaps()
    builder.plan_subjects()
    builder.plan_versions()
    builder.plan_schemas()
    builder.reject_shared_guids()
    builder.plan_retired_ids()
    builder.plan_settings()
    builder.plan_associations()
    builder.plan_encryption_keys()
    builder.plan_contracts()
    builder.plan_change_log()
    return builder.plan


class _PlanBuilder:
    """A plan in the making, and what it is made from."""

    def __init__(
        self,
        snapshot: Snapshot,
        source: RegistryContents,
        identified: Mapping[SchemaKey, IdentifiedSchema],
        now: int,
    ) -> None:
        self._snapshot = snapshot
        self._source = source
        self._identified = identified
        self._now = now
        self._removed: set[tuple[int, int]] = set()  #: versions to remove, by the subject's row id and number
        self.plan = ImportPlan()

    def plan_contexts(self) -> None:
        """Plan counters to raise."""
        current = id_counters.read_counters(self._snapshot)
        self.plan.counters = {
            name: next_id for name, next_id in self._source.contexts.items() if current.get(name, 0) < next_id
        }
        self.plan.conflicts += [
            describe_long_context(name) for name in self._source.contexts if len(name) > MAX_CONTEXT_LENGTH
        ]

    def reject_id_gaps(self) -> None:
        """Reject ids far above all others: new ids continue after the highest one, and ids are finite."""
        next_ids, every = id_counters.read_counters(self._snapshot), self._source.ids()
        for context in sorted(self._source.contexts.keys() | every.keys()):
            highest = next_ids.get(context, 1) - 1
            above = [assigned for assigned in every.get(context, ()) if assigned > highest]
            assigned = bulk_transfer.find_assigned_ids(self._snapshot, context, above)
            for schema_id in above:
                if schema_id in assigned:  # an isolated id that already exists here changes nothing
                    continue
                if schema_id - highest > MAX_ID_GAP:
                    self.plan.conflicts.append(
                        self._describe_gap((context, schema_id), f"the id {schema_id}", context, highest)
                    )
                highest = schema_id
            counter = self._source.contexts.get(context, 1)
            if counter - 1 - highest > MAX_ID_GAP:
                self.plan.conflicts.append(self._describe_gap(context, f"the next id {counter}", context, highest))

    def _describe_gap(self, key: SchemaKey | str, label: str, context: str, highest: int) -> str:
        return (
            f"{self._position_prefix(key)}{label} of context {context} is more than {MAX_ID_GAP:,} above {highest}, "
            "the next lower id: new ids would continue from there. If that is intended, pass --allow-id-gap (a running "
            "registry needs CONTRACTLOG_ALLOW_ID_GAP=true)"
        )

    def _position_prefix(self, key: SchemaKey | str) -> str:
        """Return the position of a schema or a context in the source, as a prefix of a message."""
        position = self._source.positions.get(key)
        return f"{position}: " if position else ""

    def plan_subjects(self) -> None:
        """Find the rows of the subjects, and plan those to add."""
        imported, deleted = self._source.subjects, {subject for subject, _, _ in self._source.deletions.versions}
        by_key = {subject_key(subject): subject for subject in imported | deleted}
        referenced = {subject_key(subject) for schema in self._source.schemas.values() for subject, _ in schema.targets}
        self.plan.subject_ids = bulk_transfer.find_subjects(self._snapshot, by_key.keys() | referenced)
        self.plan.subjects = {
            key: {"key": key, "context": subject.context, "name": subject.name, "revision": 1}
            for key, subject in by_key.items()
            if key not in self.plan.subject_ids and subject in imported
        }

    def plan_versions(self) -> None:
        """Plan versions to add, to change and to remove."""
        rows = self.plan.subject_ids
        keys = {
            subject_key(subject)
            for subject in self._source.subjects | {key[0] for key in self._source.deletions.versions}
        }
        existing = bulk_transfer.find_versions(self._snapshot, {rows[key] for key in keys & rows.keys()})
        for subject, number, schema_id in sorted(self._source.deletions.versions):
            key = (rows.get(subject_key(subject), 0), number)
            if key in existing and existing[key].schema_id == schema_id:
                self._removed.add(key)
                self.plan.removed.setdefault(subject, []).append(number)
        for version in self._source.versions.values():
            key = (rows.get(subject_key(version.subject), 0), version.version)
            row = None if key in self._removed else existing.get(key)
            if row is None:
                self.plan.versions.append(version)
            elif row.schema_id != version.schema_id:
                self.plan.conflicts.append(
                    f"version {version.version} of {version.subject} has the id {version.schema_id} in the source "
                    f"and {row.schema_id} here"
                )
            elif (row.deleted_at is None) != (version.deleted_at is None):
                self.plan.changed_versions.append(version)

    def plan_schemas(self) -> None:
        """Plan schemas to add."""
        for context, ids in _group_by_context(self._source.schemas):
            existing = bulk_transfer.find_schemas(self._snapshot, context, ids)
            retired = bulk_transfer.find_retired(self._snapshot, context, ids)
            for schema_id in ids:
                schema, content = self._source.schemas[context, schema_id], self._identified[context, schema_id].content
                row = existing.get(schema_id)
                if schema_id in retired and retired[schema_id] != content.hash:
                    former = "unknown content" if retired[schema_id] is None else "different content"
                    self.plan.conflicts.append(
                        f"{self._position_prefix(schema.key)}the id {schema_id} of context {context} "
                        f"was hard-deleted here and had {former}: {way_out(context)}"
                    )
                elif row is None:
                    self._add_schema(self._identified[schema.key])
                    self.plan.returned += [schema.key] if schema_id in retired else []
                elif row.hash != content.hash and (row.guid, row.text) != (content.guid, content.text):
                    self.plan.conflicts.append(f"the id {schema_id} of context {context} has different content here")
                elif schema.guid is not None and row.guid != schema.guid:
                    self.plan.conflicts.append(
                        f"{self._position_prefix(schema.key)}the id {schema_id} of context {context} "
                        f"has the guid {schema.guid} in the source and {row.guid} here"
                    )

    def reject_shared_guids(self) -> None:
        """Add a conflict for each new schema whose guid another content has, here or in the source.

        Records may contain the guid, so it must identify one content, whatever the context.
        """
        owners: dict[str, _GuidOwner] = {}
        guids = {row["guid"] for row in self.plan.schemas}
        for stored in bulk_transfer.find_schemas_by_guid(self._snapshot, guids):
            owners.setdefault(stored["guid"], _GuidOwner.from_row(stored))
        for row in self.plan.schemas:
            candidate = _GuidOwner.from_row(row)
            owner = owners.setdefault(row["guid"], candidate)
            if not candidate.has_content_of(owner):
                context, schema_id = candidate.key
                self.plan.conflicts.append(
                    f"{self._position_prefix(candidate.key)}the id {schema_id} of context {context} has the guid "
                    f"{row['guid']}, which the id {owner.key[1]} of context {owner.key[0]} has with different content"
                )

    def _add_schema(self, identified: IdentifiedSchema) -> None:
        schema, content = identified.schema, identified.content
        created_at = self._now if schema.created_at is None else schema.created_at
        row = schema_row(schema.context, schema.id, content, created_at)
        self.plan.schemas.append(row | {"verbatim": identified.verbatim is not None})
        if schema.reused:
            self.plan.contents[schema.context, content.hash] = schema.id
        self.plan.references += [(schema.key, subject, version) for subject, version in schema.targets]

    def plan_retired_ids(self) -> None:
        """Plan ids to retire."""
        for context, ids in _group_by_context(self._source.retired):
            retired = bulk_transfer.find_retired(self._snapshot, context, ids)
            versions_by_id = bulk_transfer.find_versions_by_id(self._snapshot, context, ids)
            for schema_id in ids:
                versions = versions_by_id.get(schema_id, set())
                if schema_id in retired:
                    continue
                if versions - self._removed:
                    self.plan.conflicts.append(
                        f"the id {schema_id} of context {context} was hard-deleted in the source, but is in use here"
                    )
                elif not versions:  # removing its versions retires the id
                    retirement = self._source.retired[context, schema_id]
                    at = self._now if retirement.at is None else retirement.at
                    row = {"context": context, "schema_id": schema_id, "at": at}
                    self.plan.retired.append(row | {"actor": retirement.actor, "hash": retirement.hash})

    def plan_settings(self) -> None:
        """Plan settings and modes to replace and to remove."""
        deleted_scopes = self._source.deletions.settings | self._source.deletions.modes
        scopes = self._source.settings.keys() | self._source.modes.keys() | deleted_scopes
        existing = bulk_transfer.find_settings(self._snapshot, [subject_key(scope) for scope in scopes])
        for scope in sorted(scopes):
            key = subject_key(scope)
            before = {name: value for name, value in existing.get(key, {}).items() if name not in _SCOPE_COLUMNS}
            after = dict.fromkeys((*config_to_columns({}), "mode")) | before
            if scope in self._source.deletions.settings or scope in self._source.settings:
                after |= config_to_columns(self._source.settings.get(scope, {}))
            if scope in self._source.deletions.modes or scope in self._source.modes:
                after["mode"] = self._source.modes.get(scope)
            if _decode_columns(before) == _decode_columns(after):
                continue
            if any(value is not None for value in after.values()):
                self.plan.settings.append({"key": key, "context": scope.context, "name": scope.name, **after})
            elif before:
                self.plan.removed_settings.append((key, scope))

    def plan_associations(self) -> None:
        """Plan associations to replace and to remove."""
        imported, deleted = self._source.associations, self._source.deletions.associations
        rows = bulk_transfer.stream_associations(self._snapshot) if imported or deleted else ()
        existing = {row.guid: StoredAssociation.of_row(row) for row in rows}
        for association in imported.values():
            stored = existing.get(association.guid)
            if stored is None or association.without_times() != stored.without_times():
                created = self._now if association.created_at is None else association.created_at
                updated = created if association.updated_at is None else association.updated_at
                self.plan.associations.append(replace(association, created_at=created, updated_at=updated))
        self.plan.removed_associations = [existing[guid] for guid in sorted(deleted & existing.keys())]
        replaced = imported.keys() | deleted
        self._reject_ids_of_others([row for guid, row in existing.items() if guid not in replaced], existing.values())

    def _reject_ids_of_others(
        self, remaining: Iterable[StoredAssociation], existing: Iterable[StoredAssociation]
    ) -> None:
        """Add a conflict for each resource that would get the id of another one that stays here.

        Resources that share an id in the source itself are imported as they are.
        """
        owners: dict[str, set[str]] = {}
        for association in remaining:
            owners.setdefault(association.resource_id, set()).add(_resource_name(association))
        existing_pairs = {(association.resource_id, _resource_name(association)) for association in existing}
        new = {(association.resource_id, _resource_name(association)) for association in self.plan.associations}
        new -= existing_pairs
        for resource_id, name in sorted(new):
            if resource_id and owners.get(resource_id, set()) - {name}:
                owner = min(owners[resource_id] - {name})
                self.plan.conflicts.append(
                    f"{name} has the id {resource_id} in the source, which is that of {owner} here"
                )

    def plan_encryption_keys(self) -> None:
        """Plan the changes of KEKs and DEKs."""
        self.plan.keys = plan_keys(self._snapshot, self._source)
        self.plan.conflicts += self.plan.keys.conflicts

    def plan_contracts(self) -> None:
        """Plan the changes of contracts."""
        self.plan.contracts = plan_contracts(self._snapshot, self._source)
        self.plan.conflicts += self.plan.contracts.conflicts

    def plan_change_log(self) -> None:
        """Plan the change log entries, except those of settings."""
        for version in self.plan.versions:
            content = self._identified[version.schema].content
            details = {"id": version.schema_id, "type": content.type.value, "bypass": "IMPORT"}
            self.plan.lines.append(
                ChangeLogEntry("", "version.registered", _version_name(version), after=content.hash, details=details)
            )
        deleted = [version for version in self.plan.versions if version.deleted_at is not None]
        for version in (*deleted, *self.plan.changed_versions):
            action = "version.restored" if version.deleted_at is None else "version.soft_deleted"
            before = self._identified[version.schema].content.hash
            details = {"id": version.schema_id}
            self.plan.lines.append(ChangeLogEntry("", action, _version_name(version), before=before, details=details))
        changed = (("association.updated", association) for association in self.plan.associations)
        removed = (("association.deleted", association) for association in self.plan.removed_associations)
        self.plan.lines += [
            ChangeLogEntry("", action, association.change_log_name, details=association.change_log_details)
            for action, association in (*changed, *removed)
        ]
        self.plan.lines += [*self.plan.keys.entries(), *self.plan.contracts.entries()]


def _group_by_context(keys: Iterable[SchemaKey]) -> Iterator[tuple[str, list[int]]]:
    by_context: dict[str, list[int]] = {}
    for context, schema_id in keys:
        by_context.setdefault(context, []).append(schema_id)
    for context, ids in sorted(by_context.items()):
        yield context, sorted(ids)


def _decode_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name.endswith(("_metadata", "_rule_set")) else value
        for name, value in columns.items()
        if value is not None
    }


def _resource_name(association: StoredAssociation) -> str:
    return f"{association.resource_type} {association.resource_namespace}:{association.resource_name}"


def _version_name(version: TransferredVersion) -> str:
    return f"{version.subject}/{version.version}"
