"""Storage of the search index: indexed schemas, their words, and the position in the journal.

The row at position 0 marks a schema as indexed, even if it has no words. Any number of nodes may do the same work
concurrently: they take turns by a lock, and skip what another one has written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, insert, select, tuple_, update

from contractlog.compatibility.contract import Metadata
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.terms.words import Term
from contractlog.registry.storage import tables
from contractlog.registry.storage.among import numbers_among
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.turns import take_turns
from contractlog.registry.storage.writes import Transaction

__all__ = ["Key", "Text", "advance", "folded", "keep", "mark", "texts", "unread"]

Key = tuple[str, int]  #: context and id
_MARK: Final = "search"
_SEEN: Final = "seen"
_LONGEST: Final = 190  #: characters of a word in the index; longer words end in a hash there
_LONGEST_SHOWN: Final = 2_000

_M, _S, _T = tables.marks.c, tables.schemas.c, tables.search_terms.c

#: Condition: the schema is not indexed. A scalar subquery, as PostgreSQL without statistics joins by context alone.
_UNSEEN: Final = (
    select(_T.position)
    .where(_T.context == _S.context, _T.schema_id == _S.id, _T.position == 0)
    .correlate(tables.schemas)
    .scalar_subquery()
    .is_(None)
)
_TEXTS: Final = (
    select(_S.context, _S.id, _S.type, _S.text, _S.metadata)
    .where(_S.context == bindparam("context"), numbers_among(_S.id, "ids"), _UNSEEN)
    .order_by(_S.id)
)


class Text(NamedTuple):
    """The parts of a schema that have words."""

    key: Key
    type: SchemaType
    text: str
    metadata: Metadata | None


def folded(word: str, *, start: bool = False) -> bytes:
    """Return a word as the index stores it, in lower case; ``start`` marks the beginning of a word."""
    text = word.casefold()
    if len(text) > _LONGEST:
        cut = text[:_LONGEST]
        text = cut if start else cut + hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return text.encode(errors="replace")


def mark(snapshot: Snapshot) -> int | None:
    """Return the number of the last change whose schemas were indexed; None before all were indexed once."""
    found: int | None = snapshot.connection.execute(select(_M.sequence).where(_M.name == _MARK)).scalar()
    return found


def unread(snapshot: Snapshot, after: Key, limit: int) -> list[Key]:
    """List schemas that are not indexed, in the order of their keys."""
    statement = (
        select(_S.context, _S.id)
        .where(tuple_(_S.context, _S.id) > tuple_(*after), _UNSEEN)
        .order_by(_S.context, _S.id)
        .limit(limit)
    )
    return [(row.context, row.id) for row in snapshot.connection.execute(statement)]


def texts(snapshot: Snapshot, keys: Collection[Key]) -> list[Text]:
    """Read those of these schemas that exist and are not indexed."""
    found: list[Text] = []
    for context, some in groupby(sorted(keys), itemgetter(0)):
        values = {"context": context, "ids": [schema_id for _, schema_id in some]}
        for row in snapshot.connection.execute(_TEXTS, values):
            metadata = Metadata.from_body(json.loads(row.metadata)) if row.metadata else None
            found.append(Text((row.context, row.id), SchemaType(row.type), row.text, metadata))
    return found


def keep(transaction: Transaction, found: Mapping[Key, Iterable[Term]]) -> None:
    """Store the words of schemas that still exist, and that were not indexed meanwhile."""
    take_turns(transaction.connection)
    wanted = {one.key for one in texts(transaction, found.keys())}
    rows = [row for key in sorted(wanted) for row in _rows(key, found[key])]
    if rows:
        transaction.connection.execute(insert(tables.search_terms), rows)


def advance(transaction: Transaction, sequence: int) -> None:
    """Record that the schemas of all changes up to this one are indexed; never lowers the position."""
    take_turns(transaction.connection)
    known = mark(transaction)
    if known is None:
        transaction.connection.execute(insert(tables.marks).values(name=_MARK, sequence=sequence))
    elif known < sequence:
        transaction.connection.execute(update(tables.marks).where(_M.name == _MARK).values(sequence=sequence))


def _rows(key: Key, terms: Iterable[Term]) -> Iterable[dict[str, Any]]:
    yield _row(key, 0, {"kind": _SEEN, "folded": b"", "name": "", "path": ""})
    for position, term in enumerate(terms, 1):
        shown = {"name": _shown(term.name), "path": _shown(term.path)}
        yield _row(key, position, {"kind": term.kind.value, "folded": folded(term.key), **shown})


def _row(key: Key, position: int, word: Mapping[str, Any]) -> dict[str, Any]:
    context, schema_id = key
    return {"context": context, "schema_id": schema_id, "position": position, **word}


def _shown(text: str) -> str:
    return text[:_LONGEST_SHOWN].replace("\0", "�").encode(errors="replace").decode()
