"""Lineage that a registry stores, read within bounds."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from contractlog.clients.cli.registry_lookups import require_supported
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidLineage, InvalidQuery, UnreadableResponse, UsageError
from contractlog.contracts.audit.time_text import format_timestamp, parse_timestamp
from contractlog.contracts.lineage.graph_bounds import MAX_GRAPH_EDGES, MAX_NODES
from contractlog.contracts.lineage.published_edges import PublishedEdge, parse_published_edge

__all__ = [
    "PublishedLineage",
    "add_time_of_lineage",
    "make_empty_registry_error",
    "read_all_lineage",
    "read_topic_lineage",
]

_LACK: Final = "stores no lineage; only contractlog does"


@dataclass(frozen=True, slots=True)
class PublishedLineage:
    """Edges of a registry."""

    edges: Sequence[PublishedEdge]
    truncated: bool = False  #: there are more, beyond the bounds

    @classmethod
    def merge(cls, parts: Iterable[PublishedLineage]) -> PublishedLineage:
        """Return the edges of several reads, each once."""
        read = list(parts)
        edges = {_identify(edge): edge for part in read for edge in part.edges}
        return cls(list(edges.values()), any(part.truncated for part in read))


def add_time_of_lineage(parser: ArgumentParser, condition: str) -> None:
    """Add ``--at``, of which the value is the time as the registry reads it.

    Args:
        parser: of the command.
        condition: the beginning of the help, which says when the option applies.
    """
    parser.add_argument(
        "--at",
        type=_parse_time_of_lineage,
        metavar="TIME",
        help=f"{condition}the edges that were published at this time, such as 2026-11-01 (its beginning in UTC) or "
        "2026-11-01T08:30:00Z (default: now)",
    )


def _parse_time_of_lineage(text: str) -> str:
    time = parse_timestamp(text)
    if time is None:
        raise ArgumentTypeError(
            f"`{text}` is not a date or time as in ISO 8601, such as 2026-11-01 or 2026-11-01T08:30:00Z"
        )
    return format_timestamp(time)


def read_topic_lineage(
    registry: Registry,
    topic: str,
    *,
    at: str | None = None,
    direction: Literal["upstream", "downstream", "both"] = "both",
    field: str | None = None,
    depth: int | None = None,
) -> PublishedLineage:
    """Return the edges around a topic, in every cluster that has it; none if it is unknown.

    With a ``depth``, edges beyond it are not counted as left out.

    Raises:
        Unreachable: the registry does not respond.
        UnreadableResponse: the response has something else than edges.
        UsageError: the registry is of another maker, and stores no lineage.
    """
    graph = require_supported(
        registry,
        lambda: registry.lineage(topic, direction=direction, field=field or None, depth=depth, at=at),
        _LACK,
    )
    edges = _parse_edges(registry, graph["edges"])
    truncated = bool(graph.get("truncated"))
    if depth is not None:  # beside the depth, only the bounds leave edges out; a step may stop one node earlier
        nodes = graph.get("nodes")
        shares = 2 if direction == "both" else 1  # each direction has its share of the bounds
        is_full = len(nodes) >= MAX_NODES // shares - 1 if isinstance(nodes, list) else False
        truncated = truncated and (is_full or len(edges) >= MAX_GRAPH_EDGES // shares)
    return PublishedLineage(edges, truncated)


def read_all_lineage(registry: Registry, *, at: str | None, limit: int, prefix: str = "") -> PublishedLineage:
    """Return all edges, page by page, in the order in which they appeared, up to a limit.

    With a prefix, only edges of topics whose names begin so; registries of earlier releases return all the same.

    Raises:
        Unreachable: the registry does not respond.
        UnreadableResponse: the response has something else than edges.
        UsageError: the registry is of another maker, and stores no lineage.
    """

    def read_edges(topic_prefix: str | None) -> list[Any]:
        return list(islice(registry.each_lineage_edge(at=at, topic_prefix=topic_prefix), limit + 1))

    def read() -> list[Any]:
        try:
            return read_edges(prefix or None)
        except InvalidQuery:
            if not prefix:
                raise
            return read_edges(None)  # the parameter is unknown to earlier releases

    bodies = require_supported(registry, read, _LACK)
    return PublishedLineage(_parse_edges(registry, bodies[:limit]), truncated=len(bodies) > limit)


def make_empty_registry_error(registry: Registry, at: str | None) -> UsageError:
    """Return the error of a registry that has no edges: none at all, or none of a time."""
    if at is not None and registry.lineage_edges(limit=1)["edges"]:
        return UsageError(
            f"{registry.url} has no lineage of {at}: an edge is known from the time when it was published first. "
            "Leave --at out for the edges of now"
        )
    return UsageError(
        f"{registry.url} has no lineage{f' of {at}' if at else ''} that you may read: publish that of an audit with "
        "`contractlog lineage --state DIR --publish`, or send it OpenLineage events"
    )


def _identify(edge: PublishedEdge) -> tuple[str, ...]:
    ends = (edge[end][name] for end in ("from", "to") for name in ("topic", "field"))
    return (*ends, edge["evidence"], edge["origin"], edge["appeared"])


def _parse_edges(registry: Registry, bodies: Iterable[Any]) -> list[PublishedEdge]:
    try:
        return [parse_published_edge(body) for body in bodies]
    except InvalidLineage as error:
        raise UnreadableResponse(f"a lineage edge cannot be read: {error.facts['detail']}", url=registry.url) from None
