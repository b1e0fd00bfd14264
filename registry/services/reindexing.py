"""Hashing stored schemas again, when a release writes contents down in another canonical form.

Ids, guids and texts stay: what changes is only by which hash a content is found. It happens when the tables are
brought to a release (``db upgrade``), so whoever changes the canonical form adds a migration, if an empty one.
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
    """Hash every schema again that an older form hashed, and return how many there were."""
    understanding = Understanding()
    done = 0
    while found := reindexing.outdated(transaction, form, _AT_ONCE):
        for held in found:
            context = held.subject.context if held.subject else DEFAULT_CONTEXT
            reindexing.rehash(transaction, context, held.schema_id, _hashes(transaction, understanding, held), form)
        done += len(found)
    return done


def _hashes(snapshot: Snapshot, understanding: Understanding, held: RegisteredSchema) -> tuple[str, str]:
    """Hash a content; what is not understood is known by its very text."""
    try:
        parsed = understanding.stored(snapshot, held)
    except InvalidSchema:
        return hashes_of(held.draft, held.text, held.text)
    return hashes_of(held.draft, held.text, parsed.normalized)
