"""``contractlog archive``: copy the records of topics to Parquet files, each range of offsets once."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, require_brokers
from contractlog.clients.cli.exit_codes import CLEAN
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.compatibility.text.terminal_text import escape_line

if TYPE_CHECKING:
    from contractlog.spark_validation.jobs.archive_job import ArchivedTopic

__all__ = ["archive"]


def archive(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Copy topics; what the archive has already is not copied again."""
    parser.add_argument(
        "topics",
        nargs="*",
        metavar="TOPIC",
        help="the topics, as names or globs such as 'shop-*' (default: all that do not start with _)",
    )
    parser.add_argument(
        "--topics-file", type=Path, metavar="FILE", help="read names and globs of topics from this file"
    )
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="leave out these topics")
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="the archive: a folder, or an address such as s3://bucket/folder",
    )
    parser.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE})"
    )
    add_broker_config(parser)
    add_format(parser)
    options = parser.parse_args(argv)

    from contractlog.clients.cli.progress_line import ProgressLine  # noqa: PLC0415 - as above
    from contractlog.spark_validation.jobs.archive_job import copy_topics  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.sources.archive_folder import parse_location  # noqa: PLC0415 - as above
    from contractlog.spark_validation.sources.kafka_settings import require_shared_file  # noqa: PLC0415 - as above
    from contractlog.spark_validation.sources.selection import Selection, read_topics_file  # noqa: PLC0415 - as above
    from contractlog.spark_validation.sources.source import KafkaSource  # noqa: PLC0415 - as above

    named = () if options.topics_file is None else read_topics_file(options.topics_file)
    selection = Selection((*options.topics, *named), tuple(options.exclude))
    brokers = require_brokers(options)
    source = KafkaSource(brokers.servers, config=require_shared_file(brokers.file))
    copies = []
    progress = ProgressLine("archiving", "offsets", sys.stderr)
    for copy in copy_topics(source, selection, parse_location(options.out), progress=progress):
        copies.append(copy)
        for lost in copy.lost:
            span = f"offsets {lost.start:,} to {lost.end:,} of partition {lost.partition}"
            print_message(escape_line(f"{copy.topic}: {span} were no longer in the log and are not archived"))
        if options.format != "json":
            print_result(_describe(copy))
    if options.format == "json":
        print_json({"format": "contractlog.archive/1", "topics": [_body(copy) for copy in copies]})
    return CLEAN


def _describe(copy: ArchivedTopic) -> str:
    files = f"{copy.files:,} file{'' if copy.files == 1 else 's'}"
    before = f"; {copy.archived_before:,} were archived before" if copy.archived_before else ""
    return escape_line(f"{copy.topic}: archived {copy.offsets:,} new offsets in {files}{before}")


def _body(copy: ArchivedTopic) -> dict[str, object]:
    return {
        "topic": copy.topic,
        "new_offsets": copy.offsets,
        "files": copy.files,
        "archived_before": copy.archived_before,
        "lost": [{"partition": each.partition, "from_offset": each.start, "to_offset": each.end} for each in copy.lost],
    }
