"""Fields that are made from a field, directly or via other topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from contractlog.contracts.lineage.edges import LineageEdge, LineageField, is_directed, read_evidence
from contractlog.contracts.lineage.field_paths import is_same_value

__all__ = ["ReachedField", "find_reached_fields"]


@dataclass(frozen=True, slots=True)
class ReachedField:
    """A field that a change reaches."""

    topic: str
    field: str  #: empty: the topic as a whole
    depth: int  #: number of edges from the changed field
    source: LineageField  #: the field one step before
    edge: LineageEdge  #: of those from the depth before, the one with the highest score

    @property
    def directed(self) -> bool:
        """False if the edge has no known direction, so that the change may not reach the field."""
        return is_directed(self.edge)

    @property
    def evidence(self) -> str:
        """The kind of evidence of the edge."""
        return read_evidence(self.edge)

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "topic": self.topic,
            "field": self.field,
            "depth": self.depth,
            "from": dict(self.source),
            "method": self.edge["method"],
            "evidence": self.evidence,
            "direction": "known" if self.directed else "unknown",
            "score": self.edge["score"],
            "support": self.edge["support"],
        }


def find_reached_fields(edges: Iterable[LineageEdge], topic: str, field: str) -> list[ReachedField]:
    """Return the fields that a change of a field reaches, each at its least depth, by depth and name.

    Changes of a record reach what is made from its fields, and the other way round. Edges without direction are
    followed both ways.

    Args:
        edges: the edges.
        topic: the topic of the changed field.
        field: its path; empty: all fields of the topic.
    """
    steps: dict[str, list[tuple[LineageField, LineageField, LineageEdge]]] = defaultdict(list)
    for edge in edges:
        steps[edge["from"]["topic"]].append((edge["from"], edge["to"], edge))
        if not is_directed(edge):
            steps[edge["to"]["topic"]].append((edge["to"], edge["from"], edge))
    reached: dict[tuple[str, str], ReachedField] = {}
    wave: Sequence[tuple[str, str]] = [(topic, field)]
    depth = 0
    while wave:
        depth += 1
        nearest: dict[tuple[str, str], ReachedField] = {}
        for changed_topic, changed in wave:
            for source, target, edge in steps[changed_topic]:
                key = target["topic"], target["field"]
                is_start = key[0] == topic and is_same_value(key[1], field)
                if key in reached or is_start or not is_same_value(source["field"], changed):
                    continue
                if key not in nearest or nearest[key].edge["score"] < edge["score"]:
                    nearest[key] = ReachedField(*key, depth, source, edge)
        reached |= nearest
        wave = sorted(nearest)
    return sorted(reached.values(), key=lambda each: (each.depth, each.topic, each.field))
