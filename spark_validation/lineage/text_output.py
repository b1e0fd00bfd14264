"""Edges as text: the sources of each topic, one field per line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from contractlog.compatibility.terminal_text import escape_line
from contractlog.contracts.audit.report import LineageEdge

__all__ = ["LIMITS_NOTE", "format_edges"]

LIMITS_NOTE: Final = (
    "This is a first slice of lineage: fields of values that were copied row by row or looked up by a key.\n"
    "Aggregates, arithmetic, masking and record keys are not looked at yet."
)
_SCALES: Final = ((86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def format_edges(edges: Sequence[LineageEdge]) -> str:
    """Return the edges, which are sorted by target topic, as lines with aligned columns."""
    blocks = []
    for topic, group in groupby(edges, key=lambda edge: edge["to"]["topic"]):
        lines = [_format_edge(edge) for edge in group]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        blocks.append("\n".join([f"{escape_line(topic)} was made from", *(f"  {row}".rstrip() for row in rows)]))
    return "\n\n".join(blocks)


def _format_edge(edge: LineageEdge) -> tuple[str, ...]:
    source = f"{edge['from']['topic']}.{edge['from']['field']}"
    lag = "" if edge["lag_ms"] is None else f"lag {_format_duration(edge['lag_ms'])}"
    return (
        escape_line(edge["to"]["field"]),
        escape_line(f"<- {source}"),
        edge["method"],
        f"score {edge['score']:.4f}",
        f"support {edge['support']}",
        lag,
    )


def _format_duration(milliseconds: float) -> str:
    for scale, unit in _SCALES:
        if milliseconds >= scale:
            return f"{milliseconds / scale:.1f} {unit}"
    return f"{milliseconds:.0f} ms"
