"""Queries of subjects, selected by a prefix, sorted and paged by the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select

from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.registry.access.permissions import SubjectRange, parse_prefix
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import order_by_bytes
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page

__all__ = ["QUALIFIED_NAME", "list_subjects", "prefix_conditions"]

_V, _U = tables.versions.c, tables.subjects.c

#: The name of a subject as the API writes it.
QUALIFIED_NAME: Final[ColumnElement[str]] = case(
    (_U.context == DEFAULT_CONTEXT, _U.name), else_=literal(":") + _U.context + ":" + _U.name
)
_ANY: Final = select(1).where(_V.subject_id == _U.id).exists()
_LIVE: Final = select(1).where(_V.subject_id == _U.id, _V.deleted_at.is_(None)).exists()
_SUBJECT_CONDITIONS: Final[Mapping[DeletedFilter, ColumnElement[bool]]] = {
    DeletedFilter.EXCLUDED: _LIVE,
    DeletedFilter.INCLUDED: _ANY,
    DeletedFilter.ONLY: _ANY & ~_LIVE,
}


def _starts_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    return func.substr(column, 1, len(prefix)) == prefix


def prefix_conditions(prefix: str) -> list[ColumnElement[bool]] | None:
    """Return conditions for subjects with a prefix (see ``parse_prefix``); None if no subject can have it."""
    ranges = [list(_range_conditions(subjects)) for subjects in parse_prefix(prefix)]
    if len(ranges) > 1:
        return [or_(*(and_(*conditions) for conditions in ranges))]
    return ranges[0] if ranges else None


def _range_conditions(subjects: SubjectRange) -> Iterator[ColumnElement[bool]]:
    if subjects.open:
        yield _U.context != DEFAULT_CONTEXT
        yield _starts_with(_U.context, subjects.context or "")
    elif subjects.context is not None:
        yield _U.context == subjects.context
    if subjects.start:
        yield _starts_with(_U.name, subjects.start)


def list_subjects(snapshot: Snapshot, prefix: str, deleted: DeletedFilter, page: Page = WHOLE_LIST) -> list[str]:
    """List the names of subjects with versions of this kind; for ``ONLY``, those that have no others."""
    conditions = prefix_conditions(prefix)
    if conditions is None:
        return []
    statement = (
        select(QUALIFIED_NAME).where(_SUBJECT_CONDITIONS[deleted], *conditions).order_by(order_by_bytes(QUALIFIED_NAME))
    )
    return list(snapshot.connection.execute(page.of(statement)).scalars())
