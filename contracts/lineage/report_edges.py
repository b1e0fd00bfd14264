"""Edges of reports as statements about datasets, and the reverse."""

from __future__ import annotations

from typing import cast

from contractlog.contracts.lineage.edges import Evidence, LineageEdge, LineageMethod
from contractlog.contracts.lineage.statements import EdgeDetails, FieldPair, LineageDataset, Transformation

__all__ = ["make_report_edge", "split_report_edge"]

_ENDS = frozenset({"from", "to", "evidence"})


def split_report_edge(edge: LineageEdge, namespace: str) -> tuple[FieldPair, EdgeDetails]:
    """Return the fields and the details of an edge, without members that are null or empty strings.

    Args:
        edge: an edge between two topics.
        namespace: the namespace of both topics.
    """
    source = LineageDataset(namespace, edge["from"]["topic"])
    details = {name: value for name, value in edge.items() if name not in _ENDS and value is not None and value != ""}
    return FieldPair(source, edge["from"]["field"], edge["to"]["field"]), cast("EdgeDetails", details)


def make_report_edge(target: LineageDataset, pair: FieldPair, evidence: Evidence, details: EdgeDetails) -> LineageEdge:
    """Return an edge as reports have it.

    A declared edge has no figures: its method is ``declared``, its score 1, its support 0.
    """
    transformations = details.get("transformations", [])
    same_topic = pair.source.topic is not None and pair.source.topic == target.topic
    source = (
        f"{pair.source.namespace}/{pair.source.name}" if same_topic and pair.source != target else pair.source.label
    )
    edge: LineageEdge = {
        "from": {"topic": source, "field": pair.source_field},
        "to": {"topic": target.label, "field": pair.target_field},
        "direction": details.get("direction", "known"),
        "method": cast("LineageMethod", details.get("method", evidence)),
        "score": details.get("score", 1.0),
        "support": details.get("support", 0),
        "lag_ms": details.get("lag_ms"),
        "evidence": evidence,
    }
    description = details.get("description") or "; ".join(map(_describe_transformation, transformations))
    if description:
        edge["description"] = description
    if "lag_quantiles_ms" in details:
        edge["lag_quantiles_ms"] = details["lag_quantiles_ms"]
    if "first_seen" in details:
        edge["first_seen"] = details["first_seen"]
    if "last_seen" in details:
        edge["last_seen"] = details["last_seen"]
    if "job" in details:
        edge["job"] = details["job"]
    if "example" in details:
        edge["example"] = details["example"]
    return edge


def _describe_transformation(transformation: Transformation) -> str:
    kind = transformation.get("subtype") or transformation["type"]
    return ": ".join(filter(None, (kind, transformation.get("description"))))
