"""Parser of OpenLineage events: the edges that they state.

An event may state lineage in three ways, of which the most exact one counts: the explicit ``lineage`` facets of jobs
and datasets, the facet ``columnLineage`` of an output, or inputs and outputs, of which each output was made from each
input. Events of contractlog have a facet of their own beside ``lineage``, with the evidence and figures of each edge.

Specifications: OpenLineage 2-0-2, LineageFacet 1-0-0, ColumnLineageDatasetFacet 1-2-0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from contractlog.compatibility.errors import InvalidLineage
from contractlog.contracts.audit.time_text import parse_timestamp
from contractlog.contracts.lineage.details_facet import DETAILS_FACET, DetailsFacet, parse_details_facet
from contractlog.contracts.lineage.edges import Evidence
from contractlog.contracts.lineage.event_values import EventValue
from contractlog.contracts.lineage.statements import (
    EdgeDetails,
    FieldPair,
    LineageDataset,
    LineageStatement,
    Transformation,
)

__all__ = [
    "AUDIT_ORIGIN",
    "MAX_EDGES",
    "MAX_TRANSFORMATIONS",
    "OUR_PRODUCER",
    "parse_event",
    "read_dataset",
    "read_transformations",
]

OUR_PRODUCER: Final = "urn:contractlog:"  #: start of the producer of our events; the release follows
AUDIT_ORIGIN: Final = "contractlog audit"
MAX_EDGES: Final = 5_000  #: of an event
MAX_TRANSFORMATIONS: Final = 16  #: of an edge
_MAX_DESCRIPTION: Final = 2_000  #: longer descriptions, such as statements of SQL, are cut
_COUNTED: Final = frozenset({"RUNNING", "COMPLETE", "OTHER"})
_IGNORED: Final = frozenset({"START", "ABORT", "FAIL"})

_Source = tuple[LineageDataset, str]  #: a dataset and its field; an empty field stands for the whole dataset
_Edges = dict[FieldPair, EdgeDetails]


def parse_event(event: object) -> list[LineageStatement]:
    """Return what an event states about each target; none if it states nothing.

    Events of runs that begin (START), or that may not have written their output (FAIL, ABORT), state nothing.

    Raises:
        InvalidLineage: it is not an OpenLineage event, or exceeds a limit.
    """
    value = EventValue(event)
    producer = value.get("producer").name()
    value.get("schemaURL").text()
    event_time = value.get("eventTime")
    if parse_timestamp(event_time.text()) is None or "T" not in event_time.text().upper():
        raise event_time.error("is not a date and time (RFC 3339)")
    if value.has("run") and not _is_counted(value):
        return []
    if value.has("job"):
        return list(_JobReader(value).read())
    if value.has("dataset"):
        return list(_read_static_dataset(value.get("dataset"), producer))
    raise value.error("has neither `job` nor `dataset`, so it is no OpenLineage event")


def _is_counted(event: EventValue) -> bool:
    event.get("run").get("runId").text()
    kind = event.get("eventType").text() if event.has("eventType") else "OTHER"
    if kind not in _COUNTED | _IGNORED:
        raise event.get("eventType").error(f"must be one of {', '.join(sorted(_COUNTED | _IGNORED))}")
    return kind in _COUNTED


def read_dataset(value: EventValue) -> LineageDataset:
    """Return the dataset that an object names.

    Raises:
        InvalidLineage: it names none.
    """
    return LineageDataset(value.get("namespace").name(), value.get("name").name())


def _facet(value: EventValue, name: str) -> EventValue | None:
    """Return a facet; None if the job or dataset does not have it."""
    facets = value.get("facets") if value.has("facets") else None
    return facets.get(name) if facets is not None and facets.has(name) else None


def _read_static_dataset(dataset: EventValue, producer: str) -> Iterator[LineageStatement]:
    """Yield the statements of an event about a dataset without a job."""
    target, edges = read_dataset(dataset), _FacetReader().read(dataset)
    if edges is None:
        return
    ours = producer.startswith(OUR_PRODUCER)
    facet = _facet(dataset, DETAILS_FACET) if ours else None
    if facet is None:
        yield LineageStatement(AUDIT_ORIGIN if ours else producer, target, "declared", edges)
    else:
        yield from _read_our_statements(target, edges, parse_details_facet(facet))


def _read_our_statements(target: LineageDataset, edges: _Edges, facet: DetailsFacet) -> Iterator[LineageStatement]:
    """Yield a statement for each kind of evidence that an event of contractlog covers."""
    by_evidence: dict[Evidence, _Edges] = {evidence: {} for evidence in facet.covered}
    for pair in edges:
        for evidence, details in facet.edges.get(pair, ()):
            by_evidence.setdefault(evidence, {})[pair] = details
    for evidence, stated in by_evidence.items():
        yield LineageStatement(AUDIT_ORIGIN, target, evidence, stated)


class _FacetReader:
    """Reads edges from the facets of datasets, and counts them."""

    def __init__(self, job_sources: Callable[[EventValue], Sequence[_Source]] | None = None) -> None:
        self._job_sources = job_sources
        self._count = 0

    def read(self, dataset: EventValue) -> _Edges | None:
        """Return the edges of a dataset's own facets; None if it has none that states lineage."""
        explicit = _facet(dataset, "lineage")
        if explicit is not None:
            return {} if explicit.flag("_deleted") else self.read_explicit(explicit)
        columns = _facet(dataset, "columnLineage")
        if columns is None:
            return None
        return {} if columns.flag("_deleted") else self._read_columns(columns)

    def read_explicit(self, facet: EventValue) -> _Edges | None:
        """Return the edges of a ``lineage`` facet or entry; None if it states nothing about sources."""
        fields = facet.members("fields")
        if not facet.has("inputs") and not fields:
            return None
        edges: _Edges = {}
        for target_field, entry in fields:
            for value in entry.items("inputs"):
                self._add_input(edges, value, target_field)
        detailed = {pair.source for pair in edges}
        whole: _Edges = {}
        for value in facet.items("inputs"):
            self._add_input(whole, value, "")
        # A source as a whole says nothing beside its fields.
        informative = {pair for pair in whole if pair.source_field or whole[pair] or pair.source not in detailed}
        return edges | {pair: whole[pair] for pair in whole if pair in informative}

    def add(self, edges: _Edges, pair: FieldPair, details: EdgeDetails) -> None:
        """Add an edge; if it was added before, add its transformations.

        Raises:
            InvalidLineage: the event has too many edges.
        """
        self._count += 1
        if self._count > MAX_EDGES:
            raise InvalidLineage(detail=f"it has more than {MAX_EDGES:,} edges; send its outputs in several events")
        former = edges.get(pair)
        edges[pair] = details if former is None else _join_transformations(former, details)

    def _add_input(self, edges: _Edges, value: EventValue, target_field: str) -> None:
        kind = value.get("type").text()
        if kind not in {"DATASET", "JOB"}:
            raise value.get("type").error("must be DATASET or JOB")
        details = read_transformations(value)
        if kind == "DATASET":
            self.add(edges, FieldPair(read_dataset(value), value.optional_name("field"), target_field), details)
        elif self._job_sources is not None:
            for source, source_field in self._job_sources(value):
                self.add(edges, FieldPair(source, source_field, target_field), details)

    def _read_columns(self, facet: EventValue) -> _Edges:
        """Return the edges of a ``columnLineage`` facet."""
        edges: _Edges = {}
        for target_field, entry in facet.members("fields"):
            # Facets before 1-2-0 describe the transformation of the field as a whole.
            former = _read_former_transformation(entry)
            for value in entry.items("inputFields"):
                self._add_column(edges, value, target_field, former)
        for value in facet.items("dataset"):
            self._add_column(edges, value, "", {})
        return edges

    def _add_column(self, edges: _Edges, value: EventValue, target_field: str, former: EdgeDetails) -> None:
        pair = FieldPair(read_dataset(value), value.get("field").name(), target_field)
        self.add(edges, pair, read_transformations(value) or former)


