"""Command line arguments shared by several verbs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Final

from contractlog.clients.calls import VersionLike
from contractlog.clients.registry import Registry
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security, registry_url
from contractlog.compatibility.errors import InvalidLevel, InvalidSubject
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference

__all__ = [
    "add_files",
    "add_format",
    "add_references",
    "add_registry",
    "connect",
    "parse_level",
    "parse_reference",
    "parse_version_name",
]

LATEST: Final = -1  #: version of a reference to the latest version


def add_registry(parser: ArgumentParser) -> None:
    """Add ``--registry`` and ``--timeout``; ``connect`` reads them."""
    parser.add_argument(
        "--registry",
        metavar="URL",
        help="the registry (else CONTRACTLOG_REGISTRY_URL, SCHEMA_REGISTRY_URL, then http://127.0.0.1:8081); "
        "credentials: CONTRACTLOG_REGISTRY_USER and _PASSWORD, or _CERTIFICATE and _KEY; trusted CA: _CA",
    )
    parser.add_argument(
        "--timeout",
        type=_parse_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="maximum time for each request, including all attempts (default: %(default)g)",
    )


def add_format(parser: ArgumentParser) -> None:
    """Add ``--format``."""
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output (default: text)"
    )


def add_files(parser: ArgumentParser) -> None:
    """Add the schema files, ``--subject``, ``--reference`` and ``--normalize``."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE|FOLDER",
        help="<topic>-value.avsc, <topic>-key.avsc, <topic>-value.schema.json, and files with types that these use; "
        "versions in folders 1/, 2/",
    )
    parser.add_argument(
        "--subject", type=_parse_subject, help="the subject of all files, instead of the one given by the file name"
    )
    add_references(parser, "the files refer to")
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="the manifest (default: contractlog.toml in the working directory or in the only folder that is named)",
    )
    parser.add_argument("--environment", metavar="NAME", help="the environment of the manifest: registry and context")
    parser.add_argument("--normalize", action="store_true", help="compare and store the normalized text")


def add_references(parser: ArgumentParser, referrer: str) -> None:
    """Add ``--reference``; ``referrer`` completes its help text."""
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        type=parse_reference,
        dest="references",
        metavar="NAME=SUBJECT:VERSION",
        help=f"a registered schema that {referrer}, under the name used there; VERSION may be `latest`",
    )


def connect(options: Namespace) -> Registry:
    """Return a client of the registry given by arguments or environment."""
    return Registry(registry_url(options.registry), timeout=options.timeout, security=Security.from_environment())


def parse_level(text: str) -> Level:
    """Parse a compatibility level, as an argument type.

    Raises:
        ArgumentTypeError: there is no such level.
    """
    try:
        return Level.parse(text)
    except InvalidLevel:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Level)}") from None


def parse_version_name(text: str) -> tuple[str, VersionLike] | None:
    """Parse SUBJECT:VERSION, with a number or ``latest``; return None for anything else.

    >>> parse_version_name("orders-value:3"), parse_version_name("orders.avsc")
    (('orders-value', 3), None)
    >>> parse_version_name(":.eu:orders:latest")
    (':.eu:orders', 'latest')
    """
    subject, _, number = text.rpartition(":")
    if not subject:
        return None
    if number == "latest":
        return subject, "latest"
    return (subject, int(number)) if number.isascii() and number.isdigit() and int(number[:18]) else None


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"`{text}` is not a number of seconds above 0")
    return seconds


def _parse_subject(text: str) -> str:
    try:
        name = Subject.parse(text).validate().name
    except InvalidSubject:
        name = ""
    if not name:
        raise ArgumentTypeError(
            f"{text!r} cannot be a subject: the name is empty, reserved, or holds a control character"
        )
    return text


def parse_reference(text: str) -> Reference:
    """Parse NAME=SUBJECT:VERSION, as an argument type.

    Raises:
        ArgumentTypeError: the text does not have this form.
    """
    name, equals, target = text.partition("=")
    subject, colon, number = target.rpartition(":")
    version = LATEST if number == "latest" else int(number) if number.isascii() and number.isdigit() else 0
    if not (name and equals and subject and colon and version):
        raise ArgumentTypeError(f"`{text}` does not have the form NAME=SUBJECT:VERSION")
    return Reference(name, subject, version)
