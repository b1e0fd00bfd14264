"""``contractlog backtest``: read the history of topics with a schema before it is registered."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_environment,
    add_format,
    add_output,
    add_references,
    add_registry,
    add_reports,
    connect,
    select_context,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject, qualify_subject, split_topic_subject
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.spark_validation.jobs.source_options import (
    add_archive,
    add_cluster_options,
    add_timestamp_unit,
    make_cluster,
    make_source,
)

__all__ = ["backtest"]

_COMMAND: Final = "contractlog backtest"


def backtest(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Read topics with a proposed schema; exit code 1 if it cannot read a record."""
    parser.add_argument("subject", metavar="SUBJECT", help="the subject under which the schema would be registered")
    parser.add_argument("file", metavar="FILE", help="the schema file: .avsc or .schema.json")
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        dest="topics",
        metavar="TOPIC",
        help="a topic with records of the subject; may be repeated (default: the topic in the name of the subject)",
    )
    parser.add_argument(
        "--part", choices=PARTS, help="the part of the records (default: key if the subject ends in -key, else value)"
    )
    add_references(parser, "the file refers to")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE})"
    )
    add_archive(group, "read a Parquet archive, DIR/topic=<name>/…, instead")
    add_broker_config(parser)
    add_timestamp_unit(parser)
    add_cluster_options(parser)
    add_environment(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.report_formats.report_output import reported_failures  # noqa: PLC0415 - slow to import

    with apply_output_options(options), reported_failures(options, _COMMAND, argv, path=options.file):
        return _run(options)


def _run(options: Namespace) -> int:
    from contractlog.clients.cli.progress_line import ProgressLine  # noqa: PLC0415 - as above
    from contractlog.clients.cli.report_formats.report_output import output_json, output_report  # noqa: PLC0415 - as above
    from contractlog.clients.cli.schema_folder.collection import collect_files  # noqa: PLC0415 - as above
    from contractlog.clients.cli.schema_folder.resolver import FileResolver  # noqa: PLC0415 - as above
    from contractlog.spark_validation.jobs.backtest_job import BacktestRequest, run_backtest  # noqa: PLC0415 - fast help
    from contractlog.spark_validation.jobs.backtest_output import backtest_report, print_backtest  # noqa: PLC0415 - as above

    if Path(options.file).is_dir():
        raise UsageError(f"`{options.file}` is a folder: name one schema file")
    subject = qualify_subject(options.subject, select_context(options))
    part, topics = _find_topics(options, subject)
    source = make_source(options)
    ((file,),) = collect_files([options.file], subject=subject, references=options.references).values()
    with connect(options) as registry:
        proposed = FileResolver(registry).resolve(file)
        request = BacktestRequest(registry, source, subject, part, topics, proposed, make_cluster(options))
        result = run_backtest(request, ProgressLine("reading", "offsets", sys.stderr))
    output_report(options, partial(backtest_report, result, command=_COMMAND))
    output_json(options, result)
    if options.format == "text":
        print_backtest(result)
    return CLEAN if result["readable"] else FINDINGS


def _find_topics(options: Namespace, subject: str) -> tuple[Part, tuple[str, ...]]:
    """Return the part and the topics, as given or by the name of the subject.

    Raises:
        UsageError: the subject is not named after a topic, and none is given.
    """
    name = Subject.parse(subject).name
    named = split_topic_subject(name)
    part: Part = options.part or (named[1] if named else "value")
    if options.topics:
        return part, tuple(dict.fromkeys(options.topics))
    if named:
        return part, (named[0],)
    command = shell_command("backtest", options.subject, options.file, topic="TOPIC")
    raise UsageError(f"`{name}` is not named after a topic: name one, as in `{command}`")