class _JobReader:
    """Reads the statements of a job or a run: each output by its most exact facet."""

    def __init__(self, event: EventValue) -> None:
        self._event = event
        self._job = read_dataset(event.get("job"))
        explicit = _facet(event.get("job"), "lineage")
        self._entries = [] if explicit is None or explicit.flag("_deleted") else list(explicit.items("entries"))
        self._is_explicit = explicit is not None
        inputs = dict.fromkeys(read_dataset(value) for value in event.items("inputs"))
        self._sources: dict[LineageDataset, dict[_Source, None]] = {}
        for entry in self._entries:
            if entry.get("type").text() == "JOB":
                self._add_job_entry(entry)
        self._sources.setdefault(self._job, dict.fromkeys((source, "") for source in inputs))
        self._inputs = list(inputs)
        self._facets = _FacetReader(lambda value: list(self._sources.get(self._job_name(value), ())))

    def read(self) -> Iterator[LineageStatement]:
        """Yield a statement about each target."""
        origin = f"{self._job.namespace}/{self._job.name}"
        targets = {read_dataset(output): output for output in self._event.items("outputs")}
        stated = self._read_explicit_edges(targets.values())
        for target, edges in stated.items():
            yield LineageStatement(origin, target, "declared", edges)
        # An explicit facet of the job names all its edges: outputs that it leaves out have no known source.
        for target in [] if self._is_explicit else [target for target in targets if target not in stated]:
            edges = {}
            for source in self._inputs:
                if source != target:
                    self._facets.add(edges, FieldPair(source, "", ""), {})
            if edges:
                yield LineageStatement(origin, target, "declared", edges, names_fields=False)

    def _read_explicit_edges(self, outputs: Iterable[EventValue]) -> dict[LineageDataset, _Edges]:
        """Return the edges of entries and facets, by target."""
        entries = [entry for entry in self._entries if entry.get("type").text() != "JOB"]
        edges_of = [(value, self._facets.read_explicit(value)) for value in entries]
        edges_of += [(value, self._facets.read(value)) for value in outputs]
        stated: dict[LineageDataset, _Edges] = {}
        for value, edges in edges_of:
            if edges is not None:
                stated.setdefault(read_dataset(value), {}).update(edges)
        return stated

    def _add_job_entry(self, entry: EventValue) -> None:
        """Record the datasets that a job reads.

        An edge from this job is replaced by edges from these datasets.
        """
        sources = self._sources.setdefault(self._job_name(entry), {})
        for value in entry.items("inputs"):
            if value.get("type").text() == "DATASET":
                sources[read_dataset(value), value.optional_name("field")] = None

    def _job_name(self, value: EventValue) -> LineageDataset:
        return read_dataset(value) if value.has("name") else self._job


