"""Lineage between topics as text: trees for a terminal, and the diagram languages Mermaid and DOT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.lineage.edges import LineageEdge, is_traced

__all__ = ["format_dot", "format_mermaid", "format_trees"]

Neighbours = Mapping[str, Sequence["_TopicEdge"]]
_TRACED_LABELS: Final = {"origin": "named in headers", "trace": "same traces"}
_MERMAID_CODES: Final = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"})


@dataclass(frozen=True, slots=True)
class _TopicEdge:
    """All edges between the fields of two topics."""

    source: str
    target: str
    fields: int  #: of the target
    methods: tuple[str, ...]  #: of the edges found in values
    traced: tuple[str, ...]  #: methods of the edges traced in headers
    directed: bool

    @property
    def label(self) -> str:
        """The number of fields and how they were made, and what headers show."""
        noun = "field" if self.fields == 1 else "fields"
        in_values = [f"{self.fields} {noun}, {', '.join(self.methods)}"] if self.methods else []
        return "; ".join([*in_values, *(_TRACED_LABELS.get(method, method) for method in self.traced)])


def _merge_edges(edges: Iterable[LineageEdge]) -> list[_TopicEdge]:
    """Return one edge per pair of topics, by names."""
    merged: dict[tuple[str, str], list[LineageEdge]] = defaultdict(list)
    for edge in edges:
        merged[edge["from"]["topic"], edge["to"]["topic"]].append(edge)
    return [
        _TopicEdge(
            source,
            target,
            len({edge["to"]["field"] for edge in group if not is_traced(edge)}),
            tuple(
                sorted(
                    {
                        edge["method"] if edge["direction"] == "known" else "mirror"
                        for edge in group
                        if not is_traced(edge)
                    }
                )
            ),
            tuple(sorted({edge["method"] for edge in group if is_traced(edge)})),
            any(edge["direction"] == "known" for edge in group),
        )
        for (source, target), group in sorted(merged.items())
    ]


def format_trees(edges: Iterable[LineageEdge], topics: Sequence[str]) -> str:
    """Return a tree per topic: what it was made from, and what was made from it.

    A topic that occurs twice in a tree is continued at its first place only. Without names, the trees begin at the
    topics that were made from none.

    Args:
        edges: the edges of all topics.
        topics: names of topics.
    """
    merged = _merge_edges(edges)
    sources: dict[str, list[_TopicEdge]] = defaultdict(list)
    targets: dict[str, list[_TopicEdge]] = defaultdict(list)
    for edge in merged:
        sources[edge.target].append(edge)
        targets[edge.source].append(edge)
    roots = topics or sorted(targets.keys() - sources.keys()) or sorted(targets)
    blocks = []
    for topic in roots:
        lines = [escape_line(topic)]
        if topics:
            lines += _format_branches(topic, "made from", sources, lambda edge: edge.source)
        lines += _format_branches(topic, "used for", targets, lambda edge: edge.target)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _format_branches(topic: str, title: str, edges: Neighbours, end: Callable[[_TopicEdge], str]) -> Iterator[str]:
    """Yield a line per topic that is reached from one in a direction, depth first."""
    seen = {topic}
    stack = [(edge, 1) for edge in reversed(edges.get(topic, ()))]
    if stack:
        yield f"  {title}"
    while stack:
        edge, depth = stack.pop()
        name = end(edge)
        repeated = name in seen
        yield f"  {'  ' * depth}{escape_line(name)}  ({edge.label}{'; see above' if repeated else ''})"
        if not repeated:
            seen.add(name)
            stack += [(further, depth + 1) for further in reversed(edges.get(name, ()))]


def format_mermaid(edges: Iterable[LineageEdge]) -> str:
    """Return a flowchart in Mermaid; edges without direction are dotted lines."""
    merged = _merge_edges(edges)
    numbers = {topic: number for number, topic in enumerate(_list_topics(merged))}
    nodes = [f'  t{number}["{_escape_mermaid(topic)}"]' for topic, number in numbers.items()]
    lines = [
        f'  t{numbers[edge.source]} {"-->" if edge.directed else "-.-"}|"{_escape_mermaid(edge.label)}"| '
        f"t{numbers[edge.target]}"
        for edge in merged
    ]
    return "\n".join(["flowchart LR", *nodes, *lines])


def _escape_mermaid(text: str) -> str:
    return escape_line(text).translate(_MERMAID_CODES)


def format_dot(edges: Iterable[LineageEdge]) -> str:
    """Return a graph in DOT, the language of Graphviz; edges without direction are dashed."""
    merged = _merge_edges(edges)
    lines = [
        f"  {_quote_dot(edge.source)} -> {_quote_dot(edge.target)} [label={_quote_dot(edge.label)}"
        f"{'' if edge.directed else ', dir=none, style=dashed'}];"
        for edge in merged
    ]
    nodes = [f"  {_quote_dot(topic)};" for topic in _list_topics(merged)]
    return "\n".join(["digraph lineage {", "  rankdir=LR;", "  node [shape=box];", *nodes, *lines, "}"])


def _quote_dot(text: str) -> str:
    escaped = escape_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _list_topics(edges: Iterable[_TopicEdge]) -> list[str]:
    return sorted({topic for edge in edges for topic in (edge.source, edge.target)})
