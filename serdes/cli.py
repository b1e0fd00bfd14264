"""``contractlog produce`` and ``contractlog consume``: JSON lines into a topic, and out of it."""

from __future__ import annotations

import contextlib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final, TextIO

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import bootstrap_servers
from contractlog.clients.cli.options import add_format, add_registry, connect
from contractlog.clients.cli.output import count, result, result_json, say
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.serdes.broker import add_broker, partitions
from contractlog.serdes.consuming import Log
from contractlog.serdes.lines import LineReader
from contractlog.serdes.printing import Printer
from contractlog.serdes.producing import Delivery, Interruption, lines

__all__ = ["consume", "produce"]

_INTERRUPTED: Final = 130


def produce(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write JSON lines to a topic; return 0 when every one is acknowledged."""
    parser.add_argument("topic", help="the topic; it has to exist")
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON lines (default: stdin)")
    parser.add_argument("--schema", metavar="FILE", help="of the values (default: the newest of <topic>-value)")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--key-field", metavar="NAME", help="the member of a value that is its key")
    keys.add_argument("--envelope", action="store_true", help='lines read {"key": …, "value": …, "timestamp": ms}')
    add_broker(parser)
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    servers = bootstrap_servers(options.bootstrap_servers)
    delivery = Delivery(servers, options.topic, progress=sys.stderr.isatty())
    partitions(delivery.producer, options.topic, servers)
    with connect(options) as registry, _opened(options.file) as source, Interruption() as interruption:
        reader = LineReader(
            registry, options.topic, schema=options.schema, key_field=options.key_field, envelope=options.envelope
        )
        try:
            for number, line in lines(source, interruption):
                delivery.send(*reader.record(number, line))
            delivery.settle(interrupted=interruption.happened)
        except ContractlogError:
            delivery.settle(interrupted=True)
            delivery.end_progress()
            say(f"{count(delivery.acknowledged, 'record')} had been acknowledged before")
            raise
    delivery.end_progress()
    if interruption.happened:
        say("interrupted: what was acknowledged is whole, and nothing else was left behind")
    if options.format == "json":
        result_json({"topic": options.topic, "records": delivery.acknowledged, "interrupted": interruption.happened})
    else:
        result(f"{count(delivery.acknowledged, 'record')} written to {options.topic}")
    return _INTERRUPTED if interruption.happened else exit_codes.CLEAN


def consume(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print a topic as JSON lines, up to its end at the start; return 1 when a record could not be decoded."""
    parser.add_argument("topic", help="the topic")
    parser.add_argument("--limit", type=_number, metavar="N", help="print at most so many records")
    parser.add_argument("--partition", type=_number, metavar="P", help="read this partition alone")
    parser.add_argument("--offset", type=_number, metavar="O", help="begin at this offset; needs --partition")
    parser.add_argument("--from-beginning", action="store_true", help="begin with the first record (the default)")
    parser.add_argument("--envelope", action="store_true", help="print key, place, timestamp and schema ids as well")
    add_broker(parser)
    add_registry(parser)
    add_format(parser)
    options = parser.parse_args(argv)
    if options.offset is not None and options.partition is None:
        raise UsageError("--offset needs --partition: each partition counts its own offsets")
    servers = bootstrap_servers(options.bootstrap_servers)
    with connect(options) as registry, Log(servers, options.topic) as log:
        printer = Printer(registry, options.topic, envelope=options.envelope, as_json=options.format == "json")
        _print_all(log, printer, options)
    if printer.damaged:
        say(f"{count(printer.damaged, 'record')} of {printer.seen:,} could not be decoded")
    return exit_codes.FINDINGS if printer.damaged else exit_codes.CLEAN


def _print_all(log: Log, printer: Printer, options: Namespace) -> None:
    chosen = log.partitions if options.partition is None else [options.partition]
    ranges = {partition: log.range(partition) for partition in chosen}
    for partition, (low, end) in ranges.items():
        start = low if options.offset is None else options.offset
        _tell_place(partition, start, low, end, asked=options.offset is not None)
        left = None if options.limit is None else options.limit - printer.seen
        for message in log.read(partition, max(start, low), end, left):
            if options.offset is not None and printer.seen == 0 and message.offset() != start:
                say(f"offset {start} holds no record (any more); the next one is at {message.offset()}")
            printer.print(message)
    told = options.offset is not None and all(options.offset >= end for _, end in ranges.values())
    if not (printer.seen or told or options.limit == 0):
        say(_nothing(options))


def _nothing(options: Namespace) -> str:
    where = "" if options.partition is None else f" in partition {options.partition}"
    since = "" if options.offset is None else f" from offset {options.offset} on"
    return f"topic `{options.topic}` holds no records{where}{since}"


def _tell_place(partition: int, start: int, low: int, end: int, *, asked: bool) -> None:
    if asked and start >= end:
        say(f"partition {partition} ends at offset {end}: there is no record at {start}")
    elif asked and start < low:
        say(f"partition {partition} begins at offset {low} now: {start} is gone")


@contextlib.contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield sys.stdin
        return
    try:
        source = Path(file).open(encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 -- the caller's errors are not about opening
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror or error}") from None
    with source:
        yield source


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"`{text}` is no whole number from 0")
    return int(text)
