"""Lineage edges as text and as OpenLineage events.

OpenLineage has one dataset event per target topic, with an explicit lineage facet. Values show which topics were made
from which, not by which program; if headers name the program, there is an event of its job, too. Topics that only have
common traces are left out, as OpenLineage can only say that one was made from the other.
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
from contractlog.spark_validation.lineage.traced_output import is_traced

__all__ = [
    "EVENT_SCHEMA",
    "FACET_SCHEMA",
    "JOB_EVENT_SCHEMA",
    "LIMITS_NOTE",
    "build_events",
    "format_edges",
    "kafka_namespace",
]

EVENT_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
JOB_EVENT_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"
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
    """Return one event per target topic, by name, and one per job that headers name."""
    by_target: dict[str, list[LineageEdge]] = {}
    by_job: dict[str, list[LineageEdge]] = {}
    for edge in edges:
        if is_traced(edge) and edge["direction"] == "unknown":
            continue
        by_target.setdefault(edge["to"]["topic"], []).append(edge)
        if edge.get("job"):
            by_job.setdefault(edge["job"], []).append(edge)
    common = {"eventTime": now.astimezone(UTC).isoformat().replace("+00:00", "Z"), "producer": _name_producer()}
    topics = [
        {**common, "schemaURL": EVENT_SCHEMA, "dataset": _build_dataset(topic, by_target[topic], namespace)}
        for topic in sorted(by_target)
    ]
    return topics + [common | _build_job(job, by_job[job], namespace) for job in sorted(by_job)]


def _name_producer() -> str:
    return f"urn:contractlog:{version('contractlog')}"


def _build_job(job: str, edges: Sequence[LineageEdge], namespace: str) -> dict[str, Any]:
    """Return an event's members for a job; the facet of each output has its own inputs."""
    targets = sorted({edge["to"]["topic"] for edge in edges})
    return {
        "schemaURL": JOB_EVENT_SCHEMA,
        "job": {"namespace": namespace, "name": job},
        "inputs": [
            {"namespace": namespace, "name": topic} for topic in sorted({edge["from"]["topic"] for edge in edges})
        ],
        "outputs": [
            _build_dataset(topic, [edge for edge in edges if edge["to"]["topic"] == topic], namespace)
            for topic in targets
        ],
    }


def _build_dataset(topic: str, edges: Sequence[LineageEdge], namespace: str) -> dict[str, Any]:
    sources = sorted({edge["from"]["topic"] for edge in edges})
    fields: dict[str, dict[str, list[dict[str, Any]]]] = {}
    traced: dict[str, list[LineageEdge]] = {}
    for edge in edges:
        if is_traced(edge):
            traced.setdefault(edge["from"]["topic"], []).append(edge)
        else:
            fields.setdefault(edge["to"]["field"], {"inputs": []})["inputs"].append(_build_input(edge, namespace))
    facet = {
        "_producer": _name_producer(),
        "_schemaURL": FACET_SCHEMA,
        "inputs": [_build_topic_input(source, traced.get(source, ()), namespace) for source in sources],
        "fields": fields,
    }
    return {"namespace": namespace, "name": topic, "facets": {"lineage": facet}}


def _build_topic_input(source: str, traced: Sequence[LineageEdge], namespace: str) -> dict[str, Any]:
    """Return a topic as an input of another as a whole, with what headers say about it."""
    whole = {"namespace": namespace, "name": source, "type": "DATASET"}
    if not traced:
        return whole
    descriptions = [f"traced in headers: {edge.get('description', '')}{_describe_lag(edge)}" for edge in traced]
    return {**whole, "transformations": [{"type": "DIRECT", "description": text} for text in descriptions]}


def _describe_lag(edge: LineageEdge) -> str:
    return "" if edge["lag_ms"] is None else f", {edge['lag_ms']:.0f} ms later (median)"


def _build_input(edge: LineageEdge, namespace: str) -> dict[str, Any]:
    method = edge["method"]
    description = (
        f"found in values: {_METHOD_LABELS[method]}, score {edge['score']}, {edge['support']} rows agree"
        f"{_describe_lag(edge)}"
    )
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
