"""The whole contents of a registry as plain values, independent of source and target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.compatibility.text.encodable_text import is_encodable
from contractlog.contracts.change_log.recorded_change import ChangeLogHead
from contractlog.registry.features.contracts.queries import StoredContract
from contractlog.registry.features.dek_registry.key_values import DekKey, StoredDek, StoredKek
from contractlog.registry.registration.references import resolve_target
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.store_values import MAX_ID_GAP

__all__ = [
    "ENCRYPTED",
    "Deletions",
    "RegistryContents",
    "RetiredId",
    "SchemaKey",
    "TransferredSchema",
    "TransferredVersion",
    "VersionKey",
    "is_encrypted",
    "is_storable",
]

K = TypeVar("K")
V = TypeVar("V")
SchemaKey = tuple[str, int]  #: context and id
VersionKey = tuple[Subject, int]  #: subject and version

ENCRYPTED: Final = "__enc__"  #: the property by which the reference marks metadata that it has encrypted


def is_storable(text: str) -> bool:
    """Return whether every database can store a string: it has no NUL and no unpaired surrogate."""
    return "\0" not in text and is_encodable(text)


def is_encrypted(metadata: Metadata | None) -> bool:
    """Return whether sensitive properties are encrypted with a secret that only their registry has."""
    return metadata is not None and metadata.properties.get(ENCRYPTED) == "true"


@dataclass(frozen=True, slots=True)
class TransferredSchema:
    """The schema of an id."""

    context: str
    id: int
    type: SchemaType
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    guid: str | None = None  #: None if it can be computed from the content
    submitted: str | None = None  #: the text as it was sent, if it differs
    created_at: int | None = None  #: milliseconds since 1970; None if the source does not provide it
    reused: bool = True  #: whether new registrations of this content get this id; exactly one of several ids is reused

    @property
    def key(self) -> SchemaKey:
        """Context and id."""
        return self.context, self.id

    @property
    def draft(self) -> SchemaDraft:
        """The draft that would register the same content."""
        return SchemaDraft(self.text, self.type, self.references, self.metadata, self.rule_set)

    @property
    def content_without_text(self) -> tuple[Any, ...]:
        """The content except its text."""
        return self.type, self.references, self.metadata, self.rule_set

    @property
    def content_guid(self) -> str:
        """The guid, computed if the source does not provide it."""
        return self.guid or compute_guid(self.text, self.references, self.metadata, self.rule_set)

    @property
    def storable(self) -> bool:
        """True if every database can store its texts; those of metadata and rules are stored escaped."""
        names = (name for reference in self.references for name in (reference.name, reference.subject))
        return all(map(is_storable, (self.text, self.submitted or "", *names)))

    @property
    def targets(self) -> tuple[VersionKey, ...]:
        """The versions that it references."""
        home = Subject(self.context, "")
        return tuple(
            dict.fromkeys((resolve_target(reference, home), reference.version) for reference in self.references)
        )

    @property
    def encrypted(self) -> bool:
        """True if sensitive properties are encrypted with a secret that only their registry has."""
        return is_encrypted(self.metadata)


@dataclass(frozen=True, slots=True)
class TransferredVersion:
    """A version of a subject."""

    subject: Subject
    version: int
    schema_id: int
    created_at: int | None = None
    deleted_at: int | None = None  #: None: live

    @property
    def key(self) -> VersionKey:
        """Subject and number."""
        return self.subject, self.version

    @property
    def schema(self) -> SchemaKey:
        """Context and id of its schema."""
        return self.subject.context, self.schema_id


@dataclass(frozen=True, slots=True)
class RetiredId:
    """The hard deletion of the last version of an id."""

    at: int | None = None
    actor: str = "unknown"
    hash: str | None = None  #: of its former content, if known


@dataclass(slots=True)
class Deletions:
    """Items that the source had and has deleted since."""

    versions: set[tuple[Subject, int, int]] = field(default_factory=set)  #: subject, version and its id
    settings: set[Subject] = field(default_factory=set)
    modes: set[Subject] = field(default_factory=set)
    associations: set[str] = field(default_factory=set)
    keks: set[str] = field(default_factory=set)
    deks: set[tuple[DekKey, str]] = field(default_factory=set)  #: with the wrapped key


@dataclass(slots=True)
class RegistryContents:
    """The contents of a registry, or of a part of it."""

    contexts: dict[str, int] = field(default_factory=dict)  #: with the next id of each
    schemas: dict[SchemaKey, TransferredSchema] = field(default_factory=dict)
    versions: dict[VersionKey, TransferredVersion] = field(default_factory=dict)
    settings: dict[Subject, Mapping[str, Any]] = field(default_factory=dict)  #: members as in ``CONFIG_NAMES``
    modes: dict[Subject, str] = field(default_factory=dict)
    associations: dict[str, StoredAssociation] = field(default_factory=dict)  #: by guid
    retired: dict[SchemaKey, RetiredId] = field(default_factory=dict)
    deletions: Deletions = field(default_factory=Deletions)
    keks: dict[str, StoredKek] = field(default_factory=dict)  #: by name
    deks: dict[DekKey, StoredDek] = field(default_factory=dict)
    contracts: dict[tuple[str, int], StoredContract] = field(default_factory=dict)  #: by topic and version
    #: newest entry of the source's change log when it was read; None if the source does not say
    change_log_head: ChangeLogHead | None = field(default=None, compare=False)
    #: the position of a schema, a version, a context or a key in the source: the line of a file
    positions: dict[SchemaKey | VersionKey | DekKey | str, str] = field(default_factory=dict, compare=False)

    @property
    def subjects(self) -> set[Subject]:
        """The subjects that have versions, soft-deleted ones included."""
        return {subject for subject, _ in self.versions}

    def raise_counters(self) -> None:
        """Make each context's next id larger than every id that is, or was, in use.

        If the source provides the next id, isolated ids above it, as `db lower-ids` leaves them, do not raise it.
        """
        for context, ids in self.ids().items():
            next_id = self.contexts.get(context)
            if next_id is None:
                self.contexts[context] = ids[-1] + 1
                continue
            for schema_id in ids:
                if schema_id - next_id >= MAX_ID_GAP:
                    break
                next_id = max(next_id, schema_id + 1)
            self.contexts[context] = next_id
        for subject, _ in self.versions:
            self.contexts.setdefault(subject.context, 1)

    def ids(self) -> dict[str, list[int]]:
        """Return the ids of each context that are, or were, in use, in ascending order."""
        ids: dict[str, list[int]] = {}
        for context, schema_id in sorted({*self.schemas, *self.retired}):
            ids.setdefault(context, []).append(schema_id)
        return ids

    def changes_since(self, before: RegistryContents) -> RegistryContents:
        """Return the changes since an earlier state of the same registry; missing items are in ``deletions``."""
        changed = RegistryContents(
            dict(self.contexts.items() - before.contexts.items()),
            _select_changed(self.schemas, before.schemas),
            _select_changed(self.versions, before.versions),
            _select_changed(self.settings, before.settings),
            _select_changed(self.modes, before.modes),
            _select_changed(self.associations, before.associations),
            {key: retired_id for key, retired_id in self.retired.items() if key not in before.retired},
            keks=_select_changed(self.keks, before.keks),
            deks=_select_changed(self.deks, before.deks),
            contracts=_select_changed(self.contracts, before.contracts),
        )
        changed.deletions = Deletions(
            {
                (*key, version.schema_id)
                for key, version in before.versions.items()
                if key not in self.versions or self.versions[key].schema_id != version.schema_id
            },
            before.settings.keys() - self.settings.keys(),
            before.modes.keys() - self.modes.keys(),
            before.associations.keys() - self.associations.keys(),
            before.keks.keys() - self.keks.keys(),
            {
                (key, dek.wrapped_key)
                for key, dek in before.deks.items()
                if key not in self.deks or self.deks[key].wrapped_key != dek.wrapped_key
            },
        )
        for version in changed.versions.values():  # a version needs its schema
            changed.schemas.setdefault(version.schema, self.schemas[version.schema])
        return changed

    def select_reused_ids(self, in_order: Iterable[SchemaKey]) -> None:
        """Give new registrations of a content the last of its ids, in this order."""
        newest: dict[tuple[Any, ...], SchemaKey] = {}
        for key in in_order:
            newest[_content_key(self.schemas[key])] = key
        for key, schema in self.schemas.items():
            reused = newest[_content_key(schema)] == key
            if schema.reused != reused:
                self.schemas[key] = replace(schema, reused=reused)

    @property
    def empty(self) -> bool:
        """True if the state is empty."""
        return self == RegistryContents()


def _select_changed(items: Mapping[K, V], before: Mapping[K, V]) -> dict[K, V]:
    return {key: item for key, item in items.items() if before.get(key) != item}


def _content_key(schema: TransferredSchema) -> tuple[Any, ...]:
    bodies = (None if part is None else repr(part.body()) for part in (schema.metadata, schema.rule_set))
    return schema.context, schema.type, schema.text, schema.references, *bodies
