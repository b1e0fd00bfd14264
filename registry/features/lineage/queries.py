"""Lineage edges in the database: recorded by statements, read by dataset or as a list.

A row is a period in which an origin stated an edge with the same derivation. Figures of an edge, such as its score, are
those of the newest publication.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    case,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    union,
    union_all,
    update,
)

from contractlog.compatibility.errors import TooManyEdges
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.contracts.lineage.edges import Evidence
from contractlog.contracts.lineage.statements import (
    EdgeDetails,
    FieldPair,
    LineageDataset,
    LineageStatement,
    apply_statement,
    has_same_derivation,
)
from contractlog.registry.access.permissions import SubjectPattern, topic_permission_subject
from contractlog.registry.execution.work_limits import request_work
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import in_texts
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "MAX_EDGES_OF_TARGET",
    "MAX_VANISHED_OF_TARGET",
    "EdgeFilter",
    "NearEnds",
    "StoredEdge",
    "find_sources",
    "find_targets",
    "list_edges",
    "list_topic_datasets",
    "record_statement",
]

_E: Final = tables.lineage_edges.c
MAX_EDGES_OF_TARGET: Final = 5_000  #: of all origins
MAX_VANISHED_OF_TARGET: Final = 10_000  #: former edges; the oldest are removed
_BATCH: Final = 200
_CHUNK: Final = 1_000  #: rows between two looks for the client's disconnect
_STEPS_PER_ROW: Final = 8  #: of the caller, for a row that is read; it takes some 30 µs
_MAX_RANKED: Final = 100_000  #: edges of one query that share its limit
_MAX_FILTERED_FIELDS: Final = 100  #: fields that the database selects edges of; of more, all edges are read
_WINDOW: Final = 20_000  #: numbers of edges that one query of a list looks at
_STEPS_PER_WINDOW: Final = 5_000
_MAX_WINDOWS: Final = 200  #: of a page


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge, with the period in which its origin stated it; times are milliseconds since 1970, UTC."""

    sequence: int
    target: LineageDataset
    pair: FieldPair
    evidence: Evidence
    origin: str
    details: EdgeDetails
    first_published_at: int
    last_published_at: int
    vanished_at: int | None  #: None: still stated


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Selection of edges by time and evidence; by default, all that are still stated."""

    at: int | None = None
    evidence: Evidence | None = None
    topic_prefix: str = ""  #: beginning of the name of a topic at either end
    readable: tuple[SubjectPattern, ...] | None = None  #: both ends are covered by one; None: all are

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the table."""
        conditions = self._conditions_of_time()
        if self.readable is not None:
            conditions += [
                _is_covered(self.readable, topic, namespace, name)
                for topic, namespace, name in (
                    (_E.source_topic, _E.source_namespace, _E.source_name),
                    (_E.target_topic, _E.target_namespace, _E.target_name),
                )
            ]
        if "\0" in self.topic_prefix:
            conditions.append(false())  # no name contains it, and PostgreSQL rejects such text
        elif self.topic_prefix:
            conditions.append(
                or_(*(_has_prefix(topic, self.topic_prefix) for topic in (_E.source_topic, _E.target_topic)))
            )
        return conditions

    def _conditions_of_time(self) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = [_E.vanished_at.is_(None)]
        if self.at is not None:
            conditions = [_E.first_published_at <= self.at, or_(_E.vanished_at.is_(None), _E.vanished_at > self.at)]
        return conditions if self.evidence is None else [*conditions, _E.evidence == self.evidence]


def record_statement(change: Transaction, statement: LineageStatement) -> None:
    """Store a statement, which replaces what its origin stated before about the same target.

    Edges are added or updated; those that its origin states no longer have vanished.

    Raises:
        TooManyEdges: the target would have too many.
    """
    existing = _list_stated(change, statement)
    details_by_pair = {edge.pair: edge.details for edge in existing}
    after = apply_statement(details_by_pair, statement)
    ended = [edge for edge in existing if not _continues(edge, after)]
    continued = [edge for edge in existing if _continues(edge, after)]
    appeared = after.keys() - {edge.pair for edge in continued}
    _require_room(change, statement.target, added=len(appeared) - len(ended))
    _update_rows(change, ended, {"vanished_at": change.now})
    _update_rows(change, continued, {"last_published_at": change.now})
    _update_details(change, {edge.sequence: after[edge.pair] for edge in continued if after[edge.pair] != edge.details})
    rows = [_to_row(statement, pair, after[pair], change.now) for pair in after if pair in appeared]
    if rows:
        change.connection.execute(insert(tables.lineage_edges), rows)
    if ended:
        _prune_vanished(change, statement.target)
    if ended or rows:
        numbers = {"appeared": len(rows), "vanished": len(ended)}
        details = {"origin": statement.origin, "evidence": statement.evidence, **numbers}
        change.record_change("lineage.published", statement.target.label, details=details)


def _continues(edge: StoredEdge, after: Mapping[FieldPair, EdgeDetails]) -> bool:
    return edge.pair in after and has_same_derivation(edge.details, after[edge.pair])


