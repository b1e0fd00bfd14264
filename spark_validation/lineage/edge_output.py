"""Lineage edges as text and as OpenLineage events.

OpenLineage has one dataset event per target topic, with an explicit lineage facet. Values show which topics were made
from which, not by which program; if headers name the program, there is an event of its job, too. Topics that only have
common traces are left out, as OpenLineage can only say that one was made from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from typing import Any, Final

from contractlog.clients.cli.output import align_columns
from contractlog.compatibility.text.number_text import format_duration
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.lineage.details_facet import DETAILS_FACET, build_details_facet
from contractlog.contracts.lineage.edges import Evidence, LineageEdge, is_traced, read_evidence
from contractlog.contracts.lineage.openlineage import OUR_PRODUCER
from contractlog.contracts.lineage.report_edges import split_report_edge
from contractlog.contracts.lineage.statements import FieldPair, LineageDataset
from contractlog.spark_validation.lineage.methods import METHODS, DerivationMethod

__all__ = [
    "EVENT_SCHEMA",
    "FACET_SCHEMA",
    "build_events",
    "format_edges",
    "kafka_namespace",
]

EVENT_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
FACET_SCHEMA: Final = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageDatasetFacet"

_HEADINGS: Final = {
    "known": "was made from",
    "unknown": "has the same rows at the same times as (direction unknown)",
}


def kafka_namespace(bootstrap_servers: str) -> str:
    """Return the namespace of a broker's topics, named by the first of its servers.

    >>> kafka_namespace("broker:9092,other:9092")
    'kafka://broker:9092'
    """
    server = bootstrap_servers.split(",", maxsplit=1)[0].strip().rpartition("://")[2]
    return f"kafka://{server}"


def build_events(
    edges: Iterable[LineageEdge], namespace: str, now: datetime, topics: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Return one event per target topic, by name.

    Args:
        edges: edges between topics.
        namespace: the namespace of the topics.
        now: the time of the events.
        topics: topics that have an event even if no edge leads to them: nothing was found that they were made from.

    Topics that merely have the same traces are left out: OpenLineage could only say that one was made from the other.
    """
    by_target: dict[str, list[LineageEdge]] = {topic: [] for topic in topics}
    for edge in edges:
        if not (is_traced(edge) and edge["direction"] == "unknown"):
            by_target.setdefault(edge["to"]["topic"], []).append(edge)
    evidence: set[Evidence] = {"values", *(read_evidence(edge) for group in by_target.values() for edge in group)}
    return [
        _build_event(LineageDataset(namespace, topic), by_target[topic], sorted(evidence), now)
        for topic in sorted(by_target)
    ]


def _build_event(
    target: LineageDataset, edges: Sequence[LineageEdge], covered: Sequence[Evidence], now: datetime
) -> dict[str, Any]:
    producer = f"{OUR_PRODUCER}{version('contractlog')}"
    namespace = target.namespace
    by_pair: dict[FieldPair, list[LineageEdge]] = {}
    for edge in edges:
        by_pair.setdefault(split_report_edge(edge, namespace)[0], []).append(edge)
    fields: dict[str, dict[str, list[dict[str, Any]]]] = {}
    whole: dict[LineageDataset, list[LineageEdge]] = {pair.source: [] for pair in by_pair}
    for pair, group in by_pair.items():
        if pair.target_field:
            fields.setdefault(pair.target_field, {"inputs": []})["inputs"].append(_build_input(pair, group))
        elif not pair.source_field:
            whole[pair.source] += group
    inputs = [_build_input(FieldPair(source, "", ""), whole[source]) for source in sorted(whole)]
    inputs += [
        _build_input(pair, group) for pair, group in by_pair.items() if pair.source_field and not pair.target_field
    ]
    facet = {
        "_producer": producer,
        "_schemaURL": FACET_SCHEMA,
        "inputs": inputs,
        "fields": fields,
    }
    details = [
        (pair, read_evidence(edge), split_report_edge(edge, namespace)[1]) for pair in by_pair for edge in by_pair[pair]
    ]
    return {
        "eventTime": now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "producer": producer,
        "schemaURL": EVENT_SCHEMA,
        "dataset": {
            "namespace": namespace,
            "name": target.name,
            "facets": {"lineage": facet, DETAILS_FACET: build_details_facet(producer, covered, details)},
        },
    }


def _build_input(pair: FieldPair, edges: Iterable[LineageEdge]) -> dict[str, Any]:
    transformations = [_build_transformation(edge) for edge in edges]
    return {
        "namespace": pair.source.namespace,
        "name": pair.source.name,
        "type": "DATASET",
        **({"field": pair.source_field} if pair.source_field else {}),
        **({"transformations": transformations} if transformations else {}),
    }


def _build_transformation(edge: LineageEdge) -> dict[str, Any]:
    if is_traced(edge):
        return {
            "type": "DIRECT",
            "description": f"traced in headers: {edge.get('description', '')}{_describe_lag(edge)}",
        }
    method = METHODS.get(edge["method"], DerivationMethod(edge["method"]))
    return {
        "type": "DIRECT",
        "subtype": method.subtype,
        "description": _describe_edge(edge, method),
        "masking": method.masking,
    }


def _describe_lag(edge: LineageEdge) -> str:
    return "" if edge["lag_ms"] is None else f", {edge['lag_ms']:.0f} ms later (median)"


def _describe_edge(edge: LineageEdge, method: DerivationMethod) -> str:
    derivation = f"{edge.get('description')}; " if edge.get("description") else ""
    description = f"{derivation}found in values: {method.label}, score {edge['score']}, {edge['support']} rows agree"
    description += _describe_lag(edge)
    if edge["direction"] == "unknown":
        description += ", direction unknown: both topics have the same rows at the same times"
    return description


def _describe_derivation(edge: LineageEdge) -> str:
    """Return the derivation in words, unless the method says all about it."""
    method = METHODS.get(edge["method"])
    return "" if method is not None and method.description else edge.get("description", "")


def format_edges(edges: Sequence[LineageEdge]) -> str:
    """Return the edges, which are sorted by target topic, as lines with aligned columns."""
    blocks = []
    labelled = any(read_evidence(edge) != "values" for edge in edges)
    for (topic, direction), group in groupby(edges, key=lambda edge: (edge["to"]["topic"], edge["direction"])):
        rows = align_columns([_format_edge(edge, labelled=labelled) for edge in group])
        blocks.append("\n  ".join([f"{escape_line(topic)} {_HEADINGS[direction]}", *rows]))
    return "\n\n".join(blocks)


def _format_edge(edge: LineageEdge, *, labelled: bool) -> tuple[str, ...]:
    source = ".".join(filter(None, (edge["from"]["topic"], edge["from"]["field"])))
    arrow = "<-" if edge["direction"] == "known" else "<->"
    ends = escape_line(edge["to"]["field"] or "(whole topic)"), escape_line(f"{arrow} {source}")
    evidence = read_evidence(edge)
    if evidence == "declared":
        return (*ends, evidence, "", "", "", "", "")
    lag = "" if edge["lag_ms"] is None else f"lag {format_duration(edge['lag_ms'])}"
    return (
        *ends,
        *((evidence,) if labelled else ()),
        edge["method"],
        f"score {edge['score']:.4f}",
        f"support {edge['support']}",
        lag if edge["direction"] == "known" else "",
        escape_line(_describe_derivation(edge)),
    )
