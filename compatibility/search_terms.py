"""Search terms of schemas: fields, types, tags and properties, with their positions in the schema."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.tags import read_tags

__all__ = ["MAX_TERMS", "Term", "TermKind", "limit_terms", "list_metadata_terms", "load_json", "tag_terms"]

MAX_TERMS: Final = 10_000  #: per schema
_MAX_OCCURRENCES: Final = 20  #: positions per schema that are listed for the same term


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


def load_json(text: str) -> Any:
    """Parse a schema text without validation; None if it is stored as submitted and not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def tag_terms(node: Mapping[str, Any], path: str) -> Iterator[Term]:
    """Yield the inline tags of a node."""
    for tag in read_tags(node):
        yield Term(TermKind.TAG, tag, tag, path)


def list_metadata_terms(metadata: Metadata) -> Iterator[Term]:
    """Yield the names and values of properties, without sensitive values, and the tags."""
    for name, value in metadata.properties.items():
        yield Term(TermKind.PROPERTY, name, name, "")
        if name not in metadata.sensitive:
            yield Term(TermKind.PROPERTY, f"{name}={value}", f"{name}={value}", "")
    for path, tags in metadata.tags.items():
        for tag in tags:
            yield Term(TermKind.TAG, tag, tag, path)


def limit_terms(terms: Iterable[Term]) -> Iterator[Term]:
    """Yield the terms up to the limit, and each of them only for its first positions."""
    occurrences: Counter[tuple[TermKind, str]] = Counter()
    count = 0
    for term in terms:
        occurrences[term.kind, term.key] += 1
        if occurrences[term.kind, term.key] > _MAX_OCCURRENCES:
            continue
        yield term
        count += 1
        if count == MAX_TERMS:
            return
