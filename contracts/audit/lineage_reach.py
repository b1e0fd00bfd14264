"""Fields that are made from a field, directly or over other topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.contracts.audit.report import LineageEdge, LineageField

__all__ = ["ReachedField", "find_reached_fields", "is_same_value"]

_NESTING: Final = (".", "[", "{")  #: begin the rest of the path of a value that is in another one


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
        return self.edge.get("direction") != "unknown"

    @property
    def evidence(self) -> str:
        """The kind of evidence of the edge."""
        return self.edge.get("evidence", "values")

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "topic": self.topic,
            "field": self.field,
            "depth": self.depth,
            "from": dict(self.source),
            "method": self.edge["method"],
            "evidence": self.evidence,
            "direction": self.edge.get("direction", "known"),
            "score": self.edge["score"],
            "support": self.edge["support"],
        }


def is_same_value(field: str, other: str) -> bool:
    """Return whether two paths are of one value, or one of them is of a value in the other.

    >>> is_same_value("legs", "legs[].carrier"), is_same_value("legs[].carrier", "legs[].flight")
    (True, False)
    >>> is_same_value("leg", "legs"), is_same_value("", "legs")
    (False, True)
    """
    short, long = sorted((field, other), key=len)
    return not short or short == long or (long.startswith(short) and long[len(short)] in _NESTING)


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
        if edge.get("direction") == "unknown":
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
