"""Formats of ``contractlog lineage`` that need nothing but edges and the names of topics and fields."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, TypeVar

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.output import count_noun, print_message
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_json_line
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["GRAPH_FORMATS", "format_graph", "select_explaining_edges", "write_lineage"]

FORMAT: Final = "contractlog.lineage/1"
GRAPH_FORMATS: Final = frozenset({"json", "mermaid", "dot", "html"})  #: of ``format_graph``
AnyEdge = TypeVar("AnyEdge", bound=LineageEdge)


def select_explaining_edges(edges: Iterable[AnyEdge], topics: AbstractSet[str]) -> list[AnyEdge]:
    """Return the edges that explain the origin of a topic; without direction, they explain both ends."""
    return [
        edge
        for edge in edges
        if edge["to"]["topic"] in topics or (edge["direction"] == "unknown" and edge["from"]["topic"] in topics)
    ]


def format_graph(
    output_format: str,
    edges: Sequence[LineageEdge],
    fields: Mapping[str, AbstractSet[str]],
    topics: Iterable[str] = (),
) -> str:
    """Return the edges as JSON, a diagram, or a page.

    Args:
        output_format: one of ``GRAPH_FORMATS``.
        edges: the edges.
        fields: the known fields of each topic.
        topics: the topics that a page has; by default, all that are known.
    """
    if output_format == "json":
        entries = [{"topic": topic, "fields": sorted(names)} for topic, names in sorted(fields.items())]
        text = json.dumps({"format": FORMAT, "topics": entries, "lineage": edges}, indent=1)
        return "".join(f"{escape_json_line(line)}\n" for line in text.split("\n"))
    if output_format == "html":
        from contractlog.spark_validation.report.lineage_page.page import render_lineage  # noqa: PLC0415 - slow to import

        return f"{render_lineage(edges, topics or sorted(fields))}\n"
    from contractlog.spark_validation.lineage import topic_diagrams  # noqa: PLC0415 - only when requested

    draw = topic_diagrams.format_mermaid if output_format == "mermaid" else topic_diagrams.format_dot
    return f"{draw(edges)}\n"


def write_lineage(text: str, out: Path | None, edges: int) -> None:
    """Write the output to a file, or to standard output.

    Raises:
        UsageError: the file cannot be written.
    """
    if out is None:
        sys.stdout.write(text)
        return
    try:
        with open_atomically(out) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    print_message(f"{count_noun(edges, 'edge')} {'is' if edges == 1 else 'are'} in {out}")
