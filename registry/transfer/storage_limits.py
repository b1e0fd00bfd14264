"""Limits of databases: no text with unpaired surrogates or NUL."""

from __future__ import annotations

from collections.abc import Iterator

from contractlog.registry.transfer.snapshot import SnapshotSchema

__all__ = ["find_storage_problem", "is_storable"]


def is_storable(text: str) -> bool:
    """Return whether every database can store this text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def find_storage_problem(schema: SnapshotSchema) -> str | None:
    """Return why a database could not store a schema; None if all can."""
    if not all(is_storable(text) for text in _texts(schema)):
        return "the schema holds a NUL or half a character, which no database takes"
    return None


def _texts(schema: SnapshotSchema) -> Iterator[str]:
    yield schema.text
    yield schema.submitted or ""
    # Members that are stored as escaped JSON contain no such character; names of references are looked up.
    for reference in schema.references:
        yield reference.name
        yield reference.subject
