"""Statements about the sources of a dataset, and the edges that remain after a further statement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypedDict

from contractlog.contracts.lineage.edges import EdgeDirection, EdgeExample, Evidence, LagQuantiles

__all__ = [
    "EdgeDetails",
    "FieldPair",
    "LineageDataset",
    "LineageStatement",
    "Transformation",
    "apply_statement",
    "has_same_derivation",
]

KAFKA: Final = "kafka://"
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True, order=True)
class LineageDataset:
    """A topic, or anything else that OpenLineage names: a table, a folder of files."""

    namespace: str  #: of a topic, ``kafka://`` and the first of the cluster's bootstrap servers
    name: str

    @property
    def topic(self) -> str | None:
        """The name of the topic; None if this is none."""
        return self.name if self.namespace.startswith(KAFKA) and _TOPIC.fullmatch(self.name) else None

    @property
    def label(self) -> str:
        """The name of the topic, else namespace and name.

        >>> LineageDataset("kafka://broker:9092", "orders").label
        'orders'
        >>> LineageDataset("postgres://shop", "public.orders").label
        'postgres://shop/public.orders'
        """
        return self.topic or f"{self.namespace}/{self.name}"


class FieldPair(NamedTuple):
    """A field and the field that it was made from; an empty field stands for the whole dataset."""

    source: LineageDataset
    source_field: str
    target_field: str


class Transformation(TypedDict, total=False):
    """A transformation, as OpenLineage describes it."""

    type: str  # DIRECT or INDIRECT
    subtype: str  # such as IDENTITY, AGGREGATION, FILTER, JOIN
    description: str
    masking: bool


class EdgeDetails(TypedDict, total=False):
    """Facts about an edge beside its fields and its evidence; a declared edge often has none."""

    direction: EdgeDirection
    method: str
    score: float
    support: int
    lag_ms: float  # median
    lag_quantiles_ms: LagQuantiles
    first_seen: str
    last_seen: str
    example: EdgeExample
    description: str  # the derivation in words
    job: str  # the program that wrote the target's records, if headers name it
    transformations: list[Transformation]


@dataclass(frozen=True, slots=True)
class LineageStatement:
    """Everything that a job, or an audit, says about the sources of a dataset by one kind of evidence."""

    origin: str  #: the job as ``namespace/name``, ``contractlog audit``, or else the producer of the event
    target: LineageDataset
    evidence: Evidence
    edges: Mapping[FieldPair, EdgeDetails]
    names_fields: bool = True  #: False if only whole datasets could be named


def apply_statement(
    existing: Mapping[FieldPair, EdgeDetails], statement: LineageStatement
) -> dict[FieldPair, EdgeDetails]:
    """Return the edges after a statement, given those that its origin stated before about the same target.

    The statement replaces them. A statement that names no fields keeps the edges between fields whose source it names:
    jobs repeat their inputs in every event, and their columns only in some.
    """
    if statement.names_fields:
        return dict(statement.edges)
    sources = {pair.source for pair in statement.edges}
    kept = {pair: details for pair, details in existing.items() if pair.source in sources and any(pair[1:])}
    detailed = {pair.source for pair in kept}
    return kept | {pair: details for pair, details in statement.edges.items() if pair.source not in detailed}


def has_same_derivation(details: EdgeDetails, other: EdgeDetails) -> bool:
    """Return whether two statements describe the same derivation; figures, such as the score, may differ."""
    return all(
        details.get(name) == other.get(name) for name in ("direction", "method", "description", "transformations")
    )
