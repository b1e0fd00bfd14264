"""``contractlog audit``: validate every record of topics against the schema whose id it carries."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contractlog.clients.cli.options import add_format, add_registry, add_reports
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS
from contractlog.contracts.audit.report import FAIL_UNDER, THRESHOLD
from contractlog.spark_validation.jobs.source_options import (
    add_cluster_options,
    add_read_options,
    add_source_options,
)

__all__ = ["audit"]

PERCENT: Final = 100.0
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
        "--follow",
        action="store_true",
        help="audit again and again, each time what is new, until Ctrl-C or SIGTERM; one Spark session is used",
    )
    parser.add_argument(
        "--every",
        metavar="DURATION",
        help="with --follow, time from the start of an audit to the start of the next: 30s, 5m, 1h (default: 5m)",
    )
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
    add_cluster_options(parser)
    add_registry(parser, environments=False)
    add_format(parser, *AUDIT_FORMATS)
    add_reports(parser, AUDIT_FORMATS)
    _add_alert_options(parser)
    options = parser.parse_args(argv)
    if options.lineage and options.no_samples:
        raise UsageError("--lineage needs samples of values, which --no-samples leaves out. Remove one of the options")
    if options.every is not None and not options.follow:
        raise UsageError("--every needs --follow: a single audit is not repeated")
    if options.follow:
        _require_followable(options)
    from contractlog.spark_validation.jobs.audit_rounds import run_audits  # noqa: PLC0415 - fast help, without Spark

    return run_audits(options)


def _require_followable(options: Namespace) -> None:
    """Raise ``UsageError`` for options that read everything again or cannot be repeated."""
    whole = [
        name
        for name, given in (
            ("--full", options.full),
            ("--since", options.since is not None),
            ("--until", options.until is not None),
            ("--last", options.last is not None),
            ("--archive", options.archive is not None),
        )
        if given
    ]
    if whole:
        raise UsageError(f"--follow reads what is new, and {whole[0]} would read everything again: use one of them")
    if options.lineage:
        raise UsageError("--follow does not infer lineage: run `contractlog lineage --state DIR` beside it")
    if options.format != "text":
        raise UsageError("--follow prints text: read report.json in --out, or write a report with --report FORMAT=FILE")


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


def _parse_share(text: str) -> float:
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (PERCENT if percent else 1.0)
    except ValueError:
        share = -1.0
    if rest or not 0.0 <= share <= 1.0:
        raise ArgumentTypeError(f"`{text}` is not a share: write 0.999 or 99.9%")
    return share
