"""Arguments shared by the verbs that import, export and verify."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from contractlog.clients.cli.broker import add_broker_options, require_brokers
from contractlog.clients.settings import DEFAULT_TIMEOUT
from contractlog.compatibility.errors import UsageError
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.source_access import add_access_options, read_access, reject_unused_access
from contractlog.registry.transfer.sources import TransferSource, is_url, open_source

__all__ = [
    "add_database",
    "add_examples",
    "add_source",
    "add_timeout",
    "database_url",
    "open_source_option",
    "parse_seconds",
]

_EXAMPLES: Final = {
    "export": (
        "contractlog export --registry http://old:8081 --out registry.ndjson",
        "contractlog export --topic _schemas --bootstrap-servers localhost:9092",
    ),
    "import": (
        "contractlog import http://old:8081 --dry-run",
        "contractlog import --topic _schemas --bootstrap-servers localhost:9092 --follow",
    ),
    "verify-import": (
        "contractlog verify-import http://old:8081 --registry http://localhost:8081",
        "contractlog verify-import --topic _schemas --bootstrap-servers localhost:9092",
    ),
}


def add_examples(parser: ArgumentParser, verb: str) -> None:
    """Add further examples of a verb to its help."""
    parser.epilog = "\n  ".join((str(parser.epilog), *_EXAMPLES[verb]))


def add_source(parser: ArgumentParser) -> None:
    """Add the arguments for the source; ``open_source`` opens it."""
    parser.add_argument(
        "source", nargs="?", metavar="FILE|URL", help="a file of `contractlog export`, - for stdin, or a live registry"
    )
    parser.add_argument(
        "--topic", metavar="NAME", help="a _schemas topic of Confluent or Karapace, in place of FILE|URL"
    )
    add_broker_options(parser)
    add_access_options(parser)
    add_timeout(parser)


@contextmanager
def open_source_option(options: Namespace) -> Iterator[TransferSource]:
    """Open the source that the arguments of ``add_source`` name."""
    if (options.source is None) == (options.topic is None):
        raise UsageError("name one source: a file, - for standard input, the URL of a registry, or --topic _schemas")
    brokers = require_brokers(options) if options.topic else None
    live = options.source is not None and is_url(options.source)
    if not live:
        reject_unused_access(options, "the URL of a registry")
    access = read_access(options, options.source) if live else None
    with open_source(
        options.source, brokers=brokers, topic=options.topic, timeout=options.timeout, access=access
    ) as source:
        yield source


def add_timeout(parser: ArgumentParser) -> None:
    """Add ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=parse_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="how long to wait for each answer of a live registry (default: %(default)g)",
    )


def add_database(parser: ArgumentParser, what: str) -> None:
    """Add ``--database-url``; ``database_url`` reads it."""
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help=f"the database {what}: sqlite:///FILE (default: sqlite:///contractlog.db) or postgresql://…",
    )


def parse_seconds(text: str) -> float:
    """Parse a number of seconds above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"`{text}` is no number of seconds above 0")
    return number


def database_url(options: Namespace) -> str:
    """Return the URL of the database, from the arguments or the environment."""
    return Settings.from_environment(os.environ, database_url=options.database_url).database_url
