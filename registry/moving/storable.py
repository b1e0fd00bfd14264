"""Limits of databases: no text with unpaired surrogates or NUL."""

from __future__ import annotations

from collections.abc import Iterator

from contractlog.registry.moving.picture import HeldSchema

__all__ = ["storable", "unstorable"]


def storable(text: str) -> bool:
    """Return whether every database can store this text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def unstorable(schema: HeldSchema) -> str | None:
    """Return why a database could not store a schema; None if all can."""
    if not all(storable(text) for text in _texts(schema)):
        return "the schema holds a NUL or half a character, which no database takes"
    return None


def _texts(schema: HeldSchema) -> Iterator[str]:
    yield schema.text
    yield schema.submitted or ""
    # Members that are stored as escaped JSON contain no such character; names of references are looked up.
    for reference in schema.references:
        yield reference.name
        yield reference.subject
