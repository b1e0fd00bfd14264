"""Lineage edges from any source, with the topics and fields that it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["KnownLineage"]


@dataclass(frozen=True, slots=True)
class KnownLineage:
    """Lineage edges, and the topics that were looked at."""

    name: str  #: of the source, for messages
    edges: Sequence[LineageEdge]
    fields: Mapping[str, frozenset[str]]  #: known fields of each topic; those of edges are always known
    subjects: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)  #: topics and parts of subjects
    truncated: bool = False  #: the source has more edges, beyond its bounds

    @classmethod
    def of_edges(
        cls,
        name: str,
        edges: Sequence[LineageEdge],
        fields: Mapping[str, AbstractSet[str]] | None = None,
        subjects: Mapping[str, AbstractSet[tuple[str, str]]] | None = None,
        *,
        truncated: bool = False,
    ) -> KnownLineage:
        """Add the fields of edges to the fields that are known otherwise.

        Args:
            name: of the source.
            edges: the edges.
            fields: other known fields of topics.
            subjects: topics and parts of records whose schemas a subject has.
            truncated: the source has more edges.
        """
        every: dict[str, set[str]] = {topic: set(names) for topic, names in (fields or {}).items()}
        for edge in edges:
            for end in (edge["from"], edge["to"]):
                every.setdefault(end["topic"], set()).add(end["field"])
        return cls(
            name,
            edges,
            {topic: frozenset(names - {""}) for topic, names in every.items()},
            {subject: frozenset(topics) for subject, topics in (subjects or {}).items()},
            truncated,
        )