def _join_transformations(details: EdgeDetails, other: EdgeDetails) -> EdgeDetails:
    transformations = [*details.get("transformations", ()), *other.get("transformations", ())]
    return {"transformations": transformations[:MAX_TRANSFORMATIONS]} if transformations else {}


def read_transformations(value: EventValue) -> EdgeDetails:
    """Return the details that have the transformations of an edge, if it has any.

    Raises:
        InvalidLineage: there are too many, or a member is wrong.
    """
    transformations = [_read_transformation(each) for each in value.items("transformations")]
    if len(transformations) > MAX_TRANSFORMATIONS:
        raise value.get("transformations").error(f"has more than {MAX_TRANSFORMATIONS} items")
    return {"transformations": transformations} if transformations else {}


def _read_transformation(value: EventValue) -> Transformation:
    transformation: Transformation = {"type": value.get("type").name()}
    if value.has("subtype"):
        transformation["subtype"] = value.get("subtype").name()
    if value.has("description"):
        transformation["description"] = value.get("description").text()[:_MAX_DESCRIPTION]
    if value.has("masking"):
        transformation["masking"] = value.flag("masking")
    return transformation


def _read_former_transformation(entry: EventValue) -> EdgeDetails:
    if not entry.has("transformationType"):
        return {}
    kind = entry.get("transformationType").name()
    transformation: Transformation = {"type": "DIRECT", "subtype": kind}
    if entry.has("transformationDescription"):
        transformation["description"] = entry.get("transformationDescription").text()[:_MAX_DESCRIPTION]
    return {"transformations": [transformation]}
