"""Prefetch for registrations: the first queries for many subjects at once, by three statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, case, func, select

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage import append_state, tables
from contractlog.registry.storage.dialects import in_numbers
from contractlog.registry.storage.snapshot import Snapshot, to_registered_schema
from contractlog.registry.storage.store_values import DeletedFilter, ScopeSettings, SubjectState, scope_chain

__all__ = ["NotPrefetched", "PrefetchedSnapshot", "prefetch_subjects"]

_MAX_VERSIONS: Final = 50  #: with more versions, reading the hashes of all gains little

_S, _V, _U = tables.schemas.c, tables.versions.c, tables.subjects.c
_RANK: Final = func.row_number().over(partition_by=_V.subject_id, order_by=_V.version.desc())
_LIVE: Final = (
    select(
        *(column for column in tables.schemas.c if column.name not in {"created_at", "submitted", "text"}),
        case((_RANK == 1, _S.text)).label("text"),
        _U.context.label("subject_context"),
        _U.name,
        _V.version,
        _V.created_at,
        _V.deleted_at,
    )
    .join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
    .join(tables.subjects, _U.id == _V.subject_id)
    .where(in_numbers(_V.subject_id, "subjects"), _V.deleted_at.is_(None))
)


class NotPrefetched(Exception):
    """Something was queried that was not prefetched: the database must be queried itself."""


@dataclass(slots=True)
class _LiveVersions:
    """The live versions of a subject: the newest one, and facts that tell whether any has some content."""

    newest: RegisteredSchema | None = None
    verbatim: str | None = None  #: the type of the newest one, if it is stored verbatim
    hashes: set[str] = field(default_factory=set)
    normalized: set[str] = field(default_factory=set)
    dependence: set[bool] = field(default_factory=set)

    def add(self, row: Any) -> None:
        self.hashes.add(row.hash)
        self.normalized.add(row.normalized_hash)
        self.dependence.add(row.references is not None)
        if row.text is not None:
            self.newest = to_registered_schema(row)
            self.verbatim = str(row.type) if row.verbatim else None


class PrefetchedSnapshot(Snapshot):
    """A prefetched snapshot of one subject; it has no connection for other queries."""

    def __init__(
        self,
        subject: Subject,
        configured: Mapping[Subject, ScopeSettings],
        state: SubjectState,
        highest: int,
        live: _LiveVersions,
    ) -> None:
        self._subject = subject
        self._configured = configured
        self._state = state
        self._highest = highest
        self._live = live

    @property
    def connection(self) -> Connection:
        """Reject every query of the database.

        Raises:
            NotPrefetched: always.
        """
        raise NotPrefetched

    def _live_versions(self, subject: Subject, deleted: DeletedFilter = DeletedFilter.EXCLUDED) -> _LiveVersions:
        if subject != self._subject or deleted is not DeletedFilter.EXCLUDED:
            raise NotPrefetched
        return self._live

    def read_settings(self, scopes: Iterable[Subject]) -> dict[Subject, ScopeSettings]:
        """Return the settings of each scope."""
        requested = tuple(scopes)
        if not self._configured.keys() >= set(requested):
            raise NotPrefetched
        return {scope: self._configured[scope] for scope in requested}

    def state(self, subject: Subject) -> SubjectState:
        """Return the subject's row."""
        self._live_versions(subject)
        return self._state

    def highest(self, subject: Subject) -> int:
        """Return the highest version number, soft-deleted ones included; 0 before the first."""
        self._live_versions(subject)
        return self._highest

    def version(
        self, subject: Subject, number: int | None, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> RegisteredSchema | None:
        """Return the newest live version."""
        if number is not None:
            raise NotPrefetched
        return self._live_versions(subject, deleted).newest

    def newest_verbatim_type(self, subject: Subject) -> str | None:
        """Return the type of the newest live version if that is stored verbatim; else None."""
        return self._live_versions(subject).verbatim

    def list_by_content(
        self, subject: Subject, content_hash: str, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> list[RegisteredSchema]:
        """Return an empty list: no version has the content."""
        return _empty_unless(content_hash in self._live_versions(subject, deleted).hashes)

    def list_equivalent(
        self, subject: Subject, normalized_hash: str, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> list[RegisteredSchema]:
        """Return an empty list: no version has content that differs in spelling only."""
        return _empty_unless(normalized_hash in self._live_versions(subject, deleted).normalized)

    def dependent_versions(
        self, subject: Subject, deleted: DeletedFilter, *, dependent: bool
    ) -> list[RegisteredSchema]:
        """Return an empty list: no version has references, or all have some."""
        return _empty_unless(dependent in self._live_versions(subject, deleted).dependence)


def _empty_unless(there_are: bool) -> list[RegisteredSchema]:  # noqa: FBT001 - the only parameter
    if there_are:
        raise NotPrefetched
    return []


def prefetch_subjects(snapshot: Snapshot, subjects: Collection[Subject]) -> dict[Subject, PrefetchedSnapshot]:
    """Prefetch the first queries of registrations under these subjects; long histories are left out."""
    chains = {subject: scope_chain(subject) for subject in subjects}
    configured = snapshot.read_settings({scope for chain in chains.values() for scope in chain})
    states, highest = append_state.read_states(snapshot.connection, subjects)
    short = {subject: _LiveVersions() for subject in subjects if highest.get(subject, 0) <= _MAX_VERSIONS}
    ids = [states[subject].id for subject in short if highest.get(subject)]
    if ids:
        for row in snapshot.connection.execute(_LIVE, {"subjects": ids}):
            short[Subject(row.subject_context, row.name)].add(row)
    return {
        subject: PrefetchedSnapshot(
            subject,
            {scope: configured[scope] for scope in chains[subject]},
            states.get(subject, SubjectState()),
            highest.get(subject, 0),
            live,
        )
        for subject, live in short.items()
    }
