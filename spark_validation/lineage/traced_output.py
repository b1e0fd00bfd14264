"""Traced edges as text, in a block of their own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from contractlog.clients.cli.output import align_columns
from contractlog.compatibility.text.number_text import format_duration
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["format_traced_edges"]

_HEADING: Final = "Traced in headers (examples are partition/offset of a source record -> of the record made from it):"
_NAMED: Final = "was made from"
_SAME_TRACES: Final = "has later records of the same traces as (made from it, or both by a third program)"


def format_traced_edges(edges: Iterable[LineageEdge]) -> str:
    """Return the edges, which are sorted by target topic, as lines with aligned columns."""
    blocks = [_HEADING]
    for (topic, direction), group in groupby(edges, key=lambda edge: (edge["to"]["topic"], edge["direction"])):
        heading = f"{escape_line(topic)} {_NAMED if direction == 'known' else _SAME_TRACES}"
        blocks.append("\n  ".join([heading, *align_columns([_format_edge(edge) for edge in group])]))
    return "\n\n".join(blocks)


def _format_edge(edge: LineageEdge) -> tuple[str, ...]:
    arrow, noun = ("<-", "record") if edge["direction"] == "known" else ("<->", "sampled trace")
    example = edge.get("example")
    return (
        escape_line(f"{arrow} {edge['from']['topic']}"),
        f"{edge['support']:,} {noun}{'' if edge['support'] == 1 else 's'}",
        escape_line(f"job {edge['job']}") if edge.get("job") else "",
        "" if edge["lag_ms"] is None else f"lag {format_duration(edge['lag_ms'])}",
        "" if example is None else f"{_format_position(example['from'])} -> {_format_position(example['to'])}",
    )


def _format_position(position: RecordPosition) -> str:
    return f"{position['partition']}/{position['offset']}"
