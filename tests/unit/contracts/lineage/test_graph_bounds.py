"""The bounds of a walk along lineage are stated where users read them."""

from __future__ import annotations

from pathlib import Path

from contractlog.contracts.lineage.graph_bounds import GRAPH_BOUNDS, MAX_DEPTH, MAX_GRAPH_EDGES, MAX_NODES

ROOT = Path(__file__).parents[4]


def test_documents_state_the_bounds() -> None:
    lineage = " ".join((ROOT / "docs" / "lineage.md").read_text().split())
    assert f"follows {MAX_DEPTH} steps, and shows {MAX_NODES:,} topics and {MAX_GRAPH_EDGES:,} edges" in lineage
    openapi = " ".join((ROOT / "openapi.yaml").read_text().replace("\\n", " ").split())
    assert f"At most {MAX_NODES:,} nodes, {MAX_GRAPH_EDGES:,} edges and {MAX_DEPTH} steps are returned" in openapi
    assert all(f"{bound:,}" in GRAPH_BOUNDS for bound in (MAX_DEPTH, MAX_NODES, MAX_GRAPH_EDGES))
