"""``contractlog produce``: JSON lines and Avro files to a topic."""

from __future__ import annotations

import contextlib
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO, TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import IO, Final, TextIO

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import add_broker_options, require_brokers
from contractlog.clients.cli.options import add_format, add_references, add_registry, connect
from contractlog.clients.cli.output import count_noun, print_json, print_message, print_result
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.schema import SchemaType
from contractlog.serdes.cli.avro_files import AvroFileReader
from contractlog.serdes.cli.delivery import Delivery
from contractlog.serdes.cli.headers import parse_header
from contractlog.serdes.cli.input_interruption import Interruption, read_lines
from contractlog.serdes.cli.record_encoder import (
    RECORD_STRATEGIES,
    ProducerRecord,
    RecordEncoder,
    find_latest_schema,
    load_schema,
)
from contractlog.serdes.cli.strategy_option import add_strategy
from contractlog.serdes.context import MessageField

__all__ = ["produce"]

_INTERRUPTED: Final = 130
_AVRO: Final = ".avro"


def produce(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write JSON lines or an Avro file to a topic; return 0 if every record is acknowledged."""
    parser.add_argument("topic", help="the topic; it must exist")
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
        help="the schema of the values (default: the newest version of their subject; if a `.avro` file's subject has "
        "no version, the file's own schema)",
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
        help="a header to add to every record; may be repeated",
    )
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--key-field", metavar="NAME", help="the member of a value that is its key")
    keys.add_argument(
        "--envelope",
        action="store_true",
        help='the format of lines is {"key": …, "value": …, "headers": [{"key": …, "value": …}], "timestamp": ms}',
    )
    add_broker_options(parser)
    add_registry(parser, environments=False)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    if options.references and options.schema is None:
        raise UsageError("--reference needs --schema FILE: it names what that schema depends on")
    if options.file.endswith(_AVRO) and options.envelope:
        raise UsageError("--envelope is for JSON lines; the records of an Avro file are values")
    delivery = Delivery(require_brokers(options), options.topic, progress=sys.stderr.isatty())
    with connect(options) as registry, contextlib.ExitStack() as files, Interruption() as interruption:
        records = _open_records(options, registry, interruption, files)
        try:
            for record in records:
                delivery.send(record)
            delivery.finish(interrupted=interruption.happened)
        except ContractlogError:
            delivery.finish(interrupted=True)
            delivery.end_progress()
            print_message(f"{count_noun(delivery.acknowledged, 'record')} had been acknowledged before this error:")
            raise
    delivery.end_progress()
    if interruption.happened:
        print_message("interrupted: what was acknowledged is whole, and nothing else was left behind")
    if options.format == "json":
        print_json({"topic": options.topic, "records": delivery.acknowledged, "interrupted": interruption.happened})
    else:
        print_result(f"{count_noun(delivery.acknowledged, 'record')} written to {options.topic}")
    return _INTERRUPTED if interruption.happened else exit_codes.CLEAN


def _open_records(
    options: Namespace, registry: Registry, interruption: Interruption, files: contextlib.ExitStack
) -> Iterator[ProducerRecord]:
    """Open the input, and return an iterator of its records, up to the end or an interruption.

    Raises:
        UsageError: the input cannot be read, or there is no schema to write with; a record raises others as it is read.
    """
    topic, strategy = options.topic, options.strategy
    schema = None if options.schema is None else load_schema(options.schema, topic, options.references)
    reading = partial(
        RecordEncoder,
        registry,
        topic,
        key_field=options.key_field,
        envelope=options.envelope,
        strategy=strategy,
        headers=options.headers,
    )
    if not options.file.endswith(_AVRO):
        source = files.enter_context(_open_text(options.file, interruption))
        reader = reading(schema=schema)
        return (reader.encode_line(number, line) for number, line in read_lines(source, interruption))
    file = AvroFileReader(files.enter_context(_open_binary(options.file)), options.file)
    if schema is None and (
        strategy in RECORD_STRATEGIES or find_latest_schema(registry, topic, MessageField.VALUE, strategy) is None
    ):
        schema = file.draft
    reader = reading(schema=schema)
    values = file.values(reader.parsed if reader.parsed.type is SchemaType.AVRO else None)
    uninterrupted = takewhile(lambda _: not interruption.happened, values)
    return (reader.encode_value(number, value) for number, value in uninterrupted)


@contextlib.contextmanager
def _open_text(file: str, interruption: Interruption) -> Iterator[TextIO]:
    if file == "-":
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield sys.stdin
        return
    try:  # a pipe without a writer blocks
        source = interruption.wait(partial(Path(file).open, encoding="utf-8", errors="surrogateescape"))
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror or error}") from None
    with source or StringIO() as lines:
        yield lines


def _open_binary(file: str) -> IO[bytes]:
    if Path(file).exists() and not Path(file).is_file():  # reading a pipe could not be interrupted
        raise UsageError(f"`{file}` is not a regular file: pass JSON lines, or a file")
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror or error}") from None
