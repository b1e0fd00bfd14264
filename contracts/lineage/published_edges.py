"""Edges stored by a registry, in the form that reports use, with origin and lifetime."""

from __future__ import annotations

from typing import Final, NotRequired, cast

from contractlog.contracts.audit.time_text import format_timestamp
from contractlog.contracts.lineage.details_facet import read_edge_details, read_edge_evidence
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.contracts.lineage.event_values import EventValue
from contractlog.contracts.lineage.openlineage import read_dataset, read_transformations
from contractlog.contracts.lineage.report_edges import make_report_edge
from contractlog.contracts.lineage.statements import FieldPair

__all__ = ["PublishedEdge", "parse_published_edge"]

_MAX_TIME: Final = 2**63 - 1


class PublishedEdge(LineageEdge):
    """An edge of a registry; times are ISO 8601 in UTC, by the clock of the registry."""

    origin: str  # the job as ``namespace/name``, ``contractlog audit``, or the producer of the event
    appeared: str  # when its origin stated it first
    last_published: str
    vanished: NotRequired[str]  # when its origin no longer stated it; absent while it does


def parse_published_edge(body: object) -> PublishedEdge:
    """Parse an edge as the API returns it.

    Raises:
        InvalidLineage: a member is missing or wrong.
    """
    value = EventValue(body)
    source, target = value.get("from"), value.get("to")
    pair = FieldPair(read_dataset(source), source.optional_name("field"), target.optional_name("field"))
    details = read_edge_details(value) | read_transformations(value)
    life = {
        "origin": value.get("origin").text(),
        "appeared": _read_time(value.get("first_published_at")),
        "last_published": _read_time(value.get("last_published_at")),
    }
    if value.has("vanished_at"):
        life["vanished"] = _read_time(value.get("vanished_at"))
    edge = make_report_edge(read_dataset(target), pair, read_edge_evidence(value.get("evidence")), details)
    return cast("PublishedEdge", {**edge, **life})


def _read_time(value: EventValue) -> str:
    return format_timestamp(value.count(_MAX_TIME))
