"""OpenLineage events of every kind are read by the most exact facet that they have."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidLineage
from contractlog.contracts.lineage import openlineage
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.contracts.lineage.openlineage import parse_event
from contractlog.spark_validation.lineage.edge_output import build_events

from support.lineage_events import (
    KAFKA,
    columns,
    dataset,
    dataset_event,
    event,
    explicit,
    full_edge,
    job_event,
    read_report_edges,
    report_edges,
    run_event,
    source,
    stated_edges,
)

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


def declared(*pairs: tuple[str, str], origin: str = "shop/enrich") -> set[tuple[str, str, str, str]]:
    return {(origin, start, end, "declared") for start, end in pairs}


def sorted_by_ends(edges: list[LineageEdge]) -> list[LineageEdge]:
    return sorted(edges, key=lambda edge: json.dumps([edge["to"], edge["from"], edge["evidence"]], sort_keys=True))


@given(report_edges())
def test_every_edge_of_an_audit_comes_back_from_its_events_without_loss(edges: list[LineageEdge]) -> None:
    events = json.loads(json.dumps(build_events(edges, KAFKA, NOW)))
    stated = [edge for edge in edges if (edge.get("evidence"), edge["direction"]) != ("traced", "unknown")]
    assert sorted_by_ends(read_report_edges(events)) == sorted_by_ends([full_edge(edge) for edge in stated])


def test_an_audited_topic_without_edges_has_an_event_that_says_so() -> None:
    (made,) = build_events([], KAFKA, NOW, topics=["orders"])
    (statement,) = parse_event(made)
    assert (statement.origin, statement.target.name, statement.evidence) == ("contractlog audit", "orders", "values")
    assert statement.edges == {}


def test_each_output_was_made_from_each_input_if_no_facet_says_more() -> None:
    made = job_event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("c"), dataset("a")])
    assert stated_edges(made) == declared(("a", "c"), ("b", "c"), ("b", "a"))


def test_column_lineage_counts_more_than_inputs() -> None:
    facet = columns({"id": [("a", "key"), ("b", "key")]}, whole=[("b", "valid")])
    made = run_event(inputs=[dataset("a"), dataset("z")], outputs=[dataset("c", columnLineage=facet), dataset("d")])
    expected = [("a.key", "c.id"), ("b.key", "c.id"), ("b.valid", "c"), ("a", "d"), ("z", "d")]
    assert stated_edges(made) == declared(*expected)


def test_an_explicit_facet_counts_more_than_columns() -> None:
    facets = {"lineage": explicit([source("a")], {"id": [source("b", "key")]}), "columnLineage": columns({"x": []})}
    made = job_event(inputs=[dataset("z")], outputs=[dataset("c", **facets)])
    assert stated_edges(made) == declared(("a", "c"), ("b.key", "c.id"))
    (described,) = [dataset_event("c", **facets)]
    producer = described["producer"]
    assert stated_edges(described) == declared(("a", "c"), ("b.key", "c.id"), origin=producer)


def test_an_explicit_facet_of_a_job_names_all_of_its_edges() -> None:
    entry = {"namespace": KAFKA, "name": "c", "type": "DATASET", "inputs": [source("a")]}
    facet = {"_producer": "p", "_schemaURL": "s", "entries": [entry]}
    made = job_event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("c"), dataset("d")], lineage=facet)
    assert stated_edges(made) == declared(("a", "c"))


def test_an_edge_from_a_job_is_an_edge_from_what_the_job_reads() -> None:
    own, other = {"type": "JOB"}, {"type": "JOB", "namespace": "shop", "name": "other"}
    entries = [
        {**other, "inputs": [source("a", "x"), source("b")]},
        {
            "namespace": KAFKA,
            "name": "c",
            "type": "DATASET",
            "inputs": [own, other],
            "fields": {"y": {"inputs": [other]}},
        },
    ]
    facet = {"_producer": "p", "_schemaURL": "s", "entries": entries}
    made = job_event(inputs=[dataset("z")], outputs=[dataset("c")], lineage=facet)
    assert stated_edges(made) == declared(("z", "c"), ("a.x", "c"), ("a.x", "c.y"), ("b", "c.y"))


@pytest.mark.parametrize("kind", ["START", "FAIL", "ABORT"])
def test_runs_that_begin_or_fail_state_nothing(kind: str) -> None:
    assert parse_event(run_event(kind, inputs=[dataset("a")], outputs=[dataset("b")])) == []


@pytest.mark.parametrize("kind", ["RUNNING", "COMPLETE", "OTHER", None])
def test_other_events_of_runs_count(kind: str | None) -> None:
    assert stated_edges(run_event(kind, inputs=[dataset("a")], outputs=[dataset("b")])) == declared(("a", "b"))


def test_datasets_that_are_no_topics_are_at_the_ends() -> None:
    made = job_event(inputs=[dataset("public.orders", "postgres://shop")], outputs=[dataset("orders")])
    assert stated_edges(made) == declared(("postgres://shop/public.orders", "orders"))
    (statement,) = parse_event(job_event(inputs=[dataset("a")], outputs=[dataset("no topic name!")]))
    assert statement.target.topic is None


def test_no_inputs_state_nothing_but_an_explicit_absence_does() -> None:
    assert parse_event(job_event(outputs=[dataset("b")])) == []
    assert parse_event(dataset_event("b")) == []
    assert parse_event(dataset_event("b", lineage=explicit())) == []
    for facet in (explicit([]), {**explicit(), "_deleted": True}):
        (statement,) = parse_event(dataset_event("b", lineage=facet))
        assert statement.edges == {}


def test_transformations_are_stored_with_long_descriptions_cut() -> None:
    change = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum " * 1_000, "masking": False}
    made = dataset_event("b", lineage=explicit(fields={"x": [source("a", "y", transformations=[change])]}))
    (statement,) = parse_event(made)
    ((stored,),) = [details["transformations"] for details in statement.edges.values()]
    assert stored == {**change, "description": ("sum " * 1_000)[:2_000]}


def test_evidence_of_other_producers_is_always_declared() -> None:
    edge: LineageEdge = {"from": {"topic": "a", "field": "x"}, "to": {"topic": "b", "field": "x"}, "direction": "known",
                         "method": "copy", "score": 1.0, "support": 9, "lag_ms": None}  # fmt: skip
    (made,) = build_events([edge], KAFKA, NOW)
    (statement,) = parse_event({**made, "producer": "https://example.org/other"})
    assert (statement.origin, statement.evidence) == ("https://example.org/other", "declared")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "it is not an object"),
        (event("JobEvent"), "it has neither `job` nor `dataset`"),
        ({**job_event(), "producer": None}, "`producer` is missing"),
        ({**job_event(), "eventTime": "2026-11-27"}, "`eventTime` is not a date and time"),
        ({**job_event(), "schemaURL": 7}, "`schemaURL` is not a text"),
        (run_event("DONE"), "`eventType` must be one of ABORT, COMPLETE"),
        ({**run_event(), "run": {}}, "`run.runId` is missing"),
        (job_event(outputs=[{"name": "a"}]), r"`outputs\[0\].namespace` is missing"),
        (job_event(outputs=[dataset("a" * 1_025)]), r"`outputs\[0\].name` must have 1 to 1,024 characters"),
        (job_event(inputs=[dataset("a\0")], outputs=[dataset("b")]), "has a character that is not allowed"),
        (job_event(inputs=[dataset("a\ud800")], outputs=[dataset("b")]), "has a character that is not allowed"),
        ({**job_event(), "outputs": {}}, "`outputs` is not a list"),
        (dataset_event("a", lineage=explicit([{**source("b"), "type": "TABLE"}])), "must be DATASET or JOB"),
        (dataset_event("a", lineage=explicit(fields={"": [source("b", "x")]})), "must have 1 to 1,024 characters"),
        (dataset_event("a", lineage={**explicit([]), "_deleted": "yes"}), "is neither true nor false"),
        (
            dataset_event("a", columnLineage={"fields": {"x": {"inputFields": [{"name": "b"}]}}}),
            "namespace` is missing",
        ),
        (
            dataset_event("a", lineage=explicit([source("b", transformations=[{"type": "DIRECT"}] * 17)])),
            "transformations` has more than 16 items",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_location(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidLineage, match=message):
        parse_event(wrong)


@pytest.mark.parametrize(
    "members",
    [
        {"evidence": "guessed"},
        {"score": "high"},
        {"score": True},
        {"support": -1},
        {"support": 2**63},
        {"lag_ms": float("nan")},
        {"lag_quantiles_ms": {"p05": 1}},
        {"first_seen": "yesterday"},
        {"example": {"from": {"partition": 0, "offset": 1}}},
        {"direction": "left"},
        {"namespace": None},
    ],
)
def test_figures_that_are_wrong_are_rejected(members: dict[str, Any]) -> None:
    edge: LineageEdge = {"from": {"topic": "a", "field": "x"}, "to": {"topic": "b", "field": "x"}, "direction": "known",
                         "method": "copy", "score": 1.0, "support": 9, "lag_ms": None}  # fmt: skip
    (made,) = build_events([edge], KAFKA, NOW)
    made["dataset"]["facets"]["contractlog_lineage"]["edges"][0].update(members)
    with pytest.raises(InvalidLineage, match=r"contractlog_lineage\.edges"):
        parse_event(made)


def test_work_is_bounded_by_edges_however_often_they_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openlineage, "MAX_EDGES", 100)
    many = [dataset(f"t{number}") for number in range(11)]
    reading = {"type": "JOB", "inputs": [source(f"t{number}") for number in range(11)]}
    writing = {"namespace": KAFKA, "name": "c", "type": "DATASET", "inputs": [{"type": "JOB"}] * 11}
    for made in (
        job_event(inputs=many, outputs=many),
        job_event(outputs=[dataset("c")], lineage={"entries": [reading, writing]}),
        dataset_event("c", lineage=explicit([source("a")] * 101)),
        dataset_event("c", columnLineage=columns({f"f{number}": [("a", "x")] * 11 for number in range(11)})),
    ):
        with pytest.raises(InvalidLineage, match="more than 100 edges; send its outputs in several events"):
            parse_event(made)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["namespace", "name", "type", "inputs", "fields", "entries", "field", "facets", "lineage",
                         "columnLineage", "inputFields", "transformations", "dataset", "_deleted"]),
        inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, JSON, JSON)
def test_any_json_is_read_or_rejected(job: Any, inputs: Any, outputs: Any) -> None:
    for made in (event("JobEvent", job=job, inputs=inputs, outputs=outputs), event("DatasetEvent", dataset=job), job):
        with suppress(InvalidLineage):
            parse_event(made)
