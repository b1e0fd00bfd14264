"""What a database takes: text without half characters and without NUL."""

from __future__ import annotations

from collections.abc import Iterator

from contractlog.registry.moving.picture import HeldSchema

__all__ = ["storable", "unstorable"]


def storable(text: str) -> bool:
    """Whether every database takes this text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def unstorable(schema: HeldSchema) -> str | None:
    """Say why no database takes a schema; None when all do. Numbers of its references must be numbers."""
    if not all(storable(text) for text in _texts(schema)):
        return "the schema holds a NUL or half a character, which no database takes"
    return None


def _texts(schema: HeldSchema) -> Iterator[str]:
    yield schema.text
    yield schema.submitted or ""
    # What is written as escaped JSON holds no such character as it is stored; names of references are looked up.
    for reference in schema.references:
        yield reference.name
        yield reference.subject
