"""``contractlog lineage``: print the sources of topics, found in their values or in headers."""

from __future__ import annotations

import errno
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, find_brokers
from contractlog.clients.cli.exit_codes import CLEAN
from contractlog.clients.cli.options import add_registry, connect
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.published_lineage import add_time_of_lineage
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.value_samples import DESIGN
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.jobs.lineage_formats import (
    GRAPH_FORMATS,
    format_graph,
    select_explaining_edges,
    write_lineage,
)
from contractlog.spark_validation.jobs.sample_key import SAMPLE_KEY_VARIABLE, find_sample_key, read_sample_key
from contractlog.spark_validation.jobs.source_options import (
    add_archive,
    add_cluster_options,
    add_read_options,
    add_selection_options,
    make_cluster,
    make_selection,
    make_source,
)
from contractlog.spark_validation.jobs.state_lineage import list_sampled_fields, make_lineage_progress, read_audit_state

if TYPE_CHECKING:
    from contractlog.spark_validation.lineage.declared_edges import DeclaredLineage

__all__ = ["lineage"]

_MAX_REPORT_BYTES: Final = 64 * 1024 * 1024


def lineage(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print edges found in an audit, or published; the exit code is 0 whether there are any or not."""
    parser.add_argument(
        "topics",
        nargs="*",
        metavar="TOPIC",
        help="the derived topics to explain, as names or globs (default: all topics)",
    )
    parser.add_argument("--state", type=Path, metavar="DIR", help="the state of an audit, or the audit's --out folder")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of standard output")
    parser.add_argument(
        "--format",
        choices=("text", "tree", "json", "openlineage", "mermaid", "dot", "html"),
        default="text",
        help="format of the output (default: text, field by field); tree: the topics that topics were made from and "
        "used for, over all steps; html: a page to search and explore, of one file",
    )
    parser.add_argument("--publish", action="store_true", help="send the result to the registry")
    parser.add_argument(
        "--published",
        action="store_true",
        help="show the edges that the registry has, of all kinds of evidence and with their life; reads nothing else",
    )
    add_time_of_lineage(parser, "with --published, ")
    parser.add_argument(
        "--declared",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="also show the lineage that OpenLineage events state, one on each line of this file; may be repeated",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--bootstrap-servers",
        metavar="HOST:PORT",
        help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE}) to audit without --state, and to name in OpenLineage",
    )
    add_archive(group, "a Parquet archive to audit without --state")
    add_broker_config(parser)
    add_selection_options(parser)
    add_read_options(parser)
    add_cluster_options(parser)
    add_registry(parser, environments=False)
    options = parser.parse_intermixed_args(argv)
    from contractlog.spark_validation.jobs.registry_lineage import (  # noqa: PLC0415 - not needed for help
        check_registry_options,
        print_registry_lineage,
    )

    check_registry_options(options)
    if options.published:
        return print_registry_lineage(options)
    selecting = (options.exclude, options.partitions, options.since, options.until, options.last)
    if options.state is not None and any(selecting):
        raise UsageError(
            "--state names an audit that was made: --exclude, --partitions and times cannot select from it"
        )
    from contractlog.spark_validation.lineage.declared_edges import read_declared_lineage  # noqa: PLC0415 - for fast help

    declared = read_declared_lineage(options.declared)
    if options.publish:
        _namespace(options)  # before an audit that takes long
    return _run(options, _audit_topics(options) if options.state is None else read_audit_state(options.state), declared)


def _audit_topics(options: Namespace) -> AuditState:
    """Audit all topics, even if only some are requested: any other may be their source."""
    from contractlog.clients.cli.progress_line import ProgressLine  # noqa: PLC0415 - not needed for help
    from contractlog.spark_validation.expectations.given_strategies import GivenStrategies  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.jobs.audit_job import AuditRequest, audit_to_state  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions  # noqa: PLC0415 - for fast help

    source = make_source(options)
    with connect(options) as registry:
        order = AuditRequest(
            registry=registry,
            source=source,
            cluster=make_cluster(options),
            strategies=GivenStrategies.parse(options.strategy),
            selection=make_selection(options, ()),
            evidence=EvidenceOptions(sample_key=read_sample_key()),
        )
        return audit_to_state(order, print_line=print_message, progress=ProgressLine("auditing", "offsets", sys.stderr))


def _run(options: Namespace, state: AuditState, declared: DeclaredLineage) -> int:
    from contractlog.contracts.audit.mergeable_state import describe_unsampled_fields  # noqa: PLC0415 - for fast help
    from contractlog.contracts.audit.record_origins import describe_uncounted_origins  # noqa: PLC0415 - as above
    from contractlog.spark_validation.lineage.inference import infer_edges  # noqa: PLC0415 - as above
    from contractlog.spark_validation.lineage.traced_sources import find_traced_edges  # noqa: PLC0415 - as above
    from contractlog.spark_validation.sources.topic_patterns import match_topics  # noqa: PLC0415 - as above

    audited = sorted(_topics(state) | {edge[end]["topic"] for edge in declared.edges for end in ("from", "to")})
    requested = {pattern: match_topics(pattern, audited) for pattern in options.topics}
    missing = sorted(pattern for pattern, names in requested.items() if not names)
    if missing:
        raise UsageError(f"no topic `{missing[0]}` was audited, only {_join_topics(audited)}", topic=missing[0])
    explained = {name for names in requested.values() for name in names}
    secret = find_sample_key(state)
    in_values = infer_edges(state, secret=secret, progress=make_lineage_progress()) if state.samples else []
    every = [*in_values, *find_traced_edges(state)]
    edges = sorted([*every, *declared.edges], key=lambda edge: (edge["to"]["topic"], edge["direction"]))
    if options.format != "tree":
        edges = _select_edges(edges, options, explained)
    for (topic, part), notes in describe_unsampled_fields(state).items():
        print_message(escape_line(f"{topic} ({part}): {' '.join(notes)}"))
    if any(sample.design == DESIGN for sample in state.samples.values()):
        print_message(f"parts of texts are not compared: the audit had no secret key ({SAMPLE_KEY_VARIABLE})")
    for topic, notes in describe_uncounted_origins(state.origins).items():
        print_message(escape_line(f"{topic}: {' '.join(notes)}"))
    if options.format == "openlineage":
        events = declared.select_events(explained) if options.topics else declared.events
        written = _format_events(_select_edges(every, options, explained), events, _namespace(options))
    else:
        written = _format_edges(edges, sorted(explained), state, options)
    write_lineage(written, options.out, len(edges))
    if options.publish:
        topics = {topic for topic, _, _ in state.samples if not options.topics or topic in explained}
        _publish([edge for edge in every if edge["to"]["topic"] in topics], topics, declared.events, options)
    return CLEAN


def _select_edges(edges: list[LineageEdge], options: Namespace, explained: AbstractSet[str]) -> list[LineageEdge]:
    return select_explaining_edges(edges, explained) if options.topics else edges


def _publish(
    edges: list[LineageEdge], topics: AbstractSet[str], declared_events: Sequence[dict[str, Any]], options: Namespace
) -> None:
    """Send all edges to topics, and the declared events.

    A topic without edges has an event, too, which ends the edges that were found before.
    """
    from contractlog.spark_validation.jobs.lineage_publication import publish_events  # noqa: PLC0415 - only when requested
    from contractlog.spark_validation.lineage.edge_output import build_events  # noqa: PLC0415 - as above

    events = build_events(edges, _namespace(options), datetime.now(UTC), topics)
    with connect(options) as registry:
        published = publish_events(registry, [*events, *declared_events])
        print_message(f"published {published} events to {registry.url}")


def _topics(state: AuditState) -> set[str]:
    return {coverage.topic for coverage in state.coverage} | {topic for topic, _, _ in state.samples}


def _format_events(edges: list[LineageEdge], declared_events: Sequence[dict[str, Any]], namespace: str) -> str:
    from contractlog.spark_validation.lineage.edge_output import build_events  # noqa: PLC0415 - only when requested

    events = [*build_events(edges, namespace, datetime.now(UTC)), *declared_events]
    return "".join(f"{escape_json_line(json.dumps(event))}\n" for event in events)


def _format_edges(edges: list[LineageEdge], topics: Sequence[str], state: AuditState, options: Namespace) -> str:
    if options.format in GRAPH_FORMATS:
        return format_graph(options.format, edges, list_sampled_fields(state), topics or sorted(_topics(state)))
    return _format_for_terminal(edges, topics, state, options)


def _format_for_terminal(edges: list[LineageEdge], topics: Sequence[str], state: AuditState, options: Namespace) -> str:
    from contractlog.contracts.lineage.edges import is_traced  # noqa: PLC0415 - as above
    from contractlog.spark_validation.lineage.edge_output import format_edges  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.lineage.methods import LIMITS_NOTE  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.lineage.topic_diagrams import format_trees  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.lineage.traced_output import format_traced_edges  # noqa: PLC0415 - as above

    if options.format == "tree" and edges:
        return f"{format_trees(edges, topics)}\n\n{LIMITS_NOTE}\n"
    traced = [edge for edge in edges if is_traced(edge)]
    others = [edge for edge in edges if not is_traced(edge)]
    block = f"\n{format_traced_edges(traced)}\n" if traced else ""
    if not state.samples and not others:
        return (
            "The audit stored no samples of values, so lineage cannot be inferred. Audit again without --no-samples.\n"
            f"{block}"
        )
    if not others:
        looked_at = _join_topics(options.topics or sorted(_topics(state)))
        return f"No lineage was found in the values of {looked_at}.\n{LIMITS_NOTE}\n{block}"
    return f"{format_edges(others)}\n\n{LIMITS_NOTE}\n{block}"


def _join_topics(topics: Sequence[str]) -> str:
    return escape_line(", ".join(topics)) or "none" if len(topics) <= 8 else f"{len(topics)} topics"  # noqa: PLR2004 - fits a line


def _namespace(options: Namespace) -> str:
    """Return the namespace of the broker given by arguments or environment, else by the audit's report."""
    from contractlog.spark_validation.lineage.edge_output import kafka_namespace  # noqa: PLC0415 - only when requested

    brokers = find_brokers(options)
    if brokers is not None:
        return kafka_namespace(brokers.servers)
    state: Path | None = options.state
    for report in () if state is None else (state / "report.json", state.parent / "report.json"):
        try:
            return kafka_namespace(
                json.loads(read_bounded_file(report, _MAX_REPORT_BYTES))["source"]["bootstrap_servers"]
            )
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise UsageError(f"`{report}` cannot be read: {error.strerror}; pass --bootstrap-servers") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    raise UsageError("OpenLineage names a topic by its broker: give it with --bootstrap-servers HOST:PORT")
