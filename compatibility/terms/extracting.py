"""Extraction of search terms from a schema's text and metadata, without references or validation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.contract import Metadata
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.terms.avro import avro_terms
from contractlog.compatibility.terms.json_schema import json_terms
from contractlog.compatibility.terms.words import Term, TermKind

__all__ = ["MOST_TERMS", "terms"]

MOST_TERMS: Final = 10_000  #: per schema
_MOST_ALIKE: Final = 20  #: positions per schema that are listed for the same term
_WALKS: Final[Mapping[SchemaType, Callable[[Any], Iterator[Term]]]] = {
    SchemaType.AVRO: avro_terms,
    SchemaType.JSON: json_terms,
}


def terms(schema_type: SchemaType, text: str, metadata: Metadata | None = None) -> Iterator[Term]:
    """Yield every search term of a schema, with a limit on repetitions of the same term.

    >>> [(term.kind.value, term.key, term.path) for term in terms(SchemaType.AVRO, '{"type":"array","items":"long"}')]
    [('type', 'array', ''), ('type', 'long', '[]')]
    """
    alike: Counter[tuple[TermKind, str]] = Counter()
    told = 0
    for term in _all(schema_type, text, metadata):
        alike[term.kind, term.key] += 1
        if alike[term.kind, term.key] > _MOST_ALIKE:
            continue
        yield term
        told += 1
        if told == MOST_TERMS:
            return


def _all(schema_type: SchemaType, text: str, metadata: Metadata | None) -> Iterator[Term]:
    if metadata is not None:
        yield from _of_metadata(metadata)
    walk = _WALKS.get(schema_type)
    if walk is None:
        return
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return  # stored as submitted, and not valid JSON
    yield from walk(root)


def _of_metadata(metadata: Metadata) -> Iterator[Term]:
    for name, value in metadata.properties.items():
        yield Term(TermKind.PROPERTY, name, name, "")
        if name not in metadata.sensitive:
            yield Term(TermKind.PROPERTY, f"{name}={value}", f"{name}={value}", "")
    for path, tags in metadata.tags.items():
        for tag in tags:
            yield Term(TermKind.TAG, tag, tag, path)