def _list_stated(change: Transaction, statement: LineageStatement) -> list[StoredEdge]:
    statement_rows = select(tables.lineage_edges).where(
        _E.target_key == _hash_dataset(statement.target),
        _E.vanished_at.is_(None),
        _E.evidence == statement.evidence,
        _E.origin == statement.origin,
    )
    return [_parse_row(row) for row in change.connection.execute(statement_rows.order_by(_E.sequence))]


def _require_room(change: Transaction, target: LineageDataset, *, added: int) -> None:
    if added <= 0:
        return
    of_target = and_(_E.target_key == _hash_dataset(target), _E.vanished_at.is_(None))
    count = change.connection.execute(select(func.count()).select_from(tables.lineage_edges).where(of_target)).scalar()
    if (count or 0) + added > MAX_EDGES_OF_TARGET:
        raise TooManyEdges(target=f"`{target.label}`", count=(count or 0) + added, maximum=MAX_EDGES_OF_TARGET)


def _update_rows(change: Transaction, edges: Sequence[StoredEdge], values: Mapping[str, Any]) -> None:
    for start in range(0, len(edges), _BATCH):
        chosen = [edge.sequence for edge in edges[start : start + _BATCH]]
        change.connection.execute(update(tables.lineage_edges).where(_E.sequence.in_(chosen)).values(**values))


def _update_details(change: Transaction, details_by_sequence: Mapping[int, EdgeDetails]) -> None:
    statement = update(tables.lineage_edges).where(_E.sequence == bindparam("number"))
    rows = [{"number": number, "text": _to_json(details)} for number, details in details_by_sequence.items()]
    if rows:
        change.connection.execute(statement.values(details=bindparam("text")), rows)


def _prune_vanished(change: Transaction, target: LineageDataset) -> None:
    """Remove the edges of a target that vanished first, beyond the limit."""
    of_target = and_(_E.target_key == _hash_dataset(target), _E.vanished_at.is_not(None))
    newest_first = select(_E.sequence).where(of_target).order_by(_E.vanished_at.desc(), _E.sequence.desc())
    beyond = newest_first.offset(MAX_VANISHED_OF_TARGET).limit(MAX_EDGES_OF_TARGET)  # as many may vanish at once
    excess = list(change.connection.execute(beyond).scalars())
    for start in range(0, len(excess), _BATCH):
        chosen = excess[start : start + _BATCH]
        change.connection.execute(delete(tables.lineage_edges).where(_E.sequence.in_(chosen)))


def _to_row(statement: LineageStatement, pair: FieldPair, details: EdgeDetails, now: int) -> dict[str, Any]:
    source, target = pair.source, statement.target
    return {
        "target_key": _hash_dataset(target),
        "target_namespace": target.namespace,
        "target_name": target.name,
        "target_topic": target.topic,
        "target_field": pair.target_field,
        "source_key": _hash_dataset(source),
        "source_namespace": source.namespace,
        "source_name": source.name,
        "source_topic": source.topic,
        "source_field": pair.source_field,
        "evidence": statement.evidence,
        "origin": statement.origin,
        "directed": details.get("direction", "known") == "known",
        "details": _to_json(details),
        "first_published_at": now,
        "last_published_at": now,
    }


def _to_json(details: EdgeDetails) -> str:
    return json.dumps(details, sort_keys=True, separators=(",", ":"))


def _hash_dataset(dataset: LineageDataset) -> str:
    return hashlib.sha256(json.dumps([dataset.namespace, dataset.name]).encode()).hexdigest()


def list_topic_datasets(snapshot: Snapshot, topic: str) -> list[LineageDataset]:
    """List the datasets with the name of a topic, one for each cluster."""
    if "\0" in topic:  # PostgreSQL rejects such text
        return []
    targets = select(_E.target_namespace.label("namespace")).where(_E.target_topic == topic)
    sources = select(_E.source_namespace.label("namespace")).where(_E.source_topic == topic)
    namespaces = snapshot.connection.execute(union(targets, sources)).scalars()
    return [LineageDataset(namespace, topic) for namespace in sorted(namespaces)]


def _has_prefix(text: ColumnElement[Any], prefix: str) -> ColumnElement[bool]:
    return func.substr(text, 1, len(prefix)) == prefix


def _is_covered(
    patterns: Iterable[SubjectPattern],
    topic: ColumnElement[Any],
    namespace: ColumnElement[Any],
    name: ColumnElement[Any],
) -> ColumnElement[bool]:
    """Return the condition that a pattern covers the subject whose permissions apply to a dataset."""
    suffix = topic_permission_subject("").name
    subject = case((topic.is_not(None), topic + literal(suffix)), else_=namespace + literal("/") + name)
    return or_(
        false(),
        *(
            subject == subjects.start if pattern.exact else _has_prefix(subject, subjects.start)
            for pattern in patterns
            for subjects in pattern.ranges
            if subjects.has_context(DEFAULT_CONTEXT)
        ),
    )


