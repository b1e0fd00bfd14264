"""Lineage edges as text and as OpenLineage events.

OpenLineage has one dataset event per target topic, with an explicit lineage facet. No job is named, since values show
which topics were made from which, not by which program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from typing import Any, Final

from contractlog.compatibility.terminal_text import escape_line
from contractlog.contracts.audit.number_text import format_duration
from contractlog.contracts.audit.report import LineageEdge, LineageMethod

__all__ = ["EVENT_SCHEMA", "FACET_SCHEMA", "LIMITS_NOTE", "build_events", "format_edges", "kafka_namespace"]

EVENT_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
FACET_SCHEMA: Final = "https://openlineage.io/spec/facets/1-0-0/LineageDatasetFacet.json#/$defs/LineageDatasetFacet"

_METHOD_LABELS: Final[Mapping[LineageMethod, str]] = {
    "aggregate": "aggregated by a key in windows of time",
    "bijection": "a conversion or masking: each value stands for one value of the source",
    "case": "the same text in another case, or with other spaces around it",
    "concatenation": "joined with other texts",
    "copy": "copied row by row",
    "digest": "a digest of the value",
    "function": "computed: equal values of the source have equal values",
    "linear": "a linear conversion",
    "lookup": "looked up by a shared key",
    "split": "a part of the text",
    "truncation": "the beginning or end of the text",
}
_SUBTYPES: Final[Mapping[LineageMethod, str]] = {
    "aggregate": "AGGREGATION",
    "copy": "IDENTITY",
    "lookup": "JOIN",
}
_MASKING: Final = frozenset({"digest"})
_HEADINGS: Final = {
    "known": "was made from",
    "unknown": "has the same rows at the same times as (direction unknown)",
}
LIMITS_NOTE: Final = (
    "Lineage covers fields that were copied row by row, looked up by a key, made by a common function, computed from\n"
    "one recurring field, or aggregated in windows of at most a day. Record keys are not covered yet."
)


def kafka_namespace(bootstrap_servers: str) -> str:
    """Return the namespace of a broker's topics, named by the first of its servers.

    >>> kafka_namespace("broker:9092,other:9092")
    'kafka://broker:9092'
    """
    server = bootstrap_servers.split(",", maxsplit=1)[0].strip().rpartition("://")[2]
    return f"kafka://{server}"


def build_events(edges: Iterable[LineageEdge], namespace: str, now: datetime) -> list[dict[str, Any]]:
    """Return one event per target topic, by name."""
    by_target: dict[str, list[LineageEdge]] = {}
    for edge in edges:
        by_target.setdefault(edge["to"]["topic"], []).append(edge)
    return [_build_event(topic, by_target[topic], namespace, now) for topic in sorted(by_target)]


def _build_event(topic: str, edges: Sequence[LineageEdge], namespace: str, now: datetime) -> dict[str, Any]:
    producer = f"urn:contractlog:{version('contractlog')}"
    sources = sorted({edge["from"]["topic"] for edge in edges})
    fields: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for edge in edges:
        fields.setdefault(edge["to"]["field"], {"inputs": []})["inputs"].append(_build_input(edge, namespace))
    facet = {
        "_producer": producer,
        "_schemaURL": FACET_SCHEMA,
        "inputs": [{"namespace": namespace, "name": source, "type": "DATASET"} for source in sources],
        "fields": fields,
    }
    return {
        "eventTime": now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "producer": producer,
        "schemaURL": EVENT_SCHEMA,
        "dataset": {"namespace": namespace, "name": topic, "facets": {"lineage": facet}},
    }


def _build_input(edge: LineageEdge, namespace: str) -> dict[str, Any]:
    lag = "" if edge["lag_ms"] is None else f", {edge['lag_ms']:.0f} ms later (median)"
    method = edge["method"]
    description = f"found in values: {_METHOD_LABELS[method]}, score {edge['score']}, {edge['support']} rows agree{lag}"
    if edge.get("description"):
        description = f"{edge.get('description')}; {description}"
    if edge["direction"] == "unknown":
        description += ", direction unknown: both topics have the same rows at the same times"
    transformation = {
        "type": "DIRECT",
        "subtype": _SUBTYPES.get(method, "TRANSFORMATION"),
        "description": description,
        "masking": method in _MASKING,
    }
    return {
        "namespace": namespace,
        "name": edge["from"]["topic"],
        "type": "DATASET",
        "field": edge["from"]["field"],
        "transformations": [transformation],
    }


def format_edges(edges: Sequence[LineageEdge]) -> str:
    """Return the edges, which are sorted by target topic, as lines with aligned columns."""
    blocks = []
    for topic, group in groupby(edges, key=lambda edge: edge["to"]["topic"]):
        edges_of_topic = list(group)
        lines = [_format_edge(edge) for edge in edges_of_topic]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        heading = _HEADINGS[edges_of_topic[0]["direction"]]
        blocks.append("\n".join([f"{escape_line(topic)} {heading}", *(f"  {row}".rstrip() for row in rows)]))
    return "\n\n".join(blocks)


def _format_edge(edge: LineageEdge) -> tuple[str, ...]:
    source = f"{edge['from']['topic']}.{edge['from']['field']}"
    lag = "" if edge["lag_ms"] is None else f"lag {format_duration(edge['lag_ms'])}"
    return (
        escape_line(edge["to"]["field"]),
        escape_line(f"{'<-' if edge['direction'] == 'known' else '<->'} {source}"),
        edge["method"],
        f"score {edge['score']:.4f}",
        f"support {edge['support']}",
        lag if edge["direction"] == "known" else "",
    )
