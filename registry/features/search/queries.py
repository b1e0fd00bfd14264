"""Queries of the search index: words by schema, its position in the change log, and hits.

The row at position 0 marks a schema as indexed, even if it has no words. Any number of nodes may do the same work
concurrently: they take turns by a lock, and skip what another one has written. A search covers the latest live
versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, insert, or_, select, tuple_, update

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.search_terms import Term, TermKind
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import dialect_insert, in_numbers
from contractlog.registry.storage.locks import lock_background_jobs
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "Key",
    "SearchHit",
    "SearchPosition",
    "SearchWord",
    "SearchableSchema",
    "advance_position",
    "find_hits",
    "fold_word",
    "list_unindexed",
    "read_position",
    "read_schemas",
    "store_words",
]

Key = tuple[str, int]  #: context and id
_POSITION: Final = "search"
_INDEXED_KIND: Final = "seen"
_MAX_WORD_LENGTH: Final = 190  #: characters of a word in the index; longer words end in a hash there
_MAX_STORED_LENGTH: Final = 2_000

_T, _V, _U = tables.search_terms.c, tables.versions.c, tables.subjects.c
_M, _S = tables.marks.c, tables.schemas.c

_later = tables.versions.alias("later")
_also = tables.search_terms.alias("also")
_LATEST: Final = (
    ~select(1)
    .where(_later.c.subject_id == _V.subject_id, _later.c.version > _V.version, _later.c.deleted_at.is_(None))
    .exists()
)

#: Condition: the schema is not indexed. A scalar subquery, as PostgreSQL without statistics joins by context alone.
_NOT_INDEXED: Final = (
    select(_T.position)
    .where(_T.context == _S.context, _T.schema_id == _S.id, _T.position == 0)
    .correlate(tables.schemas)
    .scalar_subquery()
    .is_(None)
)
_TEXTS: Final = (
    select(_S.context, _S.id, _S.type, _S.text, _S.metadata)
    .where(_S.context == bindparam("context"), in_numbers(_S.id, "ids"), _NOT_INDEXED)
    .order_by(_S.id)
)


class SearchableSchema(NamedTuple):
    """The parts of a schema that have words."""

    key: Key
    type: SchemaType
    text: str
    metadata: Metadata | None


class SchemaWords(NamedTuple):
    """Some of the words of a schema, from a position in all of them; the first is 1."""

    key: Key
    position: int
    terms: Sequence[Term]
    are_last: bool  #: with the last words, a schema counts as indexed


def fold_word(word: str, *, start: bool = False) -> bytes:
    """Return a word as the index stores it, in lower case; ``start`` marks the beginning of a word."""
    text = word.casefold()
    if len(text) > _MAX_WORD_LENGTH:
        cut = text[:_MAX_WORD_LENGTH]
        text = cut if start else cut + hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return text.encode(errors="replace")


def read_position(snapshot: Snapshot) -> int | None:
    """Return the number of the last change whose schemas were indexed; None before all were indexed once."""
    position: int | None = snapshot.connection.execute(select(_M.sequence).where(_M.name == _POSITION)).scalar()
    return position


def list_unindexed(snapshot: Snapshot, after: Key, limit: int) -> list[Key]:
    """List schemas that are not indexed, in the order of their keys."""
    statement = (
        select(_S.context, _S.id)
        .where(tuple_(_S.context, _S.id) > tuple_(*after), _NOT_INDEXED)
        .order_by(_S.context, _S.id)
        .limit(limit)
    )
    return [(row.context, row.id) for row in snapshot.connection.execute(statement)]


def read_schemas(snapshot: Snapshot, keys: Collection[Key]) -> list[SearchableSchema]:
    """Read those of these schemas that exist and are not indexed."""
    schemas: list[SearchableSchema] = []
    for context, some in groupby(sorted(keys), itemgetter(0)):
        values = {"context": context, "ids": [schema_id for _, schema_id in some]}
        for row in snapshot.connection.execute(_TEXTS, values):
            metadata = Metadata.from_body(json.loads(row.metadata)) if row.metadata else None
            schemas.append(SearchableSchema((row.context, row.id), SchemaType(row.type), row.text, metadata))
    return schemas


def store_words(transaction: Transaction, words: Collection[SchemaWords]) -> None:
    """Store words of schemas that still exist, and that were not indexed meanwhile.

    Words of a schema that another node, or an earlier process that was killed, has stored stay as they are.
    """
    lock_background_jobs(transaction.connection)
    keys = {schema.key for schema in read_schemas(transaction, {each.key for each in words})}
    rows = [row for each in words if each.key in keys for row in _rows(each)]
    if rows:
        insertion = dialect_insert(transaction.connection, tables.search_terms).on_conflict_do_nothing()
        transaction.connection.execute(insertion, rows)


def advance_position(transaction: Transaction, sequence: int) -> None:
    """Record that the schemas of all changes up to this one are indexed; never lowers the position."""
    lock_background_jobs(transaction.connection)
    position = read_position(transaction)
    if position is None:
        transaction.connection.execute(insert(tables.marks).values(name=_POSITION, sequence=sequence))
    elif position < sequence:
        transaction.connection.execute(update(tables.marks).where(_M.name == _POSITION).values(sequence=sequence))


def _rows(words: SchemaWords) -> Iterable[dict[str, Any]]:
    for position, term in enumerate(words.terms, words.position):
        display = {"name": _storable(term.name), "path": _storable(term.path)}
        yield _row(words.key, position, {"kind": term.kind.value, "folded": fold_word(term.key), **display})
    if words.are_last:
        yield _row(words.key, 0, {"kind": _INDEXED_KIND, "folded": b"", "name": "", "path": ""})


def _row(key: Key, position: int, word: Mapping[str, Any]) -> dict[str, Any]:
    context, schema_id = key
    return {"context": context, "schema_id": schema_id, "position": position, **word}


def _storable(text: str) -> str:
    return text[:_MAX_STORED_LENGTH].replace("\0", "�").encode(errors="replace").decode()


class SearchWord(NamedTuple):
    """A word to search for."""

    kind: TermKind
    word: str


class SearchPosition(NamedTuple):
    """Position of the last hit of a page."""

    folded: bytes
    context: str
    schema_id: int
    position: int
    subject_id: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A match in the latest live version of a subject."""

    subject: Subject
    version: int
    schema_id: int
    kind: TermKind
    name: str
    path: str
    position: SearchPosition


