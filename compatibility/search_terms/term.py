"""Search terms and their positions in a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

__all__ = ["Term", "TermKind", "join_path", "tag_terms"]

_TAGS: Final = "confluent:tags"


class TermKind(StrEnum):
    """Kind of a search term."""

    FIELD = "field"
    TYPE = "type"
    TAG = "tag"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class Term:
    """A search term with its position in the schema."""

    kind: TermKind
    key: str  #: search key
    name: str  #: display name
    path: str  #: of the field, as ``customer.addresses[].street``; empty for the schema itself


def tag_terms(node: Mapping[str, Any], path: str) -> Iterator[Term]:
    """Yield the inline tags of a node."""
    tags = node.get(_TAGS)
    for tag in tags if isinstance(tags, list) else ():
        if isinstance(tag, str):
            yield Term(TermKind.TAG, tag, tag, path)


def join_path(path: str, name: str) -> str:
    """Return the path of a field within its parent."""
    return f"{path}.{name}" if path else name
