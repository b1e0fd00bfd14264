"""``contractlog audit``: validate every record of topics against the schema whose id it carries."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, require_brokers
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import add_format, add_registry, add_reports, connect
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS
from contractlog.contracts.audit.report import FAIL_UNDER, THRESHOLD, AuditReport

if TYPE_CHECKING:
    from contractlog.spark_validation.evidence_options import EvidenceOptions
    from contractlog.spark_validation.sources.selection import Selection
    from contractlog.spark_validation.sources.source import RecordSource

__all__ = [
    "add_read_options",
    "add_selection_options",
    "add_source_options",
    "add_timestamp_unit",
    "audit",
    "make_selection",
    "make_source",
]

PERCENT: Final = 100.0
_NO_PATTERNS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType({})
AUDIT_FORMATS: Final = ("junit", "markdown")


def audit(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Audit topics and write the report; exit code 1 if a part conforms less than ``--fail-under``."""
    add_source_options(parser)
    add_read_options(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("audit"), metavar="DIR", help="the folder for the report (default: audit/)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="read all offsets, also those that a former audit in --out has read (default: only new ones, if topics, "
        "schemas and options are the same)",
    )
    parser.add_argument("--publish", action="store_true", help="send the result to the registry")
    parser.add_argument(
        "--threshold",
        type=_parse_share,
        default=THRESHOLD,
        metavar="SHARE",
        help="threshold of the verdict, such as 0.99 or 99%%: a part is failing if a smaller share of its records "
        "conforms, of all versions together or of the newest version in use; otherwise degraded if any record "
        "violates its schema, and passing if none does (default: 99.9%%)",
    )
    parser.add_argument(
        "--fail-under",
        type=_parse_share,
        default=FAIL_UNDER,
        metavar="SHARE",
        help="exit with 1 if a smaller share of a part's records conforms, whatever the verdict (default: 100%%)",
    )
    parser.add_argument(
        "--quality",
        action="append",
        default=[],
        type=Path,
        metavar="FILE|DIR",
        help="evaluate the quality rules of TOPIC.quality.yaml, or of all such files in a folder; may be repeated. A "
        "rule of severity error that fails makes the exit code 1",
    )
    parser.add_argument(
        "--lineage",
        action="store_true",
        help="also infer from values which topics were derived from others; takes long for hundreds of topics "
        "(alternatively, run contractlog lineage --state DIR later)",
    )
    parser.add_argument(
        "--no-samples",
        action="store_true",
        help="store no samples of values in the state; lineage needs them (default: limited samples)",
    )
    parser.add_argument(
        "--no-profiles",
        action="store_true",
        help="do not profile fields: shares of null, distinct values, quantiles, personal data (default: profiled)",
    )
    parser.add_argument(
        "--producer-header",
        action="append",
        default=[],
        metavar="NAME",
        help="header that names the producer of a record; may be repeated, the first that a record has counts "
        f"(default: {', '.join(DEFAULT_PRODUCER_HEADERS)})",
    )
    parser.add_argument(
        "--blame",
        action="store_true",
        help="also print when each kind of violation began: the first record by time, its partition, offset, schema, "
        "and producer",
    )
    parser.add_argument(
        "--show-values",
        action="store_true",
        help="show keys, headers and values of examples, and texts in profiles, in the report, the state and the "
        "registry (default: masked, examples by their types and lengths, as string(12))",
    )
    parser.add_argument("--strict", action="store_true", help="also count booleans other than 0 and 1 as violations")
    parser.add_argument(
        "--full-bytes",
        action="store_true",
        help="write complete violating keys and values to violations.parquet (default: the first 1,024 bytes)",
    )
    parser.add_argument(
        "--master", default="local[*]", metavar="URL", help="the Spark cluster (default: %(default)s, this machine)"
    )
    add_registry(parser, environments=False)
    add_format(parser, *AUDIT_FORMATS)
    add_reports(parser, AUDIT_FORMATS)
    _add_alert_options(parser)
    options = parser.parse_args(argv)
    if options.lineage and options.no_samples:
        raise UsageError("--lineage needs samples of values, which --no-samples leaves out. Remove one of the options")
    return _run(options)


def _add_alert_options(parser: ArgumentParser) -> None:
    """Add ``--on-change``, ``--webhook`` and ``--webhook-private``."""
    parser.add_argument(
        "--on-change",
        metavar="COMMAND",
        help="run a command, without a shell, when a part becomes failing or degraded, or passes again; it gets the "
        "alert as JSON on its standard input, and its words in CONTRACTLOG_ALERT_TEXT",
    )
    parser.add_argument(
        "--webhook",
        metavar="URL",
        help="post the same alert to an https URL, signed with the key in CONTRACTLOG_WEBHOOK_SECRET if it is set",
    )
    parser.add_argument(
        "--webhook-private",
        action="store_true",
        help="also accept a webhook with a private address, or with http",
    )


def add_source_options(parser: ArgumentParser) -> None:
    """Add the topics and their source: ``--bootstrap-servers`` or ``--archive``."""
    parser.add_argument(
        "topics",
        nargs="*",
        metavar="TOPIC",
        help="the topics, as names or globs such as 'shop-*' (default: all of the cluster that do not start with _, "
        "or all of the archive)",
    )
    parser.add_argument(
        "--topics-file", type=Path, metavar="FILE", help="read names and globs of topics from this file, one per line"
    )
    add_selection_options(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE})"
    )
    group.add_argument(
        "--archive", type=Path, metavar="DIR", help="read a Parquet archive, DIR/topic=<name>/…, instead"
    )
    add_broker_config(parser)


