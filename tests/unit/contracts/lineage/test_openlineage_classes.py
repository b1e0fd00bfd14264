"""Our events survive the generated classes of openlineage-python; events of those are read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import attr
import pytest
from hypothesis import given
from openlineage.client.event_v2 import (
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import column_lineage_dataset, lineage
from openlineage.client.generated.base import DatasetFacet, StaticDataset
from openlineage.client.serde import Serde

from contractlog.contracts.audit.report import LineageEdge
from contractlog.contracts.lineage.details_facet import DETAILS_FACET, DETAILS_SCHEMA
from contractlog.spark_validation.lineage.edge_output import build_events

from support.lineage_events import KAFKA, PRODUCER, RUN, report_edges, stated_edges

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


class DetailsFacet(DatasetFacet):
    """The base class of facets, for a facet that openlineage-python does not know."""

    @staticmethod
    def _get_schema() -> str:
        return DETAILS_SCHEMA


def structure(kind: Any, value: dict[str, Any], **members: Any) -> Any:
    """Make an object of a generated class: members that the JSON lacks are None, which is serialised as absent."""
    names = {each.name for each in attr.fields(kind)} - {"schemaURL", "_schemaURL"}
    unknown = value.keys() - names - {"schemaURL", "_schemaURL"}
    assert not unknown, f"{kind.__name__} has no {sorted(unknown)}"
    given = {name: members.get(name, value.get(name)) for name in names}
    return kind(**{name.lstrip("_") if name in {"_producer", "_deleted"} else name: given[name] for name in names})


def to_input(value: dict[str, Any]) -> lineage.LineageDatasetInput:
    changes = value.get("transformations")
    made = None if changes is None else [structure(lineage.LineageTransformation, change) for change in changes]
    return structure(lineage.LineageDatasetInput, value, transformations=made)


def to_dataset_event(value: dict[str, Any]) -> DatasetEvent:
    """Parse one of our events into the generated classes."""
    facets = value["dataset"]["facets"]
    assert facets.keys() == {"lineage", DETAILS_FACET}
    explicit = structure(
        lineage.LineageDatasetFacet,
        facets["lineage"],
        inputs=[to_input(each) for each in facets["lineage"]["inputs"]],
        fields={
            name: structure(lineage.LineageFieldEntry, entry, inputs=[to_input(each) for each in entry["inputs"]])
            for name, entry in facets["lineage"]["fields"].items()
        },
    )
    details = facets[DETAILS_FACET]
    custom = DetailsFacet(producer=details["_producer"]).with_additional_properties(
        **{name: each for name, each in details.items() if not name.startswith("_")}
    )
    dataset = structure(StaticDataset, value["dataset"], facets={"lineage": explicit, DETAILS_FACET: custom})
    return structure(DatasetEvent, value, dataset=dataset)


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
