"""``contractlog replay``: send violating records of an audit to a topic, as they are or corrected."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from contractlog.clients.cli.broker import Brokers, add_broker_options, require_brokers
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import add_format, add_output, add_registry, connect
from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    count_noun,
    print_json,
    print_message,
    print_result,
    with_tone,
)
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS

if TYPE_CHECKING:
    from contractlog.serdes.cli.record_encoder import ProducerRecord
    from contractlog.serdes.partition_reader import TopicReader
    from contractlog.spark_validation.jobs.replay_job import ReplaySummary, SourceRecord
    from contractlog.spark_validation.violations.violation_selection import OffsetSelection, ViolationSelection

__all__ = ["print_replay", "replay"]

_INTERRUPTED: Final = 130
_OFFSETS: Final = re.compile(r"(\d{1,9}):(\d{1,18})(?:-(\d{1,18}))?")
_CODES: Final = tuple(outcome.name for outcome in Outcome if outcome.violating)


def replay(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Send violating records; exit code 1 if one is no longer in its topic as it was audited."""
    parser.add_argument("report", type=Path, metavar="REPORT_DIR", help="the folder that `audit --out` wrote")
    parser.add_argument("--to", required=True, metavar="TOPIC", help="the topic to send to; it must exist")
    parser.add_argument(
        "--topic", action="append", default=[], dest="topics", metavar="TOPIC", help="only records of this topic"
    )
    parser.add_argument(
        "--code",
        action="append",
        default=[],
        choices=_CODES,
        dest="codes",
        metavar="CODE",
        help="only records with this outcome code, such as TRUNCATED; may be repeated, as the other selections",
    )
    parser.add_argument(
        "--part",
        action="append",
        default=[],
        choices=PARTS,
        dest="parts",
        help="only records whose key or value violates",
    )
    parser.add_argument(
        "--offsets",
        action="append",
        default=[],
        type=_parse_offsets,
        metavar="PARTITION:FIRST[-LAST]",
        help="only records at these offsets; needs one topic",
    )
    parser.add_argument(
        "--corrected",
        type=Path,
        metavar="FILE",
        help='send only the records in this file, with corrected values: JSON lines {"partition": …, "offset": …, '
        '"value": …}',
    )
    parser.add_argument(
        "--schema-id", type=_parse_id, metavar="ID", help="the schema of corrected values whose line names no schema_id"
    )
    parser.add_argument(
        "--allow-source-topic", action="store_true", help="allow to send to the topic that the records come from"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--dry-run", action="store_true", help="read and check the records, and send nothing (the default)"
    )
    mode.add_argument("--confirm", action="store_true", help="send the records")
    add_broker_options(parser)
    add_registry(parser, environments=False)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    from contractlog.spark_validation.jobs.replay_job import REPLAY_FORMAT  # noqa: PLC0415 - fast help
    from contractlog.spark_validation.violations.violation_selection import (  # noqa: PLC0415 - as above
        ViolationSelection,
        find_topics,
    )

    folder = options.report / "violations.parquet"
    selection = ViolationSelection(
        frozenset(options.topics), frozenset(options.codes), frozenset(options.parts), tuple(options.offsets)
    )
    topics = find_topics(folder, selection)
    if options.offsets and len(topics) > 1:
        raise UsageError(f"--offsets needs one topic, and the selection has {len(topics)}: add --topic")
    if options.to in topics and not options.allow_source_topic:
        raise UsageError(
            f"`{options.to}` is the topic of the records themselves: pass --allow-source-topic to add them again"
        )
    if options.schema_id is not None and options.corrected is None:
        raise UsageError("--schema-id needs --corrected FILE: it is the schema of corrected values")
    summary, interrupted = _replay(options, require_brokers(options), folder, selection, topics)
    if options.format == "json":
        body = {"format": REPLAY_FORMAT, "to": options.to, "dry_run": not options.confirm, "topics": topics}
        print_json({**body, "interrupted": interrupted, **summary.body()})
    else:
        print_replay(summary.body(), options.to, sent=options.confirm)
    if interrupted:
        print_message("interrupted: every record that was sent is acknowledged")
        return _INTERRUPTED
    return CLEAN if summary.is_complete else FINDINGS


