"""Command line arguments shared by several verbs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli.credential_selection import select_security
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.output_files import find_output_problem
from contractlog.clients.hooks import Exchange
from contractlog.clients.registry import Registry
from contractlog.clients.settings import (
    DEFAULT_TIMEOUT,
    DEFAULT_URL,
    URL_VARIABLES,
    Security,
    registry_url,
)
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidLevel, InvalidSubject, UsageError
from contractlog.compatibility.identifiers import INVALID_SUBJECT_REASONS, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference

__all__ = [
    "REPORT_FORMATS",
    "add_break_glass",
    "add_environment",
    "add_files",
    "add_format",
    "add_output",
    "add_references",
    "add_registry",
    "add_reports",
    "add_timeout",
    "connect",
    "format_reference",
    "parse_level",
    "parse_output_path",
    "parse_policy",
    "parse_reference",
    "parse_version_name",
    "select_context",
]

LATEST: Final = -1  #: version of a reference to the latest version
REPORT_FORMATS: Final = (
    "junit",
    "sarif",
    "github",
    "gitlab",
    "markdown",
)  #: rendered by `report_formats.report_output`

_BREAK_GLASS: Final = "Contractlog-Break-Glass"  #: header with the reason


def add_registry(parser: ArgumentParser, *, environments: bool = True) -> None:
    """Add ``--registry`` and ``--timeout``; ``connect`` reads them.

    Args:
        parser: of the command.
        environments: whether the command has the environments of the manifest.
    """
    variables = ", ".join(URL_VARIABLES)
    others = (
        f"that of --environment, {variables}, the manifest's environment `default`, or without environments "
        f"{DEFAULT_URL}"
        if environments
        else f"{variables}, {DEFAULT_URL}"
    )
    parser.add_argument(
        "--registry",
        metavar="URL",
        help=f"the registry (else {others}); credentials: CONTRACTLOG_REGISTRY_USER and _PASSWORD, or _TOKEN, or "
        f"_CERTIFICATE and _KEY; trusted CA: _CA{'; for one environment: …_NAME' if environments else ''}",
    )
    add_timeout(parser)


def add_timeout(parser: ArgumentParser) -> None:
    """Add ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=_parse_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="maximum time for each request, including all attempts (default: %(default)g)",
    )


def add_break_glass(parser: ArgumentParser) -> None:
    """Add ``--break-glass``; ``connect`` reads it."""
    parser.add_argument(
        "--break-glass",
        type=_parse_reason,
        metavar="REASON",
        help="change protected subjects without approvals; needs the permission `break_glass`, and is recorded",
    )


def _parse_reason(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ArgumentTypeError("a reason in one line is needed, such as 'outage 4711'")
    return text


def add_format(parser: ArgumentParser, *others: str) -> None:
    """Add ``--format``, with formats besides text and JSON."""
    parser.add_argument(
        "--format", choices=("text", "json", *others), default="text", help="format of the output (default: text)"
    )


def add_output(parser: ArgumentParser, *, kept: str = "findings, warnings and errors") -> None:
    """Add ``--color``, ``--quiet`` and ``--verbose``; ``apply_output_options`` and ``connect`` read them.

    ``kept`` is what ``--quiet`` prints.
    """
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour verdicts; auto: on a terminal, unless NO_COLOR is set, or if CLICOLOR_FORCE is (default: auto)",
    )
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help=f"print only {kept}")
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="also print each request to the registry, without credentials"
    )


def add_reports(parser: ArgumentParser, formats: Sequence[str] = REPORT_FORMATS) -> None:
    """Add ``--report``, with some formats."""
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        type=partial(_parse_report, formats=formats),
        dest="reports",
        metavar="FORMAT=FILE",
        help=f"also write a report to a file: {', '.join(formats)}; may be repeated",
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
        "--subject",
        type=_parse_subject,
        help="the subject of all files, instead of those of the file names, the manifest and the lock",
    )
    add_references(parser, "the files refer to")
    add_environment(parser)
    parser.add_argument("--normalize", action="store_true", help="compare and store the normalized text")


