"""Bounds of a walk along lineage edges from a topic, which the registry applies and commands explain."""

from __future__ import annotations

from typing import Final

__all__ = ["GRAPH_BOUNDS", "MAX_DEPTH", "MAX_GRAPH_EDGES", "MAX_NODES"]

MAX_DEPTH: Final = 16  #: steps from the topic
MAX_NODES: Final = 1_000
MAX_GRAPH_EDGES: Final = 10_000
GRAPH_BOUNDS: Final = (
    f"a registry follows at most {MAX_DEPTH} steps, and shows {MAX_NODES:,} topics and {MAX_GRAPH_EDGES:,} edges"
)
