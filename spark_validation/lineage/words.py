"""Edges as text: the sources of each topic, one field per line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from contractlog.clients.cli.output import harmless
from contractlog.contracts.observed.report import Edge

__all__ = ["FIRST_SLICE", "told"]

FIRST_SLICE: Final = (
    "This is a first slice of lineage: fields of values that were copied row by row or looked up by a key.\n"
    "Aggregates, arithmetic, masking and record keys are not looked at yet."
)
_SCALES: Final = ((86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def told(edges: Sequence[Edge]) -> str:
    """Return the edges, which are sorted by target topic, as lines with aligned columns."""
    blocks = []
    for topic, group in groupby(edges, key=lambda edge: edge["to"]["topic"]):
        lines = [_cells(edge) for edge in group]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        blocks.append("\n".join([f"{harmless(topic)} was made from", *(f"  {row}".rstrip() for row in rows)]))
    return "\n\n".join(blocks)


def _cells(edge: Edge) -> tuple[str, ...]:
    source = f"{edge['from']['topic']}.{edge['from']['field']}"
    lag = "" if edge["lag_ms"] is None else f"lag {_duration(edge['lag_ms'])}"
    return (
        harmless(edge["to"]["field"]),
        harmless(f"<- {source}"),
        edge["method"],
        f"score {edge['score']:.4f}",
        f"support {edge['support']}",
        lag,
    )


def _duration(milliseconds: float) -> str:
    for scale, unit in _SCALES:
        if milliseconds >= scale:
            return f"{milliseconds / scale:.1f} {unit}"
    return f"{milliseconds:.0f} ms"
