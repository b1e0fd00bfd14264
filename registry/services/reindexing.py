"""Rehashing of stored schemas when a release changes the canonical form.

Ids, guids and texts stay; only the hashes by which contents are found change. It runs when the tables are upgraded
(``db upgrade``), so every change of the canonical form needs a migration, even if an empty one.
"""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identity import CANONICAL_FORM
from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.services.understanding import Understanding, hashes_of
from contractlog.registry.storage import reindexing
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.writes import Transaction

__all__ = ["reindex"]

_AT_ONCE: Final = 200  #: schemas that are read before they are hashed


def reindex(transaction: Transaction, *, form: int = CANONICAL_FORM) -> int:
    """Rehash every schema with hashes of an older form, and return their number."""
    understanding = Understanding()
    done = 0
    while found := reindexing.outdated(transaction, form, _AT_ONCE):
        for held in found:
            context = held.subject.context if held.subject else DEFAULT_CONTEXT
            reindexing.rehash(transaction, context, held.schema_id, _hashes(transaction, understanding, held), form)
        done += len(found)
    return done


def _hashes(snapshot: Snapshot, understanding: Understanding, held: RegisteredSchema) -> tuple[str, str]:
    """Hash a content; text that cannot be parsed is hashed as it is."""
    try:
        parsed = understanding.stored(snapshot, held)
    except InvalidSchema:
        return hashes_of(held.draft, held.text, held.text)
    return hashes_of(held.draft, held.text, parsed.normalized)