def find_hits(
    snapshot: Snapshot,
    words: Sequence[SearchWord],
    *,
    prefix: bool,
    context: str | None,
    after: SearchPosition | None,
    limit: int,
) -> list[SearchHit]:
    """List the matches of the first word, in schemas that match the other words too."""
    conditions = [_T.kind == words[0].kind.value, _matches(_T.folded, words[0].word, prefix=prefix)]
    if context is not None:
        conditions.append(_T.context == context)
    for word in words[1:]:
        also = _also.c
        same = (also.context == _T.context) & (also.schema_id == _T.schema_id)
        matches = _matches(also.folded, word.word, prefix=prefix)
        conditions.append(select(1).where(same, also.kind == word.kind.value, matches).exists())
    if after is not None:
        conditions.append(_after_position(after, exact=not prefix))
    statement = (
        select(
            tables.search_terms,
            _U.context.label("subject_context"),
            _U.name.label("subject"),
            _V.version,
            _V.subject_id,
        )
        .join_from(tables.search_terms, tables.versions, (_V.context == _T.context) & (_V.schema_id == _T.schema_id))
        .join(tables.subjects, _U.id == _V.subject_id)
        .where(*conditions, _V.deleted_at.is_(None), _LATEST)
        .order_by(_T.folded, _T.context, _T.schema_id, _T.position, _V.subject_id)
        .limit(limit)
    )
    return [
        SearchHit(
            Subject(row.subject_context, row.subject),
            row.version,
            row.schema_id,
            TermKind(row.kind),
            row.name,
            row.path,
            SearchPosition(bytes(row.folded), row.context, row.schema_id, row.position, row.subject_id),
        )
        for row in snapshot.connection.execute(statement)
    ]


def _matches(column: ColumnElement[bytes], word: str, *, prefix: bool) -> ColumnElement[bool]:
    if not prefix:
        return column == fold_word(word)
    start = fold_word(word, start=True)
    return (column >= start) & (column < start + b"\xff")  # no byte of UTF-8 is that large


def _after_position(after: SearchPosition, *, exact: bool) -> ColumnElement[bool]:
    """Return the condition for hits after a position; for an exact word the index is entered right there."""
    columns = (_T.folded, _T.context, _T.schema_id, _T.position)
    position, after_position = (tuple_(*columns[exact:]), tuple_(*after[exact:4]))
    # The database can use an index for the first condition only.
    return and_(position >= after_position, or_(position > after_position, _V.subject_id > after.subject_id))
