"""Graph of topics: one link per pair of topics, kind of evidence and direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Final

from contractlog.contracts.lineage.edges import Evidence, LineageEdge, is_directed, read_evidence

__all__ = ["TopicLink", "link_topics"]

_MIN_WIDTH: Final = 1.0
_MAX_WIDTH: Final = 6.0
_TENFOLD: Final = 0.8  #: pixels for each tenfold support


@dataclass(frozen=True, slots=True)
class TopicLink:
    """All edges of one kind between the fields of two topics."""

    source: str
    target: str
    evidence: Evidence
    directed: bool  #: False: either topic may have been made from the other
    edges: tuple[LineageEdge, ...]

    @property
    def support(self) -> int:
        """The largest support of an edge."""
        return max(edge["support"] for edge in self.edges)

    @property
    def width(self) -> float:
        """Thickness of the line, which grows with the logarithm of the support."""
        return round(min(_MAX_WIDTH, _MIN_WIDTH + _TENFOLD * log10(max(self.support, 1))), 2)


def link_topics(edges: Sequence[LineageEdge]) -> list[TopicLink]:
    """Return the links, by the names of topics."""
    merged: dict[tuple[str, str, Evidence, bool], list[LineageEdge]] = defaultdict(list)
    for edge in edges:
        source, target = edge["from"]["topic"], edge["to"]["topic"]
        merged[source, target, read_evidence(edge), is_directed(edge)].append(edge)
    return [
        TopicLink(*key, tuple(sorted(group, key=lambda edge: (edge["to"]["field"], edge["from"]["field"]))))
        for key, group in sorted(merged.items())
    ]
