"""Sentences about lineage edges: how a field was made, how that is known, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.contracts.lineage.edges import Evidence, LineageEdge, is_directed
from contractlog.spark_validation.lineage.methods import describe_method
from contractlog.spark_validation.report.formatters import format_count, format_duration, format_plural, format_time
from contractlog.spark_validation.report.lineage_page.topic_graph import TopicLink

__all__ = [
    "EVIDENCE_LABELS",
    "describe_example",
    "describe_lag",
    "describe_link",
    "describe_method",
    "describe_times",
    "name_field",
]

EVIDENCE_LABELS: Final[Mapping[Evidence, str]] = {
    "declared": "declared by an OpenLineage event or by the configuration of a job",
    "traced": "traced by the headers of records",
    "values": "proven by the values of records",
}
WHOLE_TOPIC: Final = "(whole topic)"


def name_field(field: str) -> str:
    """Return the name of a field; evidence may be about a topic as a whole, which has none."""
    return field or WHOLE_TOPIC


def describe_lag(edge: LineageEdge) -> str:
    """Return how much later than the source the target was written; empty if it is not known."""
    quantiles = edge.get("lag_quantiles_ms")
    if quantiles:
        low, median, high = (format_duration(quantiles[name]) for name in ("p05", "p50", "p95"))
        return f"median {median}; 5 % within {low}, 95 % within {high}"
    if edge["lag_ms"] is None or not is_directed(edge):
        return ""
    return f"median {format_duration(edge['lag_ms'])}"


def describe_times(edge: LineageEdge) -> str:
    """Return when records showed the edge; empty if it is not known."""
    first, last = edge.get("first_seen"), edge.get("last_seen")
    if first and last:
        return f"{format_time(first)} to {format_time(last)}"
    return f"since {format_time(first)}" if first else f"until {format_time(last)}" if last else ""


def describe_example(edge: LineageEdge) -> str:
    """Return two records that a person can compare; empty if none is known."""
    example = edge.get("example")
    if not example:
        return ""
    source, target = example["from"], example["to"]
    return (
        f"offset {target['offset']} of partition {target['partition']} in {edge['to']['topic']} was made from "
        f"offset {source['offset']} of partition {source['partition']} in {edge['from']['topic']}"
    )


def describe_link(link: TopicLink) -> str:
    """Return a link in one line, for its title."""
    fields = format_plural(len({edge["to"]["field"] for edge in link.edges}), "field")
    support = f"support up to {format_count(link.support)}"
    if link.directed:
        return f"{link.target} was made from {link.source}: {fields}, {EVIDENCE_LABELS[link.evidence]}, {support}"
    return f"{link.source} and {link.target}, direction unknown: {fields}, {EVIDENCE_LABELS[link.evidence]}, {support}"