def add_selection_options(parser: ArgumentParser) -> None:
    """Add the options that select a part of the records: by topic, partition or time."""
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="leave out topics with this name or glob; may be repeated",
    )
    parser.add_argument("--partitions", metavar="LIST", help="only these partitions of each topic, such as 0,2-4")
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="from the first offset with this timestamp or a later one, in ISO 8601, in UTC unless it has an offset",
    )
    parser.add_argument(
        "--until", metavar="TIME", help="to the offset before the first with this timestamp or a later one"
    )
    parser.add_argument("--last", metavar="DURATION", help="since this long ago: 90m, 12h, 7d or 4w")


def add_read_options(parser: ArgumentParser) -> None:
    """Add the options for reading records: ``--strategy`` and ``--timestamp-unit``."""
    parser.add_argument(
        "--strategy",
        action="append",
        default=[],
        metavar="[TOPIC=]STRATEGY",
        help="subject name strategy of the values of one topic or of all topics: topic, record, topic-record or "
        "associated; TOPIC:key=STRATEGY for keys; may be repeated (default: the topic's association, else inferred "
        "from the records)",
    )
    add_timestamp_unit(parser)


def add_timestamp_unit(parser: ArgumentParser) -> None:
    """Add ``--timestamp-unit``; ``make_source`` reads it."""
    parser.add_argument(
        "--timestamp-unit",
        choices=("s", "ms", "us", "ns"),
        help="unit of an archive's timestamps, if they are integers",
    )


def make_selection(options: Namespace, topics: Sequence[str]) -> Selection:
    """Return the selection of records that the arguments describe.

    Args:
        options: the parsed arguments of ``add_selection_options``.
        topics: names and globs of topics; empty: all.

    Raises:
        UsageError: an argument has an invalid form, or two contradict each other.
    """
    from contractlog.spark_validation.sources import selection  # noqa: PLC0415 - for fast help

    since = None if options.since is None else selection.parse_time(options.since, "--since")
    until = None if options.until is None else selection.parse_time(options.until, "--until")
    if options.last is not None:
        if since is not None:
            raise UsageError("--last and --since both say where to begin: use one of them")
        since = int((datetime.now(UTC) - selection.parse_duration(options.last)).timestamp() * 1000)
    if since is not None and until is not None and since >= until:
        raise UsageError("--until is not after --since: nothing would be read")
    return selection.Selection(
        tuple(topics),
        tuple(options.exclude),
        selection.parse_partitions(options.partitions) if options.partitions is not None else (),
        since,
        until,
    )


def make_source(options: Namespace) -> RecordSource:
    """Return the source of the topics, as given by the arguments or the environment.

    Raises:
        UsageError: no source is given, or two are.
    """
    from contractlog.spark_validation.sources.kafka_connection import require_shared_file  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.sources.source import ArchiveSource, KafkaSource  # noqa: PLC0415 - as above

    if options.archive:
        if options.broker_config:
            raise UsageError("--broker-config is for a Kafka cluster, and --archive names a folder: use one of them")
        return ArchiveSource(options.archive, options.timestamp_unit)
    brokers = require_brokers(options, instead=", or pass --archive DIR")
    return KafkaSource(brokers.servers, config=require_shared_file(brokers.file))


