"""OpenLineage events and edges for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.contracts.lineage.openlineage import parse_event
from contractlog.contracts.lineage.report_edges import make_report_edge

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

KAFKA: Final = "kafka://broker:9092"
CORE: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
FACETS: Final = "https://openlineage.io/spec/facets/"
PRODUCER: Final = "https://example.org/jobs"
RUN: Final = {"runId": "0198f3d2-7a10-7c53-b6b1-3d6a0a7f1c11"}


def dataset(name: str, namespace: str = KAFKA, **facets: Any) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, **({"facets": facets} if facets else {})}


def source(name: str, field: str = "", namespace: str = KAFKA, **members: Any) -> dict[str, Any]:
    """Return an input of an explicit facet."""
    named = {"namespace": namespace, "name": name, "type": "DATASET"}
    return {**named, **({"field": field} if field else {}), **members}


def explicit(inputs: Sequence[Any] | None = None, fields: Mapping[str, Sequence[Any]] | None = None) -> dict[str, Any]:
    """Return an explicit facet of a dataset."""
    facet: dict[str, Any] = {
        "_producer": PRODUCER,
        "_schemaURL": f"{FACETS}1-0-0/LineageFacet.json#/$defs/LineageDatasetFacet",
    }
    if inputs is not None:
        facet["inputs"] = list(inputs)
    return {**facet, "fields": {field: {"inputs": list(sources)} for field, sources in (fields or {}).items()}}


def columns(fields: Mapping[str, Sequence[tuple[str, str]]], whole: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return a columnLineage facet."""

    def name(topic: str, field: str) -> dict[str, Any]:
        return {"namespace": KAFKA, "name": topic, "field": field}

    return {
        "_producer": PRODUCER,
        "_schemaURL": f"{FACETS}1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
        "fields": {field: {"inputFields": [name(*each) for each in sources]} for field, sources in fields.items()},
        "dataset": [name(*each) for each in whole],
    }


def event(kind: str, **members: Any) -> dict[str, Any]:
    shared = {"eventTime": "2026-11-27T10:00:00Z", "producer": PRODUCER, "schemaURL": f"{CORE}{kind}"}
    return {**shared, **members}


def job_event(
    name: str = "enrich", *, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), **facets: Any
) -> dict[str, Any]:
    job = {"namespace": "shop", "name": name, **({"facets": facets} if facets else {})}
    return event("JobEvent", job=job, inputs=list(inputs), outputs=list(outputs))


def run_event(kind: str | None = "COMPLETE", **members: Any) -> dict[str, Any]:
    job = job_event(**members)
    return {**job, "schemaURL": f"{CORE}RunEvent", "run": RUN, **({"eventType": kind} if kind else {})}


def dataset_event(name: str, namespace: str = KAFKA, **facets: Any) -> dict[str, Any]:
    return event("DatasetEvent", dataset=dataset(name, namespace, **facets))


def stated_edges(events: Any) -> set[tuple[str, str, str, str]]:
    """Return what events state, as origin, source, target and evidence."""
    return {
        (
            statement.origin,
            ".".join(filter(None, (pair.source.label, pair.source_field))),
            ".".join(filter(None, (statement.target.label, pair.target_field))),
            statement.evidence,
        )
        for each in ([events] if isinstance(events, dict) else events)
        for statement in parse_event(each)
        for pair in statement.edges
    }


def read_report_edges(events: Sequence[Any]) -> list[LineageEdge]:
    """Return the edges that events state, as reports have them."""
    return [
        make_report_edge(statement.target, pair, statement.evidence, details)
        for each in events
        for statement in parse_event(each)
        for pair, details in statement.edges.items()
    ]


def full_edge(edge: LineageEdge) -> LineageEdge:
    """Return an edge as it is read back: with its evidence, and without optional members that are null."""
    kept = {name: value for name, value in edge.items() if value is not None or name == "lag_ms"}
    return {"evidence": "values", **kept}  # type: ignore[typeddict-item]


def report_edges() -> SearchStrategy[list[LineageEdge]]:
    """Return edges as audits find them, with any of the optional members."""
    from hypothesis import strategies as st

    topics = st.from_regex(r"[A-Za-z0-9._-]{1,9}", fullmatch=True)
    fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
    ends = st.fixed_dictionaries({"topic": topics, "field": fields})
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    positions = st.fixed_dictionaries({"partition": st.integers(0, 2**31 - 1), "offset": st.integers(0, 2**63 - 1)})
    times = st.datetimes().map(lambda at: f"{at.isoformat()}Z")
    edge = st.fixed_dictionaries(
        {
            "from": ends,
            "to": ends,
            "direction": st.sampled_from(["known", "unknown"]),
            "method": st.sampled_from(["copy", "lookup", "bijection", "function", "sum"]),
            "score": st.floats(0, 1),
            "support": st.integers(0, 2**63 - 1),
            "lag_ms": st.none() | numbers,
        },
        optional={
            "evidence": st.sampled_from(["traced", "values"]),
            "description": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50),
            "lag_quantiles_ms": st.none() | st.fixed_dictionaries({"p05": numbers, "p50": numbers, "p95": numbers}),
            "first_seen": times,
            "last_seen": times,
            "job": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9),
            "example": st.none() | st.fixed_dictionaries({"from": positions, "to": positions}),
        },
    )

    def identity(edge: LineageEdge) -> tuple[str, ...]:
        ends = (edge["from"]["topic"], edge["from"]["field"], edge["to"]["topic"], edge["to"]["field"])
        return (*ends, edge.get("evidence", "values"))

    return st.lists(edge, max_size=8, unique_by=identity)  # type: ignore[arg-type]
