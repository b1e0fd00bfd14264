"""Snapshots: queries of the store, each of which is a few indexed statements on one connection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, select

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import GLOBAL_CONTEXT, SchemaId, Subject, Version
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaType
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import in_texts
from contractlog.registry.storage.store_values import (
    UNSET,
    DeletedFilter,
    ScopeSettings,
    SubjectState,
    scope_chain,
    subject_key,
)

__all__ = ["SELECT_REGISTERED", "CachedSnapshot", "Snapshot", "restrict_deleted", "to_registered_schema"]

_S, _V, _U = tables.schemas.c, tables.versions.c, tables.subjects.c

#: Versions with their schemas and subjects.
SELECT_REGISTERED = (
    select(
        *(column for column in tables.schemas.c if column.name not in {"created_at", "submitted"}),
        _U.context.label("subject_context"),
        _U.name,
        _V.version,
        _V.created_at,
        _V.deleted_at,
    )
    .join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
    .join(tables.subjects, _U.id == _V.subject_id)
)

# Built once: building a statement costs as much as running it.
_STATE = select(_U.id, _U.revision).where(_U.key == bindparam("key"))
_OF_SUBJECT = SELECT_REGISTERED.where(_U.key == bindparam("key")).order_by(_V.version.desc()).limit(1)
_OTHER = tables.schemas.alias("other").c


def _of_content(statement: Select[Any], hashed: ColumnElement[str]) -> Select[Any]:
    """Restrict a statement to versions whose schema has this hash.

    The index of hashes is used: a subject may have thousands of versions, a content has few ids. The statement itself
    compares no column with the context: PostgreSQL would apply the constant to every column that must equal it, and
    without statistics assume that a context is rare, and read the whole table.
    """
    ids = select(_OTHER.id).where(_OTHER.context == bindparam("context"), hashed == bindparam("hash"))
    return statement.where(_V.context == _U.context, _V.schema_id.in_(ids))


_WITH_CONTENT = _of_content(_OF_SUBJECT, _OTHER.hash)
_CONFIGURED = select(tables.settings).where(in_texts(tables.settings.c.key, "keys"))

_DELETED_CONDITIONS: dict[DeletedFilter, ColumnElement[bool] | None] = {
    DeletedFilter.EXCLUDED: _V.deleted_at.is_(None),
    DeletedFilter.INCLUDED: None,
    DeletedFilter.ONLY: _V.deleted_at.is_not(None),
}


def restrict_deleted(statement: Select[Any], deleted: DeletedFilter) -> Select[Any]:
    """Restrict a statement to versions of this kind."""
    condition = _DELETED_CONDITIONS[deleted]
    return statement if condition is None else statement.where(condition)


_LATEST = {deleted: restrict_deleted(_OF_SUBJECT, deleted) for deleted in DeletedFilter}
_NUMBERED = {deleted: statement.where(_V.version == bindparam("number")) for deleted, statement in _LATEST.items()}
_WITH_HASH = {deleted: restrict_deleted(_WITH_CONTENT, deleted) for deleted in DeletedFilter}
_ALL_WITH_HASH = {deleted: statement.limit(None) for deleted, statement in _WITH_HASH.items()}
_EQUIVALENT = {
    deleted: restrict_deleted(_of_content(_OF_SUBJECT.limit(None), _OTHER.normalized_hash), deleted)
    for deleted in DeletedFilter
}

_WITH_QUALIFIED_REFERENCES = {
    deleted: restrict_deleted(
        SELECT_REGISTERED.where(_U.key == bindparam("key"), _S.references.contains('":.')).order_by(_V.version.desc()),
        deleted,
    )
    for deleted in DeletedFilter
}
_BY_DEPENDENCE = {
    (deleted, has_references): restrict_deleted(
        SELECT_REGISTERED.where(
            _U.key == bindparam("key"), _S.references.is_not(None) if has_references else _S.references.is_(None)
        ).order_by(_V.version.desc()),
        deleted,
    )
    for deleted in DeletedFilter
    for has_references in (True, False)
}
_HIGHEST = select(func.max(_V.version)).join(tables.subjects, _U.id == _V.subject_id).where(_U.key == bindparam("key"))
_STATE_AND_HIGHEST = _STATE.add_columns(
    select(func.max(_V.version)).where(_V.subject_id == _U.id).scalar_subquery().label("highest")
)


class Snapshot:
    """A consistent view of the database: the results of all queries agree with each other.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """The connection of every query, also of those in other modules."""
        return self._connection

    def _rows(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        return self.connection.execute(statement).all()

    def state(self, subject: Subject) -> SubjectState:
        """Return the subject's row; read it before the versions, so that its revision reveals a later change."""
        row = self.connection.execute(_STATE, {"key": subject_key(subject)}).first()
        return SubjectState(row.id, row.revision) if row else SubjectState()

    def versions(self, subject: Subject, deleted: DeletedFilter) -> list[tuple[int, bool]]:
        """List a subject's versions as (number, whether soft-deleted), lowest first."""
        statement = (
            select(_V.version, _V.deleted_at)
            .join(tables.subjects, _U.id == _V.subject_id)
            .where(_U.key == subject_key(subject))
            .order_by(_V.version)
        )
        return [(row.version, row.deleted_at is not None) for row in self._rows(restrict_deleted(statement, deleted))]

    def version(
        self, subject: Subject, number: int | None, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> RegisteredSchema | None:
        """Return one version; None as number means the highest of this kind."""
        if number is None:
            row = self._newest(subject, deleted)
            return to_registered_schema(row) if row else None
        return self._first(_NUMBERED[deleted], key=subject_key(subject), number=number)

    def history(self, subject: Subject) -> list[RegisteredSchema]:
        """List the live versions with their schemas, oldest first."""
        statement = restrict_deleted(SELECT_REGISTERED.where(_U.key == subject_key(subject)), DeletedFilter.EXCLUDED)
        return [to_registered_schema(row) for row in self._rows(statement.order_by(_V.version))]

    def find_by_content(
        self, subject: Subject, content_hash: str, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> RegisteredSchema | None:
        """Return the subject's newest version with a content."""
        return self._first(_WITH_HASH[deleted], key=subject_key(subject), context=subject.context, hash=content_hash)

    def list_by_content(
        self, subject: Subject, content_hash: str, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> list[RegisteredSchema]:
        """List the subject's versions with a content, newest first."""
        values = {"key": subject_key(subject), "context": subject.context, "hash": content_hash}
        return [to_registered_schema(row) for row in self.connection.execute(_ALL_WITH_HASH[deleted], values)]

    def list_equivalent(
        self, subject: Subject, normalized_hash: str, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> list[RegisteredSchema]:
        """List the subject's versions whose content differs in spelling only, newest first."""
        values = {"key": subject_key(subject), "context": subject.context, "hash": normalized_hash}
        return [to_registered_schema(row) for row in self.connection.execute(_EQUIVALENT[deleted], values)]

    def dependent_versions(
        self, subject: Subject, deleted: DeletedFilter, *, dependent: bool
    ) -> list[RegisteredSchema]:
        """List the versions that have references, or those that have none, newest first."""
        return [
            to_registered_schema(row)
            for row in self.connection.execute(_BY_DEPENDENCE[deleted, dependent], {"key": subject_key(subject)})
        ]

    def highest(self, subject: Subject) -> int:
        """Return the highest version number, soft-deleted ones included; 0 before the first."""
        return int(self.connection.execute(_HIGHEST, {"key": subject_key(subject)}).scalar() or 0)

    def versions_with_qualified_references(self, subject: Subject, deleted: DeletedFilter) -> list[RegisteredSchema]:
        """List the versions with a context in one of their references, newest first."""
        return [
            to_registered_schema(row)
            for row in self.connection.execute(_WITH_QUALIFIED_REFERENCES[deleted], {"key": subject_key(subject)})
        ]

    def lowest_referenced_version(
        self, target_id: int, deleted: DeletedFilter, *, version: int | None = None
    ) -> int | None:
        """Return the lowest version that is referenced.

        Without ``version`` all versions are considered, and references within the subject do not count.
        """
        r = tables.schema_references.c
        statement = (
            select(func.min(r.target_version))
            .join(tables.versions, (_V.context == r.context) & (_V.schema_id == r.schema_id))
            .where(r.target_subject_id == target_id)
        )
        statement = statement.where(_V.subject_id != target_id if version is None else r.target_version == version)
        version_number: int | None = self.connection.execute(restrict_deleted(statement, deleted)).scalar()
        return version_number

    def ids_of_guid(self, guid: str) -> list[tuple[str, int]]:
        """List (context, id) of the schemas with this guid."""
        statement = select(_S.context, _S.id).where(_S.guid == guid).order_by(_S.context, _S.id)
        return [(row.context, row.id) for row in self._rows(statement)]

    def max_id(self, context: str) -> int:
        """Return the highest id ever assigned in a context."""
        statement = select(tables.contexts.c.next_schema_id).where(tables.contexts.c.name == context)
        return int(self.connection.execute(statement).scalar() or 1) - 1

    def read_settings(self, scopes: Iterable[Subject]) -> dict[Subject, ScopeSettings]:
        """Return the settings of each scope, in the given order; scopes without settings have empty ones."""
        by_key = {subject_key(scope): scope for scope in scopes}
        rows = self.connection.execute(_CONFIGURED, {"keys": by_key}).all()
        settings = {row.key: ScopeSettings.of_row(row) for row in rows}
        return {scope: settings.get(key, UNSET) for key, scope in by_key.items()}

    def read_effective_settings(self, scope: Subject) -> ScopeSettings:
        """Return the settings in force for a subject or context: its own, then those of the scopes around it.

        The server's default level is not included.
        """
        return ScopeSettings.merge(self.read_settings(scope_chain(scope)).values())

    def subjects_in_context(self, context: str, deleted: DeletedFilter = DeletedFilter.INCLUDED) -> list[Subject]:
        """List the subjects of a context with versions of this kind; those of all contexts for the global one."""
        versions = restrict_deleted(select(1).where(_V.subject_id == _U.id), deleted)
        statement = select(_U.context, _U.name).where(versions.exists())
        if context != GLOBAL_CONTEXT:
            statement = statement.where(_U.context == context)
        return [Subject(row.context, row.name) for row in self._rows(statement.order_by(_U.context, _U.key))]

    def settings_with_mode(self, scope: Subject) -> dict[Subject, ScopeSettings]:
        """Return the settings of a context's subjects that have a mode; of all scopes for the global context."""
        c = tables.settings.c
        statement = select(tables.settings).where(c.mode.is_not(None))
        if scope.context != GLOBAL_CONTEXT:
            statement = statement.where(c.context == scope.context)
        return {Subject(row.context, row.name): ScopeSettings.of_row(row) for row in self._rows(statement)}

    def newest_verbatim_type(self, subject: Subject) -> str | None:
        """Return the type of a subject's newest live version if that is stored verbatim; else None."""
        row = self._newest(subject)
        return str(row.type) if row is not None and row.verbatim else None

    def _newest(self, subject: Subject, deleted: DeletedFilter = DeletedFilter.EXCLUDED) -> Row[Any] | None:
        return self.connection.execute(_LATEST[deleted], {"key": subject_key(subject)}).first()

    def _first(self, statement: Select[Any], **values: Any) -> RegisteredSchema | None:
        row = self.connection.execute(statement, values).first()
        return to_registered_schema(row) if row else None


class CachedSnapshot(Snapshot):
    """A snapshot that caches what registrations query repeatedly; nothing changes while it is used."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._newest_rows: dict[tuple[Subject, DeletedFilter], Row[Any] | None] = {}
        self._latest: dict[tuple[Subject, DeletedFilter], RegisteredSchema | None] = {}
        self._states_and_highest: dict[Subject, tuple[SubjectState, int]] = {}

    def state(self, subject: Subject) -> SubjectState:
        """Return the subject's row."""
        return self._read_state_and_highest(subject)[0]

    def highest(self, subject: Subject) -> int:
        """Return the highest version number, soft-deleted ones included; 0 before the first."""
        return self._read_state_and_highest(subject)[1]

    def _read_state_and_highest(self, subject: Subject) -> tuple[SubjectState, int]:
        if subject not in self._states_and_highest:
            row = self.connection.execute(_STATE_AND_HIGHEST, {"key": subject_key(subject)}).first()
            state_and_highest = (
                (SubjectState(row.id, row.revision), int(row.highest or 0)) if row else (SubjectState(), 0)
            )
            self._states_and_highest[subject] = state_and_highest
        return self._states_and_highest[subject]

    def _newest(self, subject: Subject, deleted: DeletedFilter = DeletedFilter.EXCLUDED) -> Row[Any] | None:
        if (subject, deleted) not in self._newest_rows:
            self._newest_rows[subject, deleted] = super()._newest(subject, deleted)
        return self._newest_rows[subject, deleted]

    def version(
        self, subject: Subject, number: int | None, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> RegisteredSchema | None:
        """Return one version; None as number means the highest of this kind."""
        if number is not None:
            return super().version(subject, number, deleted)
        if (subject, deleted) not in self._latest:
            self._latest[subject, deleted] = super().version(subject, None, deleted)
        return self._latest[subject, deleted]


def to_registered_schema(row: Row[Any]) -> RegisteredSchema:
    """Convert a row of ``SELECT_REGISTERED`` to a value."""
    references = json.loads(row.references) if row.references else ()
    return RegisteredSchema(
        schema_id=SchemaId(row.id),
        text=row.text,
        type=SchemaType(row.type),
        subject=Subject(row.subject_context, row.name),
        version=Version(row.version),
        guid=row.guid,
        references=tuple(map(Reference.from_body, references)),
        metadata=Metadata.from_body(json.loads(row.metadata)) if row.metadata else None,
        rule_set=RuleSet.from_body(json.loads(row.rule_set)) if row.rule_set else None,
        timestamp=row.created_at,
        deleted=row.deleted_at is not None,
    )
