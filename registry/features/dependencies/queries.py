"""Queries of edges of the reference graph, one step at a time and for many versions at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Row, Select, select, tuple_

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import subject_key

__all__ = ["VersionNode", "find_references", "find_referrers", "find_targets", "find_versions"]

T = TypeVar("T")
_V, _U, _R, _S = tables.versions.c, tables.subjects.c, tables.schema_references.c, tables.schemas.c
_NODE_COLUMNS = (_U.context, _U.name, _V.subject_id, _V.version, _V.schema_id, _V.deleted_at)
_BATCH_SIZE = 200


class VersionNode(NamedTuple):
    """A version, as a node of the graph."""

    subject_id: int
    version: int
    subject: Subject
    schema_id: int
    deleted: bool


def find_versions(snapshot: Snapshot, subject: Subject, number: int | None) -> list[VersionNode]:
    """List a subject's versions, soft-deleted ones included; or one of them."""
    statement = (
        select(*_NODE_COLUMNS).join(tables.subjects, _U.id == _V.subject_id).where(_U.key == subject_key(subject))
    )
    if number is not None:
        statement = statement.where(_V.version == number)
    return [_parse_node(row) for row in _fetch_rows(snapshot, statement.order_by(_V.version))]


def find_targets(snapshot: Snapshot, referrers: Collection[VersionNode]) -> Iterator[tuple[VersionNode, VersionNode]]:
    """Yield (referrer, target) for all references of these versions."""
    by_schema: dict[tuple[str, int], list[VersionNode]] = {}
    for node in referrers:
        by_schema.setdefault((node.subject.context, node.schema_id), []).append(node)
    for batch in _split_batches(sorted(by_schema)):
        statement = (
            select(*_NODE_COLUMNS, _R.context.label("from_context"), _R.schema_id.label("from_id"))
            .join_from(
                tables.schema_references,
                tables.versions,
                (_V.subject_id == _R.target_subject_id) & (_V.version == _R.target_version),
            )
            .join(tables.subjects, _U.id == _V.subject_id)
            .where(tuple_(_R.context, _R.schema_id).in_(batch))
        )
        for row in _fetch_rows(snapshot, statement):
            yield from ((node, _parse_node(row)) for node in by_schema[row.from_context, row.from_id])


def find_referrers(snapshot: Snapshot, nodes: Collection[VersionNode]) -> Iterator[tuple[VersionNode, VersionNode]]:
    """Yield (referrer, target) for all references to these versions."""
    by_version = {(node.subject_id, node.version): node for node in nodes}
    for batch in _split_batches(sorted(by_version)):
        statement = (
            select(*_NODE_COLUMNS, _R.target_subject_id, _R.target_version)
            .join_from(
                tables.schema_references,
                tables.versions,
                (_V.context == _R.context) & (_V.schema_id == _R.schema_id),
            )
            .join(tables.subjects, _U.id == _V.subject_id)
            .where(tuple_(_R.target_subject_id, _R.target_version).in_(batch))
        )
        for row in _fetch_rows(snapshot, statement):
            yield _parse_node(row), by_version[row.target_subject_id, row.target_version]


def find_references(snapshot: Snapshot, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[Reference]]:
    """Return the references of schemas as they were written, by context and id."""
    references_by_schema: dict[tuple[str, int], list[Reference]] = {}
    for batch in _split_batches(sorted(set(keys))):
        statement = select(_S.context, _S.id, _S.references).where(tuple_(_S.context, _S.id).in_(batch))
        for row in _fetch_rows(snapshot, statement):
            references_by_schema[row.context, row.id] = list(
                map(Reference.from_body, json.loads(row.references or "[]"))
            )
    return references_by_schema


def _parse_node(row: Row[Any]) -> VersionNode:
    return VersionNode(
        row.subject_id, row.version, Subject(row.context, row.name), row.schema_id, row.deleted_at is not None
    )


def _fetch_rows(snapshot: Snapshot, statement: Select[Any]) -> Sequence[Row[Any]]:
    return snapshot.connection.execute(statement).all()


def _split_batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _BATCH_SIZE] for start in range(0, len(items), _BATCH_SIZE))
