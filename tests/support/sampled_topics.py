"""Topics in memory, sampled as an audit samples them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.value_samples import FieldSample, make_design, merge_samples
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.sampling import sample_fields

__all__ = ["Column", "Record", "format_edges", "sample_topics"]

Record = tuple[int, Mapping[str, Any]]  #: timestamp in milliseconds, and value


@dataclass(frozen=True)
class Column:
    """The values of one field in a batch, without nulls."""

    field: str
    rows: npt.NDArray[np.int64]
    values: pa.Array[Any]


def sample_topics(topics: Mapping[str, Sequence[Record]], batch: int = 20_000, secret: str = "") -> AuditState:
    """Return the state of an audit of the topics, which contains only samples."""
    design = make_design(secret)
    samples: dict[tuple[str, str, str], FieldSample] = {}
    for topic, records in topics.items():
        for start in range(0, len(records), batch):
            batch_records = records[start : start + batch]
            times, offsets = np.array([time for time, _ in batch_records]), np.arange(start, start + len(batch_records))
            columns = _columns([value for _, value in batch_records])
            previous = {name[2]: sample for name, sample in samples.items() if name[0] == topic}
            sampled = sample_fields(columns, times, 0, offsets, design, secret=secret, previous=previous)
            for field, sample in sampled.items():
                key = topic, "value", field
                samples[key] = merge_samples(samples[key], sample) if key in samples else sample
    return AuditState(samples=samples)


def format_edges(edges: Sequence[LineageEdge]) -> set[tuple[str, str]]:
    """Return edges as ``topic.field`` pairs, source first."""
    return {(".".join(edge["from"].values()), ".".join(edge["to"].values())) for edge in edges}  # type: ignore[arg-type]


def _columns(values: Sequence[Mapping[str, Any]]) -> list[Column]:
    leaves_by_field: dict[str, tuple[list[int], list[Any]]] = {}
    for row, value in enumerate(values):
        for field, leaf in _leaves(value, ""):
            rows, leaves = leaves_by_field.setdefault(field, ([], []))
            rows.append(row)
            leaves.append(leaf)
    return [Column(field, np.array(rows), pa.array(leaves)) for field, (rows, leaves) in leaves_by_field.items()]


def _leaves(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, leaf in value.items():
        if isinstance(leaf, Mapping):
            yield from _leaves(leaf, f"{path}{name}.")
        elif leaf is not None:
            yield path + name, leaf
