"""Events of contractlog as objects of the generated classes of openlineage-python."""

from __future__ import annotations

from typing import Any

import attr
from openlineage.client.event_v2 import DatasetEvent
from openlineage.client.facet_v2 import lineage
from openlineage.client.generated.base import DatasetFacet, StaticDataset

from contractlog.contracts.lineage.details_facet import DETAILS_FACET, DETAILS_SCHEMA


class DetailsFacet(DatasetFacet):
    """The base class of facets, for a facet that openlineage-python does not know."""

    @staticmethod
    def _get_schema() -> str:
        return DETAILS_SCHEMA


def structure(kind: Any, value: dict[str, Any], **members: Any) -> Any:
    """Make an object of a generated class; members that the JSON lacks are None: serialised as absent."""
    names = {each.name for each in attr.fields(kind)} - {"schemaURL", "_schemaURL"}
    unknown = value.keys() - names - {"schemaURL", "_schemaURL"}
    assert not unknown, f"{kind.__name__} has no {sorted(unknown)}"
    given = {name: members.get(name, value.get(name)) for name in names}
    return kind(**{name.lstrip("_") if name in {"_producer", "_deleted"} else name: given[name] for name in names})


def to_input(value: dict[str, Any]) -> lineage.LineageDatasetInput:
    changes = value.get("transformations")
    transformations = (
        None if changes is None else [structure(lineage.LineageTransformation, change) for change in changes]
    )
    return structure(lineage.LineageDatasetInput, value, transformations=transformations)


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