def _run(options: Namespace) -> int:
    from contractlog.contracts.quality.evaluation import failed_rules  # noqa: PLC0415 - as above
    from contractlog.spark_validation.columnar.limits import ValidationLimits  # noqa: PLC0415 - fast help, without numpy
    from contractlog.spark_validation.jobs import audit_job  # noqa: PLC0415 - fast help, without Spark
    from contractlog.spark_validation.jobs.alert_delivery import (  # noqa: PLC0415 - for fast help
        deliver_alerts,
        parse_receivers,
    )
    from contractlog.spark_validation.jobs.progress import LINEAGE_LABELS, ProgressLine  # noqa: PLC0415 - not needed for help
    from contractlog.spark_validation.jobs.quality_files import list_patterns, read_quality_files  # noqa: PLC0415 - as above
    from contractlog.spark_validation.jobs.terminal_report import format_last_line, parts_below_limit  # noqa: PLC0415 - as above
    from contractlog.spark_validation.sources.selection import read_topics_file  # noqa: PLC0415 - as above
    from contractlog.spark_validation.subject_strategies import GivenStrategies  # noqa: PLC0415 - as above
    from contractlog.spark_validation.violations_file import DEFAULT_MAX_BYTES  # noqa: PLC0415 - as above

    source = make_source(options)
    named = () if options.topics_file is None else read_topics_file(options.topics_file)
    selection = make_selection(options, [*options.topics, *named])
    receivers = parse_receivers(options)
    quality = read_quality_files(options.quality)
    with connect(options) as registry:
        report = audit_job.audit_to_folder(
            audit_job.AuditRequest(
                registry=registry,
                source=source,
                selection=selection,
                limits=ValidationLimits(strict_booleans=options.strict),
                master=options.master,
                cap=None if options.full_bytes else DEFAULT_MAX_BYTES,
                strategies=GivenStrategies.parse(options.strategy),
                threshold=options.threshold,
                fail_under=options.fail_under,
                samples=not options.no_samples,
                lineage=options.lineage,
                evidence=_parse_evidence(options, list_patterns(quality)),
                full=options.full,
                quality=quality,
                alerts=bool(receivers),
            ),
            options.out,
            print_line=print_message,
            progress=ProgressLine("auditing", "offsets", sys.stderr),
            lineage_progress=ProgressLine(*LINEAGE_LABELS, sys.stderr, announced=True),
        )
        _print_report(report, options)
        if receivers:
            deliver_alerts(options.out, receivers, print_line=print_message)
        print_message(f"the report: {options.out / 'report.html'}")
        if options.publish:
            from contractlog.spark_validation.jobs.audit_job import publish  # noqa: PLC0415 - only when requested

            print_message(f"published {publish(registry, report)} entries to {registry.url}")
    code = FINDINGS if parts_below_limit(report) or any(map(failed_rules, report["topics"])) else CLEAN
    print_message(format_last_line(report, code))
    return code


def _parse_evidence(
    options: Namespace, patterns: Mapping[tuple[str, str], tuple[str, ...]] = _NO_PATTERNS
) -> EvidenceOptions:
    from contractlog.spark_validation.evidence_options import EvidenceOptions  # noqa: PLC0415 - for fast help

    headers = tuple(dict.fromkeys(options.producer_header))
    return EvidenceOptions(
        headers or DEFAULT_PRODUCER_HEADERS,
        show_values=options.show_values,
        profiles=not options.no_profiles,
        patterns=dict(patterns),
    )


def _print_report(report: AuditReport, options: Namespace) -> None:
    from contractlog.clients.cli.report_formats.report_output import output_report  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.jobs.blame_text import format_blame  # noqa: PLC0415 - as above
    from contractlog.spark_validation.jobs.terminal_report import format_changes, format_quality, format_report  # noqa: PLC0415 - as above
    from contractlog.spark_validation.report.ci_report import make_ci_report  # noqa: PLC0415 - as above

    if options.format == "json":
        print_json(report)
    elif options.format == "text":
        for line in format_report(report):
            print_result(line)
        for line in format_quality(report):
            print_result(line)
        for line in format_changes(report):
            print_result(line)
        for line in format_blame(report) if options.blame else ():
            print_result(line)
    output_report(options, partial(make_ci_report, report))


def _parse_share(text: str) -> float:
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (PERCENT if percent else 1.0)
    except ValueError:
        share = -1.0
    if rest or not 0.0 <= share <= 1.0:
        raise ArgumentTypeError(f"`{text}` is not a share: write 0.999 or 99.9%")
    return share
