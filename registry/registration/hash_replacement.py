"""Rehashing of stored schemas when a release changes the canonical form.

Ids, guids and texts stay; only the hashes by which contents are found change. It runs when the tables are upgraded
(``db upgrade``), so every change of the canonical form needs a migration, even if an empty one.
"""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.content_identity import CANONICAL_FORM
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.registration.candidate import hash_draft
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.storage import outdated_hashes
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["replace_outdated_hashes"]

_BATCH_SIZE: Final = 200  #: schemas that are read before they are hashed


def replace_outdated_hashes(transaction: Transaction, *, form: int = CANONICAL_FORM) -> int:
    """Rehash every schema with hashes of an older form, and return their number."""
    parser = SchemaParser()
    done = 0
    while outdated := outdated_hashes.find_outdated(transaction, form, _BATCH_SIZE):
        for schema in outdated:
            context = schema.subject.context if schema.subject else DEFAULT_CONTEXT
            outdated_hashes.update_hashes(
                transaction, context, schema.schema_id, _hash_stored(transaction, parser, schema), form
            )
        done += len(outdated)
    return done


def _hash_stored(snapshot: Snapshot, parser: SchemaParser, schema: RegisteredSchema) -> tuple[str, str]:
    """Hash the content of a schema; text that cannot be parsed is hashed as it is."""
    try:
        parsed = parser.parse_stored(snapshot, schema)
    except InvalidSchema:
        return hash_draft(schema.draft, schema.text, schema.text)
    return hash_draft(schema.draft, schema.text, parsed.normalized)