def add_environment(parser: ArgumentParser) -> None:
    """Add ``--manifest`` and ``--environment``; ``select_environment`` reads them."""
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="the manifest (default: contractlog.toml in the working directory or in the only folder that is named)",
    )
    parser.add_argument("--environment", metavar="NAME", help="the environment of the manifest: registry and context")


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


def connect(options: Namespace, security: Security | None = None) -> Registry:
    """Return a client of the registry given by arguments or environment.

    Without ``security``, ``select_security`` chooses the credentials.

    Raises:
        UsageError: the manifest has environments, none is chosen, and no registry is named; or credentials are not for
            the registry of the manifest.
    """
    environments = getattr(options, "unselected_environments", ())
    if environments:
        names = ", ".join(f"`{name}`" for name in environments)
        raise UsageError(
            f"the manifest has the {'environment' if len(environments) == 1 else 'environments'} {names}, and none is "
            f"chosen: pass --environment {environments[0] if len(environments) == 1 else 'NAME'}, or name the registry "
            f"with --registry or {URL_VARIABLES[0]}"
        )
    return Registry(
        registry_url(options.registry),
        timeout=options.timeout,
        security=security or select_security(options),
        headers={_BREAK_GLASS: quote(options.break_glass, safe=" ")} if getattr(options, "break_glass", None) else None,
        watch=_RequestLog() if getattr(options, "verbose", False) else None,
    )


def select_context(options: Namespace) -> str:
    """Set the registry of a command without files, and return the context of its environment; empty: none.

    Raises:
        UsageError: the manifest is not valid, or has no such environment.
    """
    from contractlog.clients.cli.schema_folder.environment import select_registry  # noqa: PLC0415 - not for --help

    return select_registry(options)


class _RequestLog:
    """Prints each request to stderr; addresses are without credentials, which are sent in headers."""

    def exchanged(self, exchange: Exchange) -> None:
        result = exchange.reason if exchange.status is None else exchange.status
        print_message(
            f"{exchange.method} {exchange.address}{exchange.target}: {result} ({1000 * exchange.seconds:.0f} ms)"
        )

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """Print nothing: a lookup without a request."""


def parse_policy(text: str) -> Policy:
    """Parse a compatibility policy, ignoring case.

    Raises:
        ArgumentTypeError: not a valid policy.
    """
    try:
        return Policy(text.upper())
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Policy)}") from None


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


def parse_output_path(text: str) -> Path:
    """Parse the path of a file to write, as an argument type.

    Raises:
        ArgumentTypeError: it cannot be written.
    """
    problem = find_output_problem(Path(text))
    if problem is not None:
        raise ArgumentTypeError(f"`{text}` cannot be written: {problem}")
    return Path(text)


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
        raise ArgumentTypeError(f"{text[:255]!r} cannot be a subject: {INVALID_SUBJECT_REASONS}")
    return text


def _parse_report(text: str, formats: Sequence[str] = REPORT_FORMATS) -> tuple[str, Path]:
    format_name, equals, name = text.partition("=")
    path = Path(name)
    if format_name == "json":
        raise ArgumentTypeError(
            "`json` is not a format of --report: pass --format json, and redirect the output to a file"
        )
    if format_name in formats and not name:
        raise ArgumentTypeError(f"`{text}` names no file: write {format_name}=FILE")
    if format_name not in formats or not equals:
        raise ArgumentTypeError(f"`{text}` does not have the form FORMAT=FILE with {', '.join(formats)}")
    problem = find_output_problem(path)
    if problem is not None:
        raise ArgumentTypeError(f"`{path}` cannot be written: {problem}; --format {format_name} prints the report")
    return format_name, path


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


def format_reference(reference: Reference) -> str:
    """Return a reference in the form that ``parse_reference`` reads."""
    version = "latest" if reference.version == LATEST else reference.version
    return f"{reference.name}={reference.subject}:{version}"
