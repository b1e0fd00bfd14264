"""Extraction of search terms from a schema's text and metadata, without references or validation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.search_terms.avro import extract_avro_terms
from contractlog.compatibility.search_terms.json_schema import extract_json_terms
from contractlog.compatibility.search_terms.term import Term, TermKind

__all__ = ["MAX_TERMS", "extract_terms"]

MAX_TERMS: Final = 10_000  #: per schema
_MAX_OCCURRENCES: Final = 20  #: positions per schema that are listed for the same term
_EXTRACTORS: Final[Mapping[SchemaType, Callable[[Any], Iterator[Term]]]] = {
    SchemaType.AVRO: extract_avro_terms,
    SchemaType.JSON: extract_json_terms,
}


def extract_terms(schema_type: SchemaType, text: str, metadata: Metadata | None = None) -> Iterator[Term]:
    """Yield every search term of a schema, with a limit on repetitions of the same term.

    >>> terms = extract_terms(SchemaType.AVRO, '{"type":"array","items":"long"}')
    >>> [(term.kind.value, term.key, term.path) for term in terms]
    [('type', 'array', ''), ('type', 'long', '[]')]
    """
    occurrences: Counter[tuple[TermKind, str]] = Counter()
    count = 0
    for term in _unlimited_terms(schema_type, text, metadata):
        occurrences[term.kind, term.key] += 1
        if occurrences[term.kind, term.key] > _MAX_OCCURRENCES:
            continue
        yield term
        count += 1
        if count == MAX_TERMS:
            return


def _unlimited_terms(schema_type: SchemaType, text: str, metadata: Metadata | None) -> Iterator[Term]:
    if metadata is not None:
        yield from _metadata_terms(metadata)
    walk = _EXTRACTORS.get(schema_type)
    if walk is None:
        return
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return  # stored as submitted, and not valid JSON
    yield from walk(root)


def _metadata_terms(metadata: Metadata) -> Iterator[Term]:
    for name, value in metadata.properties.items():
        yield Term(TermKind.PROPERTY, name, name, "")
        if name not in metadata.sensitive:
            yield Term(TermKind.PROPERTY, f"{name}={value}", f"{name}={value}", "")
    for path, tags in metadata.tags.items():
        for tag in tags:
            yield Term(TermKind.TAG, tag, tag, path)
