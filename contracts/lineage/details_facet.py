"""Custom facet of our OpenLineage events: the evidence and figures of each edge.

OpenLineage has no members for them. Absent figures are left out, not null, because OpenLineage clients drop members
that are null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.audit.time_text import parse_timestamp
from contractlog.contracts.lineage.edges import EVIDENCE, EdgeExample, Evidence, LagQuantiles
from contractlog.contracts.lineage.event_values import EventValue
from contractlog.contracts.lineage.statements import EdgeDetails, FieldPair, LineageDataset

__all__ = [
    "DETAILS_FACET",
    "DETAILS_SCHEMA",
    "DetailsFacet",
    "build_details_facet",
    "parse_details_facet",
    "read_edge_details",
    "read_edge_evidence",
]

DETAILS_FACET: Final = "contractlog_lineage"
DETAILS_SCHEMA: Final = "urn:contractlog:openlineage:ContractlogLineageDatasetFacet:1-0-0"
_MAX_OFFSET: Final = 2**63 - 1
_MAX_PARTITION: Final = 2**31 - 1
_DIRECTIONS: Final = ("known", "unknown")
_MAX_TEXT: Final = 2_000


@dataclass(frozen=True, slots=True)
class DetailsFacet:
    """Kinds of evidence that an event covers, and the details of each edge by evidence."""

    covered: tuple[Evidence, ...]  #: the event is complete for these kinds, even those without edges
    edges: Mapping[FieldPair, list[tuple[Evidence, EdgeDetails]]] = field(default_factory=dict)


def build_details_facet(
    producer: str, covered: Iterable[Evidence], edges: Iterable[tuple[FieldPair, Evidence, EdgeDetails]]
) -> dict[str, Any]:
    """Return the facet as JSON."""
    return {
        "_producer": producer,
        "_schemaURL": DETAILS_SCHEMA,
        "evidence": sorted(covered),
        "edges": [
            {
                "namespace": pair.source.namespace,
                "name": pair.source.name,
                **({"field": pair.source_field} if pair.source_field else {}),
                **({"target_field": pair.target_field} if pair.target_field else {}),
                "evidence": evidence,
                **details,
            }
            for pair, evidence, details in edges
        ],
    }


def parse_details_facet(facet: EventValue) -> DetailsFacet:
    """Parse the facet.

    Raises:
        InvalidLineage: a member is missing or wrong.
    """
    covered = tuple(read_edge_evidence(value) for value in facet.items("evidence"))
    edges: dict[FieldPair, list[tuple[Evidence, EdgeDetails]]] = {}
    for value in facet.items("edges"):
        source = LineageDataset(value.get("namespace").name(), value.get("name").name())
        pair = FieldPair(source, value.optional_name("field"), value.optional_name("target_field"))
        edges.setdefault(pair, []).append((read_edge_evidence(value.get("evidence")), read_edge_details(value)))
    return DetailsFacet(covered, edges)


def read_edge_evidence(value: EventValue) -> Evidence:
    """Return the kind of evidence that a value names.

    Raises:
        InvalidLineage: there is no such kind.
    """
    return cast("Evidence", _read_word(value, EVIDENCE))


def _read_word(value: EventValue, words: tuple[str, ...]) -> str:
    text = value.text()
    if text not in words:
        raise value.error(f"must be one of {', '.join(words)}")
    return text


def _read_position(value: EventValue) -> RecordPosition:
    return {
        "partition": value.get("partition").count(_MAX_PARTITION),
        "offset": value.get("offset").count(_MAX_OFFSET),
    }


def _read_quantiles(value: EventValue) -> LagQuantiles:
    return {"p05": value.get("p05").number(), "p50": value.get("p50").number(), "p95": value.get("p95").number()}


def _read_example(value: EventValue) -> EdgeExample:
    return {"from": _read_position(value.get("from")), "to": _read_position(value.get("to"))}


def _read_time(value: EventValue) -> str:
    if parse_timestamp(value.text()) is None:
        raise value.error("is not a date and time (RFC 3339)")
    return value.name()


_READERS: Final[Mapping[str, Callable[[EventValue], Any]]] = {
    "direction": lambda value: _read_word(value, _DIRECTIONS),
    "method": EventValue.name,
    "score": EventValue.number,
    "support": lambda value: value.count(_MAX_OFFSET),
    "lag_ms": EventValue.number,
    "lag_quantiles_ms": _read_quantiles,
    "first_seen": _read_time,
    "last_seen": _read_time,
    "example": _read_example,
    "job": EventValue.name,
    "description": lambda value: value.text()[:_MAX_TEXT],
}


def read_edge_details(value: EventValue) -> EdgeDetails:
    """Return the members of details that an edge has; others, of later releases, are ignored.

    Raises:
        InvalidLineage: a member is wrong.
    """
    return cast("EdgeDetails", {name: read(value.get(name)) for name, read in _READERS.items() if value.has(name)})