def _replay(
    options: Namespace, brokers: Brokers, folder: Path, selection: ViolationSelection, topics: Sequence[str]
) -> tuple[ReplaySummary, bool]:
    """Replay the records; return the summary, and whether it was interrupted."""
    from contractlog.serdes.cli.delivery import Delivery  # noqa: PLC0415 - fast help
    from contractlog.serdes.cli.input_interruption import Interruption  # noqa: PLC0415 - as above
    from contractlog.spark_validation.jobs.replay_job import replay_records  # noqa: PLC0415 - as above
    from contractlog.spark_validation.violations.corrections import Corrections  # noqa: PLC0415 - as above

    with ExitStack() as resources:
        corrections = None
        if options.corrected is not None:
            registry = resources.enter_context(connect(options))
            topic = topics[0] if len(topics) == 1 else None
            corrections = resources.enter_context(Corrections(options.corrected, registry, topic, options.schema_id))
        delivery = Delivery(brokers, options.to, progress=sys.stderr.isatty())
        interruption = resources.enter_context(Interruption())

        def send(record: ProducerRecord) -> None:
            if options.confirm:
                delivery.send(record)

        reader = resources.enter_context(_SourceReader(brokers))
        try:
            summary = replay_records(
                folder,
                selection,
                reader.read,
                send,
                corrections=corrections,
                stopped=lambda: interruption.happened,
            )
            delivery.finish(interrupted=interruption.happened)
        except ContractlogError:
            delivery.finish(interrupted=True)
            delivery.end_progress()
            if options.confirm:
                print_message(f"{count_noun(delivery.acknowledged, 'record')} had been acknowledged before this error:")
            raise
        delivery.end_progress()
        return summary, interruption.happened


class _SourceReader:
    """Reader of records at known offsets; one topic is open at a time."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._open = ExitStack()
        self._topic: str | None = None
        self._reader: TopicReader | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def read(self, topic: str, partition: int, start: int, end: int) -> Iterator[SourceRecord]:
        """Yield the records that the log still has in a range."""
        from contractlog.serdes.partition_reader import TopicReader  # noqa: PLC0415 - fast help
        from contractlog.spark_validation.jobs.replay_job import SourceRecord  # noqa: PLC0415 - as above

        if self._reader is None or topic != self._topic:
            self._open.close()
            self._topic, self._reader = topic, self._open.enter_context(TopicReader(self._brokers, topic))
        low, high = self._reader.range(partition)
        for message in self._reader.read(partition, max(start, low), min(end, high)):
            _, time = message.timestamp()
            headers: Any = message.headers() or []
            yield SourceRecord(
                int(message.offset() or 0), message.key(), message.value(), time if time > 0 else None, list(headers)
            )


def print_replay(summary: Mapping[str, Any], topic: str, *, sent: bool) -> None:
    """Print what was sent, or would be, and which records were not."""
    codes = ", ".join(f"{code} {count:,}" for code, count in summary["codes"].items())
    action = "sent" if sent else "would send"
    corrected = f", {summary['corrected']:,} of them corrected" if summary["corrected"] else ""
    left = summary["selected"] - summary["sent"]
    tone = Tone.BAD if summary["missing"] or summary["changed"] or summary["unmatched_corrections"] else Tone.GOOD
    records = count_noun(summary["sent"], "record")
    print_result(with_tone(tone, f"{action} {records} to `{topic}`{corrected}" + (f" ({codes})" if codes else "")))
    if left:
        print_result(f"    not sent: {left:,} of {count_noun(summary['selected'], 'selected record')}")
    for name, text in (
        ("missing", "no longer in the log"),
        ("changed", "another record than the audited one"),
        ("uncorrected", "without a line in the file of corrections"),
    ):
        if summary[name]:
            print_result(f"        {summary[name]:,} {text}{_name_first(summary.get(f'first_{name}', ()))}")
    if summary["unmatched_corrections"]:
        lines = count_noun(summary["unmatched_corrections"], "correction")
        print_result(f"    {lines} of records that are not selected violations")
    if not sent:
        print_message("nothing was sent: pass --confirm to send")


def _name_first(records: Sequence[Mapping[str, Any]]) -> str:
    if not records:
        return ""
    first = records[0]
    return f", such as `{first['topic']}` partition {first['partition']} offset {first['offset']}"


def _parse_offsets(text: str) -> OffsetSelection:
    from contractlog.spark_validation.violations.violation_selection import OffsetSelection  # noqa: PLC0415 - fast help

    match = _OFFSETS.fullmatch(text)
    if match is None or (match[3] and int(match[3]) < int(match[2])):
        raise ArgumentTypeError(f"`{text}` does not have the form PARTITION:FIRST or PARTITION:FIRST-LAST")
    return OffsetSelection(int(match[1]), int(match[2]), int(match[3] or match[2]))


def _parse_id(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text[:11]) < 2**31:
        return int(text)
    raise ArgumentTypeError(f"`{text}` is not a schema id")
