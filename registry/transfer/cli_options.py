"""Arguments shared by the commands that import, export and verify, and the source that they name."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from contractlog.clients.cli.broker import add_broker_options, read_text, require_brokers
from contractlog.clients.settings import DEFAULT_TIMEOUT, RegistryAddress, Security
from contractlog.compatibility.errors import UsageError
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.file_format import FileSource
from contractlog.registry.transfer.rest_source import RestSource, SourceAccess
from contractlog.registry.transfer.schemas_topic import SchemasTopic
from contractlog.registry.transfer.topic_source import TopicSource

__all__ = [
    "TransferSource",
    "add_access_options",
    "add_database",
    "add_examples",
    "add_source",
    "add_timeout",
    "database_url",
    "is_url",
    "open_source",
    "parse_seconds",
    "read_access",
    "reject_unused_access",
]

TransferSource = FileSource | RestSource | TopicSource

_PREFIX: Final = "CONTRACTLOG_SOURCE_"
_TOKEN: Final = re.compile(r"[!-~]+")
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([ -~]*)")
#: Flags and variables with their metavar and help; the values are paths or names, never secrets.
_MEMBERS: Final = {
    "user": ("NAME", "user name"),
    "password_file": ("FILE", "the password, on the first line"),
    "token_file": ("FILE", "a bearer token, on the first line, instead of name and password"),
    "ca": ("FILE", "the CA (PEM) of its certificate, else those of the system"),
    "certificate": ("FILE", "client certificate (PEM)"),
    "key": ("FILE", "its key, if it is not in the same file"),
}
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


def add_examples(parser: ArgumentParser, command: str) -> None:
    """Add further examples of a command to its help."""
    parser.epilog = "\n  ".join((str(parser.epilog), *_EXAMPLES[command]))


def add_source(parser: ArgumentParser, timeout_exception: str = "") -> None:
    """Add the arguments for the source, and ``--timeout``; ``open_source`` opens the source."""
    parser.add_argument(
        "source", nargs="?", metavar="FILE|URL", help="a file of `contractlog export`, - for stdin, or a live registry"
    )
    parser.add_argument(
        "--topic", metavar="NAME", help="a _schemas topic of Confluent or Karapace, instead of FILE|URL"
    )
    add_broker_options(parser)
    add_access_options(parser)
    add_timeout(parser, timeout_exception)


def is_url(text: str) -> bool:
    """Return whether a string is the URL of a live registry."""
    return text.startswith(("http://", "https://"))


@contextmanager
def open_source(options: Namespace) -> Iterator[TransferSource]:
    """Open the source that the arguments of ``add_source`` name.

    Raises:
        UsageError: none or two are named, or other arguments do not fit it.
    """
    if (options.source is None) == (options.topic is None):
        raise UsageError("name one source: a file, - for standard input, the URL of a registry, or --topic _schemas")
    if options.topic:
        brokers = require_brokers(options)
        reject_unused_access(options, "the URL of a registry")
        with SchemasTopic(brokers, options.topic) as topic:
            yield TopicSource(topic)
    elif options.source is not None and is_url(options.source):
        yield RestSource(options.source, options.timeout, read_access(options, options.source) or SourceAccess())
    else:
        reject_unused_access(options, "the URL of a registry")
        yield FileSource(options.source or "-")


def add_timeout(parser: ArgumentParser, exception: str = "") -> None:
    """Add ``--timeout``; the exception is a part of its help."""
    parser.add_argument(
        "--timeout",
        type=parse_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help=f"maximum time for each request to a live registry (default: %(default)g){exception}",
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
        raise ArgumentTypeError(f"`{text}` is not a number of seconds greater than 0")
    return number


def database_url(options: Namespace) -> str:
    """Return the URL of the database, from the arguments or the environment."""
    return Settings.from_environment(os.environ, database_url=options.database_url).database_url


def add_access_options(parser: ArgumentParser) -> None:
    """Add ``--source-…``; ``read_access`` reads them."""
    group = parser.add_argument_group(
        "access to the source registry",
        "each can also be set by a variable (CONTRACTLOG_SOURCE_USER, _CA, …); CONTRACTLOG_SOURCE_PASSWORD, _TOKEN and "
        "_KEY_PASSWORD have the secrets themselves",
    )
    for member, (metavar, words) in _MEMBERS.items():
        group.add_argument(f"--source-{member.replace('_', '-')}", metavar=metavar, help=words)
    group.add_argument(
        "--source-header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="a header to send with each request, for example for a gateway; may be repeated",
    )


def read_access(options: Namespace, url: str, environ: Mapping[str, str] | None = None) -> SourceAccess | None:
    """Read ``--source-…``, then ``CONTRACTLOG_SOURCE_…``; None if nothing is set.

    Raises:
        UsageError: a file cannot be read, a password has no name, or both a name and a token are given.
    """
    environment = os.environ if environ is None else environ
    given = {
        member: getattr(options, f"source_{member}") or environment.get(_PREFIX + member.upper()) for member in _MEMBERS
    }
    password = _read_secret("password", given["password_file"], environment)
    token = _read_secret("token", given["token_file"], environment)
    key_password = environment.get(f"{_PREFIX}KEY_PASSWORD") or None
    headers = dict(map(_parse_header, options.source_header))
    named = given["user"] is not None or RegistryAddress.parse(url)[0].user is not None
    if password is not None and not named:
        raise UsageError("a password without a name: pass --source-user NAME, or set CONTRACTLOG_SOURCE_USER")
    if token is not None:
        if named:
            raise UsageError("pass a name and password or a token, not both")
        headers["Authorization"] = f"Bearer {token}"
    if not any((*given.values(), password, token, key_password, headers)):
        return None
    security = Security(
        user=given["user"],
        password=password,
        ca=given["ca"],
        certificate=given["certificate"],
        key=given["key"],
        key_password=key_password,
    )
    return SourceAccess(security, headers)


def reject_unused_access(options: Namespace, live: str) -> None:
    """Reject flags of ``add_access_options`` if no live registry is read.

    Raises:
        UsageError: one of them is given.
    """
    options_in_use = [f"source_{member}" for member in (*_MEMBERS, "header") if getattr(options, f"source_{member}")]
    if options_in_use:
        raise UsageError(
            f"--{options_in_use[0].replace('_', '-')} needs a live registry as the source, and {live} is not given"
        )


def _read_secret(member: str, file: str | None, environment: Mapping[str, str]) -> str | None:
    if file is None:
        secret = environment.get(_PREFIX + member.upper()) or None
        where = f"{_PREFIX}{member.upper()}"
    else:
        secret, where = _read_first_line(file, f"--source-{member}-file"), f"`{file}`"
    if secret is not None and member == "token" and not _TOKEN.fullmatch(secret):
        raise UsageError(f"{where} contains no bearer token: it is one word of printable ASCII characters")
    return secret


def _read_first_line(file: str, flag: str) -> str:
    line = read_text(file, flag).partition("\n")[0].removesuffix("\r")  # other characters are part of the secret
    if not line:
        raise UsageError(f"{flag}: the first line of `{file}` is empty")
    return line


def _parse_header(text: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(text)
    if match is None:
        raise UsageError("--source-header takes 'NAME: VALUE'")
    return match[1], match[2].strip()
