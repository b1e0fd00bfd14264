"""Options of commands that read records: topics, source, selected records, and the Spark cluster."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, require_brokers
from contractlog.compatibility.errors import UsageError

if TYPE_CHECKING:
    from argparse import _MutuallyExclusiveGroup

    from contractlog.spark_validation.sources.selection import Selection
    from contractlog.spark_validation.sources.source import RecordSource
    from contractlog.spark_validation.spark.cluster import SparkCluster

__all__ = [
    "add_archive",
    "add_cluster_options",
    "add_read_options",
    "add_selection_options",
    "add_source_options",
    "add_timestamp_unit",
    "make_cluster",
    "make_selection",
    "make_source",
]


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
    add_archive(group, "read a Parquet archive, DIR/topic=<name>/…, instead")
    add_broker_config(parser)


def add_archive(group: _MutuallyExclusiveGroup, purpose: str) -> None:
    """Add ``--archive``; ``make_source`` reads it."""
    where = "a folder, or an address such as s3://bucket/folder"
    group.add_argument("--archive", metavar="DIR", help=f"{purpose}; {where}")


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
    parser.add_argument("--last", metavar="DURATION", help="since this long ago: 30s, 90m, 12h, 7d or 4w")


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


def add_cluster_options(parser: ArgumentParser) -> None:
    """Add the Spark cluster: ``--master`` and ``--wheel``; ``make_cluster`` reads them."""
    parser.add_argument(
        "--master",
        metavar="URL",
        help="the Spark cluster (default: that of spark-submit if it runs this, or else local[*], this machine)",
    )
    parser.add_argument(
        "--wheel",
        type=Path,
        metavar="FILE",
        help="wheel of contractlog to send to the workers of the cluster (default: they have it installed)",
    )


def make_cluster(options: Namespace) -> SparkCluster:
    """Return the Spark cluster that the arguments name.

    Raises:
        UsageError: the wheel is not one, or workers need none.
    """
    from contractlog.spark_validation.spark.cluster import (  # noqa: PLC0415 - for fast help
        LOCAL_MASTER,
        SparkCluster,
        find_submitted_master,
    )

    return SparkCluster(options.master or find_submitted_master() or LOCAL_MASTER, options.wheel)


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
        since = int((datetime.now(UTC) - selection.parse_duration(options.last, "--last")).timestamp() * 1000)
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
    from contractlog.spark_validation.sources.archive_folder import parse_location  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.sources.kafka_settings import require_shared_file  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.sources.source import ArchiveSource, KafkaSource  # noqa: PLC0415 - as above

    if options.archive:
        if options.broker_config:
            raise UsageError("--broker-config is for a Kafka cluster, and --archive names a folder: use one of them")
        return ArchiveSource(parse_location(options.archive), options.timestamp_unit)
    brokers = require_brokers(options, instead=", or pass --archive DIR")
    return KafkaSource(brokers.servers, config=require_shared_file(brokers.file))
