"""Edges of a registry as text: each with its evidence, its origin and its life."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from contractlog.clients.cli.output import align_columns
from contractlog.compatibility.text.number_text import format_duration
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.lineage.published_edges import PublishedEdge

__all__ = ["format_published_edges"]

_HEADINGS: Final = {
    "known": "was made from",
    "unknown": "was made from, or the reverse (direction unknown)",
}
_SECONDS: Final = len("2026-11-27T10:00:00")


def format_published_edges(edges: Sequence[PublishedEdge]) -> str:
    """Return the edges, which are sorted by target topic and direction, as lines with aligned columns."""
    blocks = []
    for (topic, direction), group in groupby(edges, key=lambda edge: (edge["to"]["topic"], edge["direction"])):
        heading = f"{escape_line(topic)} {_HEADINGS[direction]}"
        blocks.append("\n  ".join([heading, *align_columns([_list_cells(edge) for edge in group])]))
    return "\n\n".join(blocks)


def _list_cells(edge: PublishedEdge) -> tuple[str, ...]:
    directed, declared = edge["direction"] == "known", edge["evidence"] == "declared"
    source = ".".join(filter(None, (edge["from"]["topic"], edge["from"]["field"])))
    return (
        escape_line(edge["to"]["field"] or "(whole topic)"),
        escape_line(f"{'<-' if directed else '<->'} {source}"),
        edge["evidence"],
        "" if declared else escape_line(edge["method"]),
        "" if declared else f"score {edge['score']:.4f}",
        "" if declared else f"support {edge['support']}",
        f"lag {format_duration(edge['lag_ms'])}" if directed and edge["lag_ms"] is not None else "",
        escape_line(f"by {edge['origin']}"),
        escape_line(f"job {edge['job']}") if edge.get("job") else "",
        f"appeared {_format_time(edge['appeared'])}",
        f"vanished {_format_time(edge['vanished'])}" if "vanished" in edge else "",
    )


def _format_time(text: str) -> str:
    """Return a time without fractions of a second."""
    return f"{text[:_SECONDS]}Z"
