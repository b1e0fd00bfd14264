"""``contractlog consume``: a topic as JSON lines or an Avro file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import add_broker_options, require_brokers
from contractlog.clients.cli.options import add_registry, connect
from contractlog.clients.cli.output import count_noun, print_message
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli.avro_files import require_fastavro
from contractlog.serdes.cli.input_interruption import Interruption
from contractlog.serdes.cli.printer import AvroFilePrinter, RecordPrinter
from contractlog.serdes.cli.strategy_option import add_strategy
from contractlog.serdes.partition_reader import TopicReader

__all__ = ["consume"]


def consume(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print a topic as JSON lines, up to the end that it has at the start.

    Return 1 if a record could not be decoded.
    """
    parser.add_argument("topic", help="the topic")
    parser.add_argument("--limit", type=_parse_whole_number, metavar="N", help="print at most N records")
    parser.add_argument("--partition", type=_parse_whole_number, metavar="P", help="read only this partition")
    parser.add_argument(
        "--offset", type=_parse_whole_number, metavar="O", help="begin at this offset; needs --partition"
    )
    parser.add_argument("--from-beginning", action="store_true", help="begin with the first record (the default)")
    parser.add_argument(
        "--follow", action="store_true", help="continue with records written later, until Ctrl-C or --limit"
    )
    parser.add_argument(
        "--envelope",
        action="store_true",
        help="also print key, headers, partition, offset, timestamp and schema ids",
    )
    add_strategy(parser, "of the values; records of other subjects are errors (default: any strategy)")
    add_broker_options(parser)
    add_registry(parser, environments=False)
    parser.add_argument(
        "--format",
        choices=("text", "json", "avro"),
        default="text",
        help="JSON lines, with errors reported as text (the default) or as JSON (json); or the values as an Avro "
        "object container file (avro)",
    )
    options = parser.parse_args(argv)
    if options.offset is not None and options.partition is None:
        raise UsageError("--offset needs --partition: each partition counts its own offsets")
    if options.format == "avro":
        _check_avro_options(options)
    brokers = require_brokers(options)
    with connect(options) as registry, TopicReader(brokers, options.topic) as log:
        printer = _make_printer(options, registry)
        if options.follow:
            with Interruption() as interruption:
                _print_all(log, printer, options, interruption)
        else:
            _print_all(log, printer, options)
        printer.end()
    if printer.damaged:
        print_message(f"{count_noun(printer.damaged, 'record')} of {printer.printed:,} could not be decoded")
    return exit_codes.FINDINGS if printer.damaged else exit_codes.CLEAN


def _check_avro_options(options: Namespace) -> None:
    """Reject options that an Avro file cannot honour, and output to a terminal.

    Raises:
        UsageError: such an option is given, or stdout is a terminal.
    """
    if options.envelope:
        raise UsageError("--envelope is for JSON lines; an Avro file holds values alone")
    require_fastavro()
    if sys.stdout.isatty():
        raise UsageError(f"an Avro file is binary: send it to a file, as in `… > {options.topic}.avro`")


def _make_printer(options: Namespace, registry: Registry) -> RecordPrinter:
    if options.format == "avro":
        return AvroFilePrinter(registry, options.topic, sys.stdout.buffer, strategy=options.strategy)
    as_json = options.format == "json"
    return RecordPrinter(registry, options.topic, envelope=options.envelope, as_json=as_json, strategy=options.strategy)


def _print_all(
    log: TopicReader, printer: RecordPrinter, options: Namespace, interruption: Interruption | None = None
) -> None:
    """Print the records that are there now, and new ones until an interruption, if there is one."""
    partitions = log.partitions if options.partition is None else [options.partition]
    ranges = {partition: log.range(partition) for partition in partitions}
    for partition, (low, end) in ranges.items():
        start = low if options.offset is None else options.offset
        if not options.follow:
            _report_offset(partition, start, low, end, is_requested=options.offset is not None)
        remaining = None if options.limit is None else options.limit - printer.printed
        for message in log.read(partition, max(start, low), end, remaining):
            if options.offset is not None and printer.printed == 0 and message.offset() != start:
                print_message(f"offset {start} contains no record (any more); the next one is at {message.offset()}")
            printer.print(message)
            if interruption is not None and interruption.happened:
                return
    if interruption is not None:
        starts = {p: end if options.offset is None else max(end, options.offset) for p, (_, end) in ranges.items()}
        _follow(log, printer, options.limit, starts, interruption)
        return
    is_reported = options.offset is not None and all(options.offset >= end for _, end in ranges.values())
    if not (printer.printed or is_reported or options.limit == 0):
        print_message(_no_records_message(options))


def _follow(
    log: TopicReader,
    printer: RecordPrinter,
    limit: int | None,
    starts: Mapping[int, int],
    interruption: Interruption,
) -> None:
    """Print new records as soon as they arrive, until an interruption."""

    def is_done() -> bool:
        return interruption.happened or printer.printed == limit

    printer.flush()
    for messages in log.follow(starts, is_done):
        for message in messages:
            if printer.printed != limit:
                printer.print(message)
        if messages:
            printer.flush()


def _no_records_message(options: Namespace) -> str:
    where = "" if options.partition is None else f" in partition {options.partition}"
    since = "" if options.offset is None else f" from offset {options.offset} on"
    return f"topic `{options.topic}` contains no records{where}{since}"


def _report_offset(partition: int, start: int, low: int, end: int, *, is_requested: bool) -> None:
    if is_requested and start >= end:
        print_message(f"partition {partition} ends at offset {end}: there is no record at {start}")
    elif is_requested and start < low:
        print_message(f"partition {partition} begins at offset {low} now: {start} is gone")


def _parse_whole_number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"`{text}` is not an integer of at least 0")
    return int(text)
