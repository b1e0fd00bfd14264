"""Edges of lineage, as audits find them, reports contain them, and commands read them from a registry."""

from __future__ import annotations

from typing import Final, Literal, NotRequired, TypedDict

from contractlog.contracts.audit.record_position import RecordPosition

__all__ = [
    "EVIDENCE",
    "EdgeDirection",
    "EdgeExample",
    "Evidence",
    "LagQuantiles",
    "LineageEdge",
    "LineageField",
    "LineageMethod",
    "is_directed",
    "is_traced",
    "read_evidence",
]


class LineageField(TypedDict):
    """A field of a topic."""

    topic: str
    field: str  # empty for the topic as a whole, which edges traced in headers are about


EdgeDirection = Literal["known", "unknown"]
Evidence = Literal["declared", "traced", "values"]
LineageMethod = Literal[
    "aggregate",
    "bijection",
    "case",
    "concatenation",
    "copy",
    "declared",
    "digest",
    "function",
    "linear",
    "lookup",
    "origin",
    "split",
    "trace",
    "truncation",
]

# "from" is a keyword, hence the functional syntax.
EdgeExample = TypedDict("EdgeExample", {"from": RecordPosition, "to": RecordPosition})
"""A record of the target and the record of the source that it was made from."""


class LagQuantiles(TypedDict):
    """Quantiles of the time from a source record to the target record, in milliseconds."""

    p05: float
    p50: float
    p95: float


LineageEdge = TypedDict(
    "LineageEdge",
    {
        "from": LineageField,
        "to": LineageField,
        "direction": EdgeDirection,  # unknown: either of both may have been made from the other
        "method": LineageMethod,
        "score": float,
        "support": int,
        "lag_ms": float | None,  # median
        "evidence": NotRequired[Evidence],  # absent, as below, in reports of former versions: values
        "description": NotRequired[str],  # the derivation in words, such as "hours = minutes / 60"
        "lag_quantiles_ms": NotRequired[LagQuantiles | None],
        "first_seen": NotRequired[str],  # time of the first target record that shows the edge, RFC 3339
        "last_seen": NotRequired[str],
        "example": NotRequired[EdgeExample | None],
        "job": NotRequired[str],  # the program that wrote the target's records, if headers name it
    },
)

EVIDENCE: Final[tuple[Evidence, ...]] = ("declared", "traced", "values")


def read_evidence(edge: LineageEdge) -> Evidence:
    """Return the kind of evidence; edges of earlier releases have none, and were all found in values."""
    return edge.get("evidence", "values")


def is_traced(edge: LineageEdge) -> bool:
    """Return whether an edge is traced in headers, and so is about whole topics."""
    return read_evidence(edge) == "traced"


def is_directed(edge: LineageEdge) -> bool:
    """Return whether it is known which end was made from the other; in edges of earlier releases, it is."""
    return edge.get("direction", "known") == "known"
