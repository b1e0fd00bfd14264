"""``contractlog unused``: list the versions that no retained record carries, with the proof."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    count_noun,
    is_verbose,
    print_json,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.source_options import (
    add_cluster_options,
    add_source_options,
    add_timestamp_unit,
    make_cluster,
    make_source,
)

__all__ = ["list_unused", "print_unused"]

_MAX_SHOWN: Final = 3  #: gaps that are named


def list_unused(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List unused versions; exit code 1 if the proof is incomplete, as not all records were read."""
    add_source_options(parser)
    add_timestamp_unit(parser)
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="use the state of an audit, or the audit's --out folder, and compare it with the log (default: read the "
        "records)",
    )
    add_cluster_options(parser)
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    from contractlog.clients.cli.progress_line import ProgressLine  # noqa: PLC0415 - fast help
    from contractlog.spark_validation.jobs.unused_job import UnusedRequest, find_unused  # noqa: PLC0415 - as above

    context = select_context(options)
    if context:
        raise UsageError(f"`unused` works only in the default context; the environment selects `{context}`")
    source = make_source(options)
    usage = None
    if options.state is not None:
        from contractlog.contracts.audit.id_usage import find_id_usage  # noqa: PLC0415 - as above
        from contractlog.spark_validation.state.state_files import read_state  # noqa: PLC0415 - as above

        inner = options.state / "state"
        usage = find_id_usage(read_state(inner if inner.is_dir() else options.state))
    with connect(options) as registry:
        request = UnusedRequest(registry, source, tuple(options.topics), usage, make_cluster(options))
        result = find_unused(request, ProgressLine("reading", "offsets", sys.stderr))
    for version in result["versions"]:
        version["command"] = _delete_command(version) if version["may_go"] else None
    if options.format == "json":
        print_json(result)
    else:
        print_unused(result)
    return CLEAN if result["complete"] else FINDINGS


def _delete_command(version: Mapping[str, Any]) -> str:
    verb = "delete --permanent" if version["deleted"] else "delete"
    return registry_command(verb, f"{version['subject']}:{version['version']}")


def print_unused(result: Mapping[str, Any]) -> None:
    """Print the proof, then the versions that may go with their commands, then those that have to stay."""
    print_result(_describe_proof(result))
    versions = result["versions"]
    for version in versions:
        if version["may_go"]:
            print_result(with_tone(Tone.GOOD, f"{_name(version)}: unused"))
    staying = [version for version in versions if not version["may_go"]]
    for version in staying:
        if not version["records"] or is_verbose():
            print_result(with_tone(Tone.PLAIN, f"{_name(version)}: must be kept: {'; '.join(version['reasons'])}"))
    used = sum(bool(version["records"]) for version in staying)
    if used and not is_verbose():
        print_result(f"{count_noun(used, 'version')} in use; --verbose lists them")
    commands = [version["command"] for version in versions if version["command"]]
    if commands:
        print_message("nothing was deleted; to delete the unused versions:")
        for command in commands:
            print_result(f"    {command}")


def _name(version: Mapping[str, Any]) -> str:
    deleted = ", soft-deleted" if version["deleted"] else ""
    return f"`{version['subject']}` version {version['version']} (id {version['schema_id']}{deleted})"


def _describe_proof(result: Mapping[str, Any]) -> str:
    """Describe what was read: topics, offsets, records, gaps and the time of the records."""
    topics = result["topics"]
    partitions = [(topic["topic"], partition) for topic in topics for partition in topic["partitions"]]
    offsets = sum(partition["log_end"] - partition["log_start"] for _, partition in partitions)
    records = sum(partition["records"] for _, partition in partitions)
    times = [topic[name] for topic in topics for name in ("oldest", "newest") if topic[name]]
    scope = " (all)" if result["all_topics"] else ""
    text = f"read {count_noun(len(topics), 'topic')}{scope}: {offsets:,} offsets, {count_noun(records, 'record')}"
    text += f" from {min(times)} to {max(times)}" if times else ""
    gaps = [
        f"{start:,} to {end - 1:,} of `{topic}` partition {partition['partition']}"
        for topic, partition in partitions
        for start, end in partition["gaps"]
    ]
    if gaps:
        more = ", …" if len(gaps) > _MAX_SHOWN else ""
        return with_tone(Tone.BAD, f"{text}; offsets not read: {', '.join(gaps[:_MAX_SHOWN])}{more}")
    if not result["complete"]:
        return with_tone(Tone.BAD, f"{text}; not all ids are known: run without --state")
    return with_tone(Tone.GOOD, f"{text}, no gap")
