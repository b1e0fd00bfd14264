"""``contractlog diff``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_environment,
    add_format,
    add_output,
    add_registry,
    add_reports,
    parse_level,
    parse_policy,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.level import Level

__all__ = ["diff"]


def diff(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare two schemas or folders; exit code 1 if the change is incompatible at the level."""
    parser.add_argument(
        "earlier",
        metavar="EARLIER",
        help="the existing schema: a file, - for standard input, SUBJECT:VERSION for a registered one, "
        "git:REVISION:PATH for one of a git revision; or a folder of schemas, also of a git revision. "
        "The prefixes file: and subject: decide which is meant",
    )
    parser.add_argument("later", metavar="LATER", help="the new schema, or folder of schemas")
    parser.add_argument(
        "--level",
        type=parse_level,
        metavar="LEVEL",
        help=f"the level that decides the exit code: {', '.join(Level)} (default: that of the subject in the manifest, "
        f"else {Level.BACKWARD})",
    )
    parser.add_argument(
        "--policy",
        type=parse_policy,
        default=Policy.STRICT,
        metavar="POLICY",
        help=f"compatibility policy for JSON Schema: {', '.join(Policy)} (default: %(default)s)",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="CHECK",
        help="also run this check, which the policy does not require, such as AVRO_DOC_LOST",
    )
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        dest="references",
        metavar="NAME=FILE",
        help="a schema file that both schemas reference as NAME, in place of the types of their folders; list files "
        "without references of their own first",
    )
    add_environment(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_args(argv)
    from contractlog.clients.cli.diff.runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)
