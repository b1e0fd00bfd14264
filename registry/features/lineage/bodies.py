"""Response bodies of lineage."""

from __future__ import annotations

from typing import Any, Self

from msgspec import Struct, field

from contractlog.contracts.lineage.statements import LineageDataset
from contractlog.registry.features.lineage.queries import StoredEdge

__all__ = [
    "LineageEdgeBody",
    "LineageEdgesBody",
    "LineageEndBody",
    "LineageGraphBody",
    "LineageNodeBody",
    "LineageReceiptBody",
]


class LineageReceiptBody(Struct):
    """The numbers of events that were accepted, and of the edges that they state."""

    events: int  #: all events of the request
    ignored: int  #: events that state no lineage, such as those of runs that begin
    targets: int
    edges: int


class LineageEndBody(Struct, omit_defaults=True):
    """One end of an edge: a dataset, or a field of it."""

    namespace: str  #: of a topic, ``kafka://`` and a server of its cluster
    name: str
    field: str = ""  #: absent for the whole dataset

    @classmethod
    def of(cls, dataset: LineageDataset, field_name: str) -> Self:
        """Build the body."""
        return cls(dataset.namespace, dataset.name, field_name)


class LineageEdgeBody(Struct, omit_defaults=True, kw_only=True):
    """An edge, with the evidence for it."""

    source: LineageEndBody = field(name="from")
    target: LineageEndBody = field(name="to")
    evidence: str  #: declared, traced or values
    origin: str  #: the job as ``namespace/name``, ``contractlog audit``, or the producer of the event
    direction: str  #: known; unknown if the source may also have been made from the target
    method: str | None = None
    score: float | None = None
    support: int | None = None  #: rows that agree
    lag_ms: float | None = None  #: median
    lag_quantiles_ms: dict[str, float] | None = None
    first_seen: str | None = None  #: time of the first target record that shows the edge
    last_seen: str | None = None
    example: dict[str, dict[str, int]] | None = None  #: positions of two records
    description: str | None = None
    job: str | None = None  #: of a traced edge, the program that wrote the records, if headers name it
    transformations: list[dict[str, Any]] | None = None
    first_published_at: int  #: milliseconds since 1970, UTC
    last_published_at: int
    vanished_at: int | None = None  #: absent while its origin states the edge

    @classmethod
    def of(cls, edge: StoredEdge) -> Self:
        """Build the body."""
        details: dict[str, Any] = {"direction": "known", **edge.details}
        return cls(
            source=LineageEndBody.of(edge.pair.source, edge.pair.source_field),
            target=LineageEndBody.of(edge.target, edge.pair.target_field),
            evidence=edge.evidence,
            origin=edge.origin,
            **details,
            first_published_at=edge.first_published_at,
            last_published_at=edge.last_published_at,
            vanished_at=edge.vanished_at,
        )


class LineageNodeBody(Struct):
    """A dataset in a lineage graph."""

    namespace: str
    name: str
    topic: bool
    distance: int  #: steps from the requested topic; negative towards its sources


class LineageGraphBody(Struct):
    """The lineage around a topic."""

    nodes: list[LineageNodeBody]
    edges: list[LineageEdgeBody]
    truncated: bool  #: whether bounds left anything out


class LineageEdgesBody(Struct, omit_defaults=True):
    """A page of edges, in the order in which they appeared."""

    edges: list[LineageEdgeBody]
    next: int | None = None  #: `after` of the next page