@dataclass(frozen=True, slots=True)
class NearEnds:
    """Datasets whose edges are read, and the fields of them that an edge must touch; empty: any."""

    datasets: Collection[LineageDataset]
    fields: Collection[str] = ()

    def touches(self, field: ColumnElement[Any]) -> ColumnElement[bool]:
        """Return the condition that a field is one of these, inside one, or contains one.

        It may be true of others too, if there are many.
        """
        if not self.fields or len(self.fields) > _MAX_FILTERED_FIELDS:
            return true()
        fields = [path for path in self.fields if "\0" not in path]  # PostgreSQL rejects such text
        containing = {path[:end] for path in fields for end in range(len(path) + 1) if path[end : end + 1] in _ENDS}
        inside = (_has_prefix(field, f"{path}{mark}") for path in fields for mark in ".[{")
        return or_(field.in_(sorted({"", *containing})), *inside)


_ENDS: Final = frozenset({"", ".", "[", "{"})  #: what may follow a field in the path of a field inside it


def find_sources(snapshot: Snapshot, near: NearEnds, selection: EdgeFilter, limit: int) -> Iterator[StoredEdge]:
    """Yield the edges to datasets, and those from them that may lead to them as well; at most ``limit``.

    If there are more, they are shared equally between the pairs of datasets, edges of whole datasets first.
    """
    yield from _find_edges(snapshot, near, selection, limit, to_them=True)


def find_targets(snapshot: Snapshot, near: NearEnds, selection: EdgeFilter, limit: int) -> Iterator[StoredEdge]:
    """Yield the edges from datasets, and those to them that may lead from them as well.

    The limit is that of ``find_sources``.
    """
    yield from _find_edges(snapshot, near, selection, limit, to_them=False)


def _find_edges(
    snapshot: Snapshot, near: NearEnds, selection: EdgeFilter, limit: int, *, to_them: bool
) -> Iterator[StoredEdge]:
    to_condition = and_(in_texts(_E.target_key, "keys"), near.touches(_E.target_field))
    from_condition = and_(in_texts(_E.source_key, "keys"), near.touches(_E.source_field))
    certain, possible = (to_condition, from_condition) if to_them else (from_condition, to_condition)
    is_whole = case((and_(_E.source_field == "", _E.target_field == ""), 0), else_=1)
    columns = (_E.sequence, _E.source_key, _E.target_key, is_whole.label("part"))
    conditions = (certain, and_(possible, _E.directed.is_(False)))
    parts = [select(*columns).where(condition, *selection.conditions()) for condition in conditions]
    edges = select(union_all(*parts).subquery()).limit(_MAX_RANKED).subquery().c
    rank = func.row_number().over(
        partition_by=(edges.source_key, edges.target_key), order_by=(edges.part, edges.sequence)
    )
    ranked = select(edges.sequence, rank.label("rank")).subquery().c
    chosen = select(ranked.sequence, ranked.rank).order_by(ranked.rank, ranked.sequence).limit(limit).subquery().c
    statement = select(tables.lineage_edges).join_from(
        chosen.sequence.table, tables.lineage_edges, _E.sequence == chosen.sequence
    )
    rows = snapshot.connection.execute(
        statement.order_by(chosen.rank, chosen.sequence), {"keys": list(map(_hash_dataset, near.datasets))}
    )
    for chunk in rows.partitions(_CHUNK):
        request_work().charge(len(chunk) * _STEPS_PER_ROW)
        yield from map(_parse_row, chunk)


def list_edges(
    snapshot: Snapshot, selection: EdgeFilter, *, after: int, limit: int
) -> tuple[list[StoredEdge], int | None]:
    """List edges in the order in which they appeared.

    The second result is the number after which others follow; None if there are no others.
    """
    last = snapshot.connection.execute(select(func.max(_E.sequence))).scalar() or 0
    rows: list[Row[Any]] = []
    position = after
    for _ in range(_MAX_WINDOWS):
        if position >= last or len(rows) > limit:
            break
        window = select(tables.lineage_edges).where(_E.sequence > position, _E.sequence <= position + _WINDOW)
        of_window = window.where(*selection.conditions()).order_by(_E.sequence).limit(limit + 1 - len(rows))
        rows += snapshot.connection.execute(of_window).all()
        position += _WINDOW
        request_work().charge(_STEPS_PER_WINDOW)
    request_work().charge(len(rows) * _STEPS_PER_ROW)
    edges = [_parse_row(row) for row in rows[:limit]]
    if len(rows) > limit:
        return edges, edges[-1].sequence
    return edges, position if position < last else None


def _parse_row(row: Row[Any]) -> StoredEdge:
    source = LineageDataset(row.source_namespace, row.source_name)
    return StoredEdge(
        sequence=row.sequence,
        target=LineageDataset(row.target_namespace, row.target_name),
        pair=FieldPair(source, row.source_field, row.target_field),
        evidence=cast("Evidence", row.evidence),
        origin=row.origin,
        details=json.loads(row.details),
        first_published_at=row.first_published_at,
        last_published_at=row.last_published_at,
        vanished_at=row.vanished_at,
    )
