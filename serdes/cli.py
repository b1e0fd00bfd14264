"""``contractlog produce`` and ``contractlog consume``: topics to and from JSON lines and Avro files."""

from __future__ import annotations

import contextlib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import IO, Final, TextIO

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import add_brokers, brokers_of
from contractlog.clients.cli.options import add_format, add_references, add_registry, connect
from contractlog.clients.cli.output import count, result, result_json, say
from contractlog.clients.client import Registry
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.schema import SchemaType
from contractlog.serdes.consuming import Log
from contractlog.serdes.context import MessageField
from contractlog.serdes.headers import parse_header
from contractlog.serdes.lines import BY_RECORD, LineReader, Record, latest, schema_in
from contractlog.serdes.object_files import ObjectFile, require_fastavro
from contractlog.serdes.printing import AvroPrinter, Printer
from contractlog.serdes.producing import Delivery, Interruption, lines
from contractlog.serdes.strategies import add_strategy

__all__ = ["consume", "produce"]

_INTERRUPTED: Final = 130
_AVRO: Final = ".avro"


def produce(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write JSON lines or an Avro file to a topic; return 0 if every record is acknowledged."""
    parser.add_argument("topic", help="the topic; it has to exist")
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="JSON lines (default: stdin), or an Avro object container file (`.avro`)",
    )
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="of the values (default: the newest version of their subject; for a `.avro` file without one, its own)",
    )
    add_references(parser, "the schema depends on")
    add_strategy(parser, "of the values (default: an associated subject, else <topic>-value)")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        type=parse_header,
        dest="headers",
        metavar="NAME=VALUE",
        help="a header of every record; may be repeated",
    )
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--key-field", metavar="NAME", help="the member of a value that is its key")
    keys.add_argument(
        "--envelope",
        action="store_true",
        help='lines read {"key": …, "value": …, "headers": [{"key": …, "value": …}], "timestamp": ms}',
    )
    add_brokers(parser)
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    if options.references and options.schema is None:
        raise UsageError("--reference needs --schema FILE: it names what that schema depends on")
    if options.file.endswith(_AVRO):
        require_fastavro()
        if options.envelope:
            raise UsageError("--envelope is for JSON lines; the records of an Avro file are values")
    delivery = Delivery(brokers_of(options), options.topic, progress=sys.stderr.isatty())
    with connect(options) as registry, contextlib.ExitStack() as files, Interruption() as interruption:
        records = _records(options, registry, interruption, files)
        try:
            for record in records:
                delivery.send(record)
            delivery.settle(interrupted=interruption.happened)
        except ContractlogError:
            delivery.settle(interrupted=True)
            delivery.end_progress()
            say(f"{count(delivery.acknowledged, 'record')} had been acknowledged before this error:")
            raise
    delivery.end_progress()
    if interruption.happened:
        say("interrupted: what was acknowledged is whole, and nothing else was left behind")
    if options.format == "json":
        result_json({"topic": options.topic, "records": delivery.acknowledged, "interrupted": interruption.happened})
    else:
        result(f"{count(delivery.acknowledged, 'record')} written to {options.topic}")
    return _INTERRUPTED if interruption.happened else exit_codes.CLEAN


def _records(
    options: Namespace, registry: Registry, interruption: Interruption, files: contextlib.ExitStack
) -> Iterator[Record]:
    """Open the input, and return an iterator of its records, up to the end or an interruption.

    Raises:
        UsageError: the input cannot be read, or there is no schema to write with; a record raises others as it is read.
    """
    topic, strategy = options.topic, options.strategy
    schema = None if options.schema is None else schema_in(options.schema, topic, options.references)
    reading = partial(
        LineReader,
        registry,
        topic,
        key_field=options.key_field,
        envelope=options.envelope,
        strategy=strategy,
        headers=options.headers,
    )
    if not options.file.endswith(_AVRO):
        source = files.enter_context(_opened(options.file))
        reader = reading(schema=schema)
        return (reader.record(number, line) for number, line in lines(source, interruption))
    file = ObjectFile(files.enter_context(_opened_bytes(options.file)), options.file)
    if schema is None and (strategy in BY_RECORD or latest(registry, topic, MessageField.VALUE, strategy) is None):
        schema = file.draft
    reader = reading(schema=schema)
    values = file.values(reader.parsed if reader.parsed.type is SchemaType.AVRO else None)
    wanted = takewhile(lambda _: not interruption.happened, values)
    return (reader.record_of(number, value) for number, value in wanted)


def consume(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print a topic as JSON lines, up to the end that it has at the start.

    Return 1 if a record could not be decoded.
    """
    parser.add_argument("topic", help="the topic")
    parser.add_argument("--limit", type=_number, metavar="N", help="print at most so many records")
    parser.add_argument("--partition", type=_number, metavar="P", help="read this partition alone")
    parser.add_argument("--offset", type=_number, metavar="O", help="begin at this offset; needs --partition")
    parser.add_argument("--from-beginning", action="store_true", help="begin with the first record (the default)")
    parser.add_argument(
        "--follow", action="store_true", help="go on with what is written later, until Ctrl-C or --limit"
    )
    parser.add_argument(
        "--envelope", action="store_true", help="print key, headers, place, timestamp and schema ids as well"
    )
    add_strategy(parser, "that a schema has to belong to (default: any that a serializer could have used)")
    add_brokers(parser)
    add_registry(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "avro"),
        default="text",
        help="JSON lines, with damage told in words (text, the default) or as JSON (json); or the values as an Avro "
        "object container file (avro)",
    )
    options = parser.parse_args(argv)
    if options.offset is not None and options.partition is None:
        raise UsageError("--offset needs --partition: each partition counts its own offsets")
    if options.format == "avro":
        _refuse_as_avro(options)
    brokers = brokers_of(options)
    with connect(options) as registry, Log(brokers, options.topic) as log:
        printer = _printer(options, registry)
        _print_all(log, printer, options)
        printer.end()
    if printer.damaged:
        say(f"{count(printer.damaged, 'record')} of {printer.seen:,} could not be decoded")
    return exit_codes.FINDINGS if printer.damaged else exit_codes.CLEAN


