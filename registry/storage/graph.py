"""Edges of the reference graph, one step at a time and for many versions at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Row, Select, select, tuple_

from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import key_of

__all__ = ["Held", "leaners", "references", "targets", "versions"]

T = TypeVar("T")
_V, _U, _R, _S = tables.versions.c, tables.subjects.c, tables.schema_references.c, tables.schemas.c
_HELD = (_U.context, _U.name, _V.subject_id, _V.version, _V.schema_id, _V.deleted_at)
_AT_ONCE = 200


class Held(NamedTuple):
    """A version, as a node of the graph."""

    subject_id: int
    version: int
    subject: Subject
    schema_id: int
    deleted: bool


def versions(snapshot: Snapshot, subject: Subject, number: int | None) -> list[Held]:
    """List a subject's versions, soft-deleted ones included; or one of them."""
    statement = select(*_HELD).join(tables.subjects, _U.id == _V.subject_id).where(_U.key == key_of(subject))
    if number is not None:
        statement = statement.where(_V.version == number)
    return [_held(row) for row in _rows(snapshot, statement.order_by(_V.version))]


def targets(snapshot: Snapshot, leaning: Collection[Held]) -> Iterator[tuple[Held, Held]]:
    """Yield (referrer, target) for all references of these versions."""
    by_schema: dict[tuple[str, int], list[Held]] = {}
    for one in leaning:
        by_schema.setdefault((one.subject.context, one.schema_id), []).append(one)
    for some in _pieces(sorted(by_schema)):
        statement = (
            select(*_HELD, _R.context.label("from_context"), _R.schema_id.label("from_id"))
            .join_from(
                tables.schema_references,
                tables.versions,
                (_V.subject_id == _R.target_subject_id) & (_V.version == _R.target_version),
            )
            .join(tables.subjects, _U.id == _V.subject_id)
            .where(tuple_(_R.context, _R.schema_id).in_(some))
        )
        for row in _rows(snapshot, statement):
            yield from ((one, _held(row)) for one in by_schema[row.from_context, row.from_id])


def leaners(snapshot: Snapshot, leant_on: Collection[Held]) -> Iterator[tuple[Held, Held]]:
    """Yield (referrer, target) for all references to these versions."""
    by_place = {(one.subject_id, one.version): one for one in leant_on}
    for some in _pieces(sorted(by_place)):
        statement = (
            select(*_HELD, _R.target_subject_id, _R.target_version)
            .join_from(
                tables.schema_references,
                tables.versions,
                (_V.context == _R.context) & (_V.schema_id == _R.schema_id),
            )
            .join(tables.subjects, _U.id == _V.subject_id)
            .where(tuple_(_R.target_subject_id, _R.target_version).in_(some))
        )
        for row in _rows(snapshot, statement):
            yield _held(row), by_place[row.target_subject_id, row.target_version]


def references(snapshot: Snapshot, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[Reference]]:
    """Return the references of schemas as they were written, by context and id."""
    found: dict[tuple[str, int], list[Reference]] = {}
    for some in _pieces(sorted(set(keys))):
        statement = select(_S.context, _S.id, _S.references).where(tuple_(_S.context, _S.id).in_(some))
        for row in _rows(snapshot, statement):
            found[row.context, row.id] = list(map(Reference.from_body, json.loads(row.references or "[]")))
    return found


def _held(row: Row[Any]) -> Held:
    return Held(row.subject_id, row.version, Subject(row.context, row.name), row.schema_id, row.deleted_at is not None)


def _rows(snapshot: Snapshot, statement: Select[Any]) -> Sequence[Row[Any]]:
    return snapshot.connection.execute(statement).all()


def _pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
