"""Edges are OpenLineage events that conform to its schemas."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from contractlog.contracts.lineage.details_facet import DETAILS_FACET
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.edge_output import (
    EVENT_SCHEMA,
    FACET_SCHEMA,
    build_events,
    format_edges,
    kafka_namespace,
)

from support.reports import traced_edge

NOW = datetime(2013, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))


def edge(source: str, target: str, method: str = "copy", lag_ms: float | None = 1500.0) -> LineageEdge:
    (from_topic, from_field), (to_topic, to_field) = source.split("/"), target.split("/")
    return {
        "from": {"topic": from_topic, "field": from_field},
        "to": {"topic": to_topic, "field": to_field},
        "direction": "known",
        "method": method,
        "score": 0.99,
        "support": 321,
        "lag_ms": lag_ms,
    }


EDGES = [
    edge("airports/name", "delayed/dest_name", "lookup", None),
    edge("departed/origin", "delayed/origin"),
    edge("departed/origin", "mirror/origin"),
]


def test_each_target_is_one_dataset_event_with_its_fields() -> None:
    made = build_events(EDGES, "kafka://broker:9092", NOW)
    assert [event["dataset"]["name"] for event in made] == ["delayed", "mirror"]
    first = made[0]
    assert (first["eventTime"], first["schemaURL"]) == ("2013-07-01T10:00:00Z", EVENT_SCHEMA)
    assert first["dataset"]["namespace"] == "kafka://broker:9092"
    facet = first["dataset"]["facets"]["lineage"]
    assert facet["_schemaURL"] == FACET_SCHEMA
    assert [source["name"] for source in facet["inputs"]] == ["airports", "departed"]
    assert set(facet["fields"]) == {"dest_name", "origin"}
    (source,) = facet["fields"]["origin"]["inputs"]
    assert (source["type"], source["name"], source["field"]) == ("DATASET", "departed", "origin")
    (change,) = source["transformations"]
    assert (change["type"], change["subtype"]) == ("DIRECT", "IDENTITY")
    assert "score 0.99, 321 rows agree, 1500 ms later" in change["description"]


def test_every_object_has_what_openlineage_requires() -> None:
    """As the 2-0-2 core and the 1-0-0 facet list them under ``required``."""
    for event in build_events(EDGES, "kafka://broker:9092", NOW):
        assert event.keys() >= {"eventTime", "producer", "schemaURL", "dataset"}
        assert ":" in event["producer"]
        assert datetime.fromisoformat(event["eventTime"]).tzinfo == UTC
        assert event["dataset"].keys() >= {"namespace", "name"}
        facet: dict[str, Any] = event["dataset"]["facets"]["lineage"]
        assert facet.keys() >= {"_producer", "_schemaURL"}
        inputs = [*facet["inputs"], *(source for field in facet["fields"].values() for source in field["inputs"])]
        assert all(source.keys() >= {"namespace", "name", "type"} for source in inputs)


def test_edges_traced_in_headers_are_inputs_of_the_topic_as_a_whole() -> None:
    edges = [*EDGES, traced_edge("orders", "delayed"), traced_edge("departed", "delayed")]
    delayed, _ = build_events(edges, "kafka://broker:9092", NOW)
    facet = delayed["dataset"]["facets"]["lineage"]
    airports, departed, orders = facet["inputs"]
    assert "transformations" not in airports
    assert orders == {
        "namespace": "kafka://broker:9092",
        "name": "orders",
        "type": "DATASET",
        "transformations": [
            {
                "type": "DIRECT",
                "description": "traced in headers: 1,234 records name it in the header `contractlog.origin`, "
                "1500 ms later (median)",
            }
        ],
    }
    assert departed["transformations"] == orders["transformations"]
    assert set(facet["fields"]) == {"dest_name", "origin"}


def test_the_job_that_headers_name_is_among_the_details() -> None:
    (event,) = build_events([traced_edge("orders", "paid", "pay")], "kafka://broker:9092", NOW)
    (details,) = event["dataset"]["facets"][DETAILS_FACET]["edges"]
    assert (details["name"], details["evidence"], details["job"]) == ("orders", "traced", "pay")


def test_topics_with_the_same_traces_are_no_lineage_in_openlineage() -> None:
    assert build_events([traced_edge("a", "b", directed=False)], "kafka://broker:9092", NOW) == []


def test_no_edges_are_no_events() -> None:
    assert build_events([], "kafka://broker:9092", NOW) == []


@pytest.mark.parametrize(
    ("servers", "namespace"),
    [
        ("broker:9092", "kafka://broker:9092"),
        ("one:1, two:2", "kafka://one:1"),
        ("PLAINTEXT://one:1", "kafka://one:1"),
    ],
)
def test_topics_are_named_by_the_first_server(servers: str, namespace: str) -> None:
    assert kafka_namespace(servers) == namespace


def test_text_tells_one_field_a_line_under_its_topic() -> None:
    assert format_edges(EDGES).splitlines() == [
        "delayed was made from",
        "  dest_name  <- airports.name    lookup  score 0.9900  support 321",
        "  origin     <- departed.origin  copy    score 0.9900  support 321  lag 1.5 s",
        "",
        "mirror was made from",
        "  origin  <- departed.origin  copy  score 0.9900  support 321  lag 1.5 s",
    ]


def test_text_has_the_derivation_of_a_function_in_words() -> None:
    linear: LineageEdge = {**edge("a/minutes", "b/hours", "linear"), "description": "hours = minutes / 60"}
    copied: LineageEdge = {**edge("a/x", "b/x"), "description": "x = x"}
    assert format_edges([linear, copied]).splitlines() == [
        "b was made from",
        "  hours  <- a.minutes  linear  score 0.9900  support 321  lag 1.5 s  hours = minutes / 60",
        "  x      <- a.x        copy    score 0.9900  support 321  lag 1.5 s",
    ]


def test_edges_of_a_mirror_have_no_direction() -> None:
    mirror: LineageEdge = {**edge("a/x", "b/x", lag_ms=0.0), "direction": "unknown"}
    assert format_edges([mirror]).splitlines() == [
        "b has the same rows at the same times as (direction unknown)",
        "  x  <-> a.x  copy  score 0.9900  support 321",
    ]
    (event,) = build_events([mirror], "kafka://broker:9092", NOW)
    (source,) = event["dataset"]["facets"]["lineage"]["fields"]["x"]["inputs"]
    assert "direction unknown" in source["transformations"][0]["description"]


@pytest.mark.parametrize(
    ("lag", "words"),
    [(0.0, "0 ms"), (999.0, "999 ms"), (90_000.0, "1.5 min"), (7_200_000.0, "2.0 h"), (2e8, "2.3 days")],
)
def test_lags_are_told_in_the_unit_that_fits(lag: float, words: str) -> None:
    assert format_edges([edge("a/x", "b/x", lag_ms=lag)]).endswith(f"lag {words}")
