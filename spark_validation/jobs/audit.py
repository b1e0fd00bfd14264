"""``contractlog audit``: hold every record of topics against the schema whose id it carries."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, brokers_of
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import add_format, add_registry, connect
from contractlog.clients.cli.output import result, result_json, say
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.observed.report import Report

if TYPE_CHECKING:
    from contractlog.spark_validation.sources.source import Source

__all__ = ["add_source", "audit", "source_of"]

PERCENT: Final = 100.0


def audit(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Audit topics and write the report; exit code 1 when a part conforms less than ``--fail-under``."""
    add_source(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("audit"), metavar="DIR", help="where the report goes (default: audit/)"
    )
    parser.add_argument("--publish", action="store_true", help="record the result in the registry")
    parser.add_argument(
        "--fail-under",
        type=_share,
        default=1.0,
        metavar="SHARE",
        help="exit with 1 when less of a part's records conform: 0.999 or 99.9%% (default: any violation)",
    )
    parser.add_argument("--strict", action="store_true", help="count booleans other than 0 and 1 as violations, too")
    parser.add_argument(
        "--full-bytes",
        action="store_true",
        help="keep violating keys and values whole in violations.parquet (default: the first 1,024 bytes)",
    )
    parser.add_argument(
        "--master", default="local[*]", metavar="URL", help="the Spark cluster (default: %(default)s, this machine)"
    )
    add_registry(parser)
    add_format(parser)
    options = parser.parse_args(argv)
    return _audit(options)


def add_source(parser: ArgumentParser) -> None:
    """Add the topics, and where they are: ``--bootstrap-servers`` or ``--archive``."""
    parser.add_argument(
        "topics", nargs="*", metavar="TOPIC", help="none named: all that do not start with _, or all of the archive"
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE})"
    )
    place.add_argument("--archive", type=Path, metavar="DIR", help="a Parquet archive, DIR/topic=<name>/…, instead")
    add_broker_config(parser)


def source_of(options: Namespace) -> Source:
    """Return where the topics are, as the arguments or the environment name it.

    Raises:
        UsageError: neither does, or both do.
    """
    from contractlog.spark_validation.sources.kafka_talk import shared_file  # noqa: PLC0415 - help is quick
    from contractlog.spark_validation.sources.source import ArchiveSource, KafkaSource  # noqa: PLC0415 - as above

    if options.archive:
        if options.broker_config:
            raise UsageError("--broker-config is for a Kafka cluster, and --archive names a folder: give one of them")
        return ArchiveSource(options.archive)
    brokers = brokers_of(options, instead=", or give --archive DIR")
    return KafkaSource(brokers.servers, config=shared_file(brokers.file))


def _audit(options: Namespace) -> int:
    from contractlog.spark_validation.columnar.limits import Limits  # noqa: PLC0415 - help is quick without numpy
    from contractlog.spark_validation.jobs import auditing  # noqa: PLC0415 - help is quick without Spark
    from contractlog.spark_validation.jobs.progress import ProgressLine  # noqa: PLC0415 - belongs to the work
    from contractlog.spark_validation.violations import CAPPED  # noqa: PLC0415 - as above

    source = source_of(options)
    with connect(options) as registry:
        report = auditing.audit_to_folder(
            auditing.Order(
                registry=registry,
                source=source,
                topics=tuple(options.topics),
                limits=Limits(strict_booleans=options.strict),
                master=options.master,
                cap=None if options.full_bytes else CAPPED,
            ),
            options.out,
            say=say,
            progress=ProgressLine("auditing", "offsets", sys.stderr),
        )
        _tell(report, options)
        say(f"the report: {options.out / 'report.html'}")
        if options.publish:
            from contractlog.spark_validation.publish import publish  # noqa: PLC0415 - only when asked

            say(f"published {publish(registry, report)} entries to {registry.url}")
    shares = [part["conformance"] for part in report["topics"] if part["conformance"] is not None]
    return FINDINGS if any(share < options.fail_under for share in shares) else CLEAN


def _tell(report: Report, options: Namespace) -> None:
    from contractlog.spark_validation.jobs.lines import lines  # noqa: PLC0415 - help is quick

    if options.format == "json":
        result_json(report)
    else:
        for line in lines(report):
            result(line)


def _share(text: str) -> float:
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (PERCENT if percent else 1.0)
    except ValueError:
        share = -1.0
    if rest or not 0.0 <= share <= 1.0:
        raise ArgumentTypeError(f"`{text}` is no share: write 0.999 or 99.9%")
    return share
