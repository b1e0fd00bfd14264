"""``contractlog compat``: one schema file against one or all versions of a subject."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from typing import Final

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_environment,
    add_format,
    add_output,
    add_references,
    add_registry,
    add_reports,
    parse_level,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.compatibility.identifiers import MAX_VERSION

__all__ = ["compat"]

FORMAT: Final = "contractlog.compat/1"


def compat(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Check a schema file against versions of a subject; exit code 1 if it is incompatible."""
    parser.add_argument("subject", metavar="SUBJECT", help="the subject")
    parser.add_argument("file", metavar="FILE", help="the schema file: .avsc or .schema.json")
    parser.add_argument(
        "--version", type=_parse_version, metavar="VERSION", help="only this version, a number or `latest`"
    )
    parser.add_argument("--level", type=parse_level, metavar="LEVEL", help="instead of the level of the subject")
    add_references(parser, "the file refers to")
    parser.add_argument("--normalize", action="store_true", help="compare the normalized text")
    add_environment(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.operations.compat_runner import run  # noqa: PLC0415 - slow to import

    with apply_output_options(options):
        return run(options, argv)


def _parse_version(text: str) -> VersionLike:
    if text == "latest":
        return "latest"
    if text.isascii() and text.isdigit() and 0 < int(text[:11]) <= MAX_VERSION:
        return int(text)
    raise ArgumentTypeError(f"`{text}` is neither a version number nor `latest`")
