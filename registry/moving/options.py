"""Arguments shared by the verbs that import, export and verify."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from contractlog.clients.cli.broker import add_brokers, brokers_of
from contractlog.clients.settings import DEFAULT_TIMEOUT
from contractlog.compatibility.errors import UsageError
from contractlog.registry.moving.reaching import access_of, add_access, unused_access
from contractlog.registry.moving.sources import Source, is_url, opened
from contractlog.registry.settings import Settings

__all__ = ["add_database", "add_source", "add_timeout", "database_url", "examples", "seconds", "source_of"]

_MORE: Final = {
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


def examples(parser: ArgumentParser, verb: str) -> None:
    """Add further examples of a verb to its help."""
    parser.epilog = "\n  ".join((str(parser.epilog), *_MORE[verb]))


def add_source(parser: ArgumentParser) -> None:
    """Add the arguments for the source; ``source_of`` opens it."""
    parser.add_argument(
        "source", nargs="?", metavar="FILE|URL", help="a file of `contractlog export`, - for stdin, or a live registry"
    )
    parser.add_argument(
        "--topic", metavar="NAME", help="a _schemas topic of Confluent or Karapace, in place of FILE|URL"
    )
    add_brokers(parser)
    add_access(parser)
    add_timeout(parser)


@contextmanager
def source_of(options: Namespace) -> Iterator[Source]:
    """Open the source that the arguments of ``add_source`` name."""
    if (options.source is None) == (options.topic is None):
        raise UsageError("name one source: a file, - for standard input, the URL of a registry, or --topic _schemas")
    brokers = brokers_of(options) if options.topic else None
    live = options.source is not None and is_url(options.source)
    if not live:
        unused_access(options, "the URL of a registry")
    access = access_of(options, options.source) if live else None
    with opened(options.source, brokers=brokers, topic=options.topic, timeout=options.timeout, access=access) as source:
        yield source


def add_timeout(parser: ArgumentParser) -> None:
    """Add ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=seconds,
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


def seconds(text: str) -> float:
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
