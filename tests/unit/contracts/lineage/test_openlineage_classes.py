"""Our events survive the generated classes of openlineage-python; events of those are read."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import column_lineage_dataset, lineage
from openlineage.client.serde import Serde

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.edge_output import build_events

from support.lineage_events import KAFKA, PRODUCER, RUN, report_edges, stated_edges
from support.openlineage_classes import to_dataset_event

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


@given(report_edges())
def test_our_events_are_parsed_into_the_generated_classes_and_serialised_again_equal(edges: list[LineageEdge]) -> None:
    for made in build_events(edges, KAFKA, NOW, topics=["without-edges"]):
        again = json.loads(Serde.to_json(to_dataset_event(json.loads(json.dumps(made)))))
        assert again == made


def test_events_of_jobs_made_by_the_generated_classes_are_read() -> None:
    column = column_lineage_dataset.InputField(KAFKA, "orders", "id")
    columns = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"order_id": column_lineage_dataset.Fields(inputFields=[column])}
    )
    outputs = [OutputDataset(KAFKA, "paid", facets={"columnLineage": columns}), OutputDataset(KAFKA, "all")]
    run = RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=NOW.isoformat(),
        run=Run(RUN["runId"]),
        job=Job("shop", "pay"),
        producer=PRODUCER,
        inputs=[InputDataset(KAFKA, "orders")],
        outputs=outputs,
    )
    expected = {("shop/pay", "orders.id", "paid.order_id", "declared"), ("shop/pay", "orders", "all", "declared")}
    assert stated_edges(json.loads(Serde.to_json(run))) == expected
    entry = lineage.LineageDatasetEntry(
        KAFKA, "paid", "DATASET", inputs=[lineage.LineageDatasetInput(KAFKA, "orders", "DATASET", field="id")]
    )
    job = Job("shop", "pay", facets={"lineage": lineage.LineageJobFacet(entries=[entry])})
    static = JobEvent(eventTime=NOW.isoformat(), job=job, producer=PRODUCER, outputs=outputs)
    assert stated_edges(json.loads(Serde.to_json(static))) == {
        ("shop/pay", "orders.id", "paid", "declared"),
        ("shop/pay", "orders.id", "paid.order_id", "declared"),
    }


def test_members_that_the_classes_do_not_have_are_noticed() -> None:
    (made,) = build_events([], KAFKA, NOW, topics=["orders"])
    with pytest.raises(AssertionError, match="has no"):
        to_dataset_event({**made, "colour": "red"})