def _refuse_as_avro(options: Namespace) -> None:
    """Reject options that an Avro file cannot honour, and output to a terminal.

    Raises:
        UsageError: such an option is given, or stdout is a terminal.
    """
    if options.envelope:
        raise UsageError("--envelope is for JSON lines; an Avro file holds values alone")
    require_fastavro()
    if sys.stdout.isatty():
        raise UsageError(f"an Avro file is binary: send it to a file, as in `… > {options.topic}.avro`")


def _printer(options: Namespace, registry: Registry) -> Printer:
    if options.format == "avro":
        return AvroPrinter(registry, options.topic, sys.stdout.buffer, strategy=options.strategy)
    as_json = options.format == "json"
    return Printer(registry, options.topic, envelope=options.envelope, as_json=as_json, strategy=options.strategy)


def _print_all(log: Log, printer: Printer, options: Namespace) -> None:
    chosen = log.partitions if options.partition is None else [options.partition]
    ranges = {partition: log.range(partition) for partition in chosen}
    for partition, (low, end) in ranges.items():
        start = low if options.offset is None else options.offset
        if not options.follow:
            _tell_place(partition, start, low, end, asked=options.offset is not None)
        left = None if options.limit is None else options.limit - printer.seen
        for message in log.read(partition, max(start, low), end, left):
            if options.offset is not None and printer.seen == 0 and message.offset() != start:
                say(f"offset {start} holds no record (any more); the next one is at {message.offset()}")
            printer.print(message)
    if options.follow:
        starts = {p: end if options.offset is None else max(end, options.offset) for p, (_, end) in ranges.items()}
        _follow(log, printer, options, starts)
        return
    told = options.offset is not None and all(options.offset >= end for _, end in ranges.values())
    if not (printer.seen or told or options.limit == 0):
        say(_nothing(options))


def _follow(log: Log, printer: Printer, options: Namespace, starts: Mapping[int, int]) -> None:
    """Print new records as soon as they arrive, until an interruption."""
    with Interruption() as interruption:

        def done() -> bool:
            return interruption.happened or printer.seen == options.limit

        printer.flush()
        for messages in log.follow(starts, done):
            for message in messages:
                if printer.seen != options.limit:
                    printer.print(message)
            if messages:
                printer.flush()


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
        source = Path(file).open(encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 -- only errors of opening are caught here
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror or error}") from None
    with source:
        yield source


def _opened_bytes(file: str) -> IO[bytes]:
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror or error}") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"`{text}` is no whole number from 0")
    return int(text)
