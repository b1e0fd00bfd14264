"""Edges of a report, with what the rows that prove them show: lag, first and last record, an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from contractlog.contracts.audit.time_text import format_timestamp
from contractlog.contracts.lineage.edges import EdgeDirection, EdgeExample, LagQuantiles, LineageEdge, LineageMethod
from contractlog.spark_validation.lineage.alignment import RowPairs
from contractlog.spark_validation.lineage.methods import METHODS
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic

__all__ = ["FieldEdge", "build_edge"]

QUANTILES: Final = (0.05, 0.5, 0.95)


@dataclass(frozen=True, slots=True)
class FieldEdge:
    """A target field that was made from a source field."""

    method: LineageMethod
    source: str
    target: str
    score: float
    support: int  #: number of rows that agree
    rows: RowPairs  #: rows that show the edge


def build_edge(
    source: SampledTopic,
    target: SampledTopic,
    edge: FieldEdge,
    *,
    direction: EdgeDirection = "known",
    description: str = "",
    timed: bool = True,
) -> LineageEdge:
    """Return the edge of a report.

    Args:
        source: the topic of the source field.
        target: the topic of the target field.
        edge: the fields.
        direction: whether it is known which of both was first.
        description: the derivation in words; empty: that of the method.
        timed: whether the lag between both rows is meaningful; for a row of a table, it is not.
    """
    times = target.times[edge.rows.targets]
    lags = times - source.times[edge.rows.sources]
    low, middle, high = (float(lag) for lag in np.quantile(lags, QUANTILES)) if timed else (0.0, 0.0, 0.0)
    quantiles: LagQuantiles | None = {"p05": low, "p50": middle, "p95": high} if timed else None
    return {
        "from": {"topic": source.name, "field": edge.source},
        "to": {"topic": target.name, "field": edge.target},
        "direction": direction,
        "method": edge.method,
        "score": edge.score,
        "support": edge.support,
        "lag_ms": float(np.median(lags)) if timed else None,
        "evidence": "values",
        "description": description or METHODS[edge.method].description.format(source=edge.source, target=edge.target),
        "lag_quantiles_ms": quantiles,
        "first_seen": format_timestamp(int(times.min())),
        "last_seen": format_timestamp(int(times.max())),
        "example": _pick_example(source, target, edge.rows),
    }


def _pick_example(source: SampledTopic, target: SampledTopic, rows: RowPairs) -> EdgeExample:
    """Return the latest pair of records, which the log is most likely to have still."""
    latest = int(np.argmax(target.times[rows.targets]))
    first, second = source.positions[rows.sources[latest]].tolist(), target.positions[rows.targets[latest]].tolist()
    return {
        "from": {"partition": first[0], "offset": first[1]},
        "to": {"partition": second[0], "offset": second[1]},
    }
