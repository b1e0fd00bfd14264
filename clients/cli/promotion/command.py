"""``contractlog promote``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_format,
    add_output,
    add_reports,
    add_timeout,
)
from contractlog.clients.cli.output import apply_output_options

__all__ = ["promote"]


def promote(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show the versions of FROM that TO lacks; exit code 1 or 4 if the histories of a subject differ."""
    parser.add_argument("source", metavar="FROM", help="the environment of the manifest that has the versions")
    parser.add_argument("target", metavar="TO", help="the environment that gets them")
    parser.add_argument(
        "files",
        nargs="*",
        default=[],  # else argparse names them among the missing arguments
        metavar="FILE|FOLDER",
        help="only the subjects of these (default: the manifest's folder)",
    )
    parser.add_argument("--apply", action="store_true", help="register the versions")
    parser.add_argument(
        "--use-waivers",
        action="store_true",
        help="permit registrations by a waiver of the manifest, against the level that the subject has in TO",
    )
    parser.add_argument("--exit-code", action="store_true", help="exit code 1 if versions are missing")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="the manifest with the environments")
    parser.set_defaults(subject=None, references=[], environment=None)
    add_timeout(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.promotion.runner import run  # noqa: PLC0415 - slow to import, not needed for --help

    with apply_output_options(options):
        return run(options, argv)
