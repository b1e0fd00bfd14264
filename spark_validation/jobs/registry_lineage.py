"""``contractlog lineage --published``: edges that a registry stores; needs neither Spark nor Kafka."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from contractlog.clients.cli.exit_codes import CLEAN
from contractlog.clients.cli.impact.known_lineage import KnownLineage
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.published_lineage import (
    PublishedLineage,
    make_empty_registry_error,
    read_all_lineage,
    read_topic_lineage,
)
from contractlog.clients.cli.verb_parser import suggest_name
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.lineage.graph_bounds import GRAPH_BOUNDS
from contractlog.contracts.lineage.published_edges import PublishedEdge
from contractlog.spark_validation.jobs.lineage_formats import (
    GRAPH_FORMATS,
    format_graph,
    select_explaining_edges,
    write_lineage,
)
from contractlog.spark_validation.lineage.published_output import format_published_edges
from contractlog.spark_validation.sources.topic_patterns import find_common_prefix, is_glob, match_topics

__all__ = ["check_registry_options", "print_registry_lineage"]

_MAX_EDGES: Final = 100_000  #: read if no topics are named
_MAX_COMPARED: Final = 10_000  #: edges whose topics an unknown one is compared with
_MAX_NAMED: Final = 8
#: Options of lineage that is found in an audit, with their members of the namespace.
_AUDIT_OPTIONS: Final = {
    "--state": "state",
    "--publish": "publish",
    "--declared": "declared",
    "--archive": "archive",
    "--bootstrap-servers": "bootstrap_servers",
    "--exclude": "exclude",
    "--partitions": "partitions",
    "--since": "since",
    "--until": "until",
    "--last": "last",
}


def check_registry_options(options: Namespace) -> None:
    """Check that ``--published`` and ``--at`` are combined with options that apply to them.

    Raises:
        UsageError: they are not.
    """
    if not options.published:
        if options.at is not None:
            raise UsageError("--at is for the lineage that the registry has: add --published")
        return
    others = [option for option, name in _AUDIT_OPTIONS.items() if getattr(options, name)]
    if others:
        raise UsageError(f"--published shows what the registry has, and reads nothing else: leave out {others[0]}")
    if options.format == "openlineage":
        raise UsageError(
            "--published has no --format openlineage: the registry stores edges, not the events of jobs that stated "
            "them; pass --format json"
        )


def print_registry_lineage(options: Namespace) -> int:
    """Print the edges that the registry has; the exit code is 0 whether there are any or not.

    Raises:
        UsageError: a topic has no lineage in the registry.
    """
    with connect(options) as registry:
        lineage, topics = _read_lineage(registry, options)
        if not lineage.edges:
            print_message(str(make_empty_registry_error(registry, options.at)))
    if lineage.truncated:
        is_list = not options.topics or any(map(is_glob, options.topics))
        reason = f"only the first {_MAX_EDGES:,} are read; name topics to see theirs" if is_list else GRAPH_BOUNDS
        print_message(f"the registry has more edges than are shown: {reason}")
    edges: Sequence[PublishedEdge] = lineage.edges
    if topics and options.format != "tree":
        edges = select_explaining_edges(edges, set(topics))
    edges = sorted(edges, key=_sort_key)
    write_lineage(_format_lineage(edges, topics, options), options.out, len(edges))
    return CLEAN


def _sort_key(edge: PublishedEdge) -> tuple[str, ...]:
    target, source = edge["to"], edge["from"]
    ends = (target["field"], source["topic"], source["field"])
    return (target["topic"], edge["direction"], *ends, edge["evidence"], edge["origin"], edge["appeared"])


def _format_lineage(edges: Sequence[PublishedEdge], topics: Sequence[str], options: Namespace) -> str:
    if options.format in GRAPH_FORMATS:
        return format_graph(options.format, edges, KnownLineage.of_edges("", edges).fields, topics)
    if not edges:
        return (
            f"No lineage of {list_first(topics, _MAX_NAMED)} is published.\n"
            if topics
            else "No lineage is published.\n"
        )
    if options.format == "tree":
        from contractlog.spark_validation.lineage.topic_diagrams import format_trees  # noqa: PLC0415 - only when requested

        return f"{format_trees(edges, topics)}\n"
    return f"{format_published_edges(edges)}\n"


def _read_lineage(registry: Registry, options: Namespace) -> tuple[PublishedLineage, list[str]]:
    """Return the edges around the requested topics, and their names; without topics, all edges.

    Named topics are read one by one; for globs, and for all topics, all edges are.

    Raises:
        UsageError: there are no edges of a topic.
    """
    if not any(map(is_glob, options.topics)) and options.topics:
        depth = None if options.format == "tree" else 1
        read = {topic: read_topic_lineage(registry, topic, at=options.at, depth=depth) for topic in options.topics}
        missing = [topic for topic, lineage in read.items() if not lineage.edges]
        if missing:
            raise _make_missing_error(
                registry, missing[0], read_all_lineage(registry, at=options.at, limit=_MAX_COMPARED), options.at
            )
        return PublishedLineage.merge(read.values()), sorted(read)
    prefix = find_common_prefix(options.topics)
    lineage = read_all_lineage(registry, at=options.at, limit=_MAX_EDGES, prefix=prefix)
    names = _list_topics(lineage)
    requested = {pattern: match_topics(pattern, names) for pattern in options.topics}
    missing = [pattern for pattern, matching in requested.items() if not matching]
    if missing:
        if not lineage.edges and prefix:
            lineage = read_all_lineage(registry, at=options.at, limit=_MAX_COMPARED)
        raise _make_missing_error(registry, missing[0], lineage, options.at)
    return lineage, sorted({name for matching in requested.values() for name in matching})


def _list_topics(lineage: PublishedLineage) -> list[str]:
    return sorted({edge[end]["topic"] for edge in lineage.edges for end in ("from", "to")})


def _make_missing_error(registry: Registry, topic: str, lineage: PublishedLineage, at: str | None) -> UsageError:
    """Return the error of a topic without edges, given the edges of others."""
    names = _list_topics(lineage)
    if not names:
        return make_empty_registry_error(registry, at)
    time = f" of {at}" if at else ""
    listed = suggest_name(topic, names) or f": it has that of {list_first(names, _MAX_NAMED)}"
    if lineage.truncated:
        listed += f". Only its first {len(lineage.edges):,} edges were read; it has more"
    return UsageError(f"{registry.url} has no lineage{time} of topic `{topic}`{listed}", topic=topic)
