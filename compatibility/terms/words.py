"""The words of a schema, and the places where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

__all__ = ["Term", "TermKind", "joined", "tagged"]

_TAGS: Final = "confluent:tags"


class TermKind(StrEnum):
    """What a word is in its schema."""

    FIELD = "field"
    TYPE = "type"
    TAG = "tag"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a schema, and where it stands."""

    kind: TermKind
    key: str  #: what is searched for
    name: str  #: what is shown
    path: str  #: of the field, as ``customer.addresses[].street``; empty for the schema itself


def tagged(node: Mapping[str, Any], path: str) -> Iterator[Term]:
    """Yield the tags that stand in a schema's own text."""
    tags = node.get(_TAGS)
    for tag in tags if isinstance(tags, list) else ():
        if isinstance(tag, str):
            yield Term(TermKind.TAG, tag, tag, path)


def joined(path: str, name: str) -> str:
    """Name a field within what it stands in."""
    return f"{path}.{name}" if path else name
