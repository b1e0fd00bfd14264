"""Search for words in the latest live versions, by index and page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select, tuple_

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.search_terms import TermKind
from contractlog.registry.storage import tables
from contractlog.registry.storage.search_index import fold_word
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["SearchHit", "SearchPosition", "SearchWord", "find_hits"]

_T, _V, _U = tables.search_terms.c, tables.versions.c, tables.subjects.c
_later = tables.versions.alias("later")
_also = tables.search_terms.alias("also")
_LATEST: Final = (
    ~select(1)
    .where(_later.c.subject_id == _V.subject_id, _later.c.version > _V.version, _later.c.deleted_at.is_(None))
    .exists()
)


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
